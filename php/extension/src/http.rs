//! The request and the response as the server interface of PHP has them.

use std::cell::RefCell;
use std::ffi::CStr;

use ext_php_rs::ffi::{
    TRACK_VARS_SERVER, ext_php_rs_executor_globals, ext_php_rs_process_globals, ext_php_rs_sapi_globals,
    sapi_header_struct, zend_is_auto_global,
};
use ext_php_rs::types::{ZendStr, Zval};
use ext_php_rs::zend::{add_header, remove_header, set_header};
use weighbridge_coding::{Coding, Head, without_weakness};

/// The header of the response so far; none where it has been sent, or where there is no header at all, as on the command line.
pub(crate) fn head() -> Option<Head> {
    // SAFETY: the globals of this thread are live, and nothing of PHP runs while they are looked at.
    let globals = unsafe { &*ext_php_rs_sapi_globals() };
    if globals.headers_sent != 0 || globals.request_info.no_headers {
        return None;
    }
    let response = &globals.sapi_headers;
    let status = u16::try_from(response.http_response_code).ok()?;
    let status = if status == 0 { 200 } else { status };
    let kind = [response.mimetype, globals.default_mimetype].into_iter().find(|text| !text.is_null());
    // SAFETY: PHP's texts end in a zero byte, and live as long as the globals are looked at.
    let kind = kind.map_or(&b"text/html"[..], |text| unsafe { CStr::from_ptr(text) }.to_bytes());
    Some(Head::read(status, kind, lines()))
}

/// The fields of the response, as lines.
fn lines() -> impl Iterator<Item = &'static [u8]> {
    // SAFETY: as above; each element is a line, which is used up before anything of PHP runs.
    unsafe {
        let first = (*ext_php_rs_sapi_globals()).sapi_headers.headers.head;
        let elements = std::iter::successors(first.as_ref(), |element| element.next.as_ref());
        elements.filter_map(|element| line((&raw const element.data).cast()))
    }
}

/// The bytes of a line.
///
/// # Safety
/// It is null, or live and as long as it says.
pub(crate) unsafe fn line(line: *const sapi_header_struct) -> Option<&'static [u8]> {
    // SAFETY: as the caller says.
    unsafe {
        let line = line.as_ref().filter(|line| !line.header.is_null())?;
        Some(std::slice::from_raw_parts(line.header.cast(), line.header_len))
    }
}

/// Whether Content-Encoding is this coding.
pub(crate) fn is_encoded_as(coding: Coding) -> bool {
    let expected = format!("Content-Encoding: {coding}");
    lines().any(|line| line == expected.as_bytes())
}

/// A field of the request, by its name in small letters; the server may have read credentials itself, also those of a certificate.
pub(crate) fn request_field(name: &str) -> Option<String> {
    let field = server_variable(&format!("HTTP_{}", name.to_ascii_uppercase().replace('-', "_")));
    let says = |name: &str| server_variable(name).unwrap_or_default();
    let is_known = || {
        ["REMOTE_USER", "PHP_AUTH_USER", "PHP_AUTH_DIGEST"].iter().any(|name| !says(name).is_empty())
            || says("SSL_CLIENT_VERIFY") == "SUCCESS"
    };
    field.or_else(|| (name == "authorization" && is_known()).then(|| "Basic".into()))
}

fn server_variable(name: &str) -> Option<String> {
    // SAFETY: the variables are live, and nothing of PHP runs while they are looked at.
    let value = unsafe { &*servers()[0] }.array()?.get(name)?.zend_str()?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// `$_SERVER` as PHP has read it, and as the application sees it.
fn servers() -> [*mut Zval; 2] {
    // PHP fills it when it is first asked for.
    let mut name = ZendStr::new("_SERVER", false);
    // SAFETY: the name is live during the call, and so are the globals of this thread.
    unsafe {
        zend_is_auto_global(name.as_mut_ptr());
        let known = &raw mut (*ext_php_rs_process_globals()).http_globals[TRACK_VARS_SERVER as usize];
        let seen = (*ext_php_rs_executor_globals()).symbol_table.get_mut("_SERVER");
        [known, seen.map_or(known, |seen| &raw mut *seen)]
    }
}

thread_local! {
    /// If-None-Match as the client sent it, where the application sees another.
    static TAGS: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Lets the application see the tags in If-None-Match as it gave them.
pub(crate) fn take_off_weakness() {
    for variables in servers() {
        // SAFETY: the variables are live. One value is replaced in an array that may be shared; all that share it are to see the new one.
        let fields = unsafe { if (*variables).is_array() { (*variables).value.arr.as_mut() } else { None } };
        let Some(field) = fields.and_then(|fields| fields.get_mut("HTTP_IF_NONE_MATCH")) else { return };
        let Some(sent) = field.str() else { return };
        let seen = without_weakness(sent);
        if seen != sent {
            TAGS.set(sent.to_owned());
            field.set_zend_string(ZendStr::new(seen, false));
        }
    }
}

/// Forgets the request.
pub(crate) fn end_request() {
    TAGS.take();
}

/// Sets a field of the response; without a value, removes it. False if PHP refuses.
fn set(name: &str, value: Option<&str>) -> bool {
    match value {
        Some(value) => set_header(&format!("{name}: {value}")).is_ok(),
        None => remove_header(name).is_ok(),
    }
}

/// Says that the response depends on Accept-Encoding, unless it says so already.
pub(crate) fn vary(head: &Head) {
    if !head.varies {
        let _ = add_header("Vary: Accept-Encoding");
    }
}

/// Gives a response without a body, because the client has it, the fields that the body had (RFC 9110, section 15.4.5).
pub(crate) fn answer_unchanged(head: &Head) {
    if head.is_unchanged() {
        vary(head);
        if let Some(etag) = TAGS.with_borrow(|tags| head.unchanged_etag(tags)) {
            set("ETag", Some(&etag));
        }
    }
}

/// Keeps a shared cache from storing for everybody what is not encoded for one request.
pub(crate) fn keep_private(head: &Head) {
    if let Some(value) = head.private_cache_control() {
        set("Cache-Control", Some(&value));
    }
}

/// Says how the body is encoded, and its length where that is known: where the application set one, it is that of the page before encoding.
/// False if PHP refuses, and nothing was said.
pub(crate) fn set_encoded(head: &Head, coding: Coding, length: Option<usize>) -> bool {
    let is_said = set("Content-Encoding", Some(coding.name()));
    if is_said {
        if let Some(etag) = head.weakened_etag() {
            set("ETag", Some(&etag));
        }
        set("Accept-Ranges", None);
        set("Content-Length", length.map(|length| length.to_string()).as_deref());
    }
    is_said
}
