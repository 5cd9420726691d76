//! What is printed keeps its published schema.

use std::path::Path;

use serde_json::Value;

/// Reads a document, and asserts that it keeps the schema and that the schema would notice if it did not.
pub fn document(text: &str) -> Value {
    let written: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/load.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<_> =
        validator.iter_errors(&written).map(|e| format!("{e} at {}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:?}");
    for member in written.as_object().unwrap().keys() {
        let mut wrong = written.clone();
        wrong[member] = serde_json::json!([{ "no": "such thing" }]);
        assert!(!validator.is_valid(&wrong), "{member} may be anything");
    }
    written
}
