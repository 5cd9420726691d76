//! Every native codec behind one trait.
//!
//! This crate owns the C builds and the unsafe code of the workspace. It knows nothing of studies, timing or records:
//! it encodes and decodes bytes, names the library that did it, and checks parameters.

pub mod codecs;
mod container;
pub mod delta;
pub mod independent;
mod info;
mod lz4block;
pub mod memory;
mod room;
mod zstream;

use container::{CONTAINER, Container};
pub use info::{Format, Info, LevelRange, OptionSpec, OptionValues, ParamError, Params};

/// An error of encoding or decoding; the text is the library's own if it has one.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A parameter is unknown or out of range.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// The library refused to encode.
    #[error("{codec}: encoding failed: {message}")]
    Encode { codec: &'static str, message: String },
    /// The input is not a valid stream of the format, or ends early.
    #[error("{codec}: decoding failed: {message}")]
    Decode { codec: &'static str, message: String },
    /// No dictionary could be trained.
    #[error("{codec}: training a dictionary failed: {message}")]
    Train { codec: &'static str, message: String },
    /// The decoded output would exceed the limit the caller set.
    #[error("{codec}: decoded output exceeds the limit of {limit} bytes")]
    TooLarge {
        codec: &'static str,
        /// The limit in bytes.
        limit: usize,
    },
}

/// One codec: an implementation (library and binding).
pub trait Codec: Send + Sync {
    fn info(&self) -> &'static Info;

    /// The library's name and version as the library itself reports it, such as `zlib 1.3.1`.
    fn library(&self) -> String;

    /// The format written with these parameters (a container option may change it).
    fn format(&self, params: &Params) -> Format {
        let has_container = self.info().options.contains(&CONTAINER);
        if has_container { Container::of(params).format() } else { self.info().format }
    }

    /// A coder for these parameters. The first call in a direction allocates everything that can be kept, so that an
    /// encoder does not count in the memory of a decode.
    ///
    /// # Errors
    /// [`Error::Param`] when a parameter is unknown, out of range, or does not go with another.
    fn coder(&self, params: &Params) -> Result<Box<dyn Coder>, Error>;

    /// A dictionary of at most `max` bytes, trained on `samples`, for [`Params::dictionary`].
    ///
    /// # Errors
    /// [`Error::Train`] when the codec takes no dictionaries or the samples are too few or too small.
    fn train(&self, _samples: &[&[u8]], _max: usize) -> Result<Vec<u8>, Error> {
        Err(Error::Train { codec: self.info().name, message: "this codec takes no dictionaries".into() })
    }
}

/// A codec with fixed parameters that can be called repeatedly.
pub trait Coder: Send {
    /// Encodes `input` into `out`, which is cleared first. `out` keeps its capacity between calls.
    ///
    /// # Errors
    /// [`Error::Encode`] with the library's text.
    fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error>;

    /// Decodes `input` into `out`, which is cleared first; `expected` is the exact decoded length.
    /// A longer output is an error, found without allocating more than `expected` plus a small margin.
    ///
    /// # Errors
    /// [`Error::Decode`] or [`Error::TooLarge`].
    fn decode(&mut self, input: &[u8], expected: usize, out: &mut Vec<u8>) -> Result<(), Error>;
}
