//! Which content codings a request asks for (RFC 9110, section 12.5.3).

use super::decode::token;
use crate::protocol::coding::Coding;

/// Whether a coding may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// It was asked for, or needs not be.
    Yes,
    /// There is no Accept-Encoding: anything may be sent, and nothing was asked for.
    Unsaid,
    /// It was not asked for, or refused.
    No,
}

/// Whether a request with these headers may be answered in that coding.
pub(super) fn asked(headers: &[(String, String)], coding: Coding) -> Asked {
    if coding == Coding::Identity {
        return Asked::Yes;
    }
    let fields = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("accept-encoding"));
    let mut any = Asked::Unsaid;
    for (_, value) in fields {
        if any == Asked::Unsaid {
            any = Asked::No;
        }
        for member in value.split(',') {
            let mut parts = member.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let verdict = if parts.any(refused) { Asked::No } else { Asked::Yes };
            if named(name, coding) {
                return verdict;
            }
            if name == "*" {
                any = verdict;
            }
        }
    }
    any
}

fn named(name: &str, coding: Coding) -> bool {
    name.eq_ignore_ascii_case(token(coding))
        || (coding == Coding::Gzip && name.eq_ignore_ascii_case("x-gzip"))
}

/// A weight of zero, as `q=0.0`.
fn refused(parameter: &str) -> bool {
    let Some((name, weight)) = parameter.split_once('=') else { return false };
    name.trim().eq_ignore_ascii_case("q") && weight.trim().parse() == Ok(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(value: &str, coding: Coding) -> Asked {
        asked(&[("Host".into(), "a".into()), ("accept-encoding".into(), value.into())], coding)
    }

    #[test]
    fn what_is_named_may_be_sent() {
        assert_eq!(ask("gzip, br;q=0.5", Coding::Gzip), Asked::Yes);
        assert_eq!(ask("gzip, br ; q=0.5", Coding::Brotli), Asked::Yes);
        assert_eq!(ask("X-GZIP", Coding::Gzip), Asked::Yes);
        assert_eq!(ask("gzip", Coding::Zstd), Asked::No);
        assert_eq!(ask("", Coding::Gzip), Asked::No);
        assert_eq!(ask("", Coding::Identity), Asked::Yes);
    }

    #[test]
    fn zero_refuses_and_a_name_goes_before_the_star() {
        assert_eq!(ask("gzip;q=0, *", Coding::Gzip), Asked::No);
        assert_eq!(ask("*, gzip; Q=0.000", Coding::Gzip), Asked::No);
        assert_eq!(ask("gzip;q=0, *", Coding::Brotli), Asked::Yes);
        assert_eq!(ask("*;q=0, br", Coding::Brotli), Asked::Yes);
        assert_eq!(ask("*;q=0, br", Coding::Zstd), Asked::No);
    }

    #[test]
    fn silence_is_no_refusal() {
        assert_eq!(asked(&[], Coding::Gzip), Asked::Unsaid);
    }
}
