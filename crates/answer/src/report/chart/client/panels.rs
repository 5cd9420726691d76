//! Throughput, total time, time inside a call and memory of every client of a content, as bars beside each other.

use anyhow::Result;
use plotters::prelude::*;

use super::super::super::client::view::GroupView;
use super::super::super::text::clean;
use super::super::canvas::{Rect, SIZE, sheet};
use super::super::rows::{self, Bar};
use super::super::title;
use super::row::{BOTTOM, Named, named, remark};
use crate::analysis::client::model::{CallTimes, ClientAnalysis, Kind, is_settled};
use weigh_model::units;

/// Where names end, and the room between panels.
const NAMES: f64 = 336.0;
const BETWEEN: f64 = 14.0;
/// What is beyond so many times the middle of all rows is cut: the others would not be seen.
const CUT: f64 = 4.0;

type Panel = fn(&Named) -> Bar;

/// The chart of one content.
pub(super) fn draw(analysis: &ClientAnalysis, group: &GroupView) -> Result<String> {
    let heading = heading(analysis, group);
    sheet(&heading, |canvas| {
        let workers = group.rows().find_map(|row| row.result.cell.client.as_ref()).map_or(0, |c| c.workers);
        let workers = units::count(workers as usize, "worker", "workers");
        let about = [group.about(), workers, clean(&analysis.run.machine)].join(" · ");
        let top = title::head(canvas, &heading, &about)? + 40.0;
        let (shown, left) = named(group, top);
        let pitch = rows::pitch(shown.len(), top, BOTTOM);
        let names: Vec<_> = shown.iter().map(|row| (row.name.clone(), row.color)).collect();
        rows::names(canvas, &names, (NAMES, NAMES - title::MARGIN), (top, pitch))?;
        let cut = |of: &dyn Fn(&Named) -> Option<f64>| {
            let all: Vec<f64> = shown.iter().filter_map(of).collect();
            weigh_stats::median(&all).map_or(f64::INFINITY, |middle| middle * CUT)
        };
        let cuts = [
            cut(&|row| row.row.result.combined()),
            cut(&|row| row.row.result.total_seconds.map(|seconds| seconds.value)),
            cut(&|row| call(row).map(|times| times.p50)),
        ];
        let panels: [(&str, Panel, f64, f64); 4] = [
            ("Transactions a second", rate, cuts[0], 0.24),
            ("Total time", total, cuts[1], 0.2),
            ("Inside a call: 50%, 99%", inside, cuts[2], 0.34),
            ("Peak memory", memory, f64::INFINITY, 0.22),
        ];
        let mut x = NAMES + 10.0;
        let width = SIZE.0 - title::MARGIN + 24.0 - x;
        for (name, bar, cap, share) in panels {
            let rect = Rect { left: x, top, right: x + width * share - BETWEEN, bottom: BOTTOM };
            let bars: Vec<Bar> = shown.iter().map(bar).collect();
            rows::panel(canvas, name, rect, &bars, (cap, pitch))?;
            x += width * share;
        }
        let text = "A call is a read, else a write. Memory is as PHP counts it. A broken bar goes on.";
        title::foot(canvas, analysis, group.synthetic(), &remark(left, text))
    })
}

fn bar(of: &Named, amount: Option<f64>, text: impl Fn(f64) -> String) -> Bar {
    let Some(amount) = amount else { return Bar { text: "–".into(), ..Bar::default() } };
    Bar { parts: vec![(amount, of.color.mix(0.8))], text: text(amount), ..Bar::default() }
}

fn rate(of: &Named) -> Bar {
    bar(of, of.row.result.combined(), units::significant)
}

fn total(of: &Named) -> Bar {
    bar(of, of.row.result.total_seconds.map(|seconds| seconds.value), |seconds| units::ns(seconds * 1e9))
}

fn memory(of: &Named) -> Bar {
    let peak = of.row.result.memory.map(|memory| memory.peak as f64);
    bar(of, peak, |bytes| units::bytes(bytes as u64))
}

fn call(of: &Named) -> Option<CallTimes> {
    of.row.result.get.or(of.row.result.put)
}

fn inside(of: &Named) -> Bar {
    let Some(times) = call(of) else { return Bar { text: "–".into(), ..Bar::default() } };
    let text = format!("{}, {}", units::ns(times.p50 * 1e9), units::ns(times.p99 * 1e9));
    Bar { parts: vec![(times.p50, of.color.mix(0.8))], whisker: Some(times.p99), text }
}

/// What another runtime brings, where one was measured; else how far apart the clients are.
fn heading(analysis: &ClientAnalysis, group: &GroupView) -> String {
    let is_here = |id: &String| group.rows().any(|row| row.result.cell.id == *id);
    let runtimes = analysis.comparisons.iter().filter(|c| c.kind == Kind::Runtime && is_here(&c.cell));
    let told = runtimes.filter_map(|c| Some((c, c.combined?))).find(|(c, r)| is_settled(r, c.rounds));
    let row = |id: &str| group.rows().find(|row| row.result.cell.id == id);
    if let Some((comparison, ratio)) = told
        && let (Some(ours), Some(theirs)) = (row(&comparison.cell), row(&comparison.beside))
    {
        return format!(
            "{}: {} makes {} the transactions of {} with {}",
            group.title(),
            ours.runtime,
            units::times(ratio.ratio),
            theirs.runtime,
            ours.place
        );
    }
    let rates: Vec<f64> = group.rows().filter_map(|row| row.result.combined()).collect();
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match (units::significant(least), units::significant(most)) {
        _ if rates.is_empty() => format!("{}: nothing was measured", group.title()),
        (low, high) if low == high => format!("{}: {low} transactions a second", group.title()),
        (low, high) => format!("{}: {low} to {high} transactions a second", group.title()),
    }
}
