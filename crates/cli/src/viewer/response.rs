//! Answers of the server: every one says that it is to be kept nowhere, framed by nobody, and taken for what it is.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame};
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};
use tokio::sync::mpsc::Receiver;

/// A policy for pages of the server's own: its style and program, and nothing else.
pub const OWN: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; \
     base-uri 'none'; frame-ancestors 'none'";
/// A policy for what is not a page.
const NONE: &str = "default-src 'none'; frame-ancestors 'none'";

/// A body: whole, or events as they come.
#[derive(Debug)]
pub enum Content {
    /// Whole; none once it was sent.
    Whole(Option<Bytes>),
    /// Pieces until the sender is gone.
    Events(Receiver<Bytes>),
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Content::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Content::Events(events) => {
                events.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
            }
        }
    }
}

/// A page under a policy.
pub fn page(status: StatusCode, html: impl Into<Bytes>, policy: &str) -> Response<Content> {
    answer(status, "text/html; charset=utf-8", policy, Content::Whole(Some(html.into())))
}

/// A file of the server's own.
pub fn file(kind: &'static str, text: &'static str) -> Response<Content> {
    answer(StatusCode::OK, kind, NONE, Content::Whole(Some(text.into())))
}

pub fn line(status: StatusCode, text: &str) -> Response<Content> {
    let line = Bytes::from(format!("weigh runs open: {text}\n"));
    answer(status, "text/plain; charset=utf-8", NONE, Content::Whole(Some(line)))
}

pub fn events(events: Receiver<Bytes>) -> Response<Content> {
    answer(StatusCode::OK, "text/event-stream", NONE, Content::Events(events))
}

fn answer(status: StatusCode, kind: &'static str, policy: &str, content: Content) -> Response<Content> {
    let mut response = Response::new(content);
    *response.status_mut() = status;
    let policy = HeaderValue::from_str(policy).unwrap_or(HeaderValue::from_static(NONE));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    response
}
