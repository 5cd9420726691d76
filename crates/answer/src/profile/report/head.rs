//! What a profile is, what it does not show, and how its figures were found.

use weigh_model::profile::{Counting, Format, Inclusion};
use weigh_model::units;

use super::amount;
use crate::block::Block;
use crate::output::{Detail, Options};
use crate::profile::document::{Overhead, Run, ShownProfile};
use crate::text::{clean, dotted};

/// Differences of sums that are mentioned.
const WORTH_A_WORD: f64 = 0.001;

pub(super) fn blocks(shown: &ShownProfile, options: &Options) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(1, clean(&shown.name))];
    let mut lines = vec![what(shown)];
    lines.extend(shown.run.as_ref().map(|run| {
        let script = match run.script.len().saturating_sub(1) {
            0 => String::new(),
            count => format!(" with {}", units::count(count, "argument", "arguments")),
        };
        let name = run.script.first().map_or(String::new(), |name| clean(name));
        format!("{} {} · {name}{script} · {}", clean(&run.php), clean(&run.version), clean(&run.ended))
    }));
    lines.push(totals(shown));
    blocks.extend(lines.into_iter().map(Block::Text));
    if let Some(run) = &shown.run {
        blocks.push(Block::Text(overhead(run)));
    }
    if options.detail == Detail::Full {
        blocks.push(Block::Remark(found(shown).into()));
    }
    let points = points(shown);
    if !points.is_empty() {
        blocks.push(Block::Points(points));
    }
    blocks
}

fn what(shown: &ShownProfile) -> String {
    let format = match shown.format {
        Format::Xdebug => "cachegrind file, a block a call",
        Format::Cachegrind => "cachegrind file of sums",
        Format::Collapsed => "collapsed stacks",
    };
    let maker = match (&shown.run, &shown.creator) {
        (Some(run), _) => run.profiler.clone(),
        (None, Some(creator)) => creator.clone(),
        (None, None) => String::new(),
    };
    let command = shown.command.as_ref().filter(|_| shown.run.is_none());
    dotted([clean(&maker), format.to_owned(), command.map_or(String::new(), |c| clean(c))])
}

fn totals(shown: &ShownProfile) -> String {
    let functions = units::count(shown.functions.len(), "function", "functions");
    let calls: Option<u64> = shown.functions.iter().map(|row| row.calls).sum();
    let calls = calls.map_or(String::new(), |calls| {
        format!(", {}", units::count(usize::try_from(calls).unwrap_or(usize::MAX), "call", "calls"))
    });
    let outside = shown.outside.map_or(String::new(), |outside| {
        format!(
            "; {} more outside of functions (start, compiling, end, the profiler itself)",
            amount(outside, &shown.unit)
        )
    });
    format!("{} in {functions}{calls}{outside}", amount(shown.total, &shown.unit))
}

fn overhead(run: &Run) -> String {
    let Some(Overhead { plain_seconds, profiled_seconds, ratio, low, high }) = &run.overhead else {
        return "overhead of the profiler: not measured".into();
    };
    let pairs = units::count(plain_seconds.len(), "pair of runs", "pairs of runs");
    let median = |seconds: &[f64]| units::ns(weigh_stats::median(seconds).unwrap_or(0.0) * 1e9);
    let times = format!("{} of CPU time plain, {} profiled", median(plain_seconds), median(profiled_seconds));
    match (ratio, low, high) {
        (Some(ratio), Some(low), Some(high)) => {
            format!(
                "overhead of the profiler: {} ({times}; {pairs})",
                units::times_interval(*ratio, *low, *high)
            )
        }
        _ => format!("overhead of the profiler: {times}; {pairs}, which makes no interval"),
    }
}

/// How calls and inclusive costs were found.
fn found(shown: &ShownProfile) -> &'static str {
    match (shown.inclusion, shown.counting) {
        (Inclusion::Tree, _) => {
            "Each call has a block of its own: calls are exact, and inclusive costs count once a stack what runs below several \
             calls of a function."
        }
        (Inclusion::Samples, _) => {
            "Costs are of sampled stacks; an inclusive cost counts each stack once for each function in it. Nothing counted calls."
        }
        (Inclusion::Graph, Counting::CallLines) => {
            "The file holds sums: calls are those of its calls= lines, and inclusive costs leave out calls inside of a circle of \
             functions."
        }
        (Inclusion::Graph, Counting::Blocks) => {
            "Blocks are calls, but they do not make one tree: inclusive costs leave out calls inside of a circle of functions."
        }
        (Inclusion::Graph, Counting::Unknown) => {
            "The file holds own costs alone: neither calls nor inclusive costs."
        }
    }
}

fn points(shown: &ShownProfile) -> Vec<(String, Option<String>)> {
    let mut points = Vec::new();
    if let Some(cut) = &shown.cut {
        let what = format!(
            "CUT SHORT: {}; what is whole, up to byte {} (line {}), is shown",
            clean(&cut.why),
            units::significant(cut.byte as f64),
            units::significant(cut.line as f64)
        );
        points.push((what, Some("profile again, and let the program end by itself".into())));
    }
    let other = if shown.inclusion == Inclusion::Tree { Some(shown.roots) } else { shown.stated };
    if let Some(other) = other.filter(|other| *other != 0 && shown.cut.is_none()) {
        let share = shown.total.abs_diff(other) as f64 / other.unsigned_abs() as f64;
        if share > WORTH_A_WORD {
            let (total, other) = (amount(shown.total, &shown.unit), amount(other, &shown.unit));
            points.push((format!("SUMS: own costs add up to {total}, and the file says {other}"), None));
        }
    }
    if let Some(run) = &shown.run {
        if !run.is_fine {
            points.push((format!("FAILED: the script did not end well: {}", clean(&run.ended)), None));
        }
        points.extend(run.remark.as_ref().map(|remark| (format!("SEEN: {}", clean(remark)), None)));
    }
    points
}
