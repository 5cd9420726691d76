//! Pages with known answers: what each loads, in which order, and how much of it, is planted.

use std::fs;
use std::path::Path;

use anyhow::Result;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::SEED;

/// Changes that are planted: of two pages, the second is the first with something more.
pub const CHANGES: [(&str, &str); 12] = [
    ("sheet-20k", "sheet-60k"),
    ("sheet-60k", "sheet-150k"),
    ("sheet-150k", "sheet-500k"),
    ("sheet-60k", "sheets-3"),
    ("imports-2", "imports-4"),
    ("hero", "late-hero"),
    ("hero", "many-before-hero"),
    ("icons-60", "icons-60-hero"),
    ("async-script", "head-script"),
    ("font-swap", "font"),
    ("long-document", "long-document-image"),
    ("preloaded-hero", "background-hero"),
];

/// A page by its name with its files, the first of which is the document.
pub struct Page {
    pub name: &'static str,
    files: Vec<(String, Vec<u8>)>,
}

impl Page {
    /// Writes it into a folder of its own below a document root.
    pub fn write(&self, docroot: &Path) -> Result<()> {
        let folder = docroot.join(self.name);
        fs::create_dir_all(&folder)?;
        for (name, bytes) in &self.files {
            fs::write(folder.join(name), bytes)?;
        }
        Ok(())
    }

    /// The path of its URL.
    pub fn path(&self) -> String {
        format!("/{}/index.html", self.name)
    }
}

/// Puts a page together.
struct Draft {
    name: &'static str,
    head: String,
    body: String,
    files: Vec<(String, Vec<u8>)>,
}

/// Letters that no coding makes small.
fn noise(name: &str, bytes: usize) -> String {
    let seed = name.bytes().fold(SEED, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..bytes)
        .map(|at| if at % 100 == 99 { '\n' } else { char::from(rng.random_range(b'a'..=b'z')) })
        .collect()
}

/// A picture of this size, about three bytes a point: as wide as it is high times 1.6.
fn picture(name: &str, bytes: usize) -> Vec<u8> {
    let points = (bytes / 3) as f64;
    let width = ((points * 1.6).sqrt() as u32).max(4) / 4 * 4;
    let height = (points as u32 / width).max(1);
    let size = 54 + width * height * 3;
    let mut file = b"BM".to_vec();
    for number in [size, 0, 54, 40, width, height, 1 | (24 << 16), 0, width * height * 3, 2835, 2835, 0, 0] {
        file.extend(number.to_le_bytes());
    }
    file.extend(noise(name, (width * height * 3) as usize).bytes());
    file
}

impl Draft {
    fn new(name: &'static str) -> Draft {
        Draft { name, head: String::new(), body: String::new(), files: Vec::new() }
    }

