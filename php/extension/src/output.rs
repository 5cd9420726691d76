//! What PHP's buffers let go, on its way to the server: encoded once a stream has begun, whoever wrote it and whichever buffers are left.
//!
//! The four calls of the server interface that this needs, and a few functions, are replaced by ours when the module starts. Nothing may be
//! owned where PHP's own are called: they may jump out.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use ext_php_rs::convert::IntoZvalDyn;
use ext_php_rs::ffi::{
    ext_php_rs_compiler_globals, ext_php_rs_sapi_globals, ext_php_rs_sapi_module, php_output_end_all,
    sapi_header_op_enum, sapi_header_op_enum_SAPI_HEADER_ADD as ADD,
    sapi_header_op_enum_SAPI_HEADER_REPLACE as SET, sapi_header_struct, sapi_headers_struct,
    zend_hash_str_find,
};
use ext_php_rs::types::{ZendCallable, Zval};
use ext_php_rs::zend::ExecuteData;
use weighbridge_coding::{Coding, Encoder, Head, Operation};

use crate::{bytes, handler, http, ini};

/// The servers that answer one request per run of a script.
const SERVERS: [&str; 6] = ["fpm-fcgi", "cgi-fcgi", "cli-server", "apache2handler", "litespeed", "uwsgi"];
/// After these functions nothing more reaches the client.
const LAST: [&str; 2] = ["fastcgi_finish_request", "litespeed_finish_request"];
/// Older versions of these write a whole file at once, which a buffer would have to hold.
const FILES: [&str; 3] = ["readfile", "fpassthru", "stream_copy_to_stream"];
/// How much is encoded at a time.
const PIECE: usize = 256 * 1024;

type Write = unsafe extern "C" fn(*const c_char, usize) -> usize;
type Flush = unsafe extern "C" fn(*mut c_void);
type Header =
    unsafe extern "C" fn(*mut sapi_header_struct, sapi_header_op_enum, *mut sapi_headers_struct) -> c_int;
type SendHeader = unsafe extern "C" fn(*mut sapi_headers_struct) -> c_int;
type Function = unsafe extern "C" fn(*mut ExecuteData, *mut Zval);

unsafe extern "C" {
    /// What `echo` calls.
    static mut zend_write: Option<Write>;
    /// Sends the header, unless it has been sent.
    fn php_header() -> c_int;
}

/// PHP's own.
struct Originals {
    write: Write,
    flush: Option<Flush>,
    header: Option<Header>,
    send_header: Option<SendHeader>,
    echo: Option<Write>,
    functions: [Option<Function>; 5],
}

static ORIGINALS: OnceLock<Originals> = OnceLock::new();

/// What is done to the body of the response.
pub(crate) enum Body {
    /// That has not been decided.
    Undecided,
    /// Nothing, or nothing more.
    AsItIs,
    /// It is encoded; `is_begun` once the header is sent.
    Encoded { encoder: Encoder, coding: Coding, is_begun: bool },
    /// It could not be encoded to its end: anything more would be decoded as garbage.
    Broken,
}

thread_local! {
    static BODY: RefCell<Body> = const { RefCell::new(Body::Undecided) };
    static IS_LAST: Cell<bool> = const { Cell::new(false) };
}

/// Decides.
pub(crate) fn set(body: Body) {
    BODY.set(body);
}

/// Knows nothing of an earlier request.
pub(crate) fn reset() {
    set(Body::Undecided);
    IS_LAST.set(false);
}

/// Whether what becomes of the body has not been decided.
pub(crate) fn is_undecided() -> bool {
    BODY.with_borrow(|body| matches!(body, Body::Undecided))
}

/// Whether the application has said that nothing more will come.
pub(crate) fn is_last() -> bool {
    IS_LAST.get()
}

fn server_is_known() -> bool {
    // SAFETY: PHP's description of the server is live, and its name ends in a zero byte.
    let name = unsafe { CStr::from_ptr((*ext_php_rs_sapi_module()).name) };
    SERVERS.iter().any(|known| known.as_bytes() == name.to_bytes())
}

/// The place of a function's code in PHP's table.
fn function(name: &str) -> Option<&'static mut Option<Function>> {
    // SAFETY: at the start of a module the table is complete, and an entry is a function, which lives as long as the process.
    unsafe {
        let table = (*ext_php_rs_compiler_globals()).function_table;
        let entry = zend_hash_str_find(table, name.as_ptr().cast(), name.len()).as_ref()?;
        let code = &raw mut (*entry.value.func).internal_function.handler;
        code.cast::<Option<Function>>().as_mut()
    }
}

