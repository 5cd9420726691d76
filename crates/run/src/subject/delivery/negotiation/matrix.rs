//! The requests: which Accept-Encoding values, and what else is asked of each variant.

use super::Link;
use weigh_model::record::negotiation::{NegotiationRequest, Purpose};

/// Every value of Accept-Encoding; the first request has none.
pub const ACCEPT: [&str; 18] = [
    "identity",
    "gzip",
    "br",
    "zstd",
    "deflate",
    "gzip, br",
    "gzip, deflate",
    "gzip, deflate, br, zstd",
    "gzip;q=0",
    "gzip;q=0, br",
    "br;q=0.5, gzip;q=1.0",
    "gzip;q=0.5, br;q=1.0",
    "identity;q=0",
    "identity;q=0, gzip",
    "*",
    "*;q=0",
    "GZIP",
    "x-gzip",
];

/// Browsers that servers had rules for, because they took `gzip` and could not read all of it.
pub const BROWSERS: [(&str, &str); 3] = [
    ("Netscape 4.06", "Mozilla/4.06 [en] (Win95; I)"),
    ("Netscape 4.8", "Mozilla/4.8 [en] (Windows NT 5.0; U)"),
    ("MSIE 6", "Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1)"),
];
pub const BROWSERS_ACCEPT: &str = "gzip, deflate";

/// An ETag that is nobody's.
const STALE: &str = "\"of-no-variant\"";
const FIRST: &str = "bytes=0-99";
const LAST: &str = "bytes=-50";

/// The requests that show which variant is chosen.
pub fn choices() -> Vec<NegotiationRequest> {
    let of = |accept: Option<&str>, browser: Option<&str>| NegotiationRequest {
        accept: accept.map(str::to_owned),
        browser: browser.map(str::to_owned),
        ..NegotiationRequest::default()
    };
    let accepts = ACCEPT.iter().map(|accept| of(Some(accept), None));
    let browsers = BROWSERS.iter().map(|(name, _)| of(Some(BROWSERS_ACCEPT), Some(name)));
    std::iter::once(of(None, None)).chain(accepts).chain(browsers).collect()
}

/// What is asked of the variant of a coding, which is sent for `accept`; `tags` are the ETags of all variants by coding.
pub fn of_variant(
    coding: &str,
    accept: Option<&str>,
    tags: &[(String, Option<String>)],
) -> Vec<NegotiationRequest> {
    let of = |purpose| NegotiationRequest {
        purpose,
        accept: accept.map(str::to_owned),
        variant: Some(coding.to_owned()),
        ..NegotiationRequest::default()
    };
    let range = |purpose, range: &str| NegotiationRequest { range: Some(range.to_owned()), ..of(purpose) };
    let mut asks = vec![of(Purpose::Head), range(Purpose::First, FIRST), range(Purpose::Last, LAST)];
    asks.push(NegotiationRequest { if_range: Some(STALE.to_owned()), ..range(Purpose::ResumeStale, FIRST) });
    let own = tags.iter().find(|(name, _)| name == coding).and_then(|(_, tag)| tag.clone());
    let Some(own) = own else { return asks };
    asks.push(NegotiationRequest { if_none_match: Some(own.clone()), ..of(Purpose::Revalidate) });
    asks.push(NegotiationRequest { if_range: Some(own.clone()), ..range(Purpose::Resume, FIRST) });
    for (name, tag) in tags.iter().filter(|(name, _)| name != coding) {
        if let Some(tag) = tag.as_ref().filter(|tag| **tag != own) {
            let other = Some(name.clone());
            let if_none_match = Some(tag.clone());
            asks.push(NegotiationRequest { other, if_none_match, ..of(Purpose::RevalidateOther) });
        }
    }
    asks
}

pub fn request(ask: &NegotiationRequest, link: &Link) -> Vec<u8> {
    let method = if ask.purpose == Purpose::Head { "HEAD" } else { "GET" };
    let browser = BROWSERS.iter().find(|(name, _)| ask.browser.as_deref() == Some(name));
    let agent = browser.map_or(concat!("weigh/", env!("CARGO_PKG_VERSION")), |(_, agent)| agent);
    let mut head = format!(
        "{method} {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: {agent}\r\nConnection: close\r\n",
        link.path, link.host
    );
    for (name, value) in [
        ("Accept-Encoding", &ask.accept),
        ("If-None-Match", &ask.if_none_match),
        ("Range", &ask.range),
        ("If-Range", &ask.if_range),
    ] {
        if let Some(value) = value {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    head.push_str("\r\n");
    head.into_bytes()
}
