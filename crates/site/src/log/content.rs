//! What a value can be, by its content alone.

use std::net::{IpAddr, SocketAddr};

use super::codings;
use super::duration::{self, Numbers};
use super::entry::{self, Method};
use super::fields::{Field, Form, unescaped};
use super::moment;

/// Distinct values of a column that are looked at.
const DISTINCT: usize = 64;

/// How many values of a column can be what.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// Values, and those of them that say that there is nothing.
    pub values: usize,
    pub none: usize,
    pub times: usize,
    pub requests: usize,
    pub methods: usize,
    pub targets: usize,
    pub statuses: usize,
    pub whole: usize,
    pub addresses: usize,
    /// Of these, lists and addresses in quotes: what another proxy says.
    pub forwarded: usize,
    pub hosts: usize,
    pub with_port: usize,
    /// Two for each that is surely a browser's, one for others.
    pub agents: usize,
    pub links: usize,
    pub codings: usize,
    pub prefetches: usize,
    pub quoted: usize,
    /// Of lines without a body (304, `HEAD`): values of zero, others, and the sum of these.
    without_body: (usize, usize, f64),
    pub numbers: Numbers,
    pub distinct: Vec<Vec<u8>>,
}

impl Column {
    pub fn add(&mut self, field: &Field<'_>, has_body: bool) {
        let value = field.value;
        self.values += 1;
        self.quoted += usize::from(field.form == Form::Quoted);
        let is_number = value.iter().all(u8::is_ascii_digit) && !value.is_empty();
        if !has_body {
            let is_zero = field.is_none() || value == b"0";
            self.without_body.0 += usize::from(is_zero);
            if let Some((number, ..)) = duration::number(value).filter(|_| !is_zero && is_number) {
                self.without_body.1 += 1;
                self.without_body.2 += number;
            }
        }
        if field.is_none() {
            self.none += 1;
            return;
        }
        if self.distinct.len() < DISTINCT && !self.distinct.iter().any(|known| known == value) {
            self.distinct.push(value[..value.len().min(256)].to_vec());
        }
        self.times += usize::from(moment::parse(value).is_ok());
        self.requests += usize::from(is_request(&unescaped(value)));
        self.methods += usize::from(is_method(value));
        self.targets += usize::from(is_target(value));
        self.statuses += usize::from(is_number && value.len() == 3 && matches!(value[0], b'1'..=b'5'));
        self.whole += usize::from(is_number);
        let addresses = addresses(value);
        self.addresses += usize::from(addresses > 0);
        self.forwarded += usize::from(addresses > 1 || addresses == 1 && field.form == Form::Quoted);
        if let Some((_, port)) = host(value) {
            self.hosts += 1;
            self.with_port += usize::from(port);
        }
        self.agents += agent(value);
        self.links += usize::from(value.starts_with(b"http://") || value.starts_with(b"https://"));
        self.codings += usize::from(codings::is_list(value));
        self.prefetches += usize::from(is_prefetch(value));
        self.numbers.add(value);
    }

    /// Whether more than half of the values that say something are so.
    pub fn mostly(&self, count: usize) -> bool {
        count > 0 && count * 2 > self.values - self.none
    }

    /// Whether it says nothing, and no line has a body of which it could.
    pub fn says_nothing_without_body(&self) -> bool {
        self.none == self.values && self.without_body.0 == self.values
    }

    /// Whether it counts what is sent: always zero where nothing is.
    pub fn is_empty_without_body(&self) -> bool {
        let (zero, others, _) = self.without_body;
        zero > 0 && others == 0 && self.numbers.mean() > 0.0
    }

    /// Whether it counts what is received: as much where nothing is sent. Headers that count too are less than half of the rest.
    pub fn is_as_long_without_body(&self) -> bool {
        let (_, others, sum) = self.without_body;
        others > 0 && sum / others as f64 > self.numbers.mean() / 2.0
    }

    /// Whether all values that say something are so.
    pub fn always(&self, count: usize) -> bool {
        count > 0 && count == self.values - self.none
    }
}

