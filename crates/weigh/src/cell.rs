//! A cell: one value for every factor of a study.

use serde::{Deserialize, Serialize};

use crate::setting::Setting;

/// Which kind of thing a cell puts under test.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A native codec.
    Codec,
    /// A codec called from PHP.
    PhpCodec,
}

/// One value for every factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cell {
    /// Unique in its plan and stable between plans:
    /// `payload/runtime/serializer/setting`, such as `tree-2.4m/php8.2/serialize/gzdeflate:6`; the
    /// serializer part is `-` for cells on bytes.
    pub id: String,
    /// The kind of thing under test.
    pub subject: Subject,
    /// The payload's name in the plan.
    pub payload: String,
    /// The runtime's name in the plan: `native`, or a PHP such as `php8.2`.
    pub runtime: String,
    /// `serialize`, `igbinary`, `msgpack`: the cell encodes a PHP value; `None`: it encodes bytes.
    pub serializer: Option<String>,
    /// Codec, level and options.
    pub setting: Setting,
    /// Never stopped for being dominated, because its own figures are shown (a table of all levels).
    #[serde(default)]
    pub keep: bool,
    /// Expected CPU seconds of one encode and one decode, from nominal figures: for ordering and forecasts only.
    pub expected_seconds: f64,
}

impl Cell {
    /// The identifier that belongs to these factors.
    pub fn make_id(payload: &str, runtime: &str, serializer: Option<&str>, setting: &Setting) -> String {
        format!("{payload}/{runtime}/{}/{setting}", serializer.unwrap_or("-"))
    }

    /// Cells of one group compete on one front: same payload, same runtime.
    pub fn group(&self) -> String {
        format!("{}/{}", self.payload, self.runtime)
    }
}
