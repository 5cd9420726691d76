//! One exchange on a stream: its response as it comes.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use h2::client::ResponseFuture;
use h2::{RecvStream, SendStream};

use super::message;
use crate::fault::{Fault, FaultKind};
use crate::plan::Limits;
use crate::protocol::{Events, ExchangeId};

/// An exchange in flight.
#[derive(Debug)]
pub struct Stream {
    /// The exchange.
    pub x: ExchangeId,
    /// The stream's number on the connection.
    pub id: u32,
    /// Reads of the connection before it began.
    pub reads: u64,
    /// Something of the response was there.
    pub has_begun: bool,
    /// The final head was there.
    pub has_head: bool,
    /// Bytes of the frames that its heads came in.
    pub head_bytes: usize,
    /// Content-Length.
    pub length: Option<u64>,
    /// Bytes of body that were handed on.
    pub body: u64,
    /// Bytes of body that came.
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

/// How a stream is to be polled.
#[derive(Debug)]
pub struct Means<'a> {
    /// Bounds on heads.
    pub limits: &'a Limits,
    /// Bodies are not looked at.
    pub discard: bool,
    /// Room for a head in the form of HTTP/1's.
    pub raw: &'a mut Vec<u8>,
}

/// Why a stream ended before its end.
#[derive(Debug)]
pub enum Failure {
    /// By the library's word.
    Library(h2::Error),
    /// By ours.
    Own(Fault),
}

impl Stream {
    /// An exchange that was just begun, after so many reads of the connection.
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

    /// Tells of what is there, up to the end of the response.
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
                    return Poll::Ready(Err(Failure::Own(Fault::new(FaultKind::Informational, message))));
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
                    // It fails when the stream has ended meanwhile, and then nothing is owed to anybody.
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
