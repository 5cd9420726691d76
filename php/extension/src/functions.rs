//! The functions: data that is all there.

use ext_php_rs::binary_slice::BinarySlice;
use ext_php_rs::prelude::*;
use ext_php_rs::zend::ce;
use weighbridge_coding::{Coding, Plan, decode, encode};

use crate::{bytes::Bytes, error::exception, fault};

/// Adds the functions to the module.
pub(crate) fn add(module: ModuleBuilder) -> ModuleBuilder {
    module
        .function(wrap_function!(weighbridge_encode))
        .function(wrap_function!(weighbridge_decode))
        .function(wrap_function!(weighbridge_output_handler))
}

/// The data in a coding: gzip, deflate (zlib is another name for it), br or zstd. Levels are 0 to 12 for gzip and deflate, 0 to 11 for br, -7 to
/// 19 for zstd. A dictionary is possible for zstd.
#[php_function]
pub fn weighbridge_encode(
    data: BinarySlice<u8>,
    coding: &str,
    level: Option<i64>,
    dictionary: Option<BinarySlice<u8>>,
) -> PhpResult<Bytes> {
    let dictionary = dictionary.as_ref().map(|bytes| **bytes);
    let plan = Coding::named(coding).and_then(|coding| Plan::new(coding, level, dictionary));
    let encoded = plan.and_then(|plan| {
        Bytes::new(|out| {
            fault::at("encode");
            encode(&plan, &data, out)
        })
    });
    encoded.map_err(exception)
}

/// What the data decodes to, at most `max_bytes` bytes.
#[php_function]
pub fn weighbridge_decode(
    data: BinarySlice<u8>,
    coding: &str,
    max_bytes: i64,
    dictionary: Option<BinarySlice<u8>>,
) -> PhpResult<Bytes> {
    let Ok(limit) = usize::try_from(max_bytes) else {
        let message = format!("max_bytes is {max_bytes}; it is the most bytes that may come out, 0 or more");
        return Err(PhpException::new(message, 0, ce::value_error()));
    };
    let dictionary = dictionary.as_ref().map(|bytes| **bytes);
    let decoded = Coding::named(coding).and_then(|coding| {
        Bytes::new(|out| {
            fault::at("decode");
            decode(coding, &data, limit, dictionary, out)
        })
    });
    decoded.map_err(exception)
}

/// The name that php.ini and `ob_start()` take for the output handler. Called as a function, from a handler of the application's own, it
/// changes nothing: what such a buffer holds need not be the body of the response.
#[php_function]
pub fn weighbridge_output_handler(buffer: BinarySlice<u8>, flags: i64) -> bool {
    let _ = (buffer, flags);
    false
}
