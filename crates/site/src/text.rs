//! `site.toml` as text for people: a figure on one line with its source, a list with a line for each entry.

use std::fmt::Write;

use anyhow::{Context, Result};

use weigh_model::commented::commented;
use weigh_model::site::Site;

const HEAD: &str = "\
# What this site sends, to whom and how today. `weigh site` wrote it, and `weigh advise` reads it.
# Edit what you know better: a bare number in place of { value, from } is yours, and `weigh site --force` keeps it.
# docs/REFERENCE.md says what each key means and where assumed figures come from.

";
/// Lists of small tables, which are written within the table that they belong to.
const LISTS: [&str; 4] = ["accept", "links", "machines", "sample"];

/// The list within the entries of another.
const INNER: (&str, &str) = ("strata.sample", "sent");

/// The text of `site.toml`.
///
/// # Errors
/// None that is known: every site can be written.
pub fn text(site: &Site) -> Result<String> {
    let plain = toml::to_string(site).context("the site cannot be written as TOML")?;
    let text = HEAD.to_owned() + &commented::<Site>(&compact(&plain), false);
    // A name of a file may look like a line of the text: then it stays as it was.
    match Site::parse(&text, "site.toml") {
        Ok(read) if read == *site => Ok(text),
        _ => Ok(HEAD.to_owned() + &plain),
    }
}

/// A part of the text: a header with its lines.
struct Block<'a> {
    header: String,
    lines: Vec<String>,
    list: Option<&'a str>,
}

impl Block<'_> {
    fn new(header: String, lines: &[&str]) -> Self {
        Block { header, lines: lines.iter().map(|line| (*line).to_owned()).collect(), list: None }
    }

    /// Adds an entry to the list within the last entry, which ends with its list's own end.
    fn add_inner(&mut self, lines: &[&str]) {
        let (Some(end), Some(entry)) = (self.lines.pop(), self.lines.pop()) else { return };
        // Of further entries, the end of the list goes down.
        if let Some(begin) = entry.strip_suffix(" },").filter(|_| entry != "    ] },") {
            self.lines.push(format!("{begin}, {} = [", INNER.1));
        }
        self.lines.extend([format!("        {{ {} }},", lines.join(", ")), "    ] },".to_owned(), end]);
    }
}

/// `[strata.files]` as `strata` and `files`.
fn path(header: &str) -> (&str, &str) {
    let inner = header.trim_matches(['[', ']']);
    inner.rsplit_once('.').unwrap_or(("", inner))
}

