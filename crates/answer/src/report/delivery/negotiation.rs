//! How servers negotiate: a row a way, what is to be said of them, and in full every answer to every Accept-Encoding.

pub mod csv;
mod matrix;

use std::collections::BTreeMap;

use super::super::Options;
use super::super::document::Block;
use super::super::grid::{Column, Grid, Kind, Tone};
use super::super::text::clean;
use crate::analysis::delivery::model::{DeliveryAnalysis, NegotiationResult, Quirk, places};
use weigh_model::record::negotiation::{IDENTITY, Purpose};
use weigh_model::units;

const LEGEND: &str = "Each way was asked once with a matrix of Accept-Encoding values, and each variant that showed itself for HEAD, with If-None-Match \
    and for ranges. Codings: those that were sent; Vary: whether it names Accept-Encoding where there are several; 304: of so many \
    requests with a variant's own ETag; parts: of so many ranges, If-Range with them; broken: rules of HTTP; to know: what is allowed.";

/// Names of a list that are written out in a summary.
const NAMES: usize = 4;

/// The section, when the study asks for it.
pub(super) fn section(analysis: &DeliveryAnalysis, options: &Options, full: bool) -> Vec<Block> {
    let asked = &analysis.negotiations;
    if asked.is_empty() {
        return Vec::new();
    }
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
        blocks.extend(matrix::tables(asked, options.width));
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
        let wrong = one.remarks.iter().filter(|remark| remark.quirk.is_wrong()).count();
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

#[cfg(test)]
mod tests;
