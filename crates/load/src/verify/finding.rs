//! What is being found out about the responses to one request.

use super::decode::{decode, first, sha256, token};
use super::difference::{common, hex};
use super::examine::{Captured, length};
use super::expectation::{Decoded, Expectation};
use super::fields::{value, varies_by_encoding};
use super::variants::Variants;
use super::window::excess;
use crate::accept::Accept;
use crate::escape::shown;
use crate::fault::{Fault, FaultKind};
use crate::plan::{Limits, Request};
use crate::protocol::coding::Coding;
use crate::result::{Checked, Preflight};

/// What is being found out about one request.
pub(super) struct Finding {
    pub preflight: Preflight,
    pub expectation: Expectation,
}

impl Finding {
    pub fn begin(request: &Request, seen: &Captured) -> Finding {
        let preflight = Preflight {
            request: request.name.clone(),
            version: shown(seen.version.as_bytes()),
            status: seen.head.status,
            content_type: value(seen, "content-type"),
            content_encoding: value(seen, "content-encoding"),
            vary: value(seen, "vary"),
            etag: value(seen, "etag"),
            server: value(seen, "server"),
            framing: seen.framing,
            body_bytes: length(seen),
            ..Preflight::default()
        };
        let expectation = Expectation {
            status: seen.head.status,
            codings: Vec::new(),
            checked: Checked::Length,
            length: None,
            decoded: None,
            variants: Variants::default(),
        };
        Finding { preflight, expectation }
    }

    pub fn note(&mut self, text: String) {
        self.preflight.notes.push(text);
    }

    /// Accepts the coding of a response, if it is known and was asked for.
    pub fn accept_coding(&mut self, request: &Request, captured: &Captured) -> Result<(), Fault> {
        let coding = captured.head.coding;
        if self.expectation.codings.contains(&coding) {
            return Ok(());
        }
        let named = value(captured, "content-encoding").unwrap_or_default();
        if coding == Coding::Other {
            let message = format!("Content-Encoding `{named}` is not gzip, deflate, br, zstd or identity");
            return Err(Fault::new(FaultKind::ContentCoding, message));
        }
        match Accept::of(&request.headers) {
            _ if coding == Coding::Identity => {}
            Some(accept) if accept.takes(token(coding)) => {}
            Some(_) => {
                let message = format!("Content-Encoding `{named}`, which Accept-Encoding does not ask for");
                return Err(Fault::new(FaultKind::ContentCoding, message));
            }
            None => {
                self.note(format!("Content-Encoding `{named}` although the request has no Accept-Encoding"));
            }
        }
        if !self.expectation.codings.is_empty() {
            self.note(format!("Content-Encoding changes from response to response: also {}", token(coding)));
        }
        self.expectation.codings.push(coding);
        Ok(())
    }

    /// Decodes every body; whether all come to the same.
    pub fn decode(&mut self, bodies: &[(Coding, &[u8])], limits: &Limits) -> Result<bool, Fault> {
        for (coding, wire) in bodies {
            let likely = self.expectation.decoded.map_or(0, |d| d.bytes);
            let body = decode(*coding, wire, likely, limits.decoded_bytes)?;
            let decoded = Decoded { bytes: body.len() as u64, sha256: sha256(&body) };
            let Some(reference) = self.expectation.decoded else {
                self.preflight.decoded_bytes = Some(decoded.bytes);
                self.preflight.decoded_sha256 = Some(hex(&decoded.sha256));
                self.expectation.decoded = Some(decoded);
                continue;
            };
            if reference != decoded {
                // Only now are two bodies held at a time.
                let (coding, wire) = bodies[0];
                let before = decode(coding, wire, reference.bytes, limits.decoded_bytes)?;
                let at = common(&before, &body);
                self.note(format!(
                    "bodies differ from byte {at} on after decoding: `{}` and `{}`",
                    shown(first(&before[at..])),
                    shown(first(&body[at..]))
                ));
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What is odd about a body, and no fault.
    pub fn notes_on_body(&mut self, seen: &Captured, wire: &[u8]) {
        let packed = match wire {
            [0x1f, 0x8b, 8, ..] => Some("gzip"),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("zstd"),
            _ => None,
        };
        if seen.head.coding == Coding::Zstd
            && let Some(window) = excess(wire)
        {
            self.note(format!("zstd with a window of {window} bytes: browsers refuse more than 8 MB"));
        }
        match (seen.head.coding, packed) {
            (Coding::Identity, Some(format)) => {
                self.note(format!(
                    "the body is {format} without Content-Encoding: browsers will not decode it"
                ));
            }
            (Coding::Identity, None) => {}
            _ if seen.head.status == 206 => {
                self.note("a part of a coded body: it is compared, and not decoded".into());
            }
            _ if !varies_by_encoding(seen) => {
                self.note(
                    "a coded body without `Vary: Accept-Encoding`: caches may send it to anyone".into(),
                );
            }
            _ => {}
        }
    }
}
