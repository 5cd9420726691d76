//! One exchange on a stream, with its response as it arrives.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use h2::client::ResponseFuture;
use h2::{Error, Reason, RecvStream, SendStream};

use super::message;
use crate::escape::shown;
use crate::fault::{HttpFault, HttpFaultKind};
use crate::plan::Limits;
use crate::protocol::{Events, ExchangeId};

#[derive(Debug)]
pub struct Stream {
    pub x: ExchangeId,
    /// The stream's number on the connection.
    pub id: u32,
    /// Reads of the connection before it started.
    pub reads: u64,
    /// A part of the response has arrived.
    pub has_begun: bool,
    /// The final head has arrived.
    pub has_head: bool,
    /// Bytes of the frames of its heads.
    pub head_bytes: usize,
    pub length: Option<u64>,
    /// Bytes of body that were passed on.
    pub body: u64,
    /// Bytes of body that arrived.
    pub data: u64,
    informational: u32,
    response: Response,
    /// Kept so that the library goes on sending the request's body.
    _request: SendStream<Bytes>,
}

#[derive(Debug)]
enum Response {
    Head(ResponseFuture),
    Body(RecvStream),
}

/// The inputs for polling a stream.
#[derive(Debug)]
pub struct Means<'a> {
    pub limits: &'a Limits,
    pub discard: bool,
    /// Memory for a head in HTTP/1's form.
    pub raw: &'a mut Vec<u8>,
}

/// Why a stream ended early.
#[derive(Debug)]
pub enum Failure {
    Library(Error),
    /// The generator rejected the response.
    Own(HttpFault),
}

impl Stream {
    /// A new exchange, after this many reads of the connection.
    pub fn new(x: ExchangeId, response: ResponseFuture, request: SendStream<Bytes>, reads: u64) -> Stream {
        Stream {
            x,
            id: response.stream_id().as_u32(),
            reads,
            has_begun: false,
            has_head: false,
            head_bytes: 0,
            length: None,
            body: 0,
            data: 0,
            informational: 0,
            response: Response::Head(response),
            _request: request,
        }
    }

    /// Reports what has arrived, up to the end of the response.
    pub fn poll(
        &mut self,
        cx: &mut Context<'_>,
        means: Means<'_>,
        events: &mut impl Events,
    ) -> Poll<Result<(), Failure>> {
        if let Response::Head(future) = &mut self.response {
            while let Poll::Ready(Some(Ok(_))) = future.poll_informational(cx) {
                begin(&mut self.has_begun, self.x, events);
                self.informational += 1;
                if self.informational > means.limits.informational {
                    let message = format!("more than {} informational responses", means.limits.informational);
                    return Poll::Ready(Err(Failure::Own(HttpFault::new(
                        HttpFaultKind::Informational,
                        message,
                    ))));
                }
            }
            let response = match Pin::new(future).poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(response) => response.map_err(Failure::Library)?,
            };
            begin(&mut self.has_begun, self.x, events);
            self.has_head = true;
            let (parts, body) = response.into_parts();
            let response = http::Response::from_parts(parts, ());
            self.response = Response::Body(body);
            let head =
                message::head(&response, self.head_bytes, means.limits, means.raw).map_err(Failure::Own)?;
            self.length = head.length;
            events.head(self.x, &head, means.raw).map_err(Failure::Own)?;
        }
        let Response::Body(body) = &mut self.response else { return Poll::Pending };
        loop {
            match body.poll_data(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(Ok(())),
                Poll::Ready(Some(Err(e))) => return Poll::Ready(Err(Failure::Library(e))),
                Poll::Ready(Some(Ok(data))) => {
                    // This fails if the stream has ended in the meantime, and then nobody waits for it.
                    let _ = body.flow_control().release_capacity(data.len());
                    self.body += data.len() as u64;
                    if means.discard {
                        events.discarded(self.x, data.len() as u64);
                    } else if !data.is_empty() {
                        events.body(self.x, &data).map_err(Failure::Own)?;
                    }
                }
            }
        }
    }
}

