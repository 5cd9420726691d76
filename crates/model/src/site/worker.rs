//! What PHP that lives on from request to request keeps of one in the next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A running site in worker mode, as it was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerMode {
    /// How many requests it was asked.
    pub requests: u64,
    /// The pages.
    pub pages: Vec<WorkerPage>,
    /// Bytes of anonymous memory that its processes had before the last requests. Absent: it may not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Bytes by which that grows with a request, and the ends of a 95% interval (Sen's slope). Absent: not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_request: Option<[f64; 3]>,
}

/// A page in worker mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerPage {
    /// The path of its URL.
    pub page: String,
    /// What of earlier requests shows in it, or why that cannot be told. Absent: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeps: Option<String>,
}

impl WorkerMode {
    /// Requests after which it has twice the memory; none: it does not grow, as far as was measured.
    pub fn doubled_after(&self) -> Option<f64> {
        let [value, low, _] = self.bytes_per_request?;
        let bytes = self.bytes?;
        (low > 0.0).then_some(bytes as f64 / value)
    }

    /// Whether its amounts are such.
    pub(super) fn is_sound(&self) -> bool {
        let ends = self.bytes_per_request.unwrap_or_default();
        ends.iter().all(|end| end.is_finite()) && ends[1] <= ends[0] && ends[0] <= ends[2]
    }
}
