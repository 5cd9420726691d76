//! The results of the load: counts, rates, bytes.

use weigh_model::units;

use crate::bars;
use crate::block::Block;
use crate::load::LoadCaveat;
use crate::load::document::Run;
use crate::load::report::fact::{Fact, facts, milliseconds, parts, seconds, whole};
use crate::output::Options;
use crate::table::{Grid, Kind, factor, field};

pub(super) const RESULTS: &str = "Results";
/// Points of the sparkline at most.
const POINTS: usize = 60;

pub(super) fn blocks(run: &Run, options: &Options) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(2, RESULTS.into())];
    blocks.extend(facts(&rows(run), options));
    if run.figures.classes.len() > 1 {
        blocks.push(Block::Heading(2, "Classes".into()));
        blocks.push(Block::Table(classes(run)));
    }
    blocks
}

fn rows(run: &Run) -> Vec<Fact> {
    let total = &run.figures.total;
    let counts = &total.counts;
    let some = |n: u64, what: &str| if n > 0 { format!("{} {what}", whole(n)) } else { String::new() };
    let mut rows = vec![
        (
            "requests",
            parts(&[
                format!("{} complete", whole(counts.completed)),
                format!("{} failed", whole(counts.faulted)),
                some(counts.dropped, "scheduled and never sent"),
                some(counts.retried, "retried"),
                some(counts.abandoned, "abandoned on purpose"),
                some(counts.non_2xx, "complete with a status other than 2xx"),
            ]),
        ),
        ("time taken", format!("{} · {}", seconds(run.result.seconds), opened(run))),
        ("rate", rate(run)),
    ];
    rows.extend(super::agents::fact(run).map(|fact| ("sent by", fact)));
    if let Some(mean) = total.service.as_ref().and_then(|s| s.mean) {
        let across = run.result.seconds / counts.completed.max(1) as f64;
        let across = format!("{} mean, across concurrent requests", seconds(across));
        let across = if run.is_open() { String::new() } else { across };
        rows.push(("per request", parts(&[format!("{} mean", seconds(mean)), across])));
    }
    let decoded = Some(counts.decoded_bytes).filter(|bytes| *bytes > 0);
    let decoded = decoded.map_or(String::new(), |bytes| format!("{} decoded", units::bytes(bytes)));
    rows.push((
        "transferred",
        parts(&[
            format!("{} in total", units::bytes(counts.wire_bytes)),
            format!("{} of bodies", units::bytes(counts.body_bytes)),
            decoded,
            format!("{}/s", units::bytes(total.wire_bytes_per_second as u64)),
        ]),
    ));
    rows.push(("verified", verified(run)));
    if let Some(line) = spark(run) {
        rows.push(("over time", line));
    }
    rows
}

fn opened(run: &Run) -> String {
    let counts = &run.figures.total.counts;
    let opened = units::count(counts.connections as usize, "connection", "connections");
    let resumed = if counts.resumed > 0 {
        format!(", {} sessions resumed", whole(counts.resumed))
    } else {
        String::new()
    };
    format!("{opened} opened{resumed}")
}

/// The rate, and whose it is.
fn rate(run: &Run) -> String {
    let total = &run.figures.total;
    let rate = format!("{} requests/s", units::significant(total.achieved_per_second));
    let offered = if run.is_open() {
        format!("of {} scheduled", units::significant(total.scheduled_per_second))
    } else {
        String::new()
    };
    let saturated = run.caveats.iter().any(|c| matches!(c, LoadCaveat::SaturatedClient { .. }));
    let whose = if saturated { "limited by the client, not the server" } else { "" };
    parts(&[rate, offered, whose.into()])
}

fn verified(run: &Run) -> String {
    let counts = &run.figures.total.counts;
    if matches!(run.plan.check, weigh_load::plan::Check::Discard) {
        return "nothing: bodies were discarded".into();
    }
    let rest = counts.completed.saturating_sub(counts.compared + counts.decoded);
    let decode = run.figures.total.decode_seconds;
    parts(&[
        format!("{} compared byte for byte", whole(counts.compared)),
        decode.map_or(String::new(), |t| {
            format!("{} decoded in full ({} each)", whole(counts.decoded), seconds(t))
        }),
        if rest > 0 { format!("{} by status and length", whole(rest)) } else { String::new() },
    ])
}

/// Completed responses per second over the slices, without the last one if it is shorter.
fn spark(run: &Run) -> Option<String> {
    let slice = run.plan.slice_seconds;
    let whole_slices: Vec<f64> = run
        .result
        .slices
        .iter()
        .filter(|s| s.seconds >= slice * 0.99)
        .map(|s| s.completed as f64 / s.seconds)
        .collect();
    if whole_slices.len() < 4 {
        return None;
    }
    let group = whole_slices.len().div_ceil(POINTS);
    let points: Vec<f64> =
        whole_slices.chunks(group).map(|c| c.iter().sum::<f64>() / c.len() as f64).collect();
    let low = points.iter().copied().fold(f64::INFINITY, f64::min);
    let high = points.iter().copied().fold(0.0, f64::max);
    let range = format!("{} to {} requests/s", units::significant(low), units::significant(high));
    Some(format!("{} {range}", bars::sparkline(&points)))
}

fn classes(run: &Run) -> Grid {
    Grid::of(&run.figures.classes, |class| {
        let response = class.response.as_ref();
        let ms = |percent| milliseconds(response.and_then(|s| s.percentile(percent)));
        vec![
            factor("class", class.name.as_str()),
            field("complete", "", Kind::Whole, 0, class.counts.completed as f64),
            field("failed", "", Kind::Whole, 0, class.counts.faulted as f64),
            field("dropped", "", Kind::Whole, 4, class.counts.dropped as f64),
            field("rate", "1/s", Kind::Three, 0, class.achieved_per_second),
            field("bodies", "MB/s", Kind::Three, 3, class.body_bytes_per_second / 1e6),
            field("median", "ms", Kind::Three, 0, ms(50.0)),
            field("p99", "ms", Kind::Three, 0, ms(99.0)),
            field("max", "ms", Kind::Three, 2, ms(100.0)),
        ]
    })
}
