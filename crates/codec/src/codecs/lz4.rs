//! LZ4's fast encoder, on bare blocks. It has no levels but an acceleration, which is an option here;
//! `lz4hc` is the encoder with levels.

use crate::lz4block::{self, Lz4};
use crate::{Format, Info, OptionSpec, OptionValues};

static INFO: Info = Info {
    name: "lz4",
    format: Format::Lz4Block,
    levels: None,
    options: &[OptionSpec {
        name: "acceleration",
        values: OptionValues::Range(1, 65537),
        about: "larger is faster and compresses less; default 1",
    }],
    sets: &["cache", "fast"],
    nominal: &[(0, 421.0)],
};

/// The codec over LZ4's fast encoder.
pub const LZ4: Lz4 = Lz4 {
    info: &INFO,
    size: lz4block::LZ4_sizeofState,
    compress: lz4block::LZ4_compress_fast_extState,
    setting: |params| params.number("acceleration").unwrap_or(1),
};
