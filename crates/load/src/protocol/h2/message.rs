//! Requests for HTTP/2, made once; and heads of responses in the form that all protocols share.

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{Method, Response, Uri, Version};

use crate::fault::{HttpFault, HttpFaultKind};
use crate::plan::{Limits, Request};
use crate::protocol::h1::head::{Framing, Head};

/// A request that is ready to send.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its head; a copy is sent.
    pub head: http::Request<()>,
    pub body: Bytes,
}

/// Headers about a connection: HTTP/2 has other means (RFC 9113, 8.2.2).
const OF_CONNECTIONS: [&str; 6] =
    ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "host"];

impl Message {
    /// Prepares a request of a plan. `authority` and `path` are those of the URL.
    ///
    /// # Errors
    /// One line that names the part that HTTP/2 cannot send.
    pub fn new(request: &Request, is_tls: bool, authority: &str, path: &str) -> Result<Message, String> {
        let host = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
        let authority = host.map_or(authority, |(_, value)| value.as_str());
        let bad = |what: &str, e: &dyn std::fmt::Display| format!("{}: {what}: {e}", request.name);
        let uri = Uri::builder()
            .scheme(if is_tls { "https" } else { "http" })
            .authority(authority)
            .path_and_query(path)
            .build()
            .map_err(|e| bad("the URL", &e))?;
        let mut head = http::Request::new(());
        *head.version_mut() = Version::HTTP_2;
        *head.uri_mut() = uri;
        *head.method_mut() =
            Method::from_bytes(request.method.as_bytes()).map_err(|e| bad("the method", &e))?;
        for (name, value) in &request.headers {
            let of_connection = OF_CONNECTIONS.iter().any(|other| name.eq_ignore_ascii_case(other));
            let is_te = name.eq_ignore_ascii_case("te") && !value.trim().eq_ignore_ascii_case("trailers");
            if of_connection || is_te {
                continue;
            }
            let what = format!("the header `{name}`");
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|e| bad(&what, &e))?;
            let value = HeaderValue::from_bytes(value.trim().as_bytes()).map_err(|e| bad(&what, &e))?;
            head.headers_mut().append(name, value);
        }
        if !request.body.is_empty() && !head.headers().contains_key(header::CONTENT_LENGTH) {
            head.headers_mut().insert(header::CONTENT_LENGTH, request.body.len().into());
        }
        Ok(Message { head, body: Bytes::copy_from_slice(&request.body) })
    }
}

/// The head of a response, with the `bytes` of its frames. `raw` becomes the head in HTTP/1's form, which readers of
/// heads need.
///
/// # Errors
/// Those of an HTTP/1 head.
pub fn head(
    response: &Response<()>,
    bytes: usize,
    limits: &Limits,
    raw: &mut Vec<u8>,
) -> Result<Head, HttpFault> {
    let fields = response.headers();
    if fields.len() > limits.head_fields as usize {
        return Err(HttpFault::new(
            HttpFaultKind::HeadTooLong,
            format!("more than {} headers", limits.head_fields),
        ));
    }
    raw.clear();
    raw.extend_from_slice(b"HTTP/2 ");
    raw.extend_from_slice(response.status().as_str().as_bytes());
    raw.extend_from_slice(b"\r\n");
    let mut framing = Framing::default();
    for (name, value) in fields {
        framing.take(name.as_str().as_bytes(), value.as_bytes())?;
        raw.extend_from_slice(name.as_str().as_bytes());
        raw.extend_from_slice(b": ");
        raw.extend_from_slice(value.as_bytes());
        raw.extend_from_slice(b"\r\n");
    }
    raw.extend_from_slice(b"\r\n");
    if raw.len() > limits.head_bytes as usize {
        let message = format!("a head of {} bytes; the limit is {}", raw.len(), limits.head_bytes);
        return Err(HttpFault::new(HttpFaultKind::HeadTooLong, message));
    }
    framing.head(response.status().as_u16(), 1, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::coding::Coding;

    fn request(headers: &[(&str, &str)], body: &[u8]) -> Request {
        let headers = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        Request {
            name: "page".into(),
            url: String::new(),
            method: "POST".into(),
            headers,
            body: body.into(),
            weight: 1.0,
            class: String::new(),
            stream: 0,
            ..Request::default()
        }
    }

    #[test]
    fn fields_of_connections_stay_behind_and_the_host_becomes_the_authority() {
        let headers =
            [("Host", "b.test"), ("Connection", "close"), ("TE", "gzip"), ("Accept-Encoding", " gzip ")];
        let made = Message::new(&request(&headers, b"abc"), true, "a.test:444", "/x?y=1").unwrap();
        assert_eq!(made.head.uri().to_string(), "https://b.test/x?y=1");
        let fields: Vec<_> =
            made.head.headers().iter().map(|(n, v)| format!("{n}: {}", v.to_str().unwrap())).collect();
        assert_eq!(fields, ["accept-encoding: gzip", "content-length: 3"]);
    }

    #[test]
    fn what_http2_cannot_carry_is_named() {
        let error = Message::new(&request(&[("a b", "c")], b""), false, "a.test", "/").unwrap_err();
        assert!(error.starts_with("page: the header `a b`: "), "{error}");
    }

    #[test]
    fn a_head_reads_as_one_of_http1() {
        let response = Response::builder()
            .status(206)
            .header("content-length", "12")
            .header("content-encoding", "br")
            .body(())
            .unwrap();
        let mut raw = b"before".to_vec();
        let head = head(&response, 33, &Limits::default(), &mut raw).unwrap();
        assert_eq!((head.status, head.length, head.coding, head.bytes), (206, Some(12), Coding::Brotli, 33));
        assert_eq!(raw, b"HTTP/2 206\r\ncontent-length: 12\r\ncontent-encoding: br\r\n\r\n");
    }
}
