//! Why something was not encoded or decoded, in one line that says what to do.

use crate::Coding;

/// What was wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No coding has this name.
    #[error("unknown coding \"{0}\"; known are gzip, deflate, zlib, br and zstd")]
    Unknown(String),
    /// The coding has no such level.
    #[error("{0} has no level {1}; its levels are {start} to {end}", start = .0.levels().start(), end = .0.levels().end())]
    Level(Coding, i64),
    /// The coding has no dictionaries.
    #[error("{0} takes no dictionary; zstd does")]
    Dictionary(Coding),
    /// The bytes are not those of the coding; what a decoder says about them.
    #[error("the {0} data is damaged: {1}")]
    Damaged(Coding, String),
    /// Decoding would give more bytes than allowed.
    #[error("the {0} data decodes to more than the {1} bytes allowed")]
    TooLarge(Coding, usize),
    /// No memory for this many bytes.
    #[error("not enough memory for {0} bytes")]
    Memory(usize),
    /// The library refused, and why; none of the known inputs leads here.
    #[error("{0} could not be encoded: {1}")]
    Failed(Coding, String),
    /// The encoder has been finished.
    #[error("the encoder is finished; make a new one for more data")]
    Finished,
    /// A setting in php.ini is not understood: its name, what it was set to, what is expected.
    #[error("{0} = \"{1}\" is not understood: {2}")]
    Setting(&'static str, String, &'static str),
}
