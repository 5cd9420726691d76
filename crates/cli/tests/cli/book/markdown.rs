//! The documents of the book as a reader's browser has them: chapters, blocks of code, headings, links.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// The folder that paths of documents start from.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A block of code with the HTML comments right before it.
pub struct Block {
    /// What stands behind its fence.
    pub language: String,
    pub text: String,
    /// The text of the comments, without their signs.
    pub note: String,
}

/// A document.
pub struct Document {
    /// Its path from the root of the repository.
    pub name: String,
    pub blocks: Vec<Block>,
    /// Code within sentences.
    pub codes: Vec<String>,
    /// Targets of links and images, as they are written.
    pub links: Vec<String>,
    /// What a link's part after `#` may be.
    pub anchors: BTreeSet<String>,
}

impl Document {
    pub fn read(name: &str) -> Document {
        let text = std::fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut document = Document {
            name: name.to_owned(),
            blocks: Vec::new(),
            codes: Vec::new(),
            links: Vec::new(),
            anchors: BTreeSet::new(),
        };
        document.parse(&text);
        document
    }

    fn parse(&mut self, text: &str) {
        let mut block: Option<Block> = None;
        let mut heading: Option<String> = None;
        let (mut html, mut note) = (String::new(), String::new());
        let mut times = HashMap::<String, usize>::new();
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        for event in Parser::new_ext(text, options) {
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    let language = match kind {
                        CodeBlockKind::Fenced(info) => info.into_string(),
                        CodeBlockKind::Indented => String::new(),
                    };
                    block = Some(Block { language, text: String::new(), note: std::mem::take(&mut note) });
                }
                Event::End(TagEnd::CodeBlock) => self.blocks.extend(block.take()),
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let id = slug(&heading.take().unwrap());
                    let nth = times.entry(id.clone()).or_default();
                    self.anchors.insert(if *nth == 0 { id } else { format!("{id}-{nth}") });
                    *nth += 1;
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    self.links.push(dest_url.into_string());
                }
                Event::Html(line) => html.push_str(&line),
                Event::Text(text) => {
                    if let Some(block) = &mut block {
                        block.text.push_str(&text);
                    }
                    heading.iter_mut().for_each(|heading| heading.push_str(&text));
                }
                Event::Code(code) => {
                    heading.iter_mut().for_each(|heading| heading.push_str(&code));
                    self.codes.push(code.into_string());
                }
                Event::Start(Tag::HtmlBlock) => html.clear(),
                Event::End(TagEnd::HtmlBlock) => {
                    note.push_str(html.trim().trim_start_matches("<!--").trim_end_matches("-->").trim());
                    note.push('\n');
                }
                Event::Start(Tag::Paragraph | Tag::List(_)) => note.clear(),
                _ => {}
            }
        }
    }
}

/// The anchor of a heading, as GitHub and mdBook both make it.
fn slug(heading: &str) -> String {
    let lower = heading.trim().to_lowercase();
    let kept = lower.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The path from the root of what a link in a document leads to.
pub fn target(document: &str, link: &str) -> PathBuf {
    let mut found = Path::new(document).parent().unwrap().to_owned();
    for part in Path::new(link).components() {
        match part {
            std::path::Component::ParentDir => assert!(found.pop(), "{document}: {link} leads out"),
            part => found.push(part),
        }
    }
    found
}

/// The chapters of the book, in its order.
pub fn chapters() -> Vec<Document> {
    let links = Document::read("docs/SUMMARY.md").links;
    let names = links.iter().map(|link| target("docs/SUMMARY.md", link).to_str().unwrap().to_owned());
    names.map(|name| Document::read(&name)).collect()
}

/// The chapters, and the documents for developers, which are not in the book.
pub fn documents() -> Vec<Document> {
    let developers = std::fs::read_dir(root().join("docs/dev")).unwrap();
    let names = developers.map(|entry| format!("docs/dev/{}", entry.unwrap().file_name().to_str().unwrap()));
    chapters().into_iter().chain(names.map(|name| Document::read(&name))).collect()
}
