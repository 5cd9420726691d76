//! What a request says about who made it. An attacker's page can have a visitor's browser send requests with the visitor's cookies, and can put
//! text into the pages that come back: from their sizes, when they are compressed, it can learn the secrets in them (BREACH).

/// For which requests nothing is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breach {
    /// Those that carry what may be a secret, and were made by another site without the user.
    CrossSite,
    /// Those that carry what may be a secret.
    Cookies,
    /// None.
    Off,
}

/// Schemes whose credentials a browser sends by itself.
const SCHEMES: [&str; 4] = ["basic", "digest", "negotiate", "ntlm"];
/// Cookies of analytics and of consent, by their whole names and by how they begin: no secrets.
const HARMLESS: &str = "_ga _gid _fbp _fbc _clck _clsk OptanonConsent OptanonAlertBoxClosed \
    CookieConsent cookieyes-consent euconsent-v2";
const HARMLESS_BEGINNINGS: &str = "_ga_ _gat _gcl_ _dc_gtm_ _pk_ _hj __utm _uet cookielawinfo-";

/// Whether the body of the response must not be encoded. `field` is asked for fields of the request, by their names in small letters.
pub fn is_withheld(rule: Breach, field: impl Fn(&str) -> Option<String>) -> bool {
    let may_be_secret = || {
        let cookies = field("cookie").unwrap_or_default();
        let scheme = field("authorization").unwrap_or_default();
        let scheme = scheme.split_ascii_whitespace().next().unwrap_or_default();
        cookies.split(';').any(is_secret) || SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known))
    };
    match rule {
        Breach::CrossSite => may_be_secret() && is_of_another_site(field),
        Breach::Cookies => may_be_secret(),
        Breach::Off => false,
    }
}

/// Whether a cookie may be a secret.
fn is_secret(cookie: &str) -> bool {
    let Some((name, _)) = cookie.split_once('=') else { return !cookie.trim().is_empty() };
    let begins = |known: &str| name.trim().starts_with(known);
    !HARMLESS.split(' ').any(|known| known == name.trim()) && !HARMLESS_BEGINNINGS.split(' ').any(begins)
}

/// Whether a page of another site made the request, and not by a link that the user followed.
fn is_of_another_site(field: impl Fn(&str) -> Option<String>) -> bool {
    let is = |name: &str, value: &str| field(name).is_some_and(|own| own.trim() == value);
    if let Some(site) = field("sec-fetch-site") {
        let is_of_user = is("sec-fetch-mode", "navigate") && is("sec-fetch-user", "?1");
        return !is_of_user && !["same-origin", "same-site", "none"].contains(&site.trim());
    }
    let Some(from) = field("origin").or_else(|| field("referer")) else { return false };
    let own = host(&field("host").unwrap_or_default());
    let other = from.split_once("://").map(|(_, rest)| host(rest)).unwrap_or_default();
    let is_below = |one: &str, other: &str| one.strip_suffix(other).is_some_and(|rest| rest.ends_with('.'));
    own.is_empty() || other.is_empty() || (own != other && !is_below(&own, &other) && !is_below(&other, &own))
}

/// The host of an address without its scheme, in small letters and without its port.
fn host(address: &str) -> String {
    let authority = address.split(['/', '?', '#']).next().unwrap_or_default();
    let end =
        if authority.starts_with('[') { authority.find(']').map(|at| at + 1) } else { authority.find(':') };
    authority[..end.unwrap_or(authority.len())].to_ascii_lowercase()
}

/// If-None-Match as the application sees it: its tags as it gave them, before an encoded response made them weak.
pub fn without_weakness(field: &str) -> String {
    // Outside of tags is every other part, and the last has no tag behind it.
    let last = field.matches('"').count();
    let seen = field.split('"').enumerate().map(|(at, part)| {
        if at % 2 == 0 && at < last { part.strip_suffix("W/").unwrap_or(part) } else { part }
    });
    seen.collect::<Vec<_>>().join("\"")
}