    fn file(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Draft {
        self.files.push((name.to_owned(), bytes.into()));
        self
    }

    /// A style sheet of this size, with these rules before its padding.
    fn css(self, name: &str, bytes: usize, rules: &str) -> Draft {
        let text =
            format!("{rules}\nbody {{ margin: 1em }}\n/* {} */\n", noise(name, bytes.saturating_sub(40)));
        self.file(name, text)
    }

    fn script(self, name: &str, bytes: usize, does: &str) -> Draft {
        let text = format!("{does}\n/* {} */\n", noise(name, bytes.saturating_sub(10)));
        self.file(name, text)
    }

    fn image(self, name: &str, bytes: usize) -> Draft {
        let picture = picture(name, bytes);
        self.file(name, picture)
    }

    fn head(mut self, text: &str) -> Draft {
        self.head += text;
        self
    }

    fn body(mut self, text: &str) -> Draft {
        self.body += text;
        self
    }

    /// A style sheet in the head.
    fn sheet(self, name: &str, bytes: usize) -> Draft {
        self.head(&format!("<link rel=stylesheet href={name}>\n")).css(name, bytes, "")
    }

    /// The largest picture, in the document.
    fn hero(self, bytes: usize) -> Draft {
        self.body("<img src=hero.bmp alt=hero>\n").image("hero.bmp", bytes)
    }

    /// Small pictures.
    fn icons(mut self, count: usize, bytes: usize, more: &str) -> Draft {
        for at in 0..count {
            let name = format!("icon{at}.bmp");
            self = self.body(&format!("<img{more} src={name} alt=i>\n")).image(&name, bytes);
        }
        self
    }

    fn text(self, bytes: usize) -> Draft {
        let name = self.name;
        self.body(&format!("<p>{}</p>\n", noise(name, bytes).replace('\n', "</p>\n<p>")))
    }

    fn done(self) -> Page {
        let document = format!(
            "<!doctype html>\n<html><head><meta charset=utf-8><title>{0}</title>\n<link rel=icon href=data:,>\n{1}</head>\n<body>\n<h1>The page {0}</h1>\n{2}</body></html>\n",
            self.name, self.head, self.body
        );
        let mut files = vec![("index.html".to_owned(), document.into_bytes())];
        files.extend(self.files);
        Page { name: self.name, files }
    }
}

/// All pages.
pub fn all() -> Vec<Page> {
    let page = Draft::new;
    let chain = |name: &'static str, length: usize| {
        let mut draft = page(name).head("<link rel=stylesheet href=a0.css>\n");
        for at in 0..length {
            let rule = if at + 1 < length { format!("@import \"a{}.css\";", at + 1) } else { String::new() };
            draft = draft.css(&format!("a{at}.css"), 8_000, &rule);
        }
        draft.text(2_000)
    };
    let adds = |what: &str| {
        format!("const one = document.createElement('img'); one.src = '{what}'; document.body.append(one);")
    };
    let font = |name: &'static str, display: &str| {
        let rules = format!(
            "@font-face {{ font-family: own; src: url(own.woff2); font-display: {display} }}\nbody {{ font-family: own, serif }}"
        );
        let draft = page(name).head("<link rel=stylesheet href=a.css>\n").css("a.css", 10_000, &rules);
        draft.file("own.woff2", noise("own.woff2", 60_000)).text(3_000)
    };
    let drafts = vec![
        page("sheet-20k").sheet("a.css", 20_000).text(2_000),
        page("sheet-60k").sheet("a.css", 60_000).text(2_000),
        page("sheet-150k").sheet("a.css", 150_000).text(2_000),
        page("sheet-500k").sheet("a.css", 500_000).text(2_000),
        page("sheets-3").sheet("a.css", 40_000).sheet("b.css", 40_000).sheet("c.css", 40_000).text(2_000),
        chain("imports-2", 2),
        chain("imports-4", 4),
        page("hero").sheet("a.css", 30_000).hero(200_000).text(2_000),
        page("late-hero")
            .sheet("a.css", 30_000)
            .text(2_000)
            .body("<script src=a.js></script>\n")
            .script("a.js", 30_000, &adds("hero.bmp"))
            .image("hero.bmp", 200_000),
        page("many-before-hero").sheet("a.css", 30_000).icons(20, 20_000, " height=40").hero(200_000),
        page("icons-60").sheet("a.css", 30_000).icons(60, 1_500, "").text(2_000),
        page("icons-60-hero").sheet("a.css", 30_000).icons(60, 1_500, "").hero(150_000),
        page("head-script").sheet("a.css", 20_000).head("<script src=a.js></script>\n").script("a.js", 120_000, "").text(2_000),
        page("body-script").sheet("a.css", 20_000).text(2_000).body("<script src=a.js></script>\n").script("a.js", 150_000, ""),
        page("deferred-script").sheet("a.css", 20_000).head("<script defer src=a.js></script>\n").script("a.js", 200_000, "").text(2_000),
        page("async-script").sheet("a.css", 20_000).head("<script async src=a.js></script>\n").script("a.js", 120_000, "").text(2_000),
        font("font", "block"),
        font("font-swap", "swap"),
        page("lazy-images")
            .sheet("a.css", 20_000)
            .hero(100_000)
            .body("<div style=\"height: 9000px\"></div>\n")
            .icons(20, 20_000, " loading=lazy"),
        page("background-hero")
            .head("<link rel=stylesheet href=a.css>\n")
            .css("a.css", 100_000, "#hero { width: 320px; height: 200px; background: url(hero.bmp) }")
            .image("hero.bmp", 150_000)
            .body("<div id=hero></div>\n"),
        page("long-document").sheet("a.css", 20_000).text(200_000),
        page("long-document-image").sheet("a.css", 20_000).text(200_000).hero(100_000),
        page("script-chain")
            .sheet("a.css", 20_000)
            .text(1_000)
            .body("<script src=a.js></script>\n")
            .script("a.js", 20_000, "const next = document.createElement('script'); next.src = 'b.js'; document.body.append(next);")
            .script("b.js", 20_000, &adds("hero.bmp"))
            .image("hero.bmp", 100_000),
        page("preloaded-hero")
            .head("<link rel=preload as=image href=hero.bmp fetchpriority=high>\n<link rel=stylesheet href=a.css>\n")
            .css("a.css", 100_000, "#hero { width: 320px; height: 200px; background: url(hero.bmp) }")
            .image("hero.bmp", 150_000)
            .body("<div id=hero></div>\n"),
    ];
    drafts.into_iter().map(Draft::done).collect()
}
