//! Why something was not encoded or decoded, in one line that says what to do.

use crate::Coding;

/// What was wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No such coding.
    #[error("unknown coding \"{0}\"; known are gzip, deflate, zlib, br, zstd, dcb and dcz")]
    Unknown(String),
    /// The level is not one of the coding.
    #[error("{coding} has no level {level}; its levels are {} to {}", coding.levels().start(), coding.levels().end())]
    Level {
        /// The coding.
        coding: Coding,
        /// The level asked for.
        level: i64,
    },
    /// The coding needs a dictionary.
    #[error("{0} needs a dictionary, and none was given")]
    DictionaryMissing(Coding),
    /// The coding has no dictionaries.
    #[error("{0} takes no dictionary; br, zstd, dcb and dcz do")]
    DictionaryRefused(Coding),
    /// The data was encoded with another dictionary.
    #[error("the {0} data was encoded with another dictionary than the one given")]
    DictionaryOther(Coding),
    /// The bytes are not those of the coding.
    #[error("the {coding} data is damaged: {what}")]
    Damaged {
        /// The coding.
        coding: Coding,
        /// What a decoder says about it.
        what: String,
    },
    /// Decoding would give more than allowed.
    #[error("the {coding} data decodes to more than the {limit} bytes allowed")]
    TooLarge {
        /// The coding.
        coding: Coding,
        /// The most bytes allowed.
        limit: usize,
    },
    /// No memory.
    #[error("not enough memory for {0} bytes")]
    Memory(usize),
    /// The library refused; none of the known inputs leads here.
    #[error("{coding} could not be encoded: {what}")]
    Failed {
        /// The coding.
        coding: Coding,
        /// What the library says.
        what: String,
    },
    /// The encoder has been finished.
    #[error("the encoder is finished; make a new one for more data")]
    Finished,
    /// A setting is not understood.
    #[error("{name} = \"{value}\" is not understood: {what}")]
    Setting {
        /// Its name in php.ini.
        name: &'static str,
        /// What it was set to.
        value: String,
        /// What is expected.
        what: &'static str,
    },
}
