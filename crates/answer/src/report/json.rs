//! The analysis itself as JSON, with the version of its schema. The schema stands in
//! `docs/schema/analysis.schema.json`.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::{Format, Options, Rendered, client, delivery};
use crate::analysis::client::model::ClientAnalysis;
use crate::analysis::delivery::model::DeliveryAnalysis;
use crate::analysis::model::Analysis;

/// The version of the schema: raised when a field changes its meaning or goes away.
pub const SCHEMA: u32 = 1;

/// What the file holds.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Document {
    /// The version of this schema.
    pub schema: u32,
    /// The results.
    #[serde(flatten)]
    pub analysis: Analysis,
}

/// `--format json`.
#[derive(Debug)]
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

    fn render_delivery(&self, analysis: &DeliveryAnalysis, _: &Options) -> Result<Vec<Rendered>> {
        Ok(vec![Rendered::new("analysis.json", delivery::json::bytes(analysis)?)])
    }

    fn render_client(&self, analysis: &ClientAnalysis, _: &Options) -> Result<Vec<Rendered>> {
        Ok(vec![Rendered::new("analysis.json", client::json::bytes(analysis)?)])
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    fn rendered(analysis: &Analysis) -> serde_json::Value {
        serde_json::from_slice(&Json.render(analysis, &Options::default()).unwrap()[0].bytes).unwrap()
    }

    #[test]
    fn what_is_written_keeps_the_schema_and_can_be_read_again() {
        let validator = jsonschema::validator_for(schemars::schema_for!(Document).as_value()).unwrap();
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
        let validator = jsonschema::validator_for(schemars::schema_for!(Document).as_value()).unwrap();
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
