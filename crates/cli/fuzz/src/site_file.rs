//! Files of sites, `site.toml`: one that can be read is written again as one that can be read.

use weigh_model::site::Site;

/// Holds one input against what the crates promise.
pub fn hold(text: &str) {
    match Site::parse(text, "site.toml") {
        Err(error) => super::is_shown(&error),
        Ok(read) => {
            let written = weigh_site::text(&read).expect("a site is data");
            Site::parse(&written, "site.toml").expect("what is written is read");
        }
    }
}