/// Puts our calls in the place of PHP's, where a server that we know runs it.
pub(crate) fn install() {
    // SAFETY: modules start in one thread, before any request.
    let sapi = unsafe { &mut *ext_php_rs_sapi_module() };
    let Some(own) = sapi.ub_write.filter(|_| server_is_known()) else { return };
    let mut functions = [None; 5];
    let ours: [Function; 5] = [finish_request::<0>, finish_request::<1>, file::<2>, file::<3>, file::<4>];
    for ((name, ours), own) in LAST.iter().chain(&FILES).zip(ours).zip(&mut functions) {
        *own = function(name).and_then(|code| code.replace(ours));
    }
    let place = &raw mut zend_write;
    // SAFETY: as above.
    let echo = unsafe { (*place).replace(echo) };
    let (flushes, header_handler, send) = (sapi.flush, sapi.header_handler, sapi.send_headers);
    let originals =
        Originals { write: own, flush: flushes, header: header_handler, send_header: send, echo, functions };
    if ORIGINALS.set(originals).is_ok() {
        sapi.ub_write = Some(write);
        sapi.flush = Some(flush);
        sapi.header_handler = Some(header);
        sapi.send_headers = Some(send_header);
    }
}

/// Puts PHP's calls back. Functions are not called any more.
pub(crate) fn remove() {
    let Some(originals) = ORIGINALS.get() else { return };
    // SAFETY: modules end in one thread, after all requests.
    unsafe {
        let sapi = &mut *ext_php_rs_sapi_module();
        (sapi.ub_write, sapi.flush) = (Some(originals.write), originals.flush);
        (sapi.header_handler, sapi.send_headers) = (originals.header, originals.send_header);
        zend_write = originals.echo;
    }
}

/// What the client is sent for a piece of the body; none where that is the piece itself.
fn encoded(piece: &[u8], operation: Operation) -> Option<*const [u8]> {
    BODY.with_borrow_mut(|body| {
        let encoder = match body {
            Body::Broken => return Some(&[] as *const [u8]),
            Body::Encoded { encoder, is_begun: true, .. } => encoder,
            _ => return None,
        };
        let sent = catch_unwind(AssertUnwindSafe(|| {
            bytes::filled(|out| {
                ini::fault("piece");
                encoder.run(piece, operation, out)
            })
        }));
        let sent = sent.ok().and_then(Result::ok);
        if sent.is_none() {
            *body = Body::Broken;
        }
        Some(sent.unwrap_or(&[]))
    })
}

/// Sends a piece of the body, encoded where it is to be.
fn send(originals: &Originals, piece: &[u8], operation: Operation) {
    pass(originals, encoded(piece, operation).unwrap_or(piece));
}

/// Sends bytes as they are.
fn pass(originals: &Originals, sent: *const [u8]) {
    if sent.len() > 0 {
        // SAFETY: the bytes stay where they are until the next piece is encoded.
        unsafe { (originals.write)(sent.cast(), sent.len()) };
    }
}

/// Ends the body that is encoded. A request for the header alone is sent nothing. `forget` comes before the last bytes are sent: PHP's own call does
/// not return where the client has gone.
pub(crate) fn finish(forget: impl FnOnce()) {
    let is_encoded = BODY.with_borrow(|body| matches!(body, Body::Encoded { .. }));
    // SAFETY: the globals of a request that has not ended.
    let has_body = is_encoded && unsafe { !(*ext_php_rs_sapi_globals()).request_info.headers_only };
    let last = if has_body { encoded(&[], Operation::Finish) } else { None };
    set(Body::AsItIs);
    forget();
    if let (Some(last), Some(originals)) = (last, ORIGINALS.get()) {
        pass(originals, last);
    }
}

unsafe extern "C" fn write(bytes: *const c_char, length: usize) -> usize {
    let Some(originals) = ORIGINALS.get() else { return 0 };
    if is_undecided() || BODY.with_borrow(|body| matches!(body, Body::AsItIs)) {
        // SAFETY: as PHP called us.
        return unsafe { (originals.write)(bytes, length) };
    }
    if length > 0 {
        // SAFETY: PHP hands over as many bytes as it says.
        let bytes = unsafe { std::slice::from_raw_parts(bytes.cast(), length) };
        bytes.chunks(PIECE).for_each(|piece| send(originals, piece, Operation::Process));
    }
    length
}

