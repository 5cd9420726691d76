//! zlib-rs: zlib's interface, implemented in Rust.

use crate::{Format, Info, LevelRange, zstream};

static INFO: Info = Info {
    name: "zlib-rs",
    format: Format::Gzip,
    levels: Some(LevelRange { min: 0, max: 9, default: 6, representative: &[1, 6, 9] }),
    options: zstream::OPTIONS,
    sets: &["web"],
    nominal: &[(0, 2000.0), (1, 180.0), (6, 45.0), (9, 22.0)],
};

zstream::api!(ZlibRs, libz_rs_sys, &INFO);
