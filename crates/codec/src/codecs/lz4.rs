//! LZ4's fast encoder, on bare blocks. It has no levels but an acceleration, which is an option here;
//! `lz4hc` is the encoder with levels.

use crate::lz4block::{self, Encoder};
use crate::{Codec, Coder, Error, Format, Info, OptionSpec, OptionValues, Params};

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
pub struct Lz4;

struct Both(Encoder);

impl Codec for Lz4 {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn library(&self) -> String {
        lz4block::library()
    }

    fn coder(&self, params: &Params) -> Result<Box<dyn Coder>, Error> {
        params.check(&INFO)?;
        // SAFETY: takes no pointer.
        let size = unsafe { lz4block::LZ4_sizeofState() };
        let acceleration = params.number("acceleration").unwrap_or(1);
        let compress = lz4block::LZ4_compress_fast_extState;
        Ok(Box::new(Both(Encoder::new(INFO.name, size, compress, acceleration))))
    }
}

impl Coder for Both {
    fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.0.encode(input, out)
    }

    fn decode(&mut self, input: &[u8], expected: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        lz4block::decode(INFO.name, input, expected, out)
    }
}
