//! Bytes for PHP, made in a buffer of the thread that is kept from call to call.

use std::cell::RefCell;

use ext_php_rs::boxed::ZBox;
use ext_php_rs::convert::IntoZval;
use ext_php_rs::flags::DataType;
use ext_php_rs::types::{ZendStr, Zval};
use weighbridge_coding::Error;

/// A larger buffer is given back by the next call.
const KEPT: usize = 1 << 20;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// What `fill` makes. It is valid until the next call in this thread; nothing is borrowed, because PHP may jump out of the caller.
pub(crate) fn filled(fill: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>) -> Result<*const [u8], Error> {
    BUFFER.with_borrow_mut(|buffer| {
        buffer.clear();
        buffer.shrink_to(KEPT);
        fill(buffer).map(|()| &raw const buffer[..])
    })
}

/// A string of PHP with any bytes.
pub struct Bytes(ZBox<ZendStr>);

impl Bytes {
    /// What `fill` makes, copied.
    pub(crate) fn new(fill: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>) -> Result<Bytes, Error> {
        // SAFETY: nothing touches the buffer of this thread before the string has been copied from it.
        filled(fill).map(|bytes| Bytes(ZendStr::new(unsafe { &*bytes }, false)))
    }
}

impl IntoZval for Bytes {
    const TYPE: DataType = DataType::String;
    const NULLABLE: bool = false;

    fn set_zval(self, zval: &mut Zval, _persistent: bool) -> ext_php_rs::error::Result<()> {
        zval.set_zend_string(self.0);
        Ok(())
    }
}
