//! What a preflight finds about one request.

use weigh_codec::independent::zstd_excess;

use super::decode::{decode, first, sha256, token};
use super::examine::{Captured, length};
use super::expectation::{Decoded, Expectation};
use super::wrong::{common, hex};
use crate::accept::Accept;
use crate::escape::shown;
use crate::fault::{HttpFault, HttpFaultKind};
use crate::plan::{Limits, Request};
use crate::protocol::coding::Coding;
use crate::result::{Checked, Preflight};

/// The findings about one request.
pub struct Finding {
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
            content_type: value(seen, "content-type").filter(|_| !is_download(seen)).unwrap_or_default(),
            dictionary: (!request.dictionary.is_empty()).then(|| request.dictionary.as_slice().into()),
            checked: Checked::Length,
            ..Expectation::default()
        };
        Finding { preflight, expectation }
    }

    pub fn note(&mut self, text: String) {
        self.preflight.notes.push(text);
    }

    /// Accepts the coding of a response, if it is known and was requested.
    pub fn accept_coding(&mut self, request: &Request, captured: &Captured) -> Result<(), HttpFault> {
        let coding = captured.head.coding;
        if self.expectation.codings.contains(&coding) {
            return Ok(());
        }
        let named = value(captured, "content-encoding").unwrap_or_default();
        if coding == Coding::Other {
            let message =
                format!("Content-Encoding `{named}` is not gzip, deflate, br, zstd, dcb, dcz or identity");
            return Err(HttpFault::new(HttpFaultKind::ContentCoding, message));
        }
        match Accept::of(&request.headers) {
            _ if coding == Coding::Identity => {}
            Some(accept) if accept.takes(token(coding)) => {}
            Some(_) => {
                let message = format!("Content-Encoding `{named}`, which Accept-Encoding does not ask for");
                return Err(HttpFault::new(HttpFaultKind::ContentCoding, message));
            }
            None => {
                self.note(format!("Content-Encoding `{named}` although the request has no Accept-Encoding"));
            }
        }
        if !self.expectation.codings.is_empty() {
            self.note(format!("Content-Encoding differs between responses: also {}", token(coding)));
        }
        self.expectation.codings.push(coding);
        Ok(())
    }

    /// Bodies have no content in common.
    pub fn varies(&mut self) {
        self.expectation.checked = Checked::Samples;
        self.expectation.decoded = None;
        self.preflight.decoded_sha256 = None;
    }

    /// Decodes every body, and notes the first difference between two.
    pub fn decode(&mut self, bodies: &[(Coding, &[u8])], limits: &Limits) -> Result<Vec<Decoded>, HttpFault> {
        let dictionary = self.expectation.dictionary.clone();
        let mut all: Vec<Decoded> = Vec::with_capacity(bodies.len());
        let mut is_noted = false;
        for (at, (coding, wire)) in bodies.iter().enumerate() {
            // The same bytes decode to the same content.
            if let Some(known) = bodies[..at].iter().position(|body| *body == (*coding, *wire)) {
                all.push(all[known]);
                continue;
            }
            let likely = self.expectation.decoded.map_or(0, |d| d.bytes);
            let body = decode(*coding, dictionary.as_deref(), wire, likely, limits.decoded_bytes)?;
            self.expectation.once_compressed(*coding, &body)?;
            let decoded = Decoded { bytes: body.len() as u64, sha256: sha256(&body) };
            all.push(decoded);
            let Some(reference) = self.expectation.decoded else {
                self.preflight.decoded_bytes = Some(decoded.bytes);
                self.preflight.decoded_sha256 = Some(hex(&decoded.sha256));
                self.expectation.decoded = Some(decoded);
                continue;
            };
            if reference != decoded && !is_noted {
                is_noted = true;
                // Two bodies are in memory at the same time only here.
                let (coding, wire) = bodies[0];
                let before =
                    decode(coding, dictionary.as_deref(), wire, reference.bytes, limits.decoded_bytes)?;
                let at = common(&before, &body);
                self.note(format!(
                    "bodies differ from byte {at} on after decoding: `{}` and `{}`",
                    shown(first(&before[at..])),
                    shown(first(&body[at..]))
                ));
            }
        }
        Ok(all)
    }

    /// Anything unusual about a body that is not a failure.
    pub fn notes_on_body(&mut self, seen: &Captured, wire: &[u8]) {
        let packed = match wire {
            [0x1f, 0x8b, 8, ..] => Some("gzip"),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("zstd"),
            _ => None,
        };
        let is_delta = matches!(seen.head.coding, Coding::DictionaryBrotli | Coding::DictionaryZstd);
        if is_delta && !varies_by(seen, "available-dictionary") {
            self.note(
                "a delta without `Vary: Available-Dictionary`: caches may send it to clients without the dictionary"
                    .into(),
            );
        }
        if seen.head.coding == Coding::Zstd
            && let Some(window) = zstd_excess(wire)
        {
            self.note(format!("zstd with a window of {window} bytes: browsers reject more than 8 MB"));
        }
        match (seen.head.coding, packed) {
            (Coding::Identity, Some(format)) => {
                self.note(format!(
                    "the body is {format} without Content-Encoding: browsers will not decode it"
                ));
            }
            (Coding::Identity, None) => {}
            _ if seen.head.status == 206 => {
                self.note("a part of a compressed body: it is compared, but not decoded".into());
            }
            _ if !varies_by(seen, "accept-encoding") => {
                self.note(
                    "a compressed body without `Vary: Accept-Encoding`: caches may send it to any client"
                        .into(),
                );
            }
            _ => {}
        }
    }
}

/// The value of a header, its lines joined by commas, escaped and limited in length.
pub fn value(captured: &Captured, name: &str) -> Option<String> {
    let named = captured.fields.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name.as_bytes()));
    let lines: Vec<&[u8]> = named.map(|(_, value)| value.as_slice()).collect();
    (!lines.is_empty()).then(|| shown(&lines.join(&b", "[..])))
}

/// Whether a visitor saves it, whatever its type is.
fn is_download(captured: &Captured) -> bool {
    value(captured, "content-disposition")
        .is_some_and(|how| how.to_ascii_lowercase().starts_with("attachment"))
}

/// Whether Vary names a request header; `*` names all.
pub fn varies_by(captured: &Captured, header: &str) -> bool {
    let vary = captured.fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case(b"vary"));
    let mut names = vary.flat_map(|(_, value)| value.split(|b| *b == b',')).map(<[u8]>::trim_ascii);
    names.any(|name| name == b"*" || name.eq_ignore_ascii_case(header.as_bytes()))
}
