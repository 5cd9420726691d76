//! Snappy blocks, through the `snap` crate. It has no version call: the version is what Cargo.lock
//! resolved.

use crate::{Codec, Coder, Error, Format, Info, Params};

static INFO: Info = Info {
    name: "snappy",
    format: Format::Snappy,
    levels: None,
    options: &[],
    sets: &["cache", "fast"],
    nominal: &[(0, 400.0)],
};

/// The codec over `snap`.
pub struct Snappy;

struct Both {
    encoder: snap::raw::Encoder,
    decoder: snap::raw::Decoder,
    /// Initialised memory for the encoder, which takes no other kind: zeroing the caller's vector to the
    /// bound before each call would cost more than copying the shorter result out of here.
    scratch: Vec<u8>,
}

impl Codec for Snappy {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn library(&self) -> String {
        format!("snap {}", env!("CRATE_SNAP"))
    }

    fn coder(&self, params: &Params) -> Result<Box<dyn Coder>, Error> {
        params.check(&INFO)?;
        let (encoder, decoder) = (snap::raw::Encoder::new(), snap::raw::Decoder::new());
        Ok(Box::new(Both { encoder, decoder, scratch: Vec::new() }))
    }
}

impl Coder for Both {
    fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        out.clear();
        let bound = snap::raw::max_compress_len(input.len());
        if self.scratch.len() < bound {
            self.scratch.resize(bound, 0);
        }
        let written = self
            .encoder
            .compress(input, &mut self.scratch)
            .map_err(|e| Error::Encode { codec: INFO.name, message: e.to_string() })?;
        out.extend_from_slice(&self.scratch[..written]);
        Ok(())
    }

    fn decode(&mut self, input: &[u8], expected: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let failed = |e: snap::Error| Error::Decode { codec: INFO.name, message: e.to_string() };
        let announced = match snap::raw::decompress_len(input) {
            Ok(announced) if announced > expected => {
                out.clear();
                return Err(Error::TooLarge { codec: INFO.name, limit: expected });
            }
            Ok(announced) => announced,
            Err(error) => {
                out.clear();
                return Err(failed(error));
            }
        };
        // Overwritten in whole below; only what was never there before is zeroed.
        out.resize(announced, 0);
        let written = self.decoder.decompress(input, out);
        out.truncate(*written.as_ref().unwrap_or(&0));
        written.map(drop).map_err(failed)
    }
}
