//! The report of a block of load: the server's responses, the results, the cost. Terminal, CSV of slices and
//! HdrHistogram log; JSON is the document itself.

mod agents;
mod calibration;
mod capacity;
mod charts;
mod compare;
pub mod csv;
mod fact;
mod faults;
pub mod hlog;
mod outcome;
mod preflight;
mod remedies;
mod rest;
mod times;

use anyhow::{Context, Result};
use weigh_model::units;

use crate::block::Block;
use crate::format::composed::{Composed, joined};
use crate::format::terminal;
use crate::load::document::{Document, Measured, Run};
use crate::load::figures::Time;
use crate::load::report::fact::{seconds, whole};
use crate::output::{Detail, Options};
use crate::text::{clean, shorten};

/// Columns of a URL in a title at most.
const NAMED: usize = 80;

/// The columns that may be left out.
const JSON: &str = "--json";

pub fn terminal(document: &Document, options: &Options) -> String {
    let options = &Options { more: JSON, ..options.clone() };
    terminal::text(&blocks(document, options), options)
}

fn blocks(document: &Document, options: &Options) -> Vec<Block> {
    match &document.measured {
        Measured::Run(run) => run_blocks(run, options),
        Measured::Comparison(compared) => compare::blocks(compared, options),
        Measured::Calibration(calibration) => calibration::blocks(calibration),
        Measured::Capacity(searched) => capacity::blocks(searched, options),
    }
}

/// The report in the formats of runs: a title, the figures, charts, and the command.
///
/// # Errors
/// The result cannot be written as JSON.
pub fn composed(document: &Document, options: &Options) -> Result<Composed> {
    let options = &Options { more: JSON, ..options.clone() };
    let pictures = charts::pictures(document);
    let command: Vec<String> = document.command.iter().map(|word| clean(word)).collect();
    let started = clean(document.started.trim_end_matches('Z')).replace('T', " ");
    let mut rest = joined(blocks(document, options));
    let has_title = matches!(rest.first(), Some(Block::Heading(1, _)));
    let title = if has_title { rest.remove(0) } else { Block::Heading(1, title(document)) };
    let mut all = vec![title, Block::Remark(format!("{started} UTC · {}", clean(&document.machine)))];
    if let Measured::Run(run) = &document.measured {
        all.push(Block::Answer(vec![answer(run)]));
    }
    // Charts stand below the results in words.
    let results =
        rest.iter().position(|block| matches!(block, Block::Heading(2, of) if of == outcome::RESULTS));
    let charts = results.map_or(rest.len(), |at| (at + 2).min(rest.len()));
    rest.insert(charts, Block::StudyCharts);
    all.extend(rest);
    all.push(Block::Heading(2, "Measure it again".into()));
    all.push(Block::Literal(shell_words::join(command)));
    let json = serde_json::to_string_pretty(document).context("writing the result as JSON")? + "\n";
    Ok(Composed { noun: "a load", blocks: all, pictures, flames: Vec::new(), json })
}

/// Rate, times and failures in a sentence.
fn answer(run: &Run) -> String {
    let total = &run.figures.total;
    let time = |percent: f64, name: &str| {
        let words = match total.response.as_ref()?.percentile(percent)? {
            Time::Took(time) => seconds(time),
            Time::Beyond(time) => format!("more than {}", seconds(time)),
        };
        Some(format!("{name} {words}"))
    };
    let rate = format!("{} responses per second", units::significant(total.achieved_per_second));
    let all = total.counts.completed.saturating_add(total.counts.faulted);
    let failed = format!("{} of {} requests failed", whole(total.counts.faulted), whole(all));
    let parts = [Some(rate), time(50.0, "median"), time(99.0, "p99"), Some(failed)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ") + "."
}

/// What was measured, with its first URL.
fn title(document: &Document) -> String {
    let of = |what: &str, run: &Run| match run.plan.requests.first() {
        Some(request) => format!("{what} {}", shorten(&clean(&request.url), NAMED)),
        None => what.to_owned(),
    };
    match &document.measured {
        Measured::Run(run) => of("Load on", run),
        Measured::Comparison(compared) => of("Two servers under load:", &compared.a),
        Measured::Capacity(searched) => of("Highest rate of", &searched.closed),
        Measured::Calibration(_) => "The load generator's own cost".to_owned(),
    }
}

fn run_blocks(run: &Run, options: &Options) -> Vec<Block> {
    let full = options.detail == Detail::Full;
    let mut blocks = preflight::blocks(run, options);
    blocks.extend(outcome::blocks(run, options));
    blocks.extend(agents::blocks(run, options));
    blocks.extend(times::blocks(run, options));
    blocks.extend(faults::blocks(run));
    blocks.extend(rest::client(run, options));
    if full {
        blocks.extend(rest::bytes(run, options));
    }
    blocks.extend(remedies::blocks(run));
    blocks
}

#[cfg(test)]
mod tests;
