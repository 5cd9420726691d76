//! zlib-ng with its native interface, so that it can be in one binary with zlib.

use crate::{Format, Info, LevelRange, zstream};

static INFO: Info = Info {
    name: "zlib-ng",
    format: Format::Gzip,
    levels: Some(LevelRange { min: 0, max: 9, default: 6, representative: &[1, 6, 9] }),
    options: zstream::OPTIONS,
    sets: &["web", "fast"],
    nominal: &[(0, 2000.0), (1, 189.0), (6, 46.0), (9, 23.0)],
};

zstream::api!(ZlibNg, libz_ng_sys, &INFO);
