//! JSON entries: objects and arrays of them, also wrapped in `patches`, `edits`, `calls`, `steps`, `input` or a JSON-encoded string.
//!
//! Each object is classified by its keys (formats.md, rule 1) and given to the reader of its form.

use super::body::{At, Body};
use super::draft::{Draft, Head};
use super::json::{Doc, Fields, Shape, shape};
use super::keys::{Key, Kind, kinds};
use super::{ParseError, detect, entry_reader, read_text};
use crate::edit::{BatchPath, Format, Precondition, Tag, WarningCode};
use detect::Detected;
use serde_json::value::RawValue;

/// How deep wrappers may stand in each other.
const DEEPEST: usize = 8;
const KINDS: &str = "an entry has `path` and `patch`, `diff`, `operation`, `moveTo`, `content`, \
                     or `old_string` and `new_string`";

/// One object of the batch, its nulls left out.
pub(super) struct Entry<'a> {
    doc: &'a Doc<'a>,
    number: usize,
    at: At,
    fields: Vec<Field<'a>>,
    outer: Outer,
}

/// One key and its value.
struct Field<'a> {
    written: String,
    key: Option<Key>,
    value: &'a RawValue,
}

/// What an `edits` object passes on to its entries, and how deep the wrappers are.
#[derive(Clone, Default)]
struct Outer {
    path: Option<String>,
    tag: Option<Tag>,
    depth: usize,
}

/// Reads a JSON text: one value, or one a line.
pub(super) fn read(body: &Body, draft: &mut Draft<'_>) {
    nested(body, &Outer::default(), draft);
}

/// Whether an object or array of objects in this text is an entry of any kind.
pub(super) fn is_batch(text: &str) -> bool {
    let body = Body::lines(text.into(), 1);
    let doc = Doc::new(&body);
    let (values, error) = doc.values();
    // An edit that lacks its other half was meant as one too.
    let half = |fields: &[Field<'_>]| {
        let has = |key| fields.iter().any(|field| field.key == Some(key));
        has(Key::Path) && (has(Key::Old) || has(Key::New))
    };
    let classifies = |value: &RawValue| {
        let fields = doc.fields(value).map(known);
        fields.is_ok_and(|fields| !kinds_of(&fields).is_empty() || half(&fields))
    };
    let elements =
        values.into_iter().flat_map(|v| if shape(v) == Shape::Array { doc.elements(v) } else { vec![v] });
    // Broken JSON with the keys of an entry was meant as one.
    let meant =
        ["\"patch\"", "\"patches\"", "\"diff\"", "\"old_string\"", "\"edits\"", "\"calls\"", "\"args\""];
    elements.into_iter().any(classifies) || (error.is_some() && meant.iter().any(|k| text.contains(k)))
}

fn nested(body: &Body, outer: &Outer, draft: &mut Draft<'_>) {
    let doc = Doc::new(body);
    let (values, error) = doc.values();
    for value in values {
        item(&doc, value, outer, draft);
    }
    if let Some(error) = error {
        draft.error(error);
    }
}

fn item(doc: &Doc<'_>, value: &RawValue, outer: &Outer, draft: &mut Draft<'_>) {
    if outer.depth > DEEPEST {
        return draft.error(ParseError::at(doc.at(value), "the JSON is wrapped too often"));
    }
    let inner = Outer { depth: outer.depth + 1, ..outer.clone() };
    match shape(value) {
        Shape::Array => {
            for element in doc.elements(value) {
                item(doc, element, &inner, draft);
            }
        }
        Shape::Object => object(doc, value, &inner, draft),
        Shape::String => encoded(doc, value, &inner, draft),
        other => {
            let message = format!("an entry must be an object, not {}", other.as_str());
            draft.error(ParseError::at(doc.at(value), message).hint(KINDS));
        }
    }
}

