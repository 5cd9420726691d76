//! zlib, the reference implementation, built from the source that comes with `libz-sys`.

use crate::{Format, Info, LevelRange, zstream};

static INFO: Info = Info {
    name: "zlib",
    format: Format::Gzip,
    levels: Some(LevelRange { min: 0, max: 9, default: 6, representative: &[1, 6, 9] }),
    options: zstream::OPTIONS,
    sets: &["web", "cache"],
    nominal: &[(0, 1000.0), (1, 85.0), (6, 18.0), (9, 9.0)],
};

zstream::api!(Zlib, libz_sys, &INFO);
