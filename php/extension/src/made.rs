//! Strings for PHP, made in a buffer of the thread that is kept from call to call.

use std::cell::RefCell;

use ext_php_rs::boxed::ZBox;
use ext_php_rs::convert::IntoZval;
use ext_php_rs::flags::DataType;
use ext_php_rs::types::{ZendStr, Zval};
use weighbridge_coding::Error;

/// A larger buffer is given back after its call.
const KEPT: usize = 1 << 20;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A string of PHP with any bytes.
pub struct Made(ZBox<ZendStr>);

impl Made {
    /// No bytes.
    pub(crate) fn empty() -> Made {
        Made(ZendStr::new("", false))
    }

    /// How many bytes it has.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl IntoZval for Made {
    const TYPE: DataType = DataType::String;
    const NULLABLE: bool = false;

    fn set_zval(self, zval: &mut Zval, _persistent: bool) -> ext_php_rs::error::Result<()> {
        zval.set_zend_string(self.0);
        Ok(())
    }
}

/// What `fill` makes, as a string of PHP. PHP's allocator may jump out of here where memory ends; the buffer is not borrowed then.
pub(crate) fn made(fill: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>) -> Result<Made, Error> {
    let (at, length) = BUFFER.with_borrow_mut(|buffer| {
        buffer.clear();
        fill(buffer).map(|()| (buffer.as_ptr(), buffer.len()))
    })?;
    // SAFETY: nothing touches the buffer of this thread before the string has been copied from it.
    let string = ZendStr::new(unsafe { std::slice::from_raw_parts(at, length) }, false);
    BUFFER.with_borrow_mut(|buffer| {
        if buffer.capacity() > KEPT {
            *buffer = Vec::new();
        }
    });
    Ok(Made(string))
}