unsafe extern "C" fn flush(context: *mut c_void) {
    let Some(originals) = ORIGINALS.get() else { return };
    handler::flush();
    send(originals, &[], Operation::Flush);
    if let Some(flush) = originals.flush {
        // SAFETY: as PHP called us.
        unsafe { flush(context) };
    }
}

/// Looks at a field that the application sets: some say that the body is a stream, which is not to be held.
unsafe extern "C" fn header(
    line: *mut sapi_header_struct,
    operation: sapi_header_op_enum,
    all: *mut sapi_headers_struct,
) -> c_int {
    // What PHP does with it where the server has no say.
    const ACCEPT: c_int = 1;
    let is_set = [SET, ADD].contains(&operation);
    // SAFETY: a line that is set is live, and as long as it says. Where all are removed, the pointer leads to nothing.
    if is_set && unsafe { http::line(line) }.is_some_and(Head::streams) {
        handler::hold_nothing();
    }
    let own = ORIGINALS.get().and_then(|originals| originals.header);
    // SAFETY: as PHP called us.
    own.map_or(ACCEPT, |own| unsafe { own(line, operation, all) })
}

/// Sends the header, which can be the last word of the application about the coding; some servers' own calls write it like the body.
unsafe extern "C" fn send_header(all: *mut sapi_headers_struct) -> c_int {
    let Some(send) = ORIGINALS.get().and_then(|originals| originals.send_header) else { return -1 };
    handler::header_goes();
    let is_changed = BODY
        .with_borrow(|body| matches!(body, Body::Encoded { coding, .. } if !http::is_encoded_as(*coding)));
    if is_changed {
        set(Body::AsItIs);
    }
    // SAFETY: as PHP called us.
    let answer = unsafe { send(all) };
    BODY.with_borrow_mut(|body| {
        if let Body::Encoded { is_begun, .. } = body {
            *is_begun = true;
        }
    });
    answer
}

unsafe extern "C" fn echo(bytes: *const c_char, length: usize) -> usize {
    let Some(echo) = ORIGINALS.get().and_then(|originals| originals.echo) else { return 0 };
    handler::make_way(length);
    // SAFETY: as PHP called us.
    unsafe { echo(bytes, length) }
}

unsafe extern "C" fn finish_request<const INDEX: usize>(call: *mut ExecuteData, answer: *mut Zval) {
    IS_LAST.set(true);
    // SAFETY: PHP's own does the same first.
    unsafe {
        php_output_end_all();
        php_header();
    }
    IS_LAST.set(false);
    finish(|| {});
    own_function(INDEX, call, answer);
}

unsafe extern "C" fn file<const INDEX: usize>(call: *mut ExecuteData, answer: *mut Zval) {
    // SAFETY: PHP hands over a live call.
    if let Some(size) = is_undecided().then(|| file_size(unsafe { &*call })).flatten() {
        handler::make_way(size);
    }
    own_function(INDEX, call, answer);
}

/// Calls PHP's own code of a function.
fn own_function(index: usize, call: *mut ExecuteData, answer: *mut Zval) {
    if let Some(own) = ORIGINALS.get().and_then(|originals| originals.functions[index]) {
        // SAFETY: as PHP called us.
        unsafe { own(call, answer) };
    }
}

/// The size of the file that a function is asked to write to the client; none if that is not known.
fn file_size(call: &ExecuteData) -> Option<usize> {
    // SAFETY: a call says how many arguments it has.
    let count = unsafe { call.This.u2.num_args } as usize;
    // SAFETY: the call has an argument at this index.
    let argument = |index| unsafe { if index < count { call.zend_call_arg(index) } else { None } };
    let first = argument(0)?;
    if let Some(path) = first.str() {
        return std::fs::metadata(path).ok().map(|file| file.len() as usize);
    }
    let ask = |function: &str, stream: &Zval, field: &str| -> Option<Zval> {
        let asked = stream.is_resource().then(|| ZendCallable::try_from_name(function))?.ok()?;
        let answer = asked.try_call(vec![stream as &dyn IntoZvalDyn]).ok()?;
        Some(answer.array()?.get(field)?.shallow_clone())
    };
    let to = argument(1).and_then(|to| ask("stream_get_meta_data", to, "uri"));
    let is_output = count == 1 || to.is_some_and(|uri| uri.str() == Some("php://output"));
    if is_output { ask("fstat", first, "size")?.long()?.try_into().ok() } else { None }
}
