//! The request and the response as the server interface of PHP has them.

use std::ffi::CStr;

use ext_php_rs::ffi::zend_is_auto_global;
use ext_php_rs::types::{ZendStr, Zval};
use ext_php_rs::zend::{ProcessGlobals, SapiGlobals, SapiHeader, add_header, remove_header, set_header};
use weighbridge_coding::{Coding, Head};

/// The header of the response so far; none where it has been sent, or where there is no header at all, as on the command line.
pub(crate) fn head() -> Option<Head> {
    let globals = SapiGlobals::get();
    if globals.headers_sent != 0 || globals.request_info().no_headers() {
        return None;
    }
    let response = globals.sapi_headers();
    let status = match response.http_response_code {
        0 => 200,
        code => u16::try_from(code).ok()?,
    };
    let said = [response.mimetype, globals.default_mimetype].into_iter().find(|text| !text.is_null());
    // SAFETY: PHP's texts end in a zero byte, and live as long as the globals are held.
    let said = said.and_then(|text| unsafe { CStr::from_ptr(text) }.to_str().ok());
    let lines = response.headers.iter::<SapiHeader>().filter(|line| !line.header.is_null());
    // SAFETY: each line of the list is live and as long as it says.
    let lines =
        lines.map(|line| unsafe { std::slice::from_raw_parts(line.header.cast::<u8>(), line.header_len) });
    Some(Head::read(status, said.or(Some("text/html")), lines))
}

/// Accept-Encoding of the request.
pub(crate) fn accept_encoding() -> Option<Vec<u8>> {
    // PHP fills $_SERVER when it is first asked for. ext-php-rs would ask behind a shared reference, whose second look optimised builds leave
    // out; so it is asked before there is one.
    let mut name = ZendStr::new("_SERVER", false);
    // SAFETY: the name is live during the call.
    unsafe { zend_is_auto_global(name.as_mut_ptr()) };
    let globals = ProcessGlobals::get();
    let field = globals.http_server_vars()?.get("HTTP_ACCEPT_ENCODING").and_then(Zval::zend_str)?;
    Some(field.as_bytes().to_vec())
}

/// Says that the response depends on Accept-Encoding, unless it says so already.
pub(crate) fn vary(head: &Head) {
    if !head.varies() {
        let _ = add_header("Vary: Accept-Encoding");
    }
}

/// Says how the body is encoded, and its length where that is known. False if PHP refuses, and nothing was said.
pub(crate) fn encoded(head: &Head, coding: Coding, length: Option<usize>) -> bool {
    if set_header(&format!("Content-Encoding: {coding}")).is_err() {
        return false;
    }
    if let Some(etag) = head.weakened_etag() {
        let _ = set_header(&format!("ETag: {etag}"));
    }
    let _ = match length {
        Some(length) => set_header(&format!("Content-Length: {length}")),
        // Where the application set one, it is that of the page before encoding.
        None => remove_header("Content-Length"),
    };
    true
}
