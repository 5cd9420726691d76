//! The texts of the sample site's pages: content of the corpus, whose links lead to pages and images that the site has.

use std::borrow::Cow;

use anyhow::Result;
use regex::bytes::{Captures, Regex};

use super::traffic::ARTICLES;

/// A page without the style sheets and scripts of where it came from, with links to articles and one image.
pub(super) fn at_home(html: &[u8]) -> Result<Vec<u8>> {
    let foreign = Regex::new(r#"(?i)<link\b[^>]*>\n?|<script\b[^>]*\bsrc=[^>]*>\s*</script>\n?"#)?;
    let links = Regex::new(r##"(?i)(<a\b[^>]*\bhref=")[^"#][^"]*""##)?;
    let images = Regex::new(r#"(?i)(<img\b[^>]*\bsrc=")[^"]*""#)?;
    let html = foreign.replace_all(html, &b""[..]);
    let mut next = 0;
    let html = links.replace_all(&html, |found: &Captures<'_>| {
        next = next % ARTICLES + 1;
        [&found[1], format!("/article/{next}\"").as_bytes()].concat()
    });
    let html: Cow<'_, [u8]> = images.replace_all(&html, &b"${1}/images/photo.jpg\""[..]);
    Ok(html.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_what_the_site_has() {
        let html = br##"<head><link rel="stylesheet" href="a.css"><script src="b.js"></script><script>1</script></head>
<a class="x" href="fs.html#y">1</a><a href="#here">2</a><A HREF="/z">3</A><img src="q.png" alt="">"##;
        let home = at_home(html).unwrap();
        let expected = br##"<head><script>1</script></head>
<a class="x" href="/article/1">1</a><a href="#here">2</a><A HREF="/article/2">3</A><img src="/images/photo.jpg" alt="">"##;
        assert_eq!(String::from_utf8_lossy(&home), String::from_utf8_lossy(expected));
    }
}
