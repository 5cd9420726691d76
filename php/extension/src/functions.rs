//! What PHP calls: functions for data that is all there, and a class for data that comes in pieces.

use ext_php_rs::binary_slice::BinarySlice;
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::prelude::*;
use ext_php_rs::zend::{ClassEntry, ce};
use weighbridge_coding::{Coding, Encoder, Error, Operation, Plan, decode, encode};

use crate::{bytes::Bytes, ini::fault};

/// Adds all of it to the module.
pub(crate) fn add(module: ModuleBuilder) -> ModuleBuilder {
    module
        .function(wrap_function!(weighbridge_encode))
        .function(wrap_function!(weighbridge_decode))
        .function(wrap_function!(weighbridge_output_handler))
        .class::<WeighbridgeEncoder>()
}

/// `ValueError` for arguments, `LogicException` for a finished encoder, `RuntimeException` for the data and for memory.
fn exception(error: Error) -> PhpException {
    let class = |name| ClassEntry::try_find(name).unwrap_or_else(ce::exception);
    let class = match error {
        Error::Unknown(_) | Error::Level(..) | Error::Dictionary(_) => ce::value_error(),
        Error::Finished => class("LogicException"),
        _ => class("RuntimeException"),
    };
    PhpException::new(error.to_string(), 0, class)
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
    let coding = Coding::named(coding);
    let plan = coding.and_then(|coding| Plan::new(coding, level, dictionary.as_ref().map(|bytes| **bytes)));
    let encoded = plan.and_then(|plan| {
        Bytes::new(|out| {
            fault("encode");
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
    let decoded = Coding::named(coding).and_then(|coding| {
        Bytes::new(|out| {
            fault("decode");
            decode(coding, &data, limit, dictionary.as_ref().map(|bytes| **bytes), out)
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

/// An encoder of one stream. It can be neither copied nor stored.
#[php_class]
#[php(flags = ClassFlags::Final)]
pub struct WeighbridgeEncoder(Encoder);

impl WeighbridgeEncoder {
    fn run(&mut self, data: &[u8], operation: Operation) -> PhpResult<Bytes> {
        let piece = Bytes::new(|out| {
            fault("encoder");
            self.0.run(data, operation, out)
        });
        piece.map_err(exception)
    }
}

#[php_impl]
impl WeighbridgeEncoder {
    /// Coding, level and dictionary are as for `weighbridge_encode`.
    pub fn __construct(
        coding: &str,
        level: Option<i64>,
        dictionary: Option<BinarySlice<u8>>,
    ) -> PhpResult<WeighbridgeEncoder> {
        let dictionary = dictionary.as_ref().map(|bytes| **bytes);
        let plan = Coding::named(coding).and_then(|coding| Plan::new(coding, level, dictionary));
        plan.and_then(|plan| Encoder::new(&plan)).map(WeighbridgeEncoder).map_err(exception)
    }

    /// Takes data; what is ready of the stream, often nothing.
    pub fn add(&mut self, data: BinarySlice<u8>) -> PhpResult<Bytes> {
        self.run(&data, Operation::Process)
    }

    /// The rest of what was added, so that the client can decode all of it.
    pub fn flush(&mut self) -> PhpResult<Bytes> {
        self.run(&[], Operation::Flush)
    }

    /// The end of the stream.
    pub fn finish(&mut self) -> PhpResult<Bytes> {
        self.run(&[], Operation::Finish)
    }
}