/// A JSON-encoded string.
fn encoded(doc: &Doc<'_>, value: &RawValue, outer: &Outer, draft: &mut Draft<'_>) {
    let body = match doc.string(value, "string") {
        Ok(body) => body,
        Err(error) => return draft.error(*error),
    };
    if body.text.trim_start().starts_with(['{', '[', '"']) {
        nested(&body, outer, draft);
    } else if outer.depth == 1 {
        text(&body, doc.at(value), draft);
    } else {
        let message = "an entry must be an object, not a string that is no JSON";
        draft.error(ParseError::at(doc.at(value), message).hint(KINDS));
    }
}

/// A text of another form inside JSON.
fn text(body: &Body, at: At, draft: &mut Draft<'_>) {
    match detect::format(&body.text) {
        Detected::Text(format) => {
            if is_expected(format, at, None, draft) {
                read_text(format, body, draft);
            }
        }
        Detected::Json | Detected::Nothing => draft.error(detect::refusal(body, None)),
    }
}

/// Whether the caller's `--format` allows this form; an error is noted otherwise.
fn is_expected(format: Format, at: At, entry: Option<usize>, draft: &mut Draft<'_>) -> bool {
    let expected = draft.options.format.filter(|f| ![Format::Mixed, Format::Fenced, format].contains(f));
    if let Some(expected) = expected {
        let message = format!("this is {format}, but the batch is to be {expected}");
        draft.error(
            ParseError { entry, ..ParseError::at(at, message) }.hint("leave `--format` out to mix forms"),
        );
    }
    expected.is_none()
}

fn object(doc: &Doc<'_>, value: &RawValue, outer: &Outer, draft: &mut Draft<'_>) {
    let at = doc.at(value);
    let mut fields = match doc.fields(value) {
        Ok(fields) => known(fields),
        Err(error) => return draft.error(*error),
    };
    let doubles = doubles(doc, &fields);
    fields.retain(|field| shape(field.value) != Shape::Null);
    let found = kinds_of(&fields);
    let wrapper = !matches!(found[..], [Kind::Entry(_)]);
    let number = if wrapper { 0 } else { draft.next_entry() };
    let entry = Entry { doc, number, at, fields, outer: outer.clone() };
    if !doubles.is_empty() {
        if let [Kind::Entry(format)] = found[..] {
            draft.saw(format);
        }
        return doubles.into_iter().for_each(|e| draft.error(entry.named(e)));
    }
    match found[..] {
        [Kind::Entry(format)] => entry.read(format, draft),
        [Kind::Patches] => entry.patches(draft),
        [Kind::Edits] => entry.edits(draft),
        [Kind::Calls] => entry.calls(draft),
        [Kind::Input] => entry.input(draft),
        [Kind::Plan] => draft.error(ParseError::at(at, "this is a plan, which this version cannot read yet")),
        [] => draft.error(entry.unclassified("no entry")),
        _ => draft.error(entry.unclassified("two kinds of entry at once")),
    }
}

