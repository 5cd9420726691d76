//! What a body is: the content, a part of a variant, or neither.

use std::borrow::Cow;

use weigh_codec::{Error, Format, independent};
use weigh_load::escape::shown;
use weigh_load::protocol::coding::Coding;

use weigh_model::record::negotiation::Body;

/// How much longer than the content a body may be.
const MORE: usize = 1 << 20;

/// The content that every whole body has to decode to.
pub struct Content<'a>(&'a [u8]);

impl<'a> Content<'a> {
    pub fn new(bytes: &'a [u8]) -> Content<'a> {
        Content(bytes)
    }

    /// The most that a body is read of, in bytes.
    pub fn most(&self) -> usize {
        self.0.len() + MORE
    }

    /// What a whole body in this coding is, and what is wrong with it.
    pub fn whole(&self, coding: Coding, body: &[u8]) -> (Body, Option<String>) {
        let formats: &[Format] = match coding {
            Coding::Identity => &[Format::Identity],
            Coding::Gzip => &[Format::Gzip],
            // With the wrapper that the name means, and without it, as it was long sent.
            Coding::Deflate => &[Format::Zlib, Format::Deflate],
            Coding::Brotli => &[Format::Brotli],
            Coding::Zstd => &[Format::Zstd],
            Coding::DictionaryBrotli | Coding::DictionaryZstd | Coding::Other => {
                return (Body::Unknown, None);
            }
        };
        let mut why = None;
        for format in formats {
            match self.decoded(*format, body) {
                Ok(bytes) if *bytes == *self.0 => return (Body::Content, None),
                Ok(_) | Err(Error::TooLarge { .. }) => {
                    return (Body::Wrong, Some("it decodes to something else than the content".into()));
                }
                Err(error) => {
                    why = why.or(Some(format!("it does not decode: {}", shown(error.to_string().as_bytes()))))
                }
            }
        }
        (Body::Wrong, why)
    }

    fn decoded<'b>(&self, format: Format, body: &'b [u8]) -> Result<Cow<'b, [u8]>, Error> {
        if format == Format::Identity {
            return Ok(Cow::Borrowed(body));
        }
        let (bytes, _) = independent::decode(format, body, self.0.len(), None)?;
        Ok(Cow::Owned(bytes))
    }
}

/// Whether `body` is the part of the whole variant that Content-Range names; none: that variant was never seen whole.
pub fn part(whole: Option<&[u8]>, content_range: Option<&str>, body: &[u8]) -> Body {
    let named = content_range.and_then(range).zip(whole);
    let Some(((first, last, total), whole)) = named else { return Body::WrongPart };
    let is_it = total == whole.len() as u64
        && first <= last
        && usize::try_from(first)
            .ok()
            .zip(usize::try_from(last).ok())
            .and_then(|(first, last)| whole.get(first..=last))
            .is_some_and(|bytes| bytes == body);
    if is_it { Body::Part } else { Body::WrongPart }
}

/// First and last byte and length of the whole (RFC 9110, section 14.4).
fn range(value: &str) -> Option<(u64, u64, u64)> {
    let (span, total) = value.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = span.split_once('-')?;
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?, total.trim().parse().ok()?))
}

#[cfg(test)]
mod tests;
