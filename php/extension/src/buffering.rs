//! PHP's output buffering, as far as a handler must know it: where it stands, and who else encodes.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

use ext_php_rs::types::{ZendCallable, Zval};

use crate::handler;

type Check = unsafe extern "C" fn(*const c_char, usize) -> c_int;

unsafe extern "C" {
    fn php_output_handler_hook(kind: c_int, argument: *mut c_void) -> c_int;
    fn php_output_handler_started(name: *const c_char, length: usize) -> c_int;
    fn php_output_handler_conflict(
        new: *const c_char,
        new_length: usize,
        set: *const c_char,
        set_length: usize,
    ) -> c_int;
    fn php_output_write_unbuffered(bytes: *const c_char, length: usize) -> usize;
    fn php_output_handler_conflict_register(name: *const c_char, length: usize, check: Check) -> c_int;
}

/// Of `php_output_handler_hook_t`.
const GET_LEVEL: c_int = 2;
const IMMUTABLE: c_int = 3;

/// Others that encode.
const ENCODERS: [&str; 6] = [
    "ob_gzhandler",
    "zlib output compression",
    "ob_brotli_handler",
    "brotli output compression",
    "ob_zstd_handler",
    "zstd output compression",
];

/// Makes PHP refuse a second handler of ours while one is on the page: it would encode twice.
pub(crate) fn register() {
    // SAFETY: called at the start of the module, where PHP takes it; the name is as long as said, and copied.
    unsafe {
        php_output_handler_conflict_register(handler::NAME.as_ptr().cast(), handler::NAME.len(), check)
    };
}

/// Success where none of ours is on the page; otherwise PHP warns by itself.
unsafe extern "C" fn check(name: *const c_char, length: usize) -> c_int {
    let ours = handler::NAME;
    // SAFETY: both names are as long as said.
    let twice = unsafe { php_output_handler_conflict(name, length, ours.as_ptr().cast(), ours.len()) };
    if twice == 0 { 0 } else { -1 }
}

/// Whether another handler on the page encodes.
pub(crate) fn somebody_encodes() -> bool {
    // SAFETY: the names are as long as said.
    ENCODERS.iter().any(|name| unsafe { php_output_handler_started(name.as_ptr().cast(), name.len()) != 0 })
}

/// Whether what the running handler returns is sent as it is, from the first byte on: none of the buffers below it changes output, and no
/// output waits there.
pub(crate) fn nothing_is_below(level: usize) -> bool {
    level == 0 || are_plain_and_empty(level)
}

/// How many buffers are below the running handler; none where no handler is running.
pub(crate) fn level() -> Option<usize> {
    let mut level: c_int = -1;
    // SAFETY: the argument is what this kind of call writes to.
    let found = unsafe { php_output_handler_hook(GET_LEVEL, (&raw mut level).cast()) };
    usize::try_from(level).ok().filter(|_| found == 0)
}

/// Sends bytes past PHP's buffers.
pub(crate) fn send_past(bytes: &[u8]) {
    // SAFETY: the bytes are as many as said, and are sent before this returns.
    unsafe { php_output_write_unbuffered(bytes.as_ptr().cast(), bytes.len()) };
}

/// Whether the lowest `count` buffers are PHP's own, and empty.
fn are_plain_and_empty(count: usize) -> bool {
    // By its name: `Function` of ext-php-rs copies more bytes than PHP allocates for a function of its own.
    let asked = ZendCallable::try_from_name("ob_get_status");
    let status = asked.ok().and_then(|asked| asked.try_call(vec![&true]).ok());
    let Some(buffers) = status.as_ref().and_then(Zval::array) else { return false };
    let is_plain = |buffer: &Zval| {
        let field = |name: &str| buffer.array().and_then(|fields| fields.get(name));
        field("name").and_then(Zval::str) == Some("default output handler")
            && field("buffer_used").and_then(Zval::long) == Some(0)
    };
    buffers.len() > count && buffers.values().take(count).all(is_plain)
}

/// From now on the running handler can be neither cleaned nor removed: a part of its stream has been sent. PHP's own ends at
/// the end of the request.
pub(crate) fn keep_to_the_end() {
    // SAFETY: this kind of call takes no argument.
    unsafe { php_output_handler_hook(IMMUTABLE, null_mut()) };
}
