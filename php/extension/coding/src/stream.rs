//! Data that comes in pieces. What has been flushed can be decoded by the client before the rest arrives.

use zlib_rs::DeflateFlush;
use zstd_safe::zstd_sys::ZSTD_EndDirective as End;

use crate::{Coding, Error, Plan, brotli, deflate, zstd};

/// An encoder of one stream. After an error it is finished.
pub struct Encoder {
    /// What precedes the stream, until it has been sent.
    preamble: Vec<u8>,
    inner: Option<Inner>,
}

enum Inner {
    Deflate(Box<deflate::Stream>),
    Brotli(Box<brotli::Encoder>),
    Zstd(zstd::Stream),
}

#[derive(Clone, Copy)]
enum Step {
    Add,
    Flush,
    Finish,
}

impl Encoder {
    /// An encoder, for data of any length.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(plan: &Plan) -> Result<Encoder, Error> {
        let inner = match plan.coding {
            Coding::Gzip | Coding::Deflate => {
                Inner::Deflate(Box::new(deflate::Stream::new(plan.coding, plan.level)))
            }
            Coding::Br | Coding::Dcb => Inner::Brotli(Box::new(brotli::Encoder::new(plan, None)?)),
            Coding::Zstd | Coding::Dcz => Inner::Zstd(zstd::Stream::new(plan)?),
        };
        Ok(Encoder { preamble: plan.coding.preamble(plan.dictionary), inner: Some(inner) })
    }

    /// Takes data, and appends what is ready, often nothing.
    ///
    /// # Errors
    /// [`Error::Finished`]; not enough memory.
    pub fn add(&mut self, data: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.run(data, Step::Add, out)
    }

    /// Appends the rest of what has been added, so that all of it can be decoded.
    ///
    /// # Errors
    /// As for [`Encoder::add`].
    pub fn flush(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.run(&[], Step::Flush, out)
    }

    /// Appends the end of the stream.
    ///
    /// # Errors
    /// As for [`Encoder::add`].
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.run(&[], Step::Finish, out)
    }

    fn run(&mut self, data: &[u8], step: Step, out: &mut Vec<u8>) -> Result<(), Error> {
        // Taken out, so that neither an error nor a panic leaves a stream in an unknown state.
        let mut inner = self.inner.take().ok_or(Error::Finished)?;
        out.append(&mut self.preamble);
        match &mut inner {
            Inner::Deflate(stream) => {
                let flush = match step {
                    Step::Add => DeflateFlush::NoFlush,
                    Step::Flush => DeflateFlush::SyncFlush,
                    Step::Finish => DeflateFlush::Finish,
                };
                stream.run(data, flush, out)?;
            }
            Inner::Brotli(encoder) => {
                let operation = match step {
                    Step::Add => brotli::Operation::Process,
                    Step::Flush => brotli::Operation::Flush,
                    Step::Finish => brotli::Operation::Finish,
                };
                encoder.run(data, operation, out)?;
            }
            Inner::Zstd(stream) => {
                let end = match step {
                    Step::Add => End::ZSTD_e_continue,
                    Step::Flush => End::ZSTD_e_flush,
                    Step::Finish => End::ZSTD_e_end,
                };
                stream.run(data, end, out)?;
            }
        }
        if !matches!(step, Step::Finish) {
            self.inner = Some(inner);
        }
        Ok(())
    }
}
