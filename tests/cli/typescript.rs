//! `schemas/utmost.d.ts` has the types of the schemas; `UTMOST_BLESS=1` writes it anew.

use crate::documents::schemas;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What narrows a type in a way that TypeScript cannot express.
const NARROWING: [&str; 17] = [
    "contentEncoding",
    "default",
    "else",
    "exclusiveMinimum",
    "if",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "not",
    "pattern",
    "then",
    "unevaluatedProperties",
    "uniqueItems",
];

/// What the functions below read.
const READ: [&str; 16] = [
    "$defs",
    "$id",
    "$ref",
    "$schema",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "description",
    "enum",
    "items",
    "oneOf",
    "prefixItems",
    "properties",
    "required",
    "title",
];

const HEAD: &str = "// The types of the JSON that `utmost` prints, writes and reads. Generated from the schemas beside this file:
// UTMOST_BLESS=1 cargo test --test cli types
//
// Each document has its `format`, so that a program can tell them apart. Ranges and patterns are in the schemas only.
";

/// The types of one schema.
struct Types<'a> {
    /// Begins all its names.
    prefix: &'a str,
}

impl Types<'_> {
    /// The declaration of a type and of those that it defines.
    fn declarations(&self, schema: &Value) -> String {
        let mut text = self.declaration(self.prefix, schema, schema["title"].as_str());
        for (name, definition) in sorted(&schema["$defs"]).into_iter().flatten() {
            let name = format!("{}{}", self.prefix, in_camel_case(name));
            text += &self.declaration(&name, definition, None);
        }
        text
    }

    fn declaration(&self, name: &str, schema: &Value, title: Option<&str>) -> String {
        let about = schema["description"].as_str().or(title);
        let about = about.map_or_else(String::new, |it| comment(it, ""));
        format!("\n{about}export type {name} = {};\n", self.written(schema, ""))
    }

    /// A schema as a type; lines after its first begin with `indent`.
    fn written(&self, schema: &Value, indent: &str) -> String {
        let Some(fields) = schema.as_object() else {
            return if schema == &Value::Bool(false) { "never" } else { "unknown" }.to_owned();
        };
        let is_known = |it: &&String| {
            *it == "type" || NARROWING.contains(&it.as_str()) || READ.contains(&it.as_str())
        };
        let unknown: Vec<&String> = fields.keys().filter(|it| !is_known(it)).collect();
        assert!(unknown.is_empty(), "{}: no type for the keywords {unknown:?}", self.prefix);
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.strip_prefix("#/$defs/").expect("a definition of the same file");
            return format!("{}{}", self.prefix, in_camel_case(name));
        }
        if let Some(value) = fields.get("const") {
            return value.to_string();
        }
        let alternatives = ["oneOf", "anyOf"].iter().find_map(|it| schema[it].as_array());
        if let Some(alternatives) = alternatives {
            let union = union(alternatives.iter().map(|it| self.written(it, indent)));
            // What all alternatives have stands beside them.
            return match schema["properties"] {
                Value::Null => union,
                _ => format!("{} & ({union})", self.object(schema, indent)),
            };
        }
        if let Some(values) = schema["enum"].as_array() {
            return union(values.iter().map(ToString::to_string));
        }
        match &schema["type"] {
            Value::String(name) => self.of_type(name, schema, indent),
            Value::Array(names) => union(names.iter().map(|name| {
                self.of_type(name.as_str().expect("the name of a type"), schema, indent)
            })),
            _ => "unknown".to_owned(),
        }
    }

    fn of_type(&self, name: &str, schema: &Value, indent: &str) -> String {
        match name {
            "null" | "boolean" | "string" | "number" => name.to_owned(),
            "integer" => "number".to_owned(),
            "array" => self.array(schema, indent),
            "object" => self.object(schema, indent),
            other => panic!("{}: no type for `{other}`", self.prefix),
        }
    }

    fn array(&self, schema: &Value, indent: &str) -> String {
        let places = schema["prefixItems"].as_array();
        if let Some(places) = places.filter(|_| schema["items"] == false) {
            let places: Vec<String> = places.iter().map(|it| self.written(it, indent)).collect();
            return format!("[{}]", places.join(", "));
        }
        // Where all items have a type of their own, `items` narrows it further.
        let all =
            schema["allOf"].as_array().and_then(|it| it.iter().find_map(|it| it.get("items")));
        let items = all.unwrap_or(&schema["items"]);
        format!("Array<{}>", self.written(items, indent))
    }

    fn object(&self, schema: &Value, indent: &str) -> String {
        let more = &schema["additionalProperties"];
        let Some(properties) = sorted(&schema["properties"]) else {
            return format!("Record<string, {}>", self.written(more, indent));
        };
        let inner = format!("{indent}  ");
        let required = schema["required"].as_array();
        let is_required =
            |name: &str| required.is_some_and(|it| it.iter().any(|it| it.as_str() == Some(name)));
        let mut text = "{\n".to_owned();
        for (name, property) in properties {
            let about = property["description"].as_str();
            text += &about.map_or_else(String::new, |it| comment(it, &inner));
            let mark = if is_required(name) { "" } else { "?" };
            let written = self.written(property, &inner);
            text += &[&*inner, &*key(name), mark, ": ", &written, ";\n"].concat();
        }
        if more.is_object() {
            let others = self.written(more, &inner);
            text += &comment(&format!("Further names have the type {others}."), &inner);
            text += &[&*inner, "[name: string]: unknown;\n"].concat();
        }
        format!("{text}{indent}}}")
    }
}

