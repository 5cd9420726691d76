//! The memory copy: the ceiling that no codec can pass.

use crate::{Codec, Coder, Error, Format, Info, Params};

static INFO: Info = Info {
    name: "identity",
    format: Format::Identity,
    levels: None,
    options: &[],
    sets: &["web", "cache", "fast", "archive"],
    nominal: &[(0, 8000.0)],
};

pub struct Identity;

struct Copy;

impl Codec for Identity {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn library(&self) -> String {
        "memcpy".into()
    }

    fn coder(&self, params: &Params) -> Result<Box<dyn Coder>, Error> {
        params.check(&INFO)?;
        Ok(Box::new(Copy))
    }
}

impl Coder for Copy {
    fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        out.clear();
        out.extend_from_slice(input);
        Ok(())
    }

    fn decode(&mut self, input: &[u8], expected: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        out.clear();
        if input.len() > expected {
            return Err(Error::TooLarge { codec: "identity", limit: expected });
        }
        out.extend_from_slice(input);
        Ok(())
    }
}
