//! LZ4's thorough encoder, on bare blocks that the same decoder reads.

use crate::lz4block::{self, Lz4};
use crate::{Format, Info, LevelRange};

static INFO: Info = Info {
    name: "lz4hc",
    format: Format::Lz4Block,
    levels: Some(LevelRange { min: 1, max: 12, default: 9, representative: &[1, 4, 9, 12] }),
    options: &[],
    sets: &["cache"],
    nominal: &[(1, 110.0), (4, 60.0), (9, 24.0), (12, 8.0)],
};

/// The codec over LZ4's thorough encoder.
pub const LZ4_HC: Lz4 = Lz4 {
    info: &INFO,
    size: lz4block::LZ4_sizeofStateHC,
    compress: lz4block::LZ4_compress_HC_extStateHC,
    setting: |params| params.level_or_default(&INFO),
};
