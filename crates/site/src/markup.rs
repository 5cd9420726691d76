//! Where in a document what it names stands: for the order in which a browser finds that. Nothing of it is run.

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};
use url::Url;

use weigh_model::page::Run;

/// The most that one document names.
const MOST: usize = 2_000;
/// The longest link in bytes.
const LONGEST: usize = 2_048;
/// What belongs into the head: with any other element the visible part begins.
const OF_HEAD: [&[u8]; 11] = [
    b"html",
    b"head",
    b"meta",
    b"title",
    b"link",
    b"script",
    b"style",
    b"base",
    b"noscript",
    b"template",
    b"!doctype",
];
/// Elements that are painted without text.
const PAINTED: [&[u8]; 5] = [b"img", b"svg", b"canvas", b"video", b"picture"];
/// Elements whose text is not shown.
const HIDDEN: [&[u8]; 5] = [b"script", b"style", b"title", b"template", b"noscript"];

/// What a document names, with places as shares of its bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Markup {
    /// In the document's order.
    pub named: Vec<NamedResource>,
    /// Where scripts of the document's own end.
    pub inline_scripts: Vec<f64>,
    /// Where the visible part begins, and where the first of it that is painted has ended.
    pub body_at: f64,
    pub content_at: f64,
}

/// A resource that a tag names.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedResource {
    pub url: Url,
    /// Where the tag ends.
    pub at: f64,
    /// Of scripts: when they are run.
    pub run: Option<Run>,
    /// Of style sheets: whether they apply to screens.
    pub is_sheet: bool,
    /// Whether it is loaded only near the visible part.
    pub is_lazy: bool,
}

/// Reads a document at this address.
pub fn read(html: &str, address: &Url) -> Markup {
    let mut reader = Reader::at(address);
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    emitter.naively_switch_states(true);
    for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
        match token {
            Token::StartTag(tag) => reader.start(&tag),
            Token::EndTag(tag) => reader.end(&tag.name, tag.span.end),
            Token::String(text) => reader.text(&text.value, text.span.end),
            _ => {}
        }
    }
    reader.finish(html.len())
}

/// The share of a document before the end of some text of it; none: it is not there as it is shown.
pub fn place_of(html: &str, text: &str) -> Option<f64> {
    let text: String = text.chars().take_while(|c| !"&<\n\r\t\u{fffd}".contains(*c)).take(40).collect();
    let text = text.trim();
    let at = if text.len() < 3 { None } else { html.find(text) }?;
    Some((at + text.len()) as f64 / html.len().max(1) as f64)
}

struct Reader {
    base: Url,
    found: Markup,
    /// The element whose text comes, if it is not shown; and whether it is a script of the document's own.
    hidden: Option<Vec<u8>>,
    is_inline_script: bool,
    body_at: Option<usize>,
    content_at: Option<usize>,
}

impl Reader {
    fn at(address: &Url) -> Reader {
        Reader {
            base: address.clone(),
            found: Markup::default(),
            hidden: None,
            is_inline_script: false,
            body_at: None,
            content_at: None,
        }
    }

    fn start(&mut self, tag: &StartTag<usize>) {
        let name = tag.name.as_slice();
        let (from, to) = (tag.span.start, tag.span.end);
        let is_hidden = self.hidden.is_some();
        if !is_hidden && !OF_HEAD.contains(&name) {
            self.body_at.get_or_insert(from);
            if PAINTED.contains(&name) {
                self.content_at.get_or_insert(to);
            }
        }
        if !is_hidden && HIDDEN.contains(&name) {
            self.hidden = Some(name.to_vec());
        }
        self.name(tag, to);
    }

    fn end(&mut self, name: &[u8], to: usize) {
        if self.hidden.as_deref() == Some(name) {
            self.hidden = None;
            if std::mem::take(&mut self.is_inline_script) && self.found.inline_scripts.len() < MOST {
                self.found.inline_scripts.push(to as f64);
            }
        }
    }

    fn text(&mut self, text: &[u8], to: usize) {
        if self.hidden.is_none() && !text.trim_ascii().is_empty() {
            self.body_at.get_or_insert(to);
            self.content_at.get_or_insert(to);
        }
    }

