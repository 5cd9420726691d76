//! The output handler: a buffer of PHP's, bounded, that decides once what becomes of the body, and then is out of the way. A page that ends
//! within the buffer, where nothing can follow, is encoded in one call; any other becomes a stream, which [`crate::output`] encodes.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::panic::catch_unwind;
use std::ptr::null_mut;

use ext_php_rs::alloc::emalloc;
use ext_php_rs::ffi::{
    PHP_OUTPUT_HANDLER_CLEAN, PHP_OUTPUT_HANDLER_FINAL, ext_php_rs_sapi_globals, php_output_context,
    php_output_handler, php_output_handler_create_internal, php_output_handler_set_context,
};
use ext_php_rs::zend::ExecutorGlobals;
use weighbridge_coding::{Encoder, Plan, choose, encode, is_withheld};

use crate::output::{self, Body};
use crate::{bytes, http, ini};

/// The name for php.ini and `ob_start()`.
pub(crate) const NAME: &str = "weighbridge_output_handler";
/// The most bytes that the handler holds.
const BUFFER: usize = 256 * 1024;
/// Of `php_output_get_status()`: a handler is running.
const LOCKED: c_int = 0x20;
/// A status of handlers: they are passed by.
const DISABLED: c_int = 0x2000;
/// What a handler answers: it has done it, or PHP passes the bytes on and the handler by.
const SUCCESS: c_int = 0;
const FAILURE: c_int = -1;

type Create = unsafe extern "C" fn(*const c_char, usize, usize, c_int) -> *mut php_output_handler;

unsafe extern "C" {
    fn php_output_handler_alias_register(name: *const c_char, length: usize, create: Create) -> c_int;
    fn php_output_get_active_handler() -> *mut php_output_handler;
    fn php_output_get_status() -> c_int;
    fn php_output_flush_all();
}

thread_local! {
    /// The one handler of ours, and the buffer that `output_buffering` in php.ini started; null where there is none (any more).
    static OURS: Cell<*mut php_output_handler> = const { Cell::new(null_mut()) };
    static PHP_INI: Cell<*mut php_output_handler> = const { Cell::new(null_mut()) };
    /// Whether the application may run.
    static IS_STARTED: Cell<bool> = const { Cell::new(false) };
}

/// Registers the name.
pub(crate) fn register() {
    // SAFETY: called at the start of the module, where PHP takes it; the name is as long as said, and copied.
    unsafe { php_output_handler_alias_register(NAME.as_ptr().cast(), NAME.len(), create) };
}

/// Notes what php.ini started. Where a client had gone, the end of its request was cut short, and handlers were not even freed.
pub(crate) fn start_request() {
    // SAFETY: PHP's answer is null or a live handler, the only one so far.
    unsafe {
        let first = php_output_get_active_handler();
        let is_ours = !first.is_null() && first == OURS.get();
        end_request();
        if is_ours {
            OURS.set(first);
            http::take_off_weakness();
        } else if !first.is_null() && (*first).opaq.is_null() {
            know(&PHP_INI, first);
        }
    }
    IS_STARTED.set(true);
}

/// Forgets the request.
pub(crate) fn end_request() {
    for handler in [&OURS, &PHP_INI] {
        handler.set(null_mut());
    }
    IS_STARTED.set(false);
    output::reset();
    http::end_request();
}

/// Remembers a handler for as long as PHP has it.
///
/// # Safety
/// The handler is live.
unsafe fn know(
    place: &'static std::thread::LocalKey<Cell<*mut php_output_handler>>,
    handler: *mut php_output_handler,
) {
    place.set(handler);
    // SAFETY: as the caller says; the context is only compared.
    unsafe { php_output_handler_set_context(handler, handler.cast(), Some(forget)) };
}

unsafe extern "C" fn forget(handler: *mut c_void) {
    for place in [&OURS, &PHP_INI] {
        if place.get().cast() == handler {
            place.set(null_mut());
        }
    }
}

/// Makes a handler, for php.ini or `ob_start()`. One above another of ours passes everything on.
unsafe extern "C" fn create(
    name: *const c_char,
    length: usize,
    chunk: usize,
    flags: c_int,
) -> *mut php_output_handler {
    let size = if chunk == 0 { BUFFER } else { chunk.min(BUFFER) };
    // SAFETY: the name is as PHP gave it, and the handler is live.
    unsafe {
        let handler = php_output_handler_create_internal(name, length, Some(handle), size, flags);
        if OURS.get().is_null() || !IS_STARTED.get() {
            know(&OURS, handler);
            if IS_STARTED.get() {
                http::take_off_weakness();
            }
            if http::head().is_some_and(|head| head.is_stream) {
                hold_nothing();
            }
        }
        handler
    }
}

/// Lets the next byte through, with all that the handler holds.
pub(crate) fn hold_nothing() {
    // SAFETY: our handler is null or live.
    if let Some(handler) = unsafe { OURS.get().as_mut() } {
        handler.size = 1;
    }
}

/// The handler, if it is the buffer that is written to, holds the whole body so far and is not running.
fn on_top() -> Option<*mut php_output_handler> {
    let handler = OURS.get();
    // SAFETY: asks PHP; our handler is null or live.
    let is_on_top = unsafe {
        !handler.is_null()
            && php_output_get_active_handler() == handler
            && php_output_get_status() & LOCKED == 0
            && is_all_above_php_ini(handler)
    };
    is_on_top.then_some(handler)
}

