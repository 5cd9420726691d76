//! Which coding a client is sent (RFC 9110, section 12.5.3). The rules are those of the
//! PHP library: `php/rules/cases.json` holds both to them.

use crate::Coding;

/// A longer Accept-Encoding is answered as if it were absent: no client has one.
const LONGEST: usize = 8 * 1024;

/// The coding to send of those offered, the preferred one first; none for identity. A member that is not well formed is left out.
/// A client without the field is sent identity, for it did not say that it can decode anything. So is one that takes nothing at all.
pub fn choose(accept: Option<&[u8]>, offered: &[Coding]) -> Option<Coding> {
    let field = accept.filter(|field| field.len() <= LONGEST)?.to_ascii_lowercase();
    let members: Vec<(&[u8], u16)> = field.split(|byte| *byte == b',').filter_map(member).collect();
    // The last of two members of one name counts.
    let named =
        |wanted: &[u8]| members.iter().rev().find(|(name, _)| *name == wanted).map(|(_, quality)| *quality);
    // An identity that is named wins over codings of lower quality, not over those of the same.
    let mut least = named(b"identity").unwrap_or(0).max(1);
    let mut best = None;
    for coding in offered {
        let quality = named(coding.name().as_bytes()).or_else(|| named(b"*")).unwrap_or(0);
        if quality >= least {
            best = Some(*coding);
            least = quality + 1;
        }
    }
    best
}

/// Name and quality, in thousandths, of `gzip;q=0.5`, if it is well formed.
fn member(member: &[u8]) -> Option<(&[u8], u16)> {
    let end = member.iter().position(|byte| *byte == b';').unwrap_or(member.len());
    let name = member[..end].trim_ascii();
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+.^_`|~-".contains(byte);
    let parameter = member.get(end + 1..).map(<[u8]>::trim_ascii);
    let quality = parameter.map_or(Some(1000), quality)?;
    let name = if name == b"x-gzip" { b"gzip" } else { name };
    (!name.is_empty() && name.iter().all(is_token)).then_some((name, quality))
}

/// The thousandths of `q=0.5`: at most three digits, at most 1.
fn quality(parameter: &[u8]) -> Option<u16> {
    let (whole, digits) = match parameter.strip_prefix(b"q=")? {
        [whole @ (b'0' | b'1')] => (whole, &[][..]),
        [whole @ (b'0' | b'1'), b'.', digits @ ..] => (whole, digits),
        _ => return None,
    };
    if digits.len() > 3 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let at = |index: usize| digits.get(index).map_or(0, |digit| u16::from(digit - b'0'));
    let thousandths = u16::from(whole - b'0') * 1000 + at(0) * 100 + at(1) * 10 + at(2);
    (thousandths <= 1000).then_some(thousandths)
}
