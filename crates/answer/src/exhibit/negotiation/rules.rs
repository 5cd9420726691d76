//! The rules of RFC 9110 for one response: which variant may be chosen, the rules for HEAD, revalidation and ranges,
//! and the form of ETags.

use weigh_load::accept::Accept;
use weigh_model::record::negotiation::{Answer, Body, Exchange, IDENTITY, NegotiationRequest, Purpose};

use super::Quirk;
use crate::report::exhibit::negotiation::Variant;

/// The remark on the response to a request for any variant. `available` are the codings of all variants.
pub(super) fn of_choice(accept: Option<&str>, answer: &Answer, available: &[String]) -> Option<Quirk> {
    let accept = accept.map(Accept::parse);
    let takes = |coding: &str| accept.as_ref().is_none_or(|accept| accept.takes(coding));
    match (answer.status, answer.body) {
        (200, Body::Wrong) => return Some(Quirk::WrongBody),
        (200, Body::Content | Body::Unknown) => {}
        (406, _) if available.iter().any(|coding| takes(coding)) => return Some(Quirk::NeedlessRefusal),
        (406, _) => return Some(Quirk::NotAcceptable),
        _ => return Some(Quirk::Failed),
    }
    let coding = answer.coding();
    let Some(accept) = accept else {
        return (coding != IDENTITY).then_some(Quirk::Unasked);
    };
    let others = available.iter().filter(|other| *other != IDENTITY && accept.takes(other));
    let best = others.filter_map(|other| accept.weight(other)).max();
    match (coding.as_str(), best) {
        (IDENTITY, Some(_)) if !accept.takes(IDENTITY) => Some(Quirk::IdentityForced),
        (IDENTITY, None) if !accept.takes(IDENTITY) => Some(Quirk::IdentityRefused),
        (IDENTITY, best) => best.map(|_| Quirk::AsItIs),
        (coding, _) if accept.refuses(coding) => Some(Quirk::Excluded),
        (coding, _) if !accept.takes(coding) => Some(Quirk::Unnamed),
        (coding, best) => (accept.weight(coding) < best).then_some(Quirk::Lesser),
    }
}

/// The remark on a response. `get` is the response in which the variant was first seen, `variants` are all variants.
pub(super) fn of_variant(exchange: &Exchange, get: &Answer, variants: &[Variant]) -> Option<Quirk> {
    let Exchange { ask, answer } = exchange;
    match ask.purpose {
        Purpose::Choose => None,
        Purpose::Head => head(answer, get),
        Purpose::Revalidate => own(answer, get),
        Purpose::RevalidateOther => other(ask, answer, variants),
        Purpose::First | Purpose::Last => part(answer, ask),
        Purpose::Resume => match get.etag.as_deref().map(form) {
            Some(Form::Strong) => part(answer, ask).map(|quirk| match quirk {
                Quirk::RangesIgnored => Quirk::NotResumed,
                other => other,
            }),
            // It is never enough for it.
            Some(Form::Weak) => whole(answer),
            Some(Form::Unclosed | Form::Broken) | None => None,
        },
        Purpose::ResumeStale => whole(answer),
    }
}

/// Headers that must be the same for HEAD and GET (RFC 9110, section 9.3.2). Lengths that GET does not have may be left
/// out.
fn head(answer: &Answer, get: &Answer) -> Option<Quirk> {
    if answer.status == 0 {
        return Some(Quirk::Failed);
    }
    let lengths = answer.content_length.zip(get.content_length);
    let is_same = answer.status == get.status
        && answer.coding() == get.coding()
        && answer.etag == get.etag
        && names_encoding(answer.vary.as_deref()) == names_encoding(get.vary.as_deref())
        && lengths.is_none_or(|(head, get)| head == get);
    // A length that GET has no use for, because it sends what has another one.
    let is_other =
        get.content_length.is_none() && answer.content_length.is_some_and(|bytes| bytes != get.bytes);
    (!is_same || is_other).then_some(Quirk::HeadDiffers)
}

fn own(answer: &Answer, get: &Answer) -> Option<Quirk> {
    match answer.status {
        304 => match (&answer.etag, &get.etag) {
            (Some(again), Some(first)) if again == first => None,
            (Some(again), Some(first)) if weakly_same(again, first) => Some(Quirk::OtherStrength),
            (Some(_), Some(_)) => Some(Quirk::OtherEtag),
            _ => None,
        },
        200 if answer.body == Body::Content => Some(Quirk::NotMatched),
        200 if answer.body == Body::Wrong => Some(Quirk::WrongBody),
        _ => Some(Quirk::Failed),
    }
}

