//! The JSON Schema of batches: derived from the types of entries, with every spelling that their keys may have.
//!
//! A batch that is read without an option fits it. What stands inside of strings (blocks, hunks) it does not judge.

use super::entry::{CallEntry, EditEntry, OpsEntry, PatchEntry, WriteEntry};
use crate::input::spellings;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// What makes an object one of its kind; two kinds at once are none.
const MARKS: &[&str] = &[
    "patch",
    "patches",
    "operation",
    "diff",
    "moveTo",
    "edits",
    "content",
    "calls",
    "steps",
    "tool",
    "changes",
    "patchmany_plan",
    "input",
];

/// The schema of a batch in JSON, as a whole.
pub fn batch() -> Value {
    let kinds = [
        entry::<PatchEntry>(&["patch"], &[], &json!({ "not": old_and_new() })),
        entry::<OpsEntry>(&["operation", "diff", "moveTo"], &[], &operation()),
        entry::<EditEntry>(&["old_string", "new_string"], &[], &json!({})),
        entry::<WriteEntry>(&["content"], &["old_string", "new_string"], &json!({})),
        entry::<CallEntry>(&["tool"], &[], &json!({})),
    ];
    let entry = |at: &str| json!({ "$ref": format!("#/$defs/{at}") });
    let (batch, any) = (entry("batch"), entry("entry"));
    let wrapper = |key: &str, value: &Value| {
        of_kind(&[key], &[], json!({ "required": [key], "properties": { key: value } }))
    };
    let named = json!({ "anyOf": [has("path"), { "required": ["tool"] }] });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A batch of edits for patchmany, as JSON",
        "$ref": "#/$defs/batch",
        "$defs": {
            "batch": { "anyOf": [
                { "type": "array", "minItems": 1, "items": batch },
                { "type": "string", "minLength": 1 },
                { "allOf": [any, named] },
                wrapper("patches", &batch),
                wrapper("calls", &batch),
                wrapper("steps", &batch),
                wrapper("input", &json!({ "type": "string", "minLength": 1 })),
                wrapper("edits", &batch),
                { "allOf": [has("path"), wrapper("edits", &entry("pathless"))] },
            ] },
            "pathless": { "anyOf": [any, { "type": "array", "minItems": 1, "items": any }] },
            "entry": { "anyOf": kinds },
        },
    })
}

/// The schema of an entry that one of `marks` makes what it is; `others` must not be there.
fn entry<T: JsonSchema>(marks: &[&str], others: &[&str], rules: &Value) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("$schema");
        fields.remove("title");
        spell(fields);
    }
    let mut whole = of_kind(marks, others, schema);
    if let (Some(all), true) = (whole["allOf"].as_array_mut(), *rules != json!({})) {
        all.push(rules.clone());
    }
    whole
}

/// Gives every key all its spellings, and takes what a string says for what it means.
fn spell(schema: &mut Map<String, Value>) {
    let required = schema.remove("required").unwrap_or_default();
    let needed = required.as_array().into_iter().flatten().filter_map(Value::as_str);
    // The path may be that of a wrapper.
    let needed: Vec<Value> = needed.filter(|key| *key != "path").map(has).collect();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for (key, of) in properties.clone() {
            let of = match &*key {
                "replace_all" | "allow_empty" => json!({ "anyOf": [of, { "enum": ["true", "false"] }] }),
                "expected" => {
                    json!({ "anyOf": [of, { "type": "string", "pattern": "^[0-9]*[1-9][0-9]*$" }] })
                }
                _ => of,
            };
            for spelling in spellings(&key) {
                properties.insert((*spelling).to_owned(), of.clone());
            }
            properties.insert(key, of);
        }
    }
    if !needed.is_empty() {
        schema.insert("allOf".to_owned(), needed.into());
    }
}

/// An object with none of the marks of other kinds.
fn of_kind(marks: &[&str], others: &[&str], schema: Value) -> Value {
    let foreign = MARKS.iter().filter(|mark| !marks.contains(mark)).chain(others);
    let foreign: Vec<Value> = foreign.map(|mark| has(mark)).collect();
    json!({ "type": "object", "allOf": [schema, { "not": { "anyOf": foreign } }] })
}

/// That a key is there, in any spelling, and not null, which stands for nothing.
fn has(key: &str) -> Value {
    let all = spellings(key);
    let all = if all.is_empty() { &[key][..] } else { all };
    let there =
        |key: &&str| json!({ "required": [key], "properties": { *key: { "not": { "type": "null" } } } });
    json!({ "anyOf": all.iter().map(there).collect::<Vec<_>>() })
}

fn old_and_new() -> Value {
    json!({ "allOf": [has("old_string"), has("new_string")] })
}

/// What each operation needs and does not take.
fn operation() -> Value {
    let is = |name: &str| {
        let there = |key: &&str| json!({ "required": [key], "properties": { *key: { "const": name } } });
        json!({ "anyOf": spellings("operation").iter().map(there).collect::<Vec<_>>() })
    };
    json!({ "allOf": [
        { "not": old_and_new() },
        { "if": is("create"), "then": { "allOf": [has("diff"), { "not": has("moveTo") }] } },
        { "if": is("delete"), "then": { "not": { "anyOf": [has("diff"), has("moveTo")] } } },
        { "anyOf": [is("create"), is("delete"), has("diff"), has("moveTo")] },
    ] })
}
