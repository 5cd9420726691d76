//! The content of a file before it is processed: `[[request]]` tables in order and `[stream.NAME]` tables in TOML,
//! parsed strictly, or a list of URLs.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use toml::Spanned;

use super::{MOST_REQUESTS, Wrong};
use crate::escape::shown;

/// The content of a file.
#[derive(Default)]
pub(super) struct Drafts {
    pub requests: Vec<Draft>,
    pub streams: Vec<(String, StreamDraft)>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Draft {
    #[serde(skip)]
    pub line: usize,
    pub url: String,
    pub name: Option<String>,
    pub method: Option<String>,
    #[serde(default)]
    pub headers: Headers,
    pub body: Option<String>,
    /// A path relative to the file's folder.
    pub body_file: Option<String>,
    pub weight: Option<f64>,
    pub class: Option<String>,
    pub stream: Option<String>,
    pub range: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct StreamDraft {
    #[serde(skip)]
    pub line: usize,
    pub arrival: Option<String>,
    pub rate: Option<Quantity>,
    pub connections: u32,
    pub streams_per_connection: Option<u32>,
    pub keepalive: Option<bool>,
    pub read_rate: Option<Quantity>,
    pub abandon_after: Option<Quantity>,
    pub receive_buffer: Option<Quantity>,
    pub range: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    #[serde(default)]
    request: Vec<Spanned<Draft>>,
    #[serde(default)]
    stream: BTreeMap<Spanned<String>, StreamDraft>,
}

/// Parses a request file in TOML.
pub(super) fn from_toml(text: &str) -> Result<Drafts, Wrong> {
    let feeds = |from: usize, to: usize| text.as_bytes()[from..to].iter().filter(|b| **b == b'\n').count();
    let line = |at: usize| 1 + feeds(0, at.min(text.len()));
    let contents: Contents = toml::from_str(text).map_err(|e| {
        let first = e.message().lines().next().unwrap_or("not valid TOML").to_string();
        Wrong::new(e.span().map_or(0, |span| line(span.start)), first)
    })?;
    if contents.request.len() > MOST_REQUESTS {
        return Err(Wrong::new(0, format!("more than {MOST_REQUESTS} requests")));
    }
    // Tables are in the file's order: lines are counted once, from one table to the next.
    let (mut seen, mut lines) = (0, 1);
    let request = |table: Spanned<Draft>| {
        let start = table.span().start.clamp(seen, text.len());
        lines += feeds(seen, start);
        seen = start;
        Draft { line: lines, ..table.into_inner() }
    };
    let requests = contents.request.into_iter().map(request).collect();
    let stream = |(name, table): (Spanned<String>, StreamDraft)| {
        let line = line(name.span().start);
        (name.into_inner(), StreamDraft { line, ..table })
    };
    Ok(Drafts { requests, streams: contents.stream.into_iter().map(stream).collect() })
}

/// Parses a list of URLs: one per line, with an optional weight after it. `#` starts a comment only at the start of a
/// word, so a fragment does not.
pub(super) fn from_list(text: &str) -> Result<Drafts, Wrong> {
    let mut drafts = Drafts::default();
    for (index, content) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
        let mut words = content.split_whitespace().take_while(|word| !word.starts_with('#'));
        let Some(url) = words.next() else { continue };
        let line = index + 1;
        let wrong = |word: &str, what: &str| Wrong::new(line, format!("{}: {what}", shown(word.as_bytes())));
        let read =
            |word: &str| word.parse().map_err(|_| wrong(word, "not a weight; write URL, or URL WEIGHT"));
        let weight = words.next().map(read).transpose()?;
        if let Some(more) = words.next() {
            return Err(wrong(more, "unexpected text; write URL, or URL WEIGHT, one per line"));
        }
        if drafts.requests.len() == MOST_REQUESTS {
            return Err(Wrong::new(line, format!("more than {MOST_REQUESTS} requests")));
        }
        drafts.requests.push(Draft { line, url: url.into(), weight, ..Draft::default() });
    }
    Ok(drafts)
}

/// A table of headers in the order of the file; a list of values is a header that is sent several times.
#[derive(Default)]
pub(super) struct Headers(pub Vec<(String, String)>);

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Headers, D::Error> {
        let table = BTreeMap::<Spanned<String>, toml::Value>::deserialize(deserializer)?;
        let mut entries: Vec<_> = table.into_iter().collect();
        // The parser returns tables sorted by name.
        entries.sort_by_key(|(name, _)| name.span().start);
        let mut headers = Vec::new();
        for (name, value) in entries {
            let values = if let toml::Value::Array(many) = value { many } else { vec![value] };
            for value in values {
                let toml::Value::String(text) = value else {
                    return Err(D::Error::custom(format!(
                        "the value of a header must be a string or a list of strings, not {}",
                        value.type_str()
                    )));
                };
                headers.push((name.get_ref().clone(), text));
            }
        }
        Ok(Headers(headers))
    }
}

/// A quantity with its unit, or a number without a unit.
pub(super) struct Quantity(pub String);

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
        match toml::Value::deserialize(deserializer)? {
            toml::Value::String(text) => Ok(Quantity(text)),
            toml::Value::Integer(number) => Ok(Quantity(number.to_string())),
            toml::Value::Float(number) => Ok(Quantity(number.to_string())),
            other => Err(D::Error::custom(format!(
                "a quantity must be a number or a string such as \"50KB\", not {}",
                other.type_str()
            ))),
        }
    }
}
