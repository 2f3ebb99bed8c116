//! JSON values that know where they stand in the batch, over `serde_json`'s raw values.
//!
//! Keys keep their order, a key that stands twice is seen, strings are decoded when asked for. Nothing here knows
//! what an entry is.

use super::ParseError;
use super::body::{At, Body};
use crate::edit::{Breaks, Lines, Text};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// A JSON text of the batch.
pub(super) struct Doc<'a> {
    body: &'a Body,
    lines: Lines<'a>,
    /// How many characters start before each multiple of [`STRIDE`] bytes: a batch of one long line stays cheap.
    starts: Vec<usize>,
}

const STRIDE: usize = 256;

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    Object,
    Array,
    String,
    Number,
    Bool,
    Null,
}

impl Shape {
    /// With its article, for messages.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::Array => "an array",
            Self::String => "a string",
            Self::Number => "a number",
            Self::Bool => "a boolean",
            Self::Null => "null",
        }
    }
}

/// The fields of an object in order, doubles included.
pub(super) struct Fields<'a>(pub(super) Vec<(String, &'a RawValue)>);

impl<'a> Doc<'a> {
    /// The JSON text `body`.
    pub(super) fn new(body: &'a Body) -> Self {
        let bytes = body.text.as_bytes();
        let (mut starts, mut count) = (vec![0], 0);
        for chunk in bytes.chunks(STRIDE) {
            count += starting(chunk);
            starts.push(count);
        }
        Self { body, lines: Lines::new(bytes, Breaks::Lf), starts }
    }

    /// Its values, one after another, up to the first error of syntax.
    pub(super) fn values(&self) -> (Vec<&'a RawValue>, Option<ParseError>) {
        let mut values = Vec::new();
        for value in serde_json::Deserializer::from_str(&self.body.text).into_iter::<&RawValue>() {
            match value {
                Ok(value) => values.push(value),
                Err(error) => return (values, Some(self.syntax(&error))),
            }
        }
        (values, None)
    }

    /// Where a value of this text stands.
    pub(super) fn at(&self, value: &RawValue) -> At {
        let start = self.body.text.as_ptr() as usize;
        self.place((value.get().as_ptr() as usize).saturating_sub(start))
    }

    /// The elements of an array; none for anything else.
    pub(super) fn elements(&self, value: &'a RawValue) -> Vec<&'a RawValue> {
        serde_json::from_str(value.get()).unwrap_or_default()
    }

    /// The fields of an object.
    pub(super) fn fields(&self, value: &'a RawValue) -> Result<Fields<'a>, Box<ParseError>> {
        serde_json::from_str(value.get()).map_err(|error| self.inner(value, &error))
    }

    /// The decoded text of the string `value`, which stands in `field`.
    pub(super) fn string(&self, value: &RawValue, field: &str) -> Result<Body, Box<ParseError>> {
        let decoded: String = serde_json::from_str(value.get()).map_err(|error| self.inner(value, &error))?;
        Ok(Body::value(Text::from(decoded), self.at(value), field))
    }

    fn syntax(&self, error: &serde_json::Error) -> ParseError {
        let line = error.line().saturating_sub(1);
        let start = if line < self.lines.len() { self.lines.range(line).start } else { self.body.text.len() };
        let at = self.place(start + error.column().saturating_sub(1));
        ParseError::at(at, format!("not valid JSON: {}", cause(error)))
    }

    /// An error inside `value`, which is no error of syntax: a lone surrogate.
    fn inner(&self, value: &RawValue, error: &serde_json::Error) -> Box<ParseError> {
        let message = format!("a JSON string cannot be decoded: {}", cause(error));
        let hint = "a \\ud800–\\udfff escape is half of a pair: write both";
        Box::new(ParseError::at(self.at(value), message).hint(hint))
    }

    /// Where byte `offset` of this text stands.
    fn place(&self, offset: usize) -> At {
        let length = self.body.text.len();
        let offset = offset.min(length);
        let line = self.lines.number(offset) - 1;
        let start = if line < self.lines.len() { self.lines.range(line).start } else { length };
        self.body.at(line, self.before(offset) - self.before(start.min(offset)) + 1)
    }

    /// How many characters start before byte `offset`.
    fn before(&self, offset: usize) -> usize {
        let stride = offset / STRIDE;
        self.starts[stride] + starting(&self.body.text.as_bytes()[stride * STRIDE..offset])
    }
}

/// How many characters start in these bytes of a text.
fn starting(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&b| b & 0xc0 != 0x80).count()
}

/// What a value is, by its first character.
pub(super) fn shape(value: &RawValue) -> Shape {
    match value.get().trim_start().as_bytes().first() {
        Some(b'{') => Shape::Object,
        Some(b'[') => Shape::Array,
        Some(b'"') => Shape::String,
        Some(b't' | b'f') => Shape::Bool,
        Some(b'n') => Shape::Null,
        _ => Shape::Number,
    }
}

/// The message without the place, which we name ourselves.
fn cause(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_ascii_lowercase().replace("eof", "the end of the text")
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs)
            }
        }
        deserializer.deserialize_map(Pairs).map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: (usize, usize), message: &str) {
        let body = Body::lines(text.into(), 1);
        let (_, error) = Doc::new(&body).values();
        let error = error.expect("broken JSON");
        assert_eq!((error.line, error.column), (Some(expected.0), Some(expected.1)), "{text:?}: {error}");
        assert!(error.message.contains(message), "{error}");
    }

    #[test]
    fn errors_of_syntax_have_a_place() {
        check("{\"a\": 1,\n \"é\" 2}", (2, 6), "expected `:`");
        check("[{", (1, 2), "the end of the text");
        check("{} x", (1, 4), "expected value");
    }

    #[test]
    fn values_have_a_place() {
        let body = Body::lines("[\n  \"é\", {\"k\": true}]".into(), 5);
        let doc = Doc::new(&body);
        let (values, error) = doc.values();
        assert!(error.is_none());
        let elements = doc.elements(values[0]);
        assert_eq!(doc.at(elements[1]), At { line: 6, column: 8 });
        let fields = doc.fields(elements[1]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((&*fields.0[0].0, shape(fields.0[0].1)), ("k", Shape::Bool));
    }

    #[test]
    fn columns_count_characters_however_long_the_line() {
        let body = Body::lines(format!("[\"{}\", 1]", "é".repeat(5000)).as_str().into(), 1);
        let doc = Doc::new(&body);
        assert_eq!(doc.at(doc.elements(doc.values().0[0])[1]), At { line: 1, column: 5006 });
    }

    #[test]
    fn half_a_pair_is_no_text() {
        let body = Body::lines("\"\\ud800\"".into(), 1);
        let doc = Doc::new(&body);
        assert!(doc.string(doc.values().0[0], "x").is_err());
    }
}