/// Whether below the handler there is nothing but the buffer that php.ini started.
///
/// # Safety
/// The handler is live.
unsafe fn is_all_above_php_ini(handler: *mut php_output_handler) -> bool {
    // SAFETY: as the caller says.
    let level = unsafe { (*handler).level };
    level == 0 || (level == 1 && !PHP_INI.get().is_null())
}

/// Lets go what the handler holds.
pub(crate) fn flush() {
    if on_top().is_some() {
        // SAFETY: no handler is running, and there are no buffers but ours and php.ini's.
        unsafe { php_output_flush_all() };
    }
}

/// Lets go what the handler holds, and passes it by, before more bytes are written than fit.
pub(crate) fn make_way(bytes: usize) {
    if bytes < BUFFER || !output::is_undecided() {
        return;
    }
    let Some(handler) = on_top() else { return };
    // SAFETY: the handler is live; otherwise as for a flush.
    unsafe {
        if (*handler).buffer.used > 0 {
            php_output_flush_all();
        } else if catch_unwind(|| decide(&[], false, false)).is_ok() {
            (*handler).flags |= DISABLED;
        }
    }
}

/// Decides before the header goes without a body, as it does where a server's flush sends it.
pub(crate) fn header_goes() {
    if OURS.get().is_null() || !output::is_undecided() {
        return;
    }
    // SAFETY: the globals of this thread are live. PHP has noted that the header is sent, and refuses changes, just before it is.
    unsafe {
        let sent = &raw mut (*ext_php_rs_sapi_globals()).headers_sent;
        *sent = 0;
        let _ = catch_unwind(|| decide(&[], false, false));
        *sent = 1;
    }
}

unsafe extern "C" fn handle(own: *mut *mut c_void, context: *mut php_output_context) -> c_int {
    // SAFETY: PHP hands over a live context, whose input is as long as it says or null.
    let (context, is_ours) = unsafe { (&mut *context, !(*own).is_null()) };
    let op = context.op as u32;
    if op & PHP_OUTPUT_HANDLER_CLEAN != 0 {
        // What is held is thrown away.
        return SUCCESS;
    }
    if !is_ours || !output::is_undecided() {
        return FAILURE;
    }
    let page = if context.in_.used == 0 {
        &[][..]
    } else {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(context.in_.data.cast::<u8>(), context.in_.used) }
    };
    let is_final = op & PHP_OUTPUT_HANDLER_FINAL != 0;
    if page.is_empty() && !is_final {
        return SUCCESS;
    }
    let Ok(Some(encoded)) = catch_unwind(|| decide(page, is_final, is_final && nothing_follows())) else {
        return FAILURE;
    };
    // SAFETY: the bytes are valid until something else is encoded; PHP frees what it allocates here.
    unsafe {
        let copy = emalloc(std::alloc::Layout::for_value(&*encoded));
        copy.copy_from_nonoverlapping(encoded.cast(), encoded.len());
        (context.out.data, context.out.used, context.out.size) = (copy.cast(), encoded.len(), encoded.len());
        context.out.set_free(1);
    }
    SUCCESS
}

/// Whether the request has ended, or the application says so: no code is running that could write more.
fn nothing_follows() -> bool {
    output::is_last() || ExecutorGlobals::get().current_execute_data.is_null()
}

/// Decides what becomes of the body that begins with these bytes, after which the handler ends, or the body too. Returns the encoded page if it
/// is whole.
fn decide(page: &[u8], is_final: bool, is_whole: bool) -> Option<*const [u8]> {
    output::set(Body::AsItIs);
    let head = http::head()?;
    let settings = ini::settings().ok().filter(|settings| !settings.codings.is_empty())?;
    // SAFETY: both are null or live.
    let is_below_empty = unsafe {
        is_all_above_php_ini(OURS.get()) && PHP_INI.get().as_ref().is_none_or(|below| below.buffer.used == 0)
    };
    if !is_below_empty {
        return None;
    }
    http::answer_unchanged(&head);
    if !head.may_be_encoded() {
        return None;
    }
    // A page that is too small varies like its larger brothers.
    http::vary(&head);
    if is_final && page.len() < settings.min_bytes {
        return None;
    }
    let accept = http::request_field("accept-encoding");
    let coding = choose(accept.as_deref().map(str::as_bytes), &settings.codings)?;
    if is_withheld(settings.breach, http::request_field) {
        http::keep_private(&head);
        return None;
    }
    let plan = Plan::new(coding, Some(settings.level(coding).into()), None).ok()?;
    if is_whole {
        let encoded = bytes::filled(|out| {
            ini::fault("page");
            encode(&plan, page, out)
        });
        let encoded = encoded.ok().filter(|encoded| encoded.len() < page.len())?;
        return http::set_encoded(&head, coding, Some(encoded.len())).then_some(encoded);
    }
    let encoder = Encoder::new(&plan).ok()?;
    if http::set_encoded(&head, coding, None) {
        output::set(Body::Encoded { encoder, coding, is_begun: false });
    }
    None
}
