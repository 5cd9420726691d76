//! The comparison of two sides.

use weigh_load::compare::{Line, Quantity, Ratio};
use weigh_model::units;

use super::{faults, preflight, remedies, rest, times};
use crate::block::Block;
use crate::load::document::{Compared, Run};
use crate::load::figures::Time;
use crate::output::{Detail, Options};
use crate::table::{Grid, Kind, Tone, factor, field, remark};
use crate::text::clean;

pub(super) fn blocks(compared: &Compared, options: &Options) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (side, run) in [("A", &compared.a), ("B", &compared.b)] {
        let mut part = preflight::blocks(run, options);
        if let Some(Block::Heading(level, title)) = part.first_mut() {
            *title = format!("{side}: {title}");
            *level = if side == "A" { 1 } else { 2 };
        }
        blocks.extend(part);
    }
    let count = compared.comparison.blocks;
    blocks.push(Block::Heading(2, "B against A".into()));
    blocks.push(Block::Table(table(compared)));
    blocks.push(Block::Remark(format!(
        "Medians over {count} alternating blocks of each side; ratios within pairs of blocks, with 95% confidence intervals. An interval that \
         contains 1 means no significant difference."
    )));
    blocks.extend(differences(compared));
    for (side, run) in [("A", &compared.a), ("B", &compared.b)] {
        blocks.extend(of_side(side, run, options));
    }
    blocks
}

fn of_side(side: &str, run: &Run, options: &Options) -> Vec<Block> {
    let mut parts = Vec::new();
    if options.detail == Detail::Full {
        parts.extend(times::blocks(run, options));
        parts.extend(rest::client(run, options));
    }
    parts.extend(faults::blocks(run));
    parts.extend(remedies::blocks(run));
    for part in &mut parts {
        if let Block::Heading(_, title) = part {
            *title = format!("{side}: {title}");
        }
    }
    parts
}

fn differences(compared: &Compared) -> Vec<Block> {
    let found = &compared.comparison.differences;
    if found.is_empty() {
        return Vec::new();
    }
    let points = found.iter().map(|d| {
        let what = format!("{}: A sends {}; B sends {}", d.request, d.a, d.b);
        (clean(&what), Some("do not compare servers by rates of different content".into()))
    });
    vec![Block::Heading(2, "A and B send different content".into()), Block::Points(points.collect())]
}

fn table(compared: &Compared) -> Grid {
    let value = |line: &Line, v: Option<f64>, run: &Run| {
        v.map(|v| shown(line.quantity, v)).or_else(|| beyond(line.quantity, run)).unwrap_or("–".into())
    };
    let is_there = |line: &&Line| {
        let is_beyond = [&compared.a, &compared.b].iter().any(|run| beyond(line.quantity, run).is_some());
        line.a.is_some() || line.b.is_some() || is_beyond
    };
    let there = compared.comparison.lines.iter().filter(is_there);
    Grid::toned(there, |line| {
        let ratio = line.ratio.map(|r| units::times_interval(r.median, r.low, r.high));
        let verdict = line.ratio.map_or("", |r| verdict(line.quantity, r));
        let fields = vec![
            factor("quantity", name(line.quantity)),
            field("A", "", Kind::Text, 0, value(line, line.a, &compared.a)),
            field("B", "", Kind::Text, 0, value(line, line.b, &compared.b)),
            field("B ÷ A", "", Kind::Text, 0, ratio.unwrap_or("–".into())),
            remark("verdict", 3, verdict),
        ];
        (if matches!(verdict, "" | "same") { Tone::Plain } else { Tone::Strong }, fields)
    })
}

/// The lower bound of a quantile among the requests without a response.
fn beyond(quantity: Quantity, run: &Run) -> Option<String> {
    let total = &run.figures.total;
    let (spread, percent) = match quantity {
        Quantity::TtfbP50 => (&total.ttfb, 50.0),
        Quantity::TtfbP90 => (&total.ttfb, 90.0),
        Quantity::TtfbP99 => (&total.ttfb, 99.0),
        Quantity::ResponseP50 => (&total.response, 50.0),
        Quantity::ResponseP99 => (&total.response, 99.0),
        Quantity::Rate | Quantity::ClientCpu | Quantity::BodyBytes | Quantity::WireBytes => return None,
    };
    match spread.as_ref()?.percentile(percent)? {
        Time::Beyond(seconds) => Some(format!("> {}", super::fact::seconds(seconds))),
        Time::Took(_) => None,
    }
}

/// The meaning of the interval, as text.
fn verdict(quantity: Quantity, ratio: Ratio) -> &'static str {
    let more_is_better = quantity == Quantity::Rate;
    if ratio.low <= 1.0 && ratio.high >= 1.0 {
        "same"
    } else if (ratio.median > 1.0) == more_is_better {
        "B is better"
    } else {
        "A is better"
    }
}

fn name(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Rate => "rate",
        Quantity::ClientCpu => "client CPU/request",
        Quantity::TtfbP50 => "first byte, median",
        Quantity::TtfbP90 => "first byte, p90",
        Quantity::TtfbP99 => "first byte, p99",
        Quantity::ResponseP50 => "response, median",
        Quantity::ResponseP99 => "response, p99",
        Quantity::BodyBytes => "body bytes",
        Quantity::WireBytes => "wire bytes",
    }
}

fn shown(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Rate => format!("{} per s", units::significant(value)),
        Quantity::BodyBytes | Quantity::WireBytes => units::bytes(value.round() as u64),
        _ => super::fact::seconds(value),
    }
}
