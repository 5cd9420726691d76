//! A study's blocks of codec cells.

use serde::{Deserialize, Serialize};

use crate::study::block::{Block, Quick, quick_factors, to_strings};

/// Every combination of these factors is a cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellBlock {
    /// What the block is for.
    #[serde(default)]
    pub about: String,
    /// Contents by name: `value:tree-2.4m`, `corpus:jquery`, `set:web`.
    pub content: Vec<String>,
    /// `native`, `php` (every PHP of the run), or one runtime's name.
    pub runtimes: Vec<String>,
    /// Serializers; `-` is a cell on bytes. Absent: bytes only.
    #[serde(default = "bytes_only")]
    pub serializers: Vec<String>,
    /// Settings: see [`weigh_model::setting::Request`].
    pub codecs: Vec<String>,
    /// Measure every cell to the end, because its own figures are shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
    /// Cut the content into items of this many bytes, each encoded on its own.
    pub block_bytes: Option<u64>,
    /// What the quick form does with this block; absent: the same as the whole study.
    pub quick: Option<Quick<QuickCellFactors>>,
}

fn bytes_only() -> Vec<String> {
    to_strings(["-"])
}

quick_factors!(QuickCellFactors of CellBlock: content: Vec<String>, serializers: Vec<String>, codecs: Vec<String>);
