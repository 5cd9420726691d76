//! From which version on browsers accept Brotli and zstd.
//!
//! Source: MDN's browser-compat-data 8.1.9 of 12 November 2026, `http.headers.Content-Encoding`, `br` and `zstd` (package
//! `@mdn/browser-compat-data`). Browsers that are built on Chromium (Edge, Opera, Samsung Internet, WebView) name its version too, and that decides. On iOS
//! every browser uses the engine of the system. Browsers accepts Brotli and zstd over HTTPS only. Brotli in Chrome on Android came with 51, and Safari 11 needs
//! macOS 10.13; both are taken as the rest.

use super::codings::Accepts;

/// One kind of browser, told by its user agent.
struct Browser {
    token: &'static str,
    /// Stands somewhere else in it, too.
    also: &'static str,
    /// The first version with Brotli, if any has it.
    br: Option<(u32, u32)>,
    /// The first version with zstd.
    zstd: Option<(u32, u32)>,
}

/// The first that fits decides.
const BROWSERS: &[Browser] = &[
    // Edge before it was built on Chromium.
    Browser { token: "Edge/", also: "", br: Some((15, 0)), zstd: None },
    Browser { token: "Firefox/", also: "", br: Some((44, 0)), zstd: Some((126, 0)) },
    Browser { token: "Chrome/", also: "", br: Some((50, 0)), zstd: Some((123, 0)) },
    // "Version/4.0 … Safari/" is the browser of old Androids, which have neither.
    Browser { token: "Version/", also: "Safari/", br: Some((11, 0)), zstd: Some((26, 3)) },
    // Other browsers and apps on iOS. Since iOS 26 this number stays at 18, so that zstd is missed rather than assumed.
    Browser { token: " OS ", also: "like Mac OS X", br: Some((11, 0)), zstd: Some((26, 3)) },
    Browser { token: "Trident/", also: "", br: None, zstd: None },
    Browser { token: "MSIE ", also: "", br: None, zstd: None },
];

/// What a user agent accepts; none where it is not in the table.
pub fn accepts(agent: &[u8]) -> Option<Accepts> {
    BROWSERS.iter().find_map(|browser| {
        let at = memchr::memmem::find(agent, browser.token.as_bytes())?;
        memchr::memmem::find(agent, browser.also.as_bytes())?;
        let version = version(&agent[at + browser.token.len()..])?;
        let has = |first: Option<(u32, u32)>| first.is_some_and(|first| version >= first);
        Some(match (has(browser.zstd), has(browser.br)) {
            (true, _) => Accepts::ZstdBrGzip,
            (_, true) => Accepts::BrGzip,
            _ => Accepts::Gzip,
        })
    })
}

/// The first two numbers, with a point or an underscore between.
fn version(text: &[u8]) -> Option<(u32, u32)> {
    let number = |text: &[u8]| {
        let digits = text.iter().take(9).take_while(|b| b.is_ascii_digit());
        digits.fold((0u32, 0), |(sum, count), b| (sum * 10 + u32::from(b - b'0'), count + 1))
    };
    let (major, digits) = number(text);
    let rest = text.get(digits..).filter(|_| digits > 0)?;
    let minor = rest.strip_prefix(b".").or_else(|| rest.strip_prefix(b"_")).map_or(0, |rest| number(rest).0);
    Some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_known_by_their_engine() {
        let desktop = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)";
        let phone =
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)";
        let (all, br, gzip) = (Some(Accepts::ZstdBrGzip), Some(Accepts::BrGzip), Some(Accepts::Gzip));
        for (expected, agent) in [
            (all, format!("{desktop} Chrome/123.0.0.0 Safari/537.36")),
            (br, format!("{desktop} Chrome/122.0.0.0 Safari/537.36 Edg/122.0.0.0")),
            (all, format!("{desktop} Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0")),
            (gzip, format!("{desktop} Chrome/49.0.2623.112 Safari/537.36")),
            (br, format!("{desktop} Chrome/64.0.3282.140 Safari/537.36 Edge/18.17763")),
            (gzip, format!("{desktop} Chrome/46.0.2486.0 Safari/537.36 Edge/13.10586")),
            (all, "Mozilla/5.0 (X11; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0".to_owned()),
            (br, "Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0".to_owned()),
            (gzip, "Mozilla/5.0 (X11; Linux x86_64; rv:43.0) Gecko/20100101 Firefox/43.0".to_owned()),
            (br, format!("{phone} Version/26.2 Mobile/15E148 Safari/604.1")),
            (all, format!("{phone} Version/26.3 Mobile/15E148 Safari/604.1")),
            (br, format!("{phone} CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1")),
            (br, format!("{phone} Mobile/15E148 [FBAN/FBIOS]")),
            (gzip, "Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko".to_owned()),
            (None, "Opera/9.80 (J2ME/MIDP; Opera Mini/9.80)".to_owned()),
            (None, "Firefox/x Chrome/".to_owned()),
            (None, String::new()),
        ] {
            assert_eq!(accepts(agent.as_bytes()), expected, "{agent}");
        }
    }

    #[test]
    fn versions_are_bounded() {
        assert_eq!(version(b"26_3 "), Some((26, 3)));
        assert_eq!(version(b"99999999999999999999.1"), Some((999_999_999, 0)));
        assert_eq!(version(b"x"), None);
    }
}
