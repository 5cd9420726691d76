//! Errors as exceptions. PHP before 8 has no ValueError, and the library works there: arguments give InvalidArgumentException everywhere.

use ext_php_rs::exception::PhpException;
use ext_php_rs::zend::{ClassEntry, ce};
use weighbridge_coding::Error;

/// The exception for an error: `InvalidArgumentException` for what the caller asked, `LogicException` for a finished encoder,
/// `RuntimeException` for the data and for memory. All are an `Exception`.
pub(crate) fn of(error: &Error) -> PhpException {
    let class = match error {
        Error::Unknown(_)
        | Error::Level { .. }
        | Error::DictionaryMissing(_)
        | Error::DictionaryRefused(_)
        | Error::Setting { .. } => "InvalidArgumentException",
        Error::Finished => "LogicException",
        _ => "RuntimeException",
    };
    named(class, error.to_string())
}

/// An exception of this class.
pub(crate) fn named(class: &str, message: String) -> PhpException {
    PhpException::new(message, 0, ClassEntry::try_find(class).unwrap_or_else(ce::exception))
}
