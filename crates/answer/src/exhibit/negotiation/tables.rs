//! How servers negotiate, as tables: a row per way, every answer, every request.

use std::collections::BTreeMap;

use anyhow::Result;
use csv::Writer;
use serde::Serialize;
use weigh_model::record::negotiation::{Ask, IDENTITY, Purpose};
use weigh_model::units;

use super::{Judged, NegotiationResult, Quirk, places};
use crate::document::Block;
use crate::format::csv::text;
use crate::format::{Detail, Options};
use crate::table::{Cell, Column, Grid, Kind, Tone};
use crate::text::{clean, columns};

const LEGEND: &str = "Each way was asked once with a matrix of Accept-Encoding values, and each variant that showed itself for HEAD, with If-None-Match \
    and for ranges. Codings: those that were sent; Vary: whether it names Accept-Encoding where there are several; 304: of so many \
    requests with a variant's own ETag; parts: of so many ranges, If-Range with them; broken: rules of HTTP; to know: what is allowed.";

/// Names of a list that are written out in a summary.
const NAMES: usize = 4;

/// Columns for the requests, the widest of which is that of a browser of today, and columns between two ways.
const REQUEST: usize = 34;
const GAP: usize = 2;

/// A row per way, what is to be said of them, and in full every answer to every Accept-Encoding.
pub(super) fn section(asked: &[NegotiationResult], options: &Options) -> Vec<Block> {
    let full = options.detail == Detail::Full;
    let mut blocks = vec![
        Block::Heading(2, "Which variant is sent to whom".into()),
        Block::Remark(LEGEND.into()),
        Block::Table(ways(asked)),
    ];
    let points = points(asked, full);
    if !points.is_empty() {
        blocks.push(Block::Points(points));
    }
    if full {
        blocks.extend(matrix(asked, options.width));
    }
    blocks
}

fn ways(asked: &[NegotiationResult]) -> Grid {
    let mut grid = Grid::new(vec![
        Column::new("server", "", Kind::Text(6), 0),
        Column::new("way", "", Kind::Text(12), 0),
        Column::new("codings", "", Kind::Text(17), 0),
        Column::new("Vary", "", Kind::Text(4), 1),
        Column::new("ETags", "", Kind::Text(8), 0),
        Column::new("304", "", Kind::Text(6), 2),
        Column::new("parts", "", Kind::Text(6), 3),
        Column::new("HEAD", "", Kind::Text(6), 4),
        Column::new("broken", "", Kind::Whole, 0),
        Column::new("to know", "", Kind::Whole, 1),
    ]);
    for one in asked {
        let wrong = one.wrong().count();
        let coded = one.variants.iter().filter(|variant| variant.coding != IDENTITY);
        let codings: Vec<String> = coded.map(|variant| clean(&variant.coding)).collect();
        let tone = if wrong > 0 { Tone::Plain } else { Tone::Strong };
        let cells = vec![
            clean(&one.server).into(),
            clean(&one.label()).into(),
            codings.join(", ").into(),
            vary(one).into(),
            etags(one).into(),
            kept(one, &[Purpose::Revalidate]).into(),
            kept(one, &[Purpose::First, Purpose::Last, Purpose::Resume]).into(),
            head(one).into(),
            (wrong as f64).into(),
            ((one.remarks.len() - wrong) as f64).into(),
        ];
        grid.push(tone, cells);
    }
    grid
}

fn has(one: &NegotiationResult, quirk: Quirk) -> bool {
    one.remarks.iter().any(|remark| remark.quirk == quirk)
}

fn vary(one: &NegotiationResult) -> &'static str {
    match one.variants.iter().filter(|variant| !variant.varies).count() {
        _ if one.variants.len() < 2 => "",
        0 => "yes",
        missing if missing == one.variants.len() => "NO",
        _ => "in part",
    }
}