    /// What a tag names.
    fn name(&mut self, tag: &StartTag<usize>, to: usize) {
        let value = |name: &[u8]| {
            let value = tag.attributes.get(name)?;
            (value.len() <= LONGEST).then(|| String::from_utf8_lossy(value).trim().to_owned())
        };
        let has = |name: &[u8]| tag.attributes.contains_key(name);
        let is = |name: &[u8], word: &str| value(name).is_some_and(|value| value.eq_ignore_ascii_case(word));
        let mut add = |text: Option<String>, run, is_sheet| {
            let Some(Ok(mut url)) = text.filter(|text| !text.is_empty()).map(|text| self.base.join(&text))
            else {
                return;
            };
            url.set_fragment(None);
            if self.found.named.len() < MOST {
                let is_lazy = is(b"loading", "lazy");
                self.found.named.push(NamedResource { url, at: to as f64, run, is_sheet, is_lazy });
            }
        };
        match tag.name.as_slice() {
            b"script" => {
                let kind = value(b"type").unwrap_or_default().to_lowercase();
                let is_module = kind == "module";
                if !kind.is_empty() && !is_module && !kind.contains("javascript") {
                    return;
                }
                let run = match (has(b"async"), has(b"defer") || is_module) {
                    (true, _) => Run::Async,
                    (false, true) => Run::Deferred,
                    (false, false) => Run::Blocking,
                };
                match value(b"src") {
                    Some(source) => add(Some(source), Some(run), false),
                    None => self.is_inline_script = !is_module,
                }
            }
            b"link" => {
                let rel = value(b"rel").unwrap_or_default().to_lowercase();
                let is_sheet = rel.split_whitespace().any(|word| word == "stylesheet") && !has(b"disabled");
                let media = value(b"media").unwrap_or_default().to_lowercase();
                add(value(b"href"), None, is_sheet && !media.starts_with("print"));
            }
            b"img" | b"source" | b"input" | b"iframe" | b"embed" | b"track" | b"audio" => {
                add(value(b"src"), None, false);
                let set = value(b"srcset").unwrap_or_default();
                for part in set.split(',') {
                    add(part.split_whitespace().next().map(str::to_owned), None, false);
                }
            }
            b"video" => {
                add(value(b"poster"), None, false);
                add(value(b"src"), None, false);
            }
            b"base" => {
                if let Some(Ok(other)) = value(b"href").map(|href| self.base.join(&href)) {
                    self.base = other;
                }
            }
            _ => {}
        }
    }

    fn finish(self, length: usize) -> Markup {
        let share = |at: f64| (at / length.max(1) as f64).min(1.0);
        let mut found = self.found;
        found.named.iter_mut().for_each(|one| one.at = share(one.at));
        found.inline_scripts.iter_mut().for_each(|at| *at = share(*at));
        found.body_at = share(self.body_at.unwrap_or(length) as f64);
        found.content_at = share(self.content_at.unwrap_or(length) as f64);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_says_where_everything_stands() {
        let html = "<!doctype html><title>T</title><link rel=stylesheet href=a.css><script src=b.js></script>\
                    <script>c()</script><script type=module src=d.js></script><script type=application/json>{}</script>\
                    <link rel=stylesheet media=print href=p.css><body><p>Hello</p><img loading=lazy src=e.png>";
        let address = Url::parse("http://localhost/x/").unwrap();
        let found = read(html, &address);
        let end = |text: &str| (html.find(text).unwrap() + text.len()) as f64 / html.len() as f64;
        let named: Vec<_> = found.named.iter().map(|one| (one.url.path(), one.run, one.is_sheet)).collect();
        let wanted = [
            ("/x/a.css", None, true),
            ("/x/b.js", Some(Run::Blocking), false),
            ("/x/d.js", Some(Run::Deferred), false),
            ("/x/p.css", None, false),
            ("/x/e.png", None, false),
        ];
        assert_eq!(named, wanted);
        assert_eq!(found.named[0].at, end("href=a.css>"));
        assert!(found.named[4].is_lazy && !found.named[0].is_lazy);
        assert_eq!(found.inline_scripts, [end("c()</script>")]);
        assert_eq!(found.body_at, html.find("<body>").unwrap() as f64 / html.len() as f64);
        assert_eq!(found.content_at, end("Hello"));
        assert_eq!(place_of(html, "Hello\nworld"), Some(end("Hello")));
        assert_eq!(place_of(html, "Nowhere"), None);
        assert_eq!(read("", &address), Markup { body_at: 0.0, ..Markup::default() });
    }
}
