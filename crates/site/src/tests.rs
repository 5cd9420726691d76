//! What tests of several files need, and the name of a site.

use super::*;

#[derive(Debug, Default)]
pub struct Quiet(pub Vec<String>);

impl Progress for Quiet {
    fn doing(&mut self, _: &str) {}

    fn note(&mut self, what: &str) {
        self.0.push(what.to_owned());
    }
}

#[test]
fn a_site_is_named_by_its_folder_or_host() {
    let of = |docroot: &str, url: &str| {
        let urls = if url.is_empty() { Vec::new() } else { vec![url.to_owned()] };
        name(
            &SiteRequest { urls, ..SiteRequest::default() },
            (!docroot.is_empty()).then(|| Path::new(docroot)),
        )
    };
    assert_eq!(of("/var/www/My Shop/public", ""), "my-shop");
    assert_eq!(of("/var/www/html", ""), "var");
    assert_eq!(of("", "http://localhost:8080/x"), "localhost");
    assert_eq!(of("", ""), "site");
}
