//! The analysis itself as JSON, with the version of its schema. The schema stands in
//! `docs/schema/analysis.schema.json`.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::{Format, Options, Rendered};
use crate::analysis::model::Analysis;

/// The version of the schema: raised when a field changes its meaning or goes away.
pub const SCHEMA: u32 = 1;

/// What the file holds.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(title = "Analysis of a Weighbridge run")]
pub struct Document {
    /// The version of this schema.
    pub schema: u32,
    /// The results.
    #[serde(flatten)]
    pub analysis: Analysis,
}

/// `--format json`.
pub struct Json;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn extension(&self) -> &'static str {
        "json"
    }

    fn about(&self) -> &'static str {
        "every figure, for programs (docs/schema/analysis.schema.json)"
    }

    fn render(&self, analysis: &Analysis, _: &Options) -> Result<Vec<Rendered>> {
        let document = Document { schema: SCHEMA, analysis: analysis.clone() };
        let mut bytes = serde_json::to_vec_pretty(&document).context("writing the analysis as JSON")?;
        bytes.push(b'\n');
        Ok(vec![Rendered::new("analysis.json", bytes)])
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/analysis.schema.json");
    const UPDATE: &str = "UPDATE_SCHEMAS";

    fn schema() -> String {
        let mut text = serde_json::to_string_pretty(&schemars::schema_for!(Document)).unwrap();
        text.push('\n');
        text
    }

    fn rendered(analysis: &Analysis) -> serde_json::Value {
        serde_json::from_slice(&Json.render(analysis, &Options::default()).unwrap()[0].bytes).unwrap()
    }

    #[test]
    fn the_published_schema_is_the_present_one() {
        if std::env::var_os(UPDATE).is_some() {
            std::fs::create_dir_all(std::path::Path::new(PATH).parent().unwrap()).unwrap();
            std::fs::write(PATH, schema()).unwrap();
        }
        let published = std::fs::read_to_string(PATH).unwrap_or_default();
        assert!(published == schema(), "{PATH} is stale: run the tests once with {UPDATE}=1 and commit it");
    }

    #[test]
    fn what_is_written_keeps_the_schema_and_can_be_read_again() {
        let validator = jsonschema::validator_for(&serde_json::from_str(&schema()).unwrap()).unwrap();
        for analysis in [fixture::analysis(), fixture::hostile()] {
            let value = rendered(&analysis);
            let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{errors:?}");
            let back: Document = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(back.schema, SCHEMA);
            assert_eq!(rendered(&back.analysis), value);
        }
    }

    #[test]
    fn the_schema_can_refuse() {
        let validator = jsonschema::validator_for(&serde_json::from_str(&schema()).unwrap()).unwrap();
        let mut value = rendered(&fixture::analysis());
        value["cells"][0]["encoded_bytes"] = "many".into();
        assert!(!validator.is_valid(&value));
    }

    #[test]
    fn a_break_even_without_upper_end_is_null_and_comes_back_infinite() {
        let value = rendered(&fixture::analysis());
        assert!(value["groups"][1]["links"][0]["break_even"][0]["high"].is_null());
        let back: Document = serde_json::from_value(value).unwrap();
        assert_eq!(back.analysis.groups[1].links[0].break_even[0].high, f64::INFINITY);
    }
}
