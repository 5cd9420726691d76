//! Data that comes in pieces. What has been flushed can be decoded by the client before the rest arrives.

use crate::{Coding, Error, Plan, brotli, deflate, zstd};

/// What an encoder does beside taking data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Nothing.
    Process,
    /// Gives all that was added, so that it can be decoded.
    Flush,
    /// Ends the stream.
    Finish,
}

/// A library's encoder of one stream.
pub(crate) trait Stream {
    /// Takes all data, and appends what is encoded of it so far.
    fn run(&mut self, data: &[u8], operation: Operation, out: &mut Vec<u8>) -> Result<(), Error>;
}

/// An encoder of one stream. After an error it is finished.
pub struct Encoder(Option<Box<dyn Stream>>);

impl Encoder {
    /// An encoder, for data of any length.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(plan: &Plan) -> Result<Encoder, Error> {
        Ok(Encoder(Some(match plan.coding {
            Coding::Gzip | Coding::Deflate => Box::new(deflate::Encoder::new(plan)),
            Coding::Br => Box::new(brotli::Encoder::new(plan, 0)?),
            Coding::Zstd => Box::new(zstd::Encoder::new(plan)?),
        })))
    }

    /// Takes data, and appends what is ready: often nothing, after a flush or at the end all of it.
    ///
    /// # Errors
    /// [`Error::Finished`]; not enough memory.
    pub fn run(&mut self, data: &[u8], operation: Operation, out: &mut Vec<u8>) -> Result<(), Error> {
        // Taken out, so that neither an error nor a panic leaves a stream in an unknown state.
        let mut stream = self.0.take().ok_or(Error::Finished)?;
        stream.run(data, operation, out)?;
        if operation != Operation::Finish {
            self.0 = Some(stream);
        }
        Ok(())
    }
}