/// The fields of an object by name, whatever order the reader of JSON keeps.
fn sorted(object: &Value) -> Option<BTreeMap<&String, &Value>> {
    Some(object.as_object()?.iter().collect())
}

/// `qlog-hol` and `by_hints` as `QlogHol` and `ByHints`.
fn in_camel_case(name: &str) -> String {
    let words = name.split(['-', '_']);
    words.map(|it| it[..1].to_uppercase() + &it[1..]).collect()
}

fn union(alternatives: impl Iterator<Item = String>) -> String {
    alternatives.collect::<Vec<_>>().join(" | ")
}

fn comment(text: &str, indent: &str) -> String {
    format!("{indent}/** {} */\n", text.replace("*/", "*\u{2044}"))
}

/// A property's name, in quotes if it must be.
fn key(name: &str) -> String {
    let is_plain = name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    if is_plain && !name.starts_with(|it: char| it.is_ascii_digit()) {
        name.to_owned()
    } else {
        Value::from(name).to_string()
    }
}

/// The file of all types.
fn types() -> String {
    let mut text = HEAD.to_owned();
    let mut names = Vec::new();
    for (name, schema) in schemas() {
        let prefix = in_camel_case(&name);
        text += &Types { prefix: &prefix }.declarations(&schema);
        names.push(prefix);
    }
    let all = names.join("\n  | ");
    format!("{text}\n/** Any of the documents. */\nexport type UtmostDocument =\n  | {all};\n")
}

#[test]
fn types_are_what_the_schemas_say() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/utmost.d.ts");
    let types = types();
    if std::env::var_os("UTMOST_BLESS").is_some() {
        std::fs::write(&file, &types).expect("written");
    }
    let intact = std::fs::read_to_string(&file).expect("the types");
    assert!(
        intact == types,
        "schemas/utmost.d.ts is out of date: UTMOST_BLESS=1 cargo test --test cli types"
    );
}

#[test]
fn types_have_names_of_their_own() {
    let types = types();
    let names = types.lines().filter_map(|it| it.strip_prefix("export type ")?.split(' ').next());
    let (mut known, mut twice) = (BTreeSet::new(), Vec::new());
    names.for_each(|it| {
        if !known.insert(it) {
            twice.push(it);
        }
    });
    assert!(twice.is_empty(), "{twice:?}");
}

#[test]
fn types_of_a_schema_are_those_of_typescript() {
    let schema = serde_json::json!({
        "title": "A page.",
        "type": "object",
        "required": ["format", "run"],
        "properties": {
            "format": {"const": "utmost-page/1"},
            "run": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": false},
            "url": {"description": "Ends */ here.", "type": ["string", "null"]},
            "by-name": {"type": "object", "additionalProperties": {"$ref": "#/$defs/load_time"}}
        },
        "$defs": {
            "load_time": {"oneOf": [{"type": "number", "minimum": 0}, {"enum": ["never"]}]},
            "load": {
                "type": "object",
                "properties": {"at": {"type": "number"}},
                "oneOf": [{"$ref": "#/$defs/load_time"}, {"type": "null"}],
                "unevaluatedProperties": false
            }
        }
    });
    let expected = r#"
/** A page. */
export type Page = {
  "by-name"?: Record<string, PageLoadTime>;
  format: "utmost-page/1";
  run: [number, string];
  /** Ends *⁄ here. */
  url?: string | null;
};

export type PageLoad = {
  at?: number;
} & (PageLoadTime | null);

export type PageLoadTime = number | "never";
"#;
    assert_eq!(Types { prefix: "Page" }.declarations(&schema), expected);
}

#[test]
#[should_panic(expected = "no type for the keywords [\"patternProperties\"]")]
fn types_of_an_unknown_keyword_are_refused() {
    Types { prefix: "Page" }.declarations(&serde_json::json!({"patternProperties": {}}));
}
