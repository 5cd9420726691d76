//! LZ4's thorough encoder, on bare blocks that the same decoder reads.

use crate::lz4block::{self, Encoder};
use crate::{Codec, Coder, Error, Format, Info, LevelRange, Params};

static INFO: Info = Info {
    name: "lz4hc",
    format: Format::Lz4Block,
    levels: Some(LevelRange { min: 1, max: 12, default: 9, representative: &[1, 4, 9, 12] }),
    options: &[],
    sets: &["cache"],
    nominal: &[(1, 110.0), (4, 60.0), (9, 24.0), (12, 8.0)],
};

/// The codec over LZ4's thorough encoder.
pub struct Lz4Hc;

struct Both(Encoder);

impl Codec for Lz4Hc {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn library(&self) -> String {
        lz4block::library()
    }

    fn coder(&self, params: &Params) -> Result<Box<dyn Coder>, Error> {
        params.check(&INFO)?;
        // SAFETY: takes no pointer.
        let size = unsafe { lz4block::LZ4_sizeofStateHC() };
        let level = params.level_or_default(&INFO);
        let compress = lz4block::LZ4_compress_HC_extStateHC;
        Ok(Box::new(Both(Encoder::new(INFO.name, size, compress, level))))
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
