//! Which requests are answered: from the user's own browser, for a page of this server, and with the secret.

use hyper::header::{HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::{Method, StatusCode, Uri};

use super::token::Token;

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// What a request is compared with.
#[derive(Debug)]
pub struct Guard {
    /// `127.0.0.1:PORT`: what a browser that means this server names.
    pub host: String,
    pub token: Token,
}

/// Why a request is refused, in a line.
pub type Refusal = (StatusCode, &'static str);

impl Guard {
    /// The path of an allowed request behind the secret, with its slash: `/run/small`.
    ///
    /// `may_arrive`: a page on this machine's disk may lead here, once; see `--open`.
    ///
    /// # Errors
    /// The refusal.
    pub fn path<'u>(
        &self,
        method: &Method,
        uri: &'u Uri,
        headers: &HeaderMap,
        may_arrive: impl FnOnce() -> bool,
    ) -> Result<&'u str, Refusal> {
        if method != Method::GET && method != Method::HEAD {
            return Err((StatusCode::METHOD_NOT_ALLOWED, "this server only reads: GET and HEAD"));
        }
        // Another host's name may lead to this address too: that is how pages elsewhere would read it.
        if !only(headers, &HOST, &self.host) || uri.authority().is_some_and(|of| of.as_str() != self.host) {
            return Err((StatusCode::FORBIDDEN, "another host was asked for"));
        }
        let own = format!("http://{}", self.host);
        if headers.contains_key(ORIGIN) && !only(headers, &ORIGIN, &own) {
            return Err((StatusCode::FORBIDDEN, "a page of another origin asks"));
        }
        let wrong = (StatusCode::FORBIDDEN, "the link is not one that weigh runs open printed");
        let (given, path) = split(uri.path()).ok_or(wrong)?;
        if !self.token.is(given) {
            return Err(wrong);
        }
        let is_own = ["same-origin", "none"].iter().any(|site| only(headers, &SITE, site));
        let is_arrival =
            || path == "/" && only(headers, &MODE, "navigate") && only(headers, &DEST, "document");
        if headers.contains_key(SITE) && !is_own && !(is_arrival() && may_arrive()) {
            return Err((StatusCode::FORBIDDEN, "a page of another site asks"));
        }
        Ok(path)
    }
}

/// Whether a header is there once, with this value.
fn only(headers: &HeaderMap, name: &HeaderName, value: &str) -> bool {
    let mut all = headers.get_all(name).iter();
    all.next().is_some_and(|first| first.as_bytes() == value.as_bytes()) && all.next().is_none()
}

/// The secret that a path begins with, and the rest with its slash.
fn split(path: &str) -> Option<(&str, &str)> {
    let path = path.strip_prefix('/')?;
    let at = path.find('/')?;
    Some(path.split_at(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(
        method: Method,
        path: &str,
        headers: &[(&'static str, &str)],
        arrives: bool,
    ) -> Result<String, u16> {
        let guard = Guard { host: "127.0.0.1:7000".into(), token: Token::new() };
        let uri: Uri = path.replace("TOKEN", guard.token.text()).parse().unwrap();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let path = guard.path(&method, &uri, &map, || arrives);
        path.map(str::to_owned).map_err(|(status, _)| status.as_u16())
    }

    const HOST: (&str, &str) = ("host", "127.0.0.1:7000");

    #[test]
    fn the_users_own_requests_are_answered() {
        let get = |path: &str, more: &[(&'static str, &str)]| {
            asked(Method::GET, path, &[&[HOST], more].concat(), false)
        };
        assert_eq!(get("/TOKEN/", &[]), Ok("/".into()));
        assert_eq!(get("/TOKEN/run/a%2fb?x=1", &[]), Ok("/run/a%2fb".into()));
        assert_eq!(get("/TOKEN/", &[("sec-fetch-site", "none")]), Ok("/".into()));
        let own = [("origin", "http://127.0.0.1:7000"), ("sec-fetch-site", "same-origin")];
        assert_eq!(get("/TOKEN/", &own), Ok("/".into()));
        assert_eq!(get("http://127.0.0.1:7000/TOKEN/", &[]), Ok("/".into()));
    }

    /// Method, path, headers, and the status that refuses them.
    type Wrong<'a> = (Method, &'a str, &'a [(&'static str, &'a str)], u16);

    #[test]
    fn others_are_refused() {
        let wrong: [Wrong; 16] = [
            (Method::POST, "/TOKEN/", &[HOST], 405),
            (Method::DELETE, "/TOKEN/", &[HOST], 405),
            (Method::OPTIONS, "/TOKEN/", &[HOST], 405),
            (Method::GET, "/TOKEN/", &[], 403),
            (Method::GET, "/TOKEN/", &[HOST, HOST], 403),
            (Method::GET, "/TOKEN/", &[("host", "localhost:7000")], 403),
            (Method::GET, "/TOKEN/", &[("host", "127.0.0.1:7001")], 403),
            (Method::GET, "/TOKEN/", &[("host", "evil.example:7000")], 403),
            (Method::GET, "http://evil.example/TOKEN/", &[HOST], 403),
            (Method::GET, "/TOKEN/", &[HOST, ("origin", "http://evil.example")], 403),
            (Method::GET, "/TOKEN/", &[HOST, ("origin", "null")], 403),
            (Method::GET, "/TOKEN/", &[HOST, ("sec-fetch-site", "cross-site")], 403),
            (Method::GET, "/TOKEN/", &[HOST, ("sec-fetch-site", "same-site")], 403),
            (Method::GET, "/", &[HOST], 403),
            (Method::GET, "/00000000000000000000000000000000/", &[HOST], 403),
            (Method::GET, "/TOKEN", &[HOST], 403),
        ];
        for (method, path, headers, status) in wrong {
            assert_eq!(
                asked(method.clone(), path, headers, false),
                Err(status),
                "{method} {path} {headers:?}"
            );
        }
    }

    #[test]
    fn a_page_on_the_disk_leads_to_the_list_only_and_only_when_it_was_opened() {
        let navigates = [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        let arrives = |path: &str, headers: &[(&'static str, &str)], may: bool| {
            asked(Method::GET, path, &[&[HOST], headers].concat(), may)
        };
        assert_eq!(arrives("/TOKEN/", &navigates, true), Ok("/".into()));
        assert_eq!(arrives("/TOKEN/", &navigates, false), Err(403));
        assert_eq!(arrives("/TOKEN/run/a", &navigates, true), Err(403));
        assert_eq!(arrives("/TOKEN/", &navigates[..1], true), Err(403));
    }
}
