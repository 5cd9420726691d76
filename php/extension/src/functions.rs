//! The functions: data that is all there.

use ext_php_rs::binary_slice::BinarySlice;
use ext_php_rs::boxed::ZBox;
use ext_php_rs::prelude::*;
use ext_php_rs::types::ZendHashTable;
use weighbridge_coding::{Coding, Plan, decode, encode, libraries};

use crate::{
    exception, fault,
    made::{Made, made},
};

/// Adds the functions to the module.
pub(crate) fn add(module: ModuleBuilder) -> ModuleBuilder {
    module
        .function(wrap_function!(weighbridge_encode))
        .function(wrap_function!(weighbridge_decode))
        .function(wrap_function!(weighbridge_info))
}

/// The data in a coding: gzip, deflate (zlib is another name for it), br, zstd, dcb or dcz. Levels are 0 to 12 for gzip and deflate, 0 to 11 for
/// br and dcb, -7 to 19 for zstd and dcz. A dictionary is possible for br and zstd, and needed for dcb and dcz.
#[php_function]
pub fn weighbridge_encode(
    data: BinarySlice<u8>,
    coding: &str,
    level: Option<i64>,
    dictionary: Option<BinarySlice<u8>>,
) -> PhpResult<Made> {
    let dictionary = dictionary.as_ref().map(|bytes| **bytes);
    let encoded = Coding::named(coding).and_then(|coding| {
        let plan = Plan::new(coding, level, dictionary)?;
        made(|out| {
            fault::at("encode");
            encode(&plan, &data, out)
        })
    });
    encoded.map_err(|error| exception::of(&error))
}

/// What the data decodes to, at most `max_bytes` bytes.
#[php_function]
pub fn weighbridge_decode(
    data: BinarySlice<u8>,
    coding: &str,
    max_bytes: i64,
    dictionary: Option<BinarySlice<u8>>,
) -> PhpResult<Made> {
    let Ok(limit) = usize::try_from(max_bytes) else {
        let message = format!("max_bytes is {max_bytes}; it is the most bytes that may come out, 0 or more");
        return Err(exception::named("InvalidArgumentException", message));
    };
    let dictionary = dictionary.as_ref().map(|bytes| **bytes);
    let decoded = Coding::named(coding).and_then(|coding| {
        made(|out| {
            fault::at("decode");
            decode(coding, &data, limit, dictionary, out)
        })
    });
    decoded.map_err(|error| exception::of(&error))
}

/// The version, the libraries with theirs, and the levels of each coding.
#[php_function]
pub fn weighbridge_info() -> PhpResult<ZBox<ZendHashTable>> {
    let mut known = ZendHashTable::new();
    for (library, version) in libraries() {
        known.insert(library, version)?;
    }
    let mut codings = ZendHashTable::new();
    for coding in Coding::ALL {
        let mut levels = ZendHashTable::new();
        levels.insert("least", *coding.levels().start())?;
        levels.insert("most", *coding.levels().end())?;
        levels.insert("default", coding.default_level())?;
        codings.insert(coding.name(), levels)?;
    }
    let mut all = ZendHashTable::new();
    all.insert("version", env!("CARGO_PKG_VERSION"))?;
    all.insert("libraries", known)?;
    all.insert("codings", codings)?;
    Ok(all)
}
