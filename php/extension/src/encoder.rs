//! The class: data that comes in pieces.

use ext_php_rs::binary_slice::BinarySlice;
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::prelude::*;
use weighbridge_coding::{Coding, Encoder, Operation, Plan};

use crate::{bytes::Bytes, error::exception, fault};

/// An encoder of one stream. It can be neither copied nor stored.
#[php_class]
#[php(flags = ClassFlags::Final)]
pub struct WeighbridgeEncoder(Encoder);

impl WeighbridgeEncoder {
    fn run(&mut self, data: &[u8], operation: Operation) -> PhpResult<Bytes> {
        let piece = Bytes::new(|out| {
            fault::at("encoder");
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
