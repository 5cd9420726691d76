//! The class: data that comes in pieces.

use ext_php_rs::binary_slice::BinarySlice;
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::prelude::*;
use weighbridge_coding::{Coding, Encoder, Error, Plan};

use crate::{
    exception, fault,
    made::{Made, made},
};

/// An encoder of one stream. It can be neither copied nor stored.
#[php_class]
#[php(flags = ClassFlags::Final)]
pub struct WeighbridgeEncoder(Encoder);

impl WeighbridgeEncoder {
    fn step(
        &mut self,
        step: impl FnOnce(&mut Encoder, &mut Vec<u8>) -> Result<(), Error>,
    ) -> PhpResult<Made> {
        let piece = made(|out| {
            fault::at("encoder");
            step(&mut self.0, out)
        });
        piece.map_err(|error| exception::of(&error))
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
        let encoder = Coding::named(coding)
            .and_then(|coding| Plan::new(coding, level, dictionary))
            .and_then(|plan| Encoder::new(&plan));
        encoder.map(WeighbridgeEncoder).map_err(|error| exception::of(&error))
    }

    /// Takes data; what is ready of the stream, often nothing.
    pub fn add(&mut self, data: BinarySlice<u8>) -> PhpResult<Made> {
        self.step(|encoder, out| encoder.add(&data, out))
    }

    /// The rest of what was added, so that the client can decode all of it.
    pub fn flush(&mut self) -> PhpResult<Made> {
        self.step(Encoder::flush)
    }

    /// The end of the stream.
    pub fn finish(&mut self) -> PhpResult<Made> {
        self.step(Encoder::finish)
    }
}
