//! Which coding a client is sent (RFC 9110, section 12.5.3). The rules are those of the
//! PHP library: `php/rules/cases.json` holds both to them.

use crate::Coding;

/// A longer Accept-Encoding is answered as if it were absent: no client has one.
const LONGEST: usize = 8 * 1024;
/// The quality if none is given, in thousandths.
const FULL: u16 = 1000;

/// The coding to send of those offered, the preferred one first; none for identity. A member that is not well formed is left out.
/// A client without the field is sent identity, for it did not say that it can decode anything. So is one that takes nothing at all.
pub fn choose(accept: Option<&[u8]>, offered: &[Coding]) -> Option<Coding> {
    let field = accept.filter(|field| field.len() <= LONGEST)?;
    let mut any = None;
    let mut identity = None;
    let mut named = [None; Coding::ALL.len()];
    for (name, quality) in field.split(|byte| *byte == b',').filter_map(member) {
        // The last of two members of one name counts.
        match name {
            b"*" => any = Some(quality),
            name if name.eq_ignore_ascii_case(b"identity") => identity = Some(quality),
            name => {
                let name = if name.eq_ignore_ascii_case(b"x-gzip") { b"gzip" } else { name };
                let is_it = |coding: &Coding| coding.name().as_bytes().eq_ignore_ascii_case(name);
                if let Some(at) = Coding::ALL.iter().position(is_it) {
                    named[at] = Some(quality);
                }
            }
        }
    }
    // An identity that is named wins over codings of lower quality, not over those of the same.
    let mut best = None;
    let mut least = identity.unwrap_or(0).max(1);
    for coding in offered {
        let at = Coding::ALL.iter().position(|known| known == coding)?;
        let quality = named[at].or(any).unwrap_or(0);
        if quality >= least {
            best = Some(*coding);
            least = quality + 1;
        }
    }
    best
}

/// Name and quality of `gzip;q=0.5`, if it is well formed.
fn member(member: &[u8]) -> Option<(&[u8], u16)> {
    let mut parts = member.splitn(2, |byte| *byte == b';');
    let name = parts.next()?.trim_ascii();
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+.^_`|~-".contains(byte);
    if name.is_empty() || !name.iter().all(is_token) {
        return None;
    }
    match parts.next() {
        None => Some((name, FULL)),
        Some(parameter) => Some((name, quality(parameter.trim_ascii())?)),
    }
}

/// The thousandths of `q=0.5`: at most three digits, at most 1.
fn quality(parameter: &[u8]) -> Option<u16> {
    let value = parameter.strip_prefix(b"q=").or_else(|| parameter.strip_prefix(b"Q="))?;
    let (whole, digits) = match value {
        [whole] => (whole, &[][..]),
        [whole, b'.', digits @ ..] => (whole, digits),
        _ => return None,
    };
    if digits.len() > 3 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let at = |index: usize| digits.get(index).map_or(0, |digit| u16::from(digit - b'0'));
    let thousandths = at(0) * 100 + at(1) * 10 + at(2);
    match whole {
        b'0' => Some(thousandths),
        b'1' if thousandths == 0 => Some(FULL),
        _ => None,
    }
}
