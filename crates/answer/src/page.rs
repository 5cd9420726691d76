//! One self-contained file for a browser: the document in HTML, its pictures inside, and the data with which the page's
//! program ranks configurations under a reader's conditions.
//!
//! Everything in it can be read without that program, and nothing is loaded from elsewhere. Texts are escaped; the
//! content security policy runs no script but this one.

pub mod data;
mod loads;
mod markup;
mod slow;

use std::sync::LazyLock;

use anyhow::{Result, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::block::Block;
use crate::output::Picture;

pub use crate::flame::{Flame, PATHS};
pub use markup::{escape, safe};

/// The page's program and style, made from `web/` with Node; empty in a build without them.
const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/page.js"));
const STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.css"));

/// What is said without them.
pub const MISSING: &str =
    "this program was built without the page; `make web` makes it (Node is needed), then build it again";

/// Whether this program was built with the page.
pub fn is_built_in() -> bool {
    !SCRIPT.is_empty()
}

/// The policy: nothing is loaded, no script runs but that with this digest. Styles stand in the page itself, also on
/// elements.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let digest = BASE64_STANDARD.encode(Sha256::digest(SCRIPT));
    format!(
        "default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; \
         base-uri 'none'; form-action 'none'"
    )
});

/// The content security policy of every page.
pub fn content_security_policy() -> &'static str {
    &POLICY
}

/// A page of these blocks. The first heading is its title, the answer comes first; `data` is for the page's program.
///
/// # Errors
/// This program was built without the page, or the data is not JSON.
pub fn page(blocks: &[Block], pictures: &[Picture], data: Option<&impl Serialize>) -> Result<String> {
    ensure!(is_built_in(), "{MISSING}");
    let title = blocks.iter().find_map(|block| match block {
        Block::Heading(1, text) => Some(safe(text)),
        _ => None,
    });
    let title = title.as_deref().unwrap_or("Weighbridge");
    let (body, charts) = markup::body(blocks, pictures);
    let data = data.map(json).transpose()?.unwrap_or_else(|| "null".to_owned());
    let policy = content_security_policy();
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>{STYLE}</style>\n<style>{charts}</style>\n</head>\n<body>\n{body}\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    ))
}

/// JSON that cannot end its element, whatever texts are in it.
fn json(data: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string(data)?;
    Ok(text.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029"))
}

#[cfg(test)]
mod tests;