fn begin(has_begun: &mut bool, x: ExchangeId, events: &mut impl Events) {
    if !std::mem::replace(has_begun, true) {
        events.first_byte(x);
    }
}

/// What is known about the connection when one of its streams fails.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The last stream that the server will process, once it has announced it.
    pub last_stream: Option<u32>,
    /// Why the connection broke, if it did.
    pub broken: Option<&'a HttpFault>,
    /// An exchange has succeeded here, and nothing has arrived since this one started.
    pub is_stale: bool,
}

/// The failure of an exchange, and whether the server cannot have processed the request.
pub fn fault_of(error: &Error, stream: &Stream, scene: Scene<'_>) -> (HttpFault, bool) {
    let refused = scene.last_stream.is_some_and(|last| stream.id > last);
    if let Some(broken) = scene.broken {
        return (broken.clone(), refused);
    }
    if error.is_io() {
        return closed(stream, refused || scene.is_stale);
    }
    let reason = error.reason().map_or_else(|| "no reason".to_owned(), |reason| format!("{reason:?}"));
    let place = describe_progress(stream);
    if error.is_library() {
        return (broken_rule(error, stream, &reason), false);
    }
    let message = if error.is_go_away() {
        let last = scene.last_stream.unwrap_or_default();
        // The library writes the server's own text after the reason, in parentheses.
        let text = error.to_string();
        let said = text.split_once(" (").map(|(_, said)| format!(": ({}", shown(said.as_bytes())));
        let said = said.unwrap_or_default();
        format!(
            "the server ended the connection {place} with GOAWAY {reason}, with {last} as the last stream that it accepted{said}"
        )
    } else {
        format!("the server reset the stream {place}: {reason}")
    };
    let untouched = refused || (error.is_reset() && error.reason() == Some(Reason::REFUSED_STREAM));
    (HttpFault::new(HttpFaultKind::Http2, message), untouched)
}

/// The failure of a stream whose connection was closed.
pub fn closed(stream: &Stream, untouched: bool) -> (HttpFault, bool) {
    let fault = match (stream.has_begun, stream.length) {
        (false, _) => HttpFault::new(HttpFaultKind::EmptyReply, "closed before the first byte"),
        (true, Some(length)) => {
            let left = length.saturating_sub(stream.body);
            HttpFault::new(
                HttpFaultKind::Truncated,
                format!("closed {left} bytes before the end of the body"),
            )
        }
        (true, None) => {
            HttpFault::new(HttpFaultKind::Truncated, format!("closed {}", describe_progress(stream)))
        }
    };
    let untouched = untouched && !stream.has_begun;
    (fault, untouched)
}

/// The library's words for a head that it rejected.
const TOO_LONG: [&str; 2] = ["header_list_way_too_large", "too_many_continuations"];

/// The failure for a violation of HTTP/2; the reason that the library sent to the server says which rule.
fn broken_rule(error: &Error, stream: &Stream, reason: &str) -> HttpFault {
    match stream.length {
        Some(length) if stream.data > length => HttpFault::new(
            HttpFaultKind::Overlong,
            format!("at least {} bytes of body; Content-Length says {length}", stream.data),
        ),
        Some(length) if error.is_reset() && stream.data < length => {
            let message =
                format!("the stream ended after {} bytes of body; Content-Length says {length}", stream.data);
            HttpFault::new(HttpFaultKind::Truncated, message)
        }
        // The library's error for a head that is several times as long as the limit, or has too many frames.
        _ if !stream.has_head && TOO_LONG.iter().any(|word| error.to_string().contains(word)) => {
            HttpFault::new(HttpFaultKind::HeadTooLong, "the head is over the limit in bytes")
        }
        _ => HttpFault::new(
            HttpFaultKind::Http2,
            format!("the server violated HTTP/2 {}: {reason}", describe_progress(stream)),
        ),
    }
}

fn describe_progress(stream: &Stream) -> &'static str {
    match (stream.has_begun, stream.has_head) {
        (false, _) => "before the first byte",
        (true, false) => "before the final head",
        (true, true) => "inside the body",
    }
}
