//! Documents follow `schemas/`.

use serde_json::Value;
use std::path::Path;

pub(crate) fn schema(name: &str) -> Value {
    let path = Path::new(crate::REPOSITORY).join("schemas").join(name);
    let text = std::fs::read_to_string(path).expect(name);
    serde_json::from_str(&text).expect(name)
}

pub(crate) fn assert_valid(name: &str, document: &Value) {
    assert_valid_by(&schema(name), document);
}

pub(crate) fn assert_valid_by(schema: &Value, document: &Value) {
    let validator = jsonschema::validator_for(schema).expect("a schema");
    let errors: Vec<String> =
        validator.iter_errors(document).map(|it| format!("{}: {it}", it.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}
