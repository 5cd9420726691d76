//! The analysis of a delivery study as JSON, with the version of its schema. The schema stands in
//! `docs/schema/delivery.schema.json`.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::analysis::delivery::model::DeliveryAnalysis;

/// The version of the schema: raised when a field changes its meaning or goes away.
pub const SCHEMA: u32 = 1;

/// What the file holds.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Document {
    /// The version of this schema.
    pub schema: u32,
    /// The results.
    #[serde(flatten)]
    pub analysis: DeliveryAnalysis,
}

/// The file's bytes.
///
/// # Errors
/// A number that JSON cannot hold.
pub fn bytes(analysis: &DeliveryAnalysis) -> Result<Vec<u8>> {
    let document = Document { schema: SCHEMA, analysis: analysis.clone() };
    let mut bytes = serde_json::to_vec_pretty(&document).context("writing the analysis as JSON")?;
    bytes.push(b'\n');
    Ok(bytes)
}