/// What is worst about them.
fn etags(one: &NegotiationResult) -> &'static str {
    let worst = [
        (Quirk::SharedEtag, "one for all"),
        (Quirk::UnclosedEtag, "unclosed"),
        (Quirk::BrokenEtag, "broken"),
        (Quirk::NoEtag, "none"),
        (Quirk::WeakEtag, "weak"),
    ];
    let found = worst.iter().find(|(quirk, _)| has(one, *quirk));
    match found {
        Some((_, word)) => word,
        None if one.variants.is_empty() => "",
        None => "strong",
    }
}

/// How many requests of these purposes have nothing to be said of, `2/3`.
fn kept(one: &NegotiationResult, purposes: &[Purpose]) -> String {
    let of: Vec<_> = one.exchanges.iter().filter(|e| purposes.contains(&e.ask.purpose)).collect();
    let sound = of.iter().filter(|e| e.quirk.is_none()).count();
    if of.is_empty() { String::new() } else { format!("{sound}/{}", of.len()) }
}

fn head(one: &NegotiationResult) -> &'static str {
    let asked = one.exchanges.iter().any(|e| e.ask.purpose == Purpose::Head);
    match has(one, Quirk::HeadDiffers) {
        _ if !asked => "",
        true => "differs",
        false => "same",
    }
}

/// What is to be said, a line a quirk: what breaks a rule, and in full what is allowed.
fn points(asked: &[NegotiationResult], full: bool) -> Vec<(String, Option<String>)> {
    let mut said: BTreeMap<Quirk, Vec<(&NegotiationResult, &[String])>> = BTreeMap::new();
    for one in asked {
        for remark in one.remarks.iter().filter(|remark| full || remark.quirk.is_wrong()) {
            said.entry(remark.quirk).or_default().push((one, &remark.seen_in));
        }
    }
    let mut points: Vec<(String, Option<String>)> =
        said.into_iter().map(|(quirk, seen)| (point(quirk, &seen, full), None)).collect();
    let ended = asked.iter().filter_map(|one| Some((one, one.ended.as_ref()?)));
    points.extend(ended.map(|(one, why)| {
        let place = clean(&places(std::iter::once(one)));
        (format!("{place}: not all was asked: {}.", clean(why)), None)
    }));
    points
}

fn point(quirk: Quirk, seen: &[(&NegotiationResult, &[String])], full: bool) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in seen.iter().flat_map(|(_, seen_in)| seen_in.iter()).map(|name| clean(name)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let most = if full { usize::MAX } else { NAMES };
    let more = names.len().saturating_sub(most);
    names.truncate(most);
    let mut names: Vec<String> = names.iter().map(|name| format!("“{name}”")).collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    let kind = if quirk.is_wrong() { "broken" } else { "to know" };
    let places = clean(&places(seen.iter().map(|(one, _)| *one)));
    format!("{kind}: {}: {places} ({}).", quirk.words(), units::list(&names))
}

/// Every answer to every Accept-Encoding: a table per server, or several where its ways do not fit beside each other.
fn matrix(asked: &[NegotiationResult], width: usize) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(3, "Every answer".into())];
    let legend = "What was sent for each Accept-Encoding: the coding, or the status where it is not 200. ! breaks a rule, ~ is allowed and worth knowing.";
    blocks.push(Block::Remark(legend.into()));
    let mut servers: Vec<&str> = Vec::new();
    for one in asked {
        if !servers.contains(&one.server.as_str()) {
            servers.push(&one.server);
        }
    }
    for server in servers {
        let ways: Vec<&NegotiationResult> = asked.iter().filter(|one| one.server == server).collect();
        blocks.push(Block::Heading(4, clean(server)));
        blocks.extend(fitting(&ways, width).into_iter().map(|ways| Block::Table(answers(ways))));
    }
    blocks
}

/// The ways cut into parts that fit beside the requests.
fn fitting<'a, 'b>(ways: &'b [&'a NegotiationResult], width: usize) -> Vec<&'b [&'a NegotiationResult]> {
    let mut parts = Vec::new();
    let (mut begin, mut used) = (0, REQUEST);
    for (at, way) in ways.iter().enumerate() {
        let wants = columns(&clean(&way.label())).max(12) + GAP;
        if at > begin && used + wants > width {
            parts.push(&ways[begin..at]);
            (begin, used) = (at, REQUEST);
        }
        used += wants;
    }
    parts.push(&ways[begin..]);
    parts
}