/// Whether it is a request line.
fn is_request(text: &[u8]) -> bool {
    entry::parse_request_line(text).is_some_and(|(_, target)| is_target(target))
        && memchr::memmem::find(text, b" HTTP/").is_some()
}

/// Whether it is a method that browsers use or servers know.
pub fn is_method(text: &[u8]) -> bool {
    const KNOWN: [&[u8]; 9] =
        [b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"PATCH", b"CONNECT", b"PROPFIND"];
    KNOWN.contains(&text) && Method::of(text).is_some()
}

fn is_target(text: &[u8]) -> bool {
    text.starts_with(b"/") || text.starts_with(b"http://") || text.starts_with(b"https://") || text == b"*"
}

/// Whether a browser fetched it in advance: `Sec-Purpose`, or what came before it.
pub fn is_prefetch(text: &[u8]) -> bool {
    ["prefetch", "prerender", "preview"]
        .iter()
        .any(|word| text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word.as_bytes())))
}

/// How many addresses a list has; none if anything else is in it.
fn addresses(text: &[u8]) -> usize {
    let parts = text.split(|b| *b == b',').map(|part| address(part.trim_ascii()));
    parts.take(16).collect::<Option<Vec<_>>>().map_or(0, |all| all.len())
}

/// An address, without what stands around it.
pub fn address(text: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.len() < 64)?.trim_end_matches(':');
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    bare.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))
}

/// A host's name without its port, and whether it has one; none for addresses and what is not a name.
pub fn host(text: &[u8]) -> Option<(&[u8], bool)> {
    let at = memchr::memchr(b':', text);
    let (name, port) = at.map_or((text, None), |at| (&text[..at], Some(&text[at + 1..])));
    let name = name.strip_suffix(b".").unwrap_or(name);
    let is_port =
        port.is_none_or(|port| (1..=5).contains(&port.len()) && port.iter().all(u8::is_ascii_digit));
    let is_name = name.len() < 254
        && name.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
        && name
            .rsplit(|b| *b == b'.')
            .next()
            .is_some_and(|top| top.first().is_some_and(u8::is_ascii_alphabetic))
        && (name.contains(&b'.') && !name.starts_with(b".") || name == b"localhost");
    (is_name && is_port).then_some((name, port.is_some()))
}

/// How surely it is a user agent: two for a browser's, one for a name with a version.
fn agent(text: &[u8]) -> usize {
    if text.starts_with(b"Mozilla/") || text.starts_with(b"Opera/") {
        return 2;
    }
    let Some(at) = memchr::memchr(b'/', text) else { return 0 };
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b' ' | b'+' | b'!');
    let is_product = text[..at].first().is_some_and(u8::is_ascii_alphabetic)
        && text[..at].iter().all(is_name)
        && text.get(at + 1).is_some_and(|b| b.is_ascii_digit() || *b == b'v');
    usize::from(is_product && !text.starts_with(b"HTTP/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_known_by_their_content() {
        for (text, wanted) in [
            ("shop.example", Some(("shop.example", false))),
            ("shop.example.:443", Some(("shop.example", true))),
            ("localhost", Some(("localhost", false))),
            ("10.0.0.1", None),
            ("10.0.0.1:80", None),
            ("unix:/run/x", None),
            ("web-1", None),
            ("app.js/x", None),
            ("a.b:c", None),
            ("", None),
        ] {
            let found = host(text.as_bytes()).map(|(name, port)| (std::str::from_utf8(name).unwrap(), port));
            assert_eq!(found, wanted, "{text}");
        }
        let count = |text: &str| addresses(text.as_bytes());
        assert_eq!(
            (count("::1"), count("1.2.3.4, ::ffff:1.2.3.4"), count("[::1]:80"), count("unknown")),
            (1, 2, 1, 0)
        );
        let sure = |text: &str| agent(text.as_bytes());
        assert_eq!(
            (sure("Mozilla/5.0 (X)"), sure("curl/8.5"), sure("HTTP/1.1"), sure("https://a/1"), sure("/a/1")),
            (2, 1, 0, 0, 0)
        );
        assert!(is_prefetch(b"prefetch;prerender") && !is_prefetch(b"navigate") && !is_prefetch(b""));
    }
}