/// Writes figures and entries of lists on one line each.
fn compact(plain: &str) -> String {
    let mut blocks = vec![Block::new(String::new(), &[])];
    let plain = format!("\n{plain}");
    for part in plain.split("\n[") {
        let is_first = blocks.len() == 1 && blocks[0].lines.is_empty();
        let (header, rest) = if is_first { ("", part) } else { part.split_once('\n').unwrap_or((part, "")) };
        let lines: Vec<&str> = rest.lines().filter(|line| !line.is_empty()).collect();
        let (of, name) = path(header);
        if of == INNER.0
            && name == INNER.1
            && let Some(last) = blocks.last_mut()
        {
            last.add_inner(&lines);
            continue;
        }
        let is_list = header.starts_with('[') && LISTS.contains(&name);
        let is_figure = matches!(lines.as_slice(), [value, from] if value.starts_with("value = ") && from.starts_with("from = "));
        if !is_list && !is_figure {
            let header = if is_first { String::new() } else { format!("[{header}") };
            blocks.push(Block::new(header, &lines));
            continue;
        }
        // A table without values of its own has no header in the plain text.
        if blocks.last().is_none_or(|last| last.header.trim_matches(['[', ']']) != of) {
            blocks.push(Block::new(format!("[{of}]"), &[]));
        }
        let Some(last) = blocks.last_mut() else { continue };
        let entry = format!("{{ {} }}", lines.join(", "));
        if is_figure {
            last.list = None;
            last.lines.push(format!("{name} = {entry}"));
            continue;
        }
        if last.list == Some(name) {
            last.lines.pop();
        } else {
            last.list = Some(name);
            last.lines.push(format!("{name} = ["));
        }
        last.lines.extend([format!("    {entry},"), "]".to_owned()]);
    }
    let mut text = String::new();
    for block in blocks {
        if !block.header.is_empty() {
            let _ = writeln!(text, "\n{}", block.header);
        }
        for line in block.lines {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use weigh_model::site::{
        Figure, Kind, MachinePrice, Prices, SCHEMA, Sample, Sent, Sources, Stratum, Today, Visitors,
    };

    use super::*;

    fn site(path: &str) -> Site {
        let sent = |coding: &str| Sent {
            accept: vec![coding.into()],
            coding: coding.into(),
            bytes: 4,
            method: Some("server/gzip:6".into()),
            vary: true,
            cache_control: Some("max-age=\"60\" }".into()),
        };
        let sample = |path: &str, share: f64| Sample {
            path: path.into(),
            bytes: 5,
            sha256: "0".repeat(64),
            share,
            sent: if share < 0.5 { vec![sent("gzip"), sent("br")] } else { Vec::new() },
        };
        let stratum = |kind, made_ms| Stratum {
            kind,
            format: "text/css".into(),
            from_bytes: 0,
            to_bytes: Some(1000),
            files: Figure::counted(2.0),
            bytes: Figure::counted(10.0),
            requests: Figure::assumed(8.5),
            not_modified: None,
            ranges: None,
            sent_bytes: None,
            writes: None,
            made_ms,
            saving: None,
            sample: vec![sample(path, 0.25), sample("b.css", 0.75)],
        };
        Site {
            schema: SCHEMA,
            name: "shop".into(),
            looked: "2026-11-24".into(),
            sources: Sources { docroot: Some("/srv".into()), ..Sources::default() },
            visitors: Visitors { peak: Some(Figure::counted(2.0)), ..Visitors::default() },
            store_link: Default::default(),
            prices: Prices {
                machines: vec![MachinePrice { kind: "c7g.large".into(), core_hour: 0.036 }],
                ..Prices::default()
            },
            limits: Default::default(),
            today: vec![Today {
                kind: Kind::Asset,
                method: "server/gzip".into(),
                about: "gzip".into(),
                from: weigh_model::site::From::Measured,
            }],
            strata: vec![stratum(Kind::Asset, None), stratum(Kind::Page, Some(Figure::measured(3.0)))],
            loaded: Vec::new(),
            page_cache: Vec::new(),
            cacheable: Vec::new(),
            page_php: Vec::new(),
            worker: None,
        }
    }

    #[test]
    fn every_figure_is_a_line_and_the_text_is_the_site() {
        let text = text(&site("a.css")).unwrap();
        assert_eq!(Site::parse(&text, "site.toml").unwrap(), site("a.css"));
        for line in [
            "core_hour = { value = 0.03, from = \"assumed\" }  # One core for one hour.",
            "slower_devices = { value = 4.0, from = \"assumed\" }  # How many times as long as this machine a visitor's device takes to decode.",
            "rtt_ms = { value = 0.5, from = \"assumed\" }  # Its round trip in milliseconds.",
            "links = [  # Links of visitors.",
        ] {
            assert!(text.lines().any(|own| own == line), "{line}: {text}");
        }
        assert!(
            text.contains(
                "runs that were measured there.\n    { kind = \"c7g.large\", core_hour = 0.036 },\n]\n"
            ),
            "{text}"
        );
        assert!(text.contains("\nsample = [\n    { path = \"a.css\", bytes = 5, "), "{text}");
        assert!(text.contains("\nmade_ms = { value = 3.0, from = \"measured\" }\n"), "{text}");
        let sent = "share = 0.25, sent = [\n        { accept = [\"gzip\"], coding = \"gzip\", bytes = 4, method = \"server/gzip:6\", vary = true, ";
        assert!(text.contains(sent), "{text}");
        assert!(!text.contains("[strata.") && !text.contains("\n\n\n"), "{text}");
    }

    #[test]
    fn a_file_may_be_called_as_it_likes() {
        for path in ["a\n[strata.files]\nvalue = 1\n.css", "[[x]]\n\n[", "a\"b'c\\d\u{1b}[31m.css", "]\n]"] {
            let text = text(&site(path)).unwrap();
            assert_eq!(Site::parse(&text, "site.toml").unwrap(), site(path), "{text}");
        }
    }
}