fn other(ask: &NegotiationRequest, answer: &Answer, variants: &[Variant]) -> Option<Quirk> {
    let etag = |coding: &Option<String>| {
        let variant = variants.iter().find(|v| Some(&v.coding) == coding.as_ref())?;
        variant.etag.as_deref()
    };
    match (answer.status, answer.body) {
        (304, _) => {
            let same =
                etag(&ask.variant).zip(etag(&ask.other)).is_some_and(|(own, other)| weakly_same(own, other));
            Some(if same { Quirk::WeakMatch } else { Quirk::FalseMatch })
        }
        (200, Body::Content | Body::Unknown) => None,
        (200, Body::Wrong) => Some(Quirk::WrongBody),
        _ => Some(Quirk::Failed),
    }
}

fn part(answer: &Answer, ask: &NegotiationRequest) -> Option<Quirk> {
    match (answer.status, answer.body) {
        (206, Body::Part) if !is_asked(ask, answer) => Some(Quirk::WrongPart),
        (206, Body::Part) if Some(answer.coding()) != ask.variant => Some(Quirk::OtherPart),
        (206, Body::Part) => None,
        (206, _) => Some(Quirk::WrongPart),
        (200, Body::Content | Body::Unknown) => Some(Quirk::RangesIgnored),
        (200, Body::Wrong) => Some(Quirk::WrongBody),
        _ => Some(Quirk::Failed),
    }
}

/// Whether Content-Range has the length of the request, or of the rest of the content.
fn is_asked(ask: &NegotiationRequest, answer: &Answer) -> bool {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let said = answer.content_range.as_deref().and_then(|value| value.trim().strip_prefix("bytes "));
    let said = said.and_then(|value| value.split_once('/'));
    let Some((span, total)) = said else { return false };
    let Some(total) = number(total) else { return false };
    let Some((first, last)) = span.split_once('-').and_then(|(a, b)| number(a).zip(number(b))) else {
        return false;
    };
    let asked = ask.range.as_deref().and_then(|value| value.strip_prefix("bytes="));
    let (from, to) = match asked.and_then(|value| value.split_once('-')) {
        Some(("", tail)) => {
            (number(tail).map(|tail| total.saturating_sub(tail)), Some(total.saturating_sub(1)))
        }
        Some((from, to)) => (number(from), number(to).map(|to| to.min(total.saturating_sub(1)))),
        None => (None, None),
    };
    last < total && (Some(first), Some(last)) == (from, to)
}

/// The whole body must be sent.
fn whole(answer: &Answer) -> Option<Quirk> {
    match (answer.status, answer.body) {
        (200, Body::Content | Body::Unknown) => None,
        (200, Body::Wrong) => Some(Quirk::WrongBody),
        (206, _) => Some(Quirk::StalePart),
        _ => Some(Quirk::Failed),
    }
}

/// Whether Vary names Accept-Encoding, or everything.
pub(super) fn names_encoding(vary: Option<&str>) -> bool {
    names(vary, "accept-encoding")
}

/// Whether Vary names a header, or everything.
pub(super) fn names(vary: Option<&str>, field: &str) -> bool {
    let mut names = vary.unwrap_or_default().split(',').map(str::trim);
    names.any(|name| name == "*" || name.eq_ignore_ascii_case(field))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Strong, in quotes: the same bytes.
    Strong,
    /// Weak, in quotes after `W/`: the same meaning.
    Weak,
    /// It starts with a quote, but does not end with one.
    Unclosed,
    /// Quotes are missing otherwise, or are inside it.
    Broken,
}

pub(super) fn form(etag: &str) -> Form {
    let (quoted, form) = match etag.strip_prefix("W/") {
        Some(rest) => (rest, Form::Weak),
        None => (etag, Form::Strong),
    };
    let opaque = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let is_plain = |c: char| c != '"' && !c.is_control() && c != ' ';
    match opaque {
        Some(opaque) if opaque.chars().all(is_plain) => form,
        None if quoted.strip_prefix('"').is_some_and(|rest| rest.chars().all(is_plain)) => Form::Unclosed,
        _ => Form::Broken,
    }
}

/// Whether both have the same meaning: they are equal except for `W/`.
fn weakly_same(one: &str, other: &str) -> bool {
    let opaque = |etag: &str| etag.strip_prefix("W/").unwrap_or(etag).to_owned();
    opaque(one) == opaque(other)
}

#[cfg(test)]
mod tests;
