//! Which URLs of a site are asked for: none that does something by being asked for, sets an application up, or is somebody's own.

use url::{Position, Url};

/// Words in URLs that do something by being asked for, or are one visitor's alone.
const ACTS: [&str; 25] = [
    "logout",
    "login",
    "signin",
    "signout",
    "delete",
    "remove",
    "cart",
    "checkout",
    "subscribe",
    "cron",
    "token",
    "confirm",
    "reset",
    "verify",
    "activat",
    "approve",
    "vote",
    "payment",
    "order",
    "callback",
    "hook",
    "nonce",
    "install",
    "update",
    "upgrade",
];
/// Words in links that lead to what is not a page of visitors.
const NO_PAGES: [&str; 5] = ["admin", "feed", "wp-json", "xmlrpc", "download"];
/// Parts of paths of pages that set an application up, without `.php`.
const SETUP: [&str; 7] =
    ["installer", "installation", "setup", "setup-config", "mw-config", "upgrade", "maintenance"];

/// Whether a URL may do something by being asked for, as far as its words tell.
pub fn acts(url: &str) -> bool {
    let url = url.to_lowercase();
    ACTS.iter().any(|word| url.contains(word))
}

/// Whether a path is that of what sets an application up.
fn is_setup(path: &str) -> bool {
    path.split('/').any(|part| SETUP.contains(&part.strip_suffix(".php").unwrap_or(part)))
}

/// Whether a link of a page is requested: of the same host, without a query, and of nothing that a visitor would change by it.
pub fn is_followed(link: &Url, page: &Url) -> bool {
    link.query().is_none() && is_harmless(link, page)
}

/// Whether a URL that visitors ask for is requested: of the same host, and of nothing that a visitor would change by it.
pub fn is_harmless(link: &Url, page: &Url) -> bool {
    let path = link.path().to_lowercase();
    let keys = || link.query_pairs().map(|(key, _)| key.to_lowercase());
    let words = link[Position::BeforePath..].to_lowercase();
    let is_text = path.ends_with(".html") || path.ends_with(".htm") || weigh_content::class::is_page(&path);
    link.origin() == page.origin()
        && is_text
        && !acts(&words)
        && !NO_PAGES.iter().any(|word| path.contains(word) || keys().any(|key| key.contains(word)))
        && !is_setup(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_do_something_are_not_followed() {
        let page = Url::parse("http://localhost/").unwrap();
        let is = |link: &str| is_followed(&page.join(link).unwrap(), &page);
        assert!(is("/about") && is("blog/") && is("a.html") && is("/index.php"));
        for link in [
            "/logout",
            "/post?delete=1",
            "http://other.example/",
            "/wp-admin/",
            "/a.png",
            "/cart/add/3",
            "/install.php",
            "/mw-config/index.php",
        ] {
            assert!(!is(link), "{link}");
        }
    }

    #[test]
    fn pages_that_visitors_ask_for_by_a_query_string_are_asked_for_unless_that_does_something() {
        let page = Url::parse("http://localhost/").unwrap();
        let is = |link: &str| is_harmless(&page.join(link).unwrap(), &page);
        assert!(
            is("/?p=5") && is("/index.php?route=product") && is("/url.php?url=https%3A%2F%2Fadmin.example")
        );
        for link in ["/?logout=1", "/?p=1&action=delete", "/index.php?feed=rss2", "//other.example/?p=1"] {
            assert!(!is(link), "{link}");
        }
    }

    #[test]
    fn what_is_one_visitors_alone_is_not_asked_for() {
        assert!(acts("/account/Reset?key=x") && acts("/?wc-ajax=add_to_cart") && acts("/x?_wpnonce=1"));
        assert!(!acts("/lib/exe/css.php?t=dokuwiki&tseed=7") && !acts("/load.php?modules=site&only=styles"));
    }
}
