//! What a page loads and where it leads, from its bytes alone: a tolerant scan of HTML and style sheets. Nothing of it is run. A browser
//! may load more (scripts load) or less (media queries, unused rules).

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};
use url::Url;

/// The most links of one page or style sheet.
const MOST: usize = 2000;
/// The longest link in bytes.
const LONGEST: usize = 2048;
/// Values of `rel` under which a browser loads what a `<link>` names.
const LOADED: [&str; 5] = ["stylesheet", "icon", "preload", "modulepreload", "manifest"];

/// The links of a page, absolute and without fragments, each once, in the page's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// What a browser loads with the page.
    pub assets: Vec<Url>,
    pub pages: Vec<Url>,
}

/// The links of an HTML page at this address.
pub fn of_page(html: &[u8], base: &Url) -> Links {
    let mut base = base.clone();
    let mut links = Links::default();
    let mut emitter = DefaultEmitter::<()>::default();
    emitter.naively_switch_states(true);
    let mut is_style = false;
    for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
        match token {
            Token::StartTag(tag) => {
                is_style = *tag.name == b"style";
                of_tag(&tag, &mut base, &mut links);
            }
            Token::String(text) if is_style => of_style(&text, &base, &mut links.assets),
            Token::EndTag(_) => is_style = false,
            _ => {}
        }
    }
    links
}

/// What a style sheet at this address loads.
pub fn of_style_sheet(css: &[u8], base: &Url) -> Vec<Url> {
    let mut found = Vec::new();
    of_style(css, base, &mut found);
    best_fonts(found)
}

fn of_tag(tag: &StartTag<()>, base: &mut Url, links: &mut Links) {
    let value = |name: &[u8]| {
        let value = tag.attributes.get(name)?;
        (value.len() <= LONGEST * 8).then(|| String::from_utf8_lossy(value).trim().to_owned())
    };
    let mut loads = |text: Option<String>| push(&mut links.assets, base, text.as_deref());
    match tag.name.as_slice() {
        b"script" | b"embed" | b"track" => loads(value(b"src")),
        b"img" | b"source" | b"input" => match (value(b"src"), value(b"srcset")) {
            (None, Some(set)) => loads(set.split([' ', ',']).next().map(str::to_owned)),
            (source, _) => loads(source),
        },
        b"video" => loads(value(b"poster")),
        b"link" => {
            let rel = value(b"rel").unwrap_or_default().to_lowercase();
            if rel.split_whitespace().any(|word| LOADED.contains(&word)) {
                loads(value(b"href"));
            }
        }
        b"a" => push(&mut links.pages, base, value(b"href").as_deref()),
        b"base" => {
            if let Some(Ok(other)) = value(b"href").map(|href| base.join(&href)) {
                *base = other;
            }
        }
        _ => {}
    }
    if let Some(style) = value(b"style") {
        of_style(style.as_bytes(), base, &mut links.assets);
    }
}

/// Every `url(…)` and `@import "…"`.
fn of_style(css: &[u8], base: &Url, found: &mut Vec<Url>) {
    let text = String::from_utf8_lossy(css);
    for (at, _) in text.match_indices("url(") {
        let rest = text[at + 4..].trim_start();
        let end = match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => rest[1..].find(quote).map(|end| &rest[1..=end]),
            _ => rest.find(')').map(|end| rest[..end].trim_end()),
        };
        push(found, base, end);
    }
    for (at, word) in text.match_indices("@import") {
        let rest = text[at + word.len()..].trim_start();
        if let Some(quote @ ('"' | '\'')) = rest.chars().next() {
            push(found, base, rest[1..].find(quote).map(|end| &rest[1..=end]));
        }
    }
}

fn push(found: &mut Vec<Url>, base: &Url, text: Option<&str>) {
    let Some(text) = text.filter(|text| !text.is_empty() && text.len() <= LONGEST && !text.starts_with('#'))
    else {
        return;
    };
    let Ok(mut url) = base.join(text) else { return };
    url.set_fragment(None);
    if matches!(url.scheme(), "http" | "https") && found.len() < MOST && !found.contains(&url) {
        found.push(url);
    }
}

