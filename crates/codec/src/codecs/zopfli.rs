//! Zopfli: the smallest DEFLATE, slowly. The level is the number of iterations. It only encodes; decoding
//! is timed with zlib, and the library's name says so. It has no version call: the version is what
//! Cargo.lock resolved.

use std::num::NonZeroU64;

use super::zlib::Zlib;
use crate::container::{CONTAINER, Container};
use crate::room::Mode;
use crate::zstream::{Inflate, version};
use crate::{Codec, Coder, Error, Format, Info, LevelRange, Params};

static INFO: Info = Info {
    name: "zopfli",
    format: Format::Gzip,
    levels: Some(LevelRange { min: 1, max: 15, default: 15, representative: &[1, 5] }),
    options: &[CONTAINER],
    sets: &["archive"],
    nominal: &[(1, 1.0), (5, 0.5), (15, 0.25)],
};

pub struct Zopfli;

struct Both {
    options: zopfli::Options,
    format: zopfli::Format,
    decoder: Inflate<Zlib>,
}

impl Codec for Zopfli {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn library(&self) -> String {
        format!("zopfli {} (decoding: zlib {})", env!("CRATE_ZOPFLI"), version::<Zlib>())
    }

    fn coder(&self, params: &Params) -> Result<Box<dyn Coder>, Error> {
        params.check(&INFO)?;
        let iterations = u64::try_from(params.level_or_default(&INFO)).ok().and_then(NonZeroU64::new);
        let container = Container::of(params);
        Ok(Box::new(Both {
            options: zopfli::Options {
                iteration_count: iterations.unwrap_or(NonZeroU64::MIN),
                ..zopfli::Options::default()
            },
            format: match container {
                Container::Raw => zopfli::Format::Deflate,
                Container::Zlib => zopfli::Format::Zlib,
                Container::Gzip => zopfli::Format::Gzip,
            },
            decoder: Inflate::new(INFO.name, container, Mode::OneShot),
        }))
    }
}

impl Coder for Both {
    fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        out.clear();
        zopfli::compress(self.options, self.format, input, out)
            .map_err(|e| Error::Encode { codec: INFO.name, message: e.to_string() })
    }

    fn decode(&mut self, input: &[u8], expected: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        self.decoder.decode(input, expected, out)
    }
}
