//! How servers negotiate, as tables: a row per method, every answer, every request.

use anyhow::Result;
use weigh_model::record::negotiation::{IDENTITY, NegotiationRequest, Purpose};

use super::{Quirk, QuirkByMethod, places, quirks_by_method};
use crate::block::Block;
use crate::csv_table::{file_of, text};
use crate::first::{distinct, grouped};
use crate::names;
use crate::output::{Detail, Options, Rendered};
use crate::report::exhibit::negotiation::{Judged, NegotiationResult};
use crate::table::{Cell, Column, Grid, Kind, Tone, factor, field};
use crate::text::{clean, columns, json_name};

const LEGEND: &str = "Each method was asked once with a matrix of Accept-Encoding values; each variant also by HEAD, If-None-Match and ranges. \
    Codings: those that were sent. Vary: whether it names Accept-Encoding where there are several. 304: revalidations with the variant's own ETag. \
    Range requests include If-Range.";

/// Names of a list that are written out in a summary.
const NAMES: usize = 4;

/// Columns for the requests, the widest of which is that of a browser of today, and columns between two ways.
const REQUEST: usize = 34;
const GAP: usize = 2;
/// The most methods side by side.
const MOST: usize = 8;

/// The purposes of requests for parts of a variant.
const PARTS: [Purpose; 3] = [Purpose::First, Purpose::Last, Purpose::Resume];

/// A row per method, its remarks, and in full every response to every Accept-Encoding.
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
    Grid::toned(asked, |one| {
        let wrong = one.wrong().count();
        let coded = one.variants.iter().filter(|variant| variant.coding != IDENTITY);
        let codings: Vec<String> = coded.map(|variant| clean(&variant.coding)).collect();
        let tone = if wrong > 0 { Tone::Plain } else { Tone::Strong };
        let fields = vec![
            factor("server", names::stack(&one.server, &one.runtime)),
            factor("method", clean(&one.label())),
            field("codings", "", Kind::Text, 0, codings.join(", ")),
            field("Vary", "", Kind::Text, 1, vary(one)),
            field("ETags", "", Kind::Text, 0, etags(one)),
            field("304", "", Kind::Text, 2, kept(one, &[Purpose::Revalidate])),
            field("range requests", "", Kind::Text, 3, kept(one, &PARTS)),
            field("HEAD", "", Kind::Text, 4, head(one)),
            field("HTTP violations", "", Kind::Whole, 0, wrong as f64),
            field("warnings", "", Kind::Whole, 1, (one.remarks.len() - wrong) as f64),
        ];
        (tone, fields)
    })
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

/// How many requests of these purposes have no remark, `2/3`.
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

/// The remarks, one line each: broken rules, and in full also allowed behaviour.
fn points(asked: &[NegotiationResult], full: bool) -> Vec<(String, Option<String>)> {
    let said =
        quirks_by_method(asked, |quirk| full || quirk.is_wrong(), if full { usize::MAX } else { NAMES });
    let point = |QuirkByMethod { quirk, ways, seen_in }: &QuirkByMethod| {
        let kind = if quirk.is_wrong() { "broken" } else { "to know" };
        let places = places(ways.iter().copied());
        (clean(&format!("{kind}: {}: {places} ({seen_in}).", quirk.words())), None)
    };
    let mut points: Vec<(String, Option<String>)> = said.iter().map(point).collect();
    let ended = asked.iter().filter_map(|one| Some((one, one.ended.as_ref()?)));
    points.extend(ended.map(|(one, why)| {
        let place = clean(&places(std::iter::once(one)));
        (format!("{place}: some requests were left out: {}.", clean(why)), None)
    }));
    points
}

/// Every response to every Accept-Encoding: a table per server, or several if its methods do not fit side by side.
fn matrix(asked: &[NegotiationResult], width: usize) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(3, "Every answer".into())];
    let legend = "What was sent for each Accept-Encoding: the coding, or the status if it is not 200. !: breaks a rule; ~: allowed, but worth knowing.";
    blocks.push(Block::Remark(legend.into()));
    for (server, ways) in grouped(asked.iter().map(|one| (one.server.as_str(), one))) {
        blocks.push(Block::Heading(4, clean(server)));
        blocks.extend(fitting(&ways, width).into_iter().map(|ways| Block::Table(answers(ways))));
    }
    blocks
}

/// The methods split into parts that fit next to the requests.
fn fitting<'a, 'b>(ways: &'b [&'a NegotiationResult], width: usize) -> Vec<&'b [&'a NegotiationResult]> {
    let mut parts = Vec::new();
    let (mut begin, mut used) = (0, REQUEST);
    for (at, way) in ways.iter().enumerate() {
        let wants = columns(&clean(&way.label())).max(12) + GAP;
        if at > begin && (used + wants > width || at - begin == MOST) {
            parts.push(&ways[begin..at]);
            (begin, used) = (at, REQUEST);
        }
        used += wants;
    }
    parts.push(&ways[begin..]);
    parts
}

fn answers(ways: &[&NegotiationResult]) -> Grid {
    let mut head = vec![Column::factor("Accept-Encoding", "", Kind::Text)];
    head.extend(ways.iter().map(|way| Column::new("", clean(&way.label()), Kind::Text, 1)));
    let mut grid = Grid::new(head);
    for ask in distinct(ways.iter().flat_map(|way| choices(way)).map(|one| &one.ask)) {
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

fn request(ask: &NegotiationRequest) -> String {
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

/// Every request with its response and verdict as a flat table.
pub(super) fn requests(asked: &[NegotiationResult]) -> Result<Vec<Rendered>> {
    let all = asked.iter().flat_map(|one| one.exchanges.iter().map(move |judged| (one, judged)));
    let shown = |value: &Option<String>| text(value.as_deref().unwrap_or_default());
    file_of("negotiation.csv", all, |(one, Judged { ask, answer, quirk })| {
        vec![
            ("cell", text(&one.cell)),
            ("server", text(&one.server)),
            ("runtime", text(&one.runtime)),
            ("transport", one.transport.name().to_owned()),
            ("way", text(&one.way)),
            ("purpose", json_name(ask.purpose)),
            ("Accept-Encoding", shown(&ask.accept)),
            ("browser", shown(&ask.browser)),
            ("variant", shown(&ask.variant)),
            ("other variant", shown(&ask.other)),
            ("If-None-Match", shown(&ask.if_none_match)),
            ("Range", shown(&ask.range)),
            ("If-Range", shown(&ask.if_range)),
            ("status", answer.status.to_string()),
            ("Content-Encoding", shown(&answer.content_encoding)),
            ("Vary", shown(&answer.vary)),
            ("ETag", shown(&answer.etag)),
            ("Content-Length", answer.content_length.map(|bytes| bytes.to_string()).unwrap_or_default()),
            ("Content-Range", shown(&answer.content_range)),
            ("body (bytes)", answer.bytes.to_string()),
            ("body is", json_name(answer.body)),
            ("quirk", quirk.map(json_name).unwrap_or_default()),
            ("breaks a rule", quirk.is_some_and(|quirk| quirk.is_wrong()).to_string()),
        ]
    })
}
