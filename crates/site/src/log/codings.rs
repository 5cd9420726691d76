//! Which content codings clients accept.

use super::agents::ByAgent;

/// What a client can be sent, from the most to the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepts {
    ZstdBrGzip,
    BrGzip,
    Gzip,
    /// None of these.
    None,
}

impl Accepts {
    /// Of an `Accept-Encoding` (RFC 9110, 12.5.3). A client that takes zstd without Brotli, or either without gzip, is in the next lower class.
    pub fn of(accept: &[u8]) -> Accepts {
        let (mut zstd, mut br, mut gzip) = (false, false, false);
        for part in accept.split(|b| *b == b',') {
            let (name, weight) = split(part);
            if is_zero(weight) {
                continue;
            }
            let is = |coding: &str| name.eq_ignore_ascii_case(coding.as_bytes());
            zstd |= is("zstd");
            br |= is("br");
            gzip |= is("gzip") || is("x-gzip") || is("*");
        }
        match (zstd, br, gzip) {
            (true, true, true) => Accepts::ZstdBrGzip,
            (_, true, true) => Accepts::BrGzip,
            (_, _, true) => Accepts::Gzip,
            _ => Accepts::None,
        }
    }
}

/// Requests of visitors by what their clients accept, and by where that is known from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Codings {
    pub zstd_br_gzip: u64,
    pub br_gzip: u64,
    pub gzip: u64,
    pub none: u64,
    /// Requests whose `Accept-Encoding` is logged.
    pub by_header: u64,
    /// Requests whose user agent is in the table of browsers.
    pub by_agent: u64,
    /// Requests of user agents that are not logged or not known: taken as gzip.
    pub assumed: u64,
}

impl Codings {
    /// Counts one request. The header counts where it is logged; `-` stands for none.
    pub(super) fn add(&mut self, accept: Option<&[u8]>, by_agent: ByAgent) {
        let accepts = match (accept, by_agent) {
            (Some(accept), _) => {
                self.by_header += 1;
                Accepts::of(accept)
            }
            (None, ByAgent::Known(accepts)) => {
                self.by_agent += 1;
                accepts
            }
            (None, ByAgent::Unknown) => {
                self.assumed += 1;
                Accepts::Gzip
            }
        };
        *match accepts {
            Accepts::ZstdBrGzip => &mut self.zstd_br_gzip,
            Accepts::BrGzip => &mut self.br_gzip,
            Accepts::Gzip => &mut self.gzip,
            Accepts::None => &mut self.none,
        } += 1;
    }
}

/// Whether a text can be an `Accept-Encoding`: a list of codings that are registered or were in use.
pub fn is_list(text: &[u8]) -> bool {
    const NAMES: [&str; 15] = [
        "gzip",
        "br",
        "zstd",
        "deflate",
        "identity",
        "*",
        "x-gzip",
        "compress",
        "x-compress",
        "dcb",
        "dcz",
        "sdch",
        "exi",
        "aes128gcm",
        "pack200-gzip",
    ];
    text.split(|b| *b == b',')
        .all(|part| NAMES.iter().any(|name| split(part).0.eq_ignore_ascii_case(name.as_bytes())))
}

/// A coding and its weight.
fn split(part: &[u8]) -> (&[u8], &[u8]) {
    let at = memchr::memchr(b';', part);
    let (name, weight) = at.map_or((part, &b""[..]), |at| (&part[..at], &part[at + 1..]));
    (name.trim_ascii(), weight.trim_ascii())
}

/// Whether a weight is `q=0`, with any number of decimals.
fn is_zero(weight: &[u8]) -> bool {
    let number = weight.strip_prefix(b"q=").or_else(|| weight.strip_prefix(b"Q="));
    number.is_some_and(|n| n.first() == Some(&b'0') && n.iter().all(|b| matches!(b, b'0' | b'.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_follow_the_header() {
        let of = |text: &str| Accepts::of(text.as_bytes());
        assert_eq!(of("gzip, deflate, br, zstd"), Accepts::ZstdBrGzip);
        assert_eq!(of("br;q=1.0, gzip;q=0.8, *;q=0.1"), Accepts::BrGzip);
        assert_eq!(of("gzip, br;q=0, zstd;q=0.000"), Accepts::Gzip);
        assert_eq!(of("GZIP"), Accepts::Gzip);
        assert_eq!(of("gzip, zstd"), Accepts::Gzip);
        assert_eq!(of("*"), Accepts::Gzip);
        for none in ["", "-", "identity", "gzip;q=0", "br", "deflate"] {
            assert_eq!(of(none), Accepts::None, "{none}");
        }
    }

    #[test]
    fn only_codings_make_a_list() {
        assert!(is_list(b"gzip, deflate, br;q=0.5") && is_list(b"*"));
        assert!(!is_list(b"") && !is_list(b"-") && !is_list(b"gzip, 10.0.0.1") && !is_list(b"1.23"));
    }
}