fn known(fields: Fields<'_>) -> Vec<Field<'_>> {
    let fields = fields.0.into_iter();
    fields.map(|(written, value)| Field { key: Key::of(&written), written, value }).collect()
}

fn kinds_of(fields: &[Field<'_>]) -> Vec<Kind> {
    kinds(&|key| fields.iter().any(|field| field.key == Some(key)))
}

/// Keys that say the same thing twice.
fn doubles(doc: &Doc<'_>, fields: &[Field<'_>]) -> Vec<ParseError> {
    let mut seen = std::collections::HashMap::new();
    let mut errors = Vec::new();
    for Field { written, key, value } in fields {
        let meaning = key.map_or(written.as_str(), |key| key.as_str());
        if let Some(first) = seen.insert(meaning, written) {
            let message = if first == written {
                format!("the key `{written}` stands twice")
            } else {
                format!("the keys `{first}` and `{written}` mean the same")
            };
            errors.push(ParseError::at(doc.at(value), message).hint("keep one of them"));
        }
    }
    errors
}

impl<'a> Entry<'a> {
    fn read(&self, format: Format, draft: &mut Draft<'_>) {
        if !is_expected(format, self.at, Some(self.number), draft) {
            return;
        }
        match entry_reader(format) {
            Some(read) => {
                draft.saw(format);
                read(self, draft);
            }
            None => draft.not_yet(format, self.at, Some(self.number)),
        }
    }

    fn patches(&self, draft: &mut Draft<'_>) {
        draft.saw(Format::PatchMany);
        self.check_keys(&[Key::Patches], draft);
        if let Some(value) = self.value(Key::Patches) {
            item(self.doc, value, &self.outer, draft);
        }
    }

    fn edits(&self, draft: &mut Draft<'_>) {
        self.check_keys(&[Key::Edits, Key::Path, Key::Tag], draft);
        let path = self.text(Key::Path, draft).map(|body| body.text.to_string());
        let mut outer = Outer { path: path.or_else(|| self.outer.path.clone()), ..self.outer.clone() };
        if let Precondition::Tagged(tag) = self.tag(draft) {
            outer.tag = Some(tag);
        }
        let Some(value) = self.value(Key::Edits) else {
            return;
        };
        if shape(value) != Shape::Array {
            return item(self.doc, value, &outer, draft);
        }
        for element in self.doc.elements(value) {
            item(self.doc, element, &outer, draft);
            // Later entries see the result of the first one, not the tagged text.
            outer.tag = None;
        }
    }

    fn calls(&self, draft: &mut Draft<'_>) {
        draft.saw(Format::Edits);
        self.check_keys(&[Key::Calls, Key::Steps], draft);
        for value in [Key::Calls, Key::Steps].into_iter().filter_map(|key| self.value(key)) {
            item(self.doc, value, &self.outer, draft);
        }
    }

    fn input(&self, draft: &mut Draft<'_>) {
        self.check_keys(&[Key::Input], draft);
        if let Some(body) = self.text(Key::Input, draft) {
            text(&body, self.at, draft);
        }
    }

    /// The object is `what`: its keys say so.
    fn unclassified(&self, what: &str) -> ParseError {
        let keys: Vec<String> = self.fields.iter().map(|f| format!("`{}`", f.written)).collect();
        let keys = if keys.is_empty() { "none".to_owned() } else { keys.join(", ") };
        let mut unknown = self.fields.iter().filter(|f| f.key.is_none()).map(|f| &f.written);
        let near = unknown.find_map(|k| Key::nearest(k).map(|n| format!("`{k}` may mean `{n}`")));
        let error = ParseError::at(self.at, format!("the object is {what}: its keys are {keys}"));
        ParseError { path: self.written_path(), ..error }.hint(near.unwrap_or_else(|| KINDS.to_owned()))
    }

    /// Warns about keys other than `meant`.
    pub(super) fn check_keys(&self, meant: &[Key], draft: &mut Draft<'_>) {
        // A wrapper has no number; its warnings go to the first entry in it.
        let entry = if self.number > 0 { self.number } else { draft.entries() + 1 };
        for field in &self.fields {
            let key = &field.written;
            let message = match field.key {
                Some(known) if meant.contains(&known) => continue,
                Some(_) => format!("the key `{key}` means nothing in this entry"),
                None => match Key::nearest(key) {
                    Some(near) => format!("the key `{key}` is unknown; did you mean `{near}`?"),
                    None => format!("the key `{key}` is unknown"),
                },
            };
            draft.warn(WarningCode::UnknownKey, entry, message);
        }
    }

    /// The value of a key.
    fn value(&self, key: Key) -> Option<&'a RawValue> {
        self.fields.iter().find(|field| field.key == Some(key)).map(|field| field.value)
    }

    /// Whether the key is there.
    pub(super) fn has(&self, key: Key) -> bool {
        self.value(key).is_some()
    }

    /// The decoded text of a key. `None` when it is absent, or no string (then an error is noted).
    pub(super) fn text(&self, key: Key, draft: &mut Draft<'_>) -> Option<Body> {
        let value = self.value(key)?;
        let found = match shape(value) {
            Shape::String => self.doc.string(value, key.as_str()),
            other => {
                let message = format!("`{}` must be a string, not {}", key.as_str(), other.as_str());
                Err(Box::new(ParseError::at(self.doc.at(value), message)))
            }
        };
        found.map_err(|error| draft.error(self.named(*error))).ok()
    }

    /// The strings of an array. `None` when it is absent, or holds anything else (then errors are noted).
    pub(super) fn strings(&self, key: Key, draft: &mut Draft<'_>) -> Option<Vec<Body>> {
        let value = self.value(key)?;
        if shape(value) != Shape::Array {
            let message =
                format!("`{}` must be an array of strings, not {}", key.as_str(), shape(value).as_str());
            self.error(message, None, draft);
            return None;
        }
        let mut strings = Vec::new();
        for (index, element) in self.doc.elements(value).into_iter().enumerate() {
            let field = format!("{}[{index}]", key.as_str());
            let found = match shape(element) {
                Shape::String => self.doc.string(element, &field),
                other => {
                    let message = format!("`{field}` must be a string, not {}", other.as_str());
                    Err(Box::new(ParseError::at(self.doc.at(element), message).hint("put it in quotes")))
                }
            };
            strings.push(found.map_err(|error| draft.error(self.named(*error))).ok());
        }
        strings.into_iter().collect()
    }

    /// A truth value or number as written. In quotes it is taken too, with a warning. `None` when it is absent.
    pub(super) fn literal(&self, key: Key, draft: &mut Draft<'_>) -> Option<String> {
        let value = self.value(key)?;
        if shape(value) != Shape::String {
            return Some(value.get().to_owned());
        }
        let text = self.text(key, draft)?.text.to_string();
        let message = format!("`{}` is written as a string", key.as_str());
        draft.warn(WarningCode::StringArgs, self.number, message);
        Some(text)
    }

    /// Path, place and precondition. `None` when there is no path (then an error is noted).
    pub(super) fn head(&self, draft: &mut Draft<'_>) -> Option<Head> {
        let path = if self.has(Key::Path) {
            self.text(Key::Path, draft)?.text.to_string()
        } else {
            let default = draft.options.default_path.as_ref().map(BatchPath::to_string);
            self.outer.path.clone().or(default).unwrap_or_default()
        };
        self.head_of(path, draft)
    }

    /// The same for a path that has no key of its own.
    pub(super) fn head_of(&self, path: String, draft: &mut Draft<'_>) -> Option<Head> {
        let expects = self.tag(draft);
        if path.is_empty() {
            self.error("the entry has no `path`", Some("add `\"path\": \"…\"`, or give `--path`"), draft);
            return None;
        }
        let path = BatchPath::from(&*path);
        Some(Head { entry: self.number, path, line: self.at.line, expects })
    }

    fn tag(&self, draft: &mut Draft<'_>) -> Precondition {
        let Some(body) = self.text(Key::Tag, draft) else {
            return self.outer.tag.clone().map_or(Precondition::Any, Precondition::Tagged);
        };
        Tag::parse(&body.text).map_or_else(
            || {
                let hint = "`patchmany read` prints the tag of a file";
                self.error("`tag` must be 8 to 64 hex digits", Some(hint), draft);
                Precondition::Any
            },
            Precondition::Tagged,
        )
    }

    /// Notes an error of the entry as a whole.
    pub(super) fn error(&self, message: impl Into<String>, hint: Option<&str>, draft: &mut Draft<'_>) {
        let error = ParseError { hint: hint.map(str::to_owned), ..ParseError::at(self.at, message) };
        draft.error(self.named(error));
    }

    fn named(&self, error: ParseError) -> ParseError {
        let entry = (self.number > 0).then_some(self.number);
        ParseError { entry, path: self.written_path(), ..error }
    }

    fn written_path(&self) -> Option<String> {
        let own = self.value(Key::Path).and_then(|value| serde_json::from_str(value.get()).ok());
        own.or_else(|| self.outer.path.clone())
    }
}
