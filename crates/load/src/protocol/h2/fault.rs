//! What the library's errors mean for one exchange.

use h2::{Error, Reason};

use super::stream::Stream;
use crate::escape::shown;
use crate::fault::{Fault, FaultKind};

/// What is known of the connection when a stream of it fails.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The last stream that the server will have dealt with, once it has said so.
    pub last_stream: Option<u32>,
    /// Why the connection broke, where it did.
    pub broken: Option<&'a Fault>,
    /// An exchange ended well here, and nothing has come since this one began.
    pub is_stale: bool,
}

/// The fault of an exchange, and whether the server cannot have acted on the request.
pub fn of(error: &Error, stream: &Stream, scene: Scene<'_>) -> (Fault, bool) {
    let refused = scene.last_stream.is_some_and(|last| stream.id > last);
    if let Some(broken) = scene.broken {
        return (broken.clone(), refused);
    }
    if error.is_io() {
        return closed(stream, refused || scene.is_stale);
    }
    let reason = error.reason().map_or_else(|| "no reason".to_owned(), |reason| format!("{reason:?}"));
    let place = place(stream);
    if error.is_library() {
        return (broken_rule(error, stream, &reason), false);
    }
    let message = if error.is_go_away() {
        let last = scene.last_stream.unwrap_or_default();
        // The library writes what the server said of it behind the reason, in parentheses.
        let text = error.to_string();
        let said = text.split_once(" (").map(|(_, said)| format!(": ({}", shown(said.as_bytes())));
        let said = said.unwrap_or_default();
        format!(
            "the server ended the connection {place} with GOAWAY {reason}, stream {last} being the last it took{said}"
        )
    } else {
        format!("the server reset the stream {place}: {reason}")
    };
    let untouched = refused || (error.is_reset() && error.reason() == Some(Reason::REFUSED_STREAM));
    (Fault::new(FaultKind::Http2, message), untouched)
}

/// The connection was closed under a stream.
pub fn closed(stream: &Stream, untouched: bool) -> (Fault, bool) {
    let fault = match (stream.has_begun, stream.length) {
        (false, _) => Fault::new(FaultKind::EmptyReply, "closed before the first byte"),
        (true, Some(length)) => {
            let left = length.saturating_sub(stream.body);
            Fault::new(FaultKind::Truncated, format!("closed {left} bytes before the end of the body"))
        }
        (true, None) => Fault::new(FaultKind::Truncated, format!("closed {}", place(stream))),
    };
    let untouched = untouched && !stream.has_begun;
    (fault, untouched)
}

/// The server broke a rule; the library says which by the reason that it gave the server.
fn broken_rule(error: &Error, stream: &Stream, reason: &str) -> Fault {
    match stream.length {
        Some(length) if stream.data > length => Fault::new(
            FaultKind::Overlong,
            format!("{} bytes of body at least where Content-Length says {length}", stream.data),
        ),
        Some(length) if error.is_reset() && stream.data < length => {
            let message =
                format!("the stream ended after {} bytes of body; Content-Length says {length}", stream.data);
            Fault::new(FaultKind::Truncated, message)
        }
        // It is the only reason for which the library refuses a stream of its own.
        _ if error.is_reset() && error.reason() == Some(Reason::REFUSED_STREAM) => {
            Fault::new(FaultKind::HeadTooLong, "the head is over the limit in bytes")
        }
        _ => Fault::new(
            FaultKind::Http2,
            format!("the server broke the rules of HTTP/2 {}: {reason}", place(stream)),
        ),
    }
}

fn place(stream: &Stream) -> &'static str {
    match (stream.has_begun, stream.has_head) {
        (false, _) => "before the first byte",
        (true, false) => "before the final head",
        (true, true) => "inside the body",
    }
}
