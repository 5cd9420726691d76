//! Errors as PHP throws them.

use ext_php_rs::exception::PhpException;
use ext_php_rs::zend::{ClassEntry, ce};
use weighbridge_coding::Error;

/// `ValueError` for arguments, `LogicException` for a finished encoder, `RuntimeException` for the data and for memory.
pub(crate) fn exception(error: Error) -> PhpException {
    let class = match error {
        Error::Unknown(_) | Error::Level(..) | Error::Dictionary(_) => ce::value_error(),
        Error::Finished => class("LogicException"),
        _ => class("RuntimeException"),
    };
    PhpException::new(error.to_string(), 0, class)
}

fn class(name: &str) -> &'static ClassEntry {
    ClassEntry::try_find(name).unwrap_or_else(ce::exception)
}