fn answers(ways: &[&NegotiationResult]) -> Grid {
    let mut head = vec![Column::new("Accept-Encoding", "", Kind::Text(16), 0)];
    head.extend(ways.iter().map(|way| Column::new("", clean(&way.label()), Kind::Text(8), 1)));
    let mut grid = Grid::new(head);
    let mut rows: Vec<&Ask> = Vec::new();
    for one in ways.iter().flat_map(|way| choices(way)) {
        if !rows.contains(&&one.ask) {
            rows.push(&one.ask);
        }
    }
    for ask in rows {
        let answer = |way: &&NegotiationResult| {
            Cell::from(choices(way).find(|one| one.ask == *ask).map(shown).unwrap_or_default())
        };
        let cells = std::iter::once(Cell::from(request(ask))).chain(ways.iter().map(answer));
        grid.push(Tone::Plain, cells.collect());
    }
    grid
}

fn choices(way: &NegotiationResult) -> impl Iterator<Item = &Judged> {
    way.exchanges.iter().filter(|one| one.ask.purpose == Purpose::Choose)
}

fn request(ask: &Ask) -> String {
    let accept = ask.accept.as_deref().map_or("none".to_owned(), clean);
    match &ask.browser {
        Some(browser) => format!("{accept} ({})", clean(browser)),
        None => accept,
    }
}

/// `gzip`, `! gzip`, `~ 406`.
fn shown(one: &Judged) -> String {
    let what = match one.answer.status {
        200 => clean(&one.answer.coding()),
        0 => "no answer".to_owned(),
        status => status.to_string(),
    };
    match one.quirk {
        Some(quirk) if quirk.is_wrong() => format!("! {what}"),
        Some(_) => format!("~ {what}"),
        None => what,
    }
}

const HEAD: [&str; 23] = [
    "cell",
    "server",
    "runtime",
    "transport",
    "way",
    "purpose",
    "Accept-Encoding",
    "browser",
    "variant",
    "other variant",
    "If-None-Match",
    "Range",
    "If-Range",
    "status",
    "Content-Encoding",
    "Vary",
    "ETag",
    "Content-Length",
    "Content-Range",
    "body (bytes)",
    "body is",
    "quirk",
    "breaks a rule",
];

/// Every request with its answer and verdict as a flat table.
pub(super) fn requests(asked: &[NegotiationResult]) -> Result<Vec<u8>> {
    let mut out = Writer::from_writer(Vec::new());
    out.write_record(HEAD)?;
    for one in asked {
        for judged in &one.exchanges {
            out.write_record(request_row(one, judged))?;
        }
    }
    Ok(out.into_inner()?)
}

fn request_row(one: &NegotiationResult, Judged { ask, answer, quirk }: &Judged) -> [String; 23] {
    let field = |value: &Option<String>| text(value.as_deref().unwrap_or_default());
    [
        text(&one.cell),
        text(&one.server),
        text(&one.runtime),
        one.transport.name().to_owned(),
        text(&one.way),
        word(ask.purpose),
        field(&ask.accept),
        field(&ask.browser),
        field(&ask.variant),
        field(&ask.other),
        field(&ask.if_none_match),
        field(&ask.range),
        field(&ask.if_range),
        answer.status.to_string(),
        field(&answer.content_encoding),
        field(&answer.vary),
        field(&answer.etag),
        answer.content_length.map(|bytes| bytes.to_string()).unwrap_or_default(),
        field(&answer.content_range),
        answer.bytes.to_string(),
        word(answer.body),
        quirk.map(word).unwrap_or_default(),
        quirk.is_some_and(|quirk| quirk.is_wrong()).to_string(),
    ]
}

/// A value's name in JSON.
fn word(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}
