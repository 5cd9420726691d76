//! The fields of a head that say where the message ends and how its body is coded; all others are passed over.

use super::head::Head;
use crate::escape::shown;
use crate::fault::{Fault, FaultKind};
use crate::protocol::coding::Coding;

/// What the fields so far say.
#[derive(Debug, Default)]
pub(in crate::protocol) struct Framing {
    length: Option<u64>,
    transfer: bool,
    chunked: bool,
    close: bool,
    keep_alive: bool,
    coding: Option<Coding>,
}

impl Framing {
    /// Takes in a field.
    #[inline]
    pub(in crate::protocol) fn take(&mut self, name: &[u8], value: &[u8]) -> Result<(), Fault> {
        // The length alone tells most fields apart, and costs nothing.
        match name.len() {
            10 if name.eq_ignore_ascii_case(b"connection") => self.connection(value),
            14 if name.eq_ignore_ascii_case(b"content-length") => return self.content_length(value),
            16 if name.eq_ignore_ascii_case(b"content-encoding") => self.content_encoding(value.trim_ascii()),
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => return self.transfer_encoding(value),
            _ => {}
        }
        Ok(())
    }

    /// The head that these were all the fields of.
    pub(in crate::protocol) fn head(&self, status: u16, minor: u8, bytes: usize) -> Result<Head, Fault> {
        if let (Some(length), true) = (self.length, self.transfer) {
            let message = format!("Content-Length {length} and Transfer-Encoding in one response");
            return Err(Fault::new(FaultKind::AmbiguousLength, message));
        }
        // HTTP/1.0 has no chunks: whoever sends them nevertheless is not to be trusted with a second response.
        let stays = if minor == 0 { self.keep_alive && !self.transfer } else { true };
        Ok(Head {
            status,
            minor,
            length: self.length,
            chunked: self.chunked,
            keep: stays && !self.close,
            coding: self.coding.unwrap_or_default(),
            bytes,
        })
    }

    fn connection(&mut self, value: &[u8]) {
        for option in list(value) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    fn content_length(&mut self, value: &[u8]) -> Result<(), Fault> {
        for member in list(value) {
            let Some(length) = decimal(member) else {
                let message = format!("a Content-Length of `{}`", shown(value.trim_ascii()));
                return Err(Fault::new(FaultKind::BadHead, message));
            };
            let before = *self.length.get_or_insert(length);
            if before != length {
                let message = format!("a Content-Length of {before} and one of {length}");
                return Err(Fault::new(FaultKind::AmbiguousLength, message));
            }
        }
        Ok(())
    }

    fn content_encoding(&mut self, value: &[u8]) {
        self.coding = match (self.coding, value) {
            (before, b"") => before,
            (None, _) => Some(Coding::of(value)),
            (Some(_), _) => Some(Coding::Other),
        };
    }

    fn transfer_encoding(&mut self, value: &[u8]) -> Result<(), Fault> {
        self.transfer = true;
        for coding in list(value) {
            // Only what was asked for may be sent, and no other transfer coding ever is asked for.
            let known = match coding {
                _ if self.chunked => false,
                _ if coding.eq_ignore_ascii_case(b"chunked") => {
                    self.chunked = true;
                    true
                }
                _ => coding.eq_ignore_ascii_case(b"identity"),
            };
            if !known {
                let message = format!("a Transfer-Encoding of `{}`", shown(value.trim_ascii()));
                return Err(Fault::new(FaultKind::BadHead, message));
            }
        }
        Ok(())
    }
}

/// The members of a comma-separated list, trimmed.
fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

/// A number of decimal digits alone; none when it is anything else, or needs more than 64 bits.
fn decimal(text: &[u8]) -> Option<u64> {
    let digit = |&byte: &u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
    let (first, rest) = text.split_first()?;
    rest.iter().try_fold(digit(first)?, |number, byte| number.checked_mul(10)?.checked_add(digit(byte)?))
}

/// Whether a byte may stand in a field's name: RFC 9110, section 5.6.2.
#[inline]
pub(super) fn in_name(byte: u8) -> bool {
    NAME[usize::from(byte)]
}

static NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let other = matches!(
            byte as u8,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'.'
                | b'^'
                | b'_'
                | b'`'
                | b'|'
                | b'~'
        );
        table[byte] = (byte as u8).is_ascii_alphanumeric() || other;
        byte += 1;
    }
    table
};