/// Of a font in several formats, browsers load one: the first of these that is there.
fn best_fonts(mut found: Vec<Url>) -> Vec<Url> {
    const FORMATS: [&str; 5] = ["woff2", "woff", "otf", "ttf", "eot"];
    let font = |url: &Url| {
        let (stem, extension) = url.path().rsplit_once('.')?;
        let rank = FORMATS.iter().position(|format| *format == extension)?;
        Some((stem.to_owned(), rank))
    };
    let fonts: Vec<(String, usize)> = found.iter().filter_map(font).collect();
    let is_best = |url: &Url| {
        font(url).is_none_or(|(stem, rank)| !fonts.iter().any(|other| other.0 == stem && other.1 < rank))
    };
    found.retain(is_best);
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn base() -> Url {
        Url::parse("http://localhost/blog/").unwrap()
    }

    fn paths(urls: &[Url]) -> Vec<&str> {
        urls.iter().map(|url| url.path()).collect()
    }

    #[test]
    fn a_page_tells_what_it_loads_and_where_it_leads() {
        let html = br##"<!doctype html><HTML><head>
            <link rel='shortcut icon' href=/favicon.ico>
            <link rel="canonical" href="/no"><LINK REL=stylesheet HREF="../css/site.css?v=2#x">
            <style>@import "print.css"; body { background: url( 'a b.png' ) }</style>
            <script src="/js/app.js"></script><script>var a = "<img src=/no.png>";</script>
            <img src=pic.jpg><img srcset="small.jpg 1x, large.jpg 2x"><img src="data:image/png;base64,x">
            <p style="background:url(bg.svg)"><a href="post-1?x=1">next</a> <a href='mailto:x@example'>m</a>
            <a href="//other.example/p">other</a><a href="#top">top</a><img src=pic.jpg"##;
        let links = of_page(html, &base());
        let assets = [
            "/favicon.ico",
            "/css/site.css",
            "/blog/a%20b.png",
            "/blog/print.css",
            "/js/app.js",
            "/blog/pic.jpg",
            "/blog/small.jpg",
            "/blog/bg.svg",
        ];
        assert_eq!(paths(&links.assets), assets);
        assert_eq!(links.assets[1].query(), Some("v=2"));
        let pages: Vec<&str> = links.pages.iter().map(Url::as_str).collect();
        assert_eq!(pages, ["http://localhost/blog/post-1?x=1", "http://other.example/p"]);
    }

    #[test]
    fn a_base_moves_what_follows() {
        let links = of_page(b"<base href=/cdn/><img src=a.png>", &base());
        assert_eq!(paths(&links.assets), ["/cdn/a.png"]);
    }

    #[test]
    fn of_a_font_in_several_formats_one_is_loaded() {
        let css = b"@font-face{src:url(f/a.eot);src:url(f/a.eot?#iefix),url('f/a.woff2'),url(\"f/a.woff\")}
                    @font-face{src:url(f/b.ttf)} a{background:url(x.svg)} b{background:url(";
        assert_eq!(paths(&of_style_sheet(css, &base())), ["/blog/f/a.woff2", "/blog/f/b.ttf", "/blog/x.svg"]);
    }

    proptest! {
        #[test]
        fn no_page_is_too_broken(html in prop::collection::vec(any::<u8>(), 0..500)) {
            let tagged = [b"<style>url(", &html[..], b"</style><img src=", &html[..], b"><a href='", &html[..]].concat();
            let links = of_page(&tagged, &base());
            prop_assert!(links.assets.len() <= MOST);
            prop_assert!(links.assets.iter().chain(&links.pages).all(|url| url.scheme().starts_with("http")));
            of_style_sheet(&html, &base());
        }
    }
}
