//! The report as JSON, with the version of its schema, which all studies share: `docs/schema/report.schema.json`.

use anyhow::{Context, Result};
use serde::Serialize;

use super::composed::Composed;
use crate::format::form::{Form, Format, Medium};
use crate::output::{Options, Rendered};
use crate::report::Report;

/// The version of the schema: raised when a field changes its meaning or is removed.
pub const SCHEMA: u32 = 2;

/// The content of the file.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Document {
    /// The version of this schema.
    pub schema: u32,
    /// The results.
    #[serde(flatten)]
    pub report: Report,
}

#[derive(Debug)]
pub struct Json;

impl Format for Json {
    fn form(&self) -> Form {
        Form { name: "json", extension: "json", medium: Medium::Text }
    }

    fn render(&self, report: &Report, _: &Options) -> Result<Vec<Rendered>> {
        let document = Document { schema: SCHEMA, report: report.clone() };
        let mut bytes = serde_json::to_vec_pretty(&document).context("writing the report as JSON")?;
        bytes.push(b'\n');
        Ok(vec![Rendered::new("report.json", bytes)])
    }

    fn render_composed(&self, composed: &Composed, _: &Options) -> Result<Vec<Rendered>> {
        Ok(vec![Rendered::new("report.json", composed.json.clone())])
    }
}
