//! Total times with the value in a store across a link: encode + transfer + decode, computed from measured
//! parts. CPU times only; round trips, the store's own time and protocol overhead are the same for every
//! setting and left out.

use weigh_stats::{break_even_bandwidth, break_even_interval};

use crate::analysis::cost::Cost;
use crate::analysis::estimate::IDENTITY;
use crate::analysis::gather::Measured;
use crate::analysis::model::{BestAt, BreakEven, CellResult, Group, LinkMix, LinkTotals, Mix};
use weigh_model::plan::Plan;
use weigh_model::record::StopReason;
use weigh_model::study::Links;

/// One setting as a line over the time a byte takes: CPU nanoseconds and bytes an operation.
pub(super) struct Line {
    /// Its place among the cells.
    pub index: usize,
    /// CPU time of one operation, in nanoseconds.
    pub cost: Cost,
    /// Encoded bytes of one operation.
    pub bytes: f64,
    /// It may be best somewhere. Not so a cell whose visits ended because another beat it on every axis beyond
    /// doubt: its few figures could only be ahead by chance.
    pub candidate: bool,
}

impl Line {
    /// Nanoseconds to send the bytes at this speed in Mbit/s.
    pub fn transfer(&self, mbit: f64) -> f64 {
        self.bytes * 8e3 / mbit
    }

    /// Nanoseconds an operation at this speed in Mbit/s.
    pub fn total(&self, mbit: f64) -> f64 {
        self.cost.time() + self.transfer(mbit)
    }

    /// Whether ours is the smaller total beyond doubt.
    pub fn clearly_below(&self, other: &Line, mbit: f64) -> bool {
        self.cost.total_clearly_below(self.transfer(mbit), &other.cost, other.transfer(mbit))
    }
}

/// Parts of one encode and one decode in an operation of the mix.
pub(super) fn weights(mix: Mix) -> (f64, f64) {
    match mix {
        Mix::Write => (1.0, 0.0),
        Mix::Read => (0.0, 1.0),
        Mix::ReadsPerWrite(reads) => (1.0 / (1.0 + reads), reads / (1.0 + reads)),
    }
}

/// Reads for each write that a study asks for, as far as they can be.
pub(super) fn reads_per_write(links: &Links) -> impl Iterator<Item = f64> {
    links.reads_per_write.iter().copied().filter(|reads| reads.is_finite() && *reads >= 0.0)
}

/// Link speeds in Mbit/s that a study asks for, as far as they can be.
pub(super) fn speeds(links: &Links) -> Vec<f64> {
    links.mbit.iter().copied().filter(|speed| speed.is_finite() && *speed > 0.0).collect()
}

/// Total times of one group, for every mix.
pub(super) fn of_group(
    plan: &Plan,
    links: &Links,
    group: &Group,
    measured: &[Measured],
    cells: &[CellResult],
) -> Vec<LinkMix> {
    let speeds = speeds(links);
    let mix = |mix: Mix| {
        let lines = lines(plan, &group.payload, &group.runtime, mix, measured, cells);
        let envelope = envelope(&lines);
        Some(LinkMix {
            mix,
            totals: shown(&lines, &envelope, group, cells)
                .into_iter()
                .map(|line| totals(line, &speeds, cells))
                .collect(),
            best: speeds.iter().filter_map(|mbit| best(&lines, *mbit, cells)).collect(),
            break_even: envelope.windows(2).filter_map(|w| break_even(w[0], w[1], cells)).collect(),
        })
        .filter(|_| !lines.is_empty())
    };
    let mixed = reads_per_write(links).map(Mix::ReadsPerWrite);
    [Mix::Write, Mix::Read].into_iter().chain(mixed).filter_map(mix).collect()
}

/// The lines of all cells of a payload and runtime.
pub(super) fn lines(
    plan: &Plan,
    payload: &str,
    runtime: &str,
    mix: Mix,
    measured: &[Measured],
    cells: &[CellResult],
) -> Vec<Line> {
    let items = plan.payloads.iter().find(|p| p.name == payload).map_or(1, |p| p.items.len().max(1)) as f64;
    measured
        .iter()
        .enumerate()
        .filter(|(_, m)| m.cell.payload == payload && m.cell.runtime == runtime)
        .filter_map(|(index, m)| {
            let cost = Cost::weighted(m, weights(mix), plan.seed)?.scaled(1.0 / items);
            let candidate = !matches!(m.stop, Some(StopReason::Dominated { .. }));
            Some(Line { index, cost, bytes: cells[index].encoded_bytes as f64 / items, candidate })
        })
        .collect()
}

/// The lower envelope: the lines that are best at some link speed, from an infinite one to none at all.
fn envelope(lines: &[Line]) -> Vec<&Line> {
    let by = |key: fn(&Line) -> (f64, f64)| {
        move |a: &&Line, b: &&Line| {
            let (a, b) = (key(a), key(b));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
        }
    };
    let mut envelope: Vec<&Line> =
        candidates(lines).min_by(by(|l| (l.cost.time(), l.bytes))).into_iter().collect();
    while let Some(current) = envelope.last().copied() {
        // The next is the one that is overtaken by at the highest bandwidth; of several, the smallest.
        let next = candidates(lines)
            .filter(|l| l.bytes < current.bytes)
            .filter_map(|l| Some((crossing(current, l)?, l)))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.bytes.total_cmp(&a.1.bytes)));
        match next {
            Some((_, next)) => envelope.push(next),
            None => break,
        }
    }
    envelope
}

/// The bandwidth at which two lines cross, in bytes a nanosecond.
fn crossing(a: &Line, b: &Line) -> Option<f64> {
    break_even_bandwidth(a.cost.time(), a.bytes, b.cost.time(), b.bytes)
}

/// The lines whose totals are listed: the envelope, the reference, and no compression with the reference's
/// serializer.
fn shown<'a>(lines: &'a [Line], envelope: &[&'a Line], group: &Group, cells: &[CellResult]) -> Vec<&'a Line> {
    let reference =
        lines.iter().find(|l| group.reference.as_deref() == Some(cells[l.index].cell.id.as_str()));
    let serializer = reference.and_then(|l| cells[l.index].cell.serializer.as_ref());
    let identity = lines.iter().find(|l| {
        let cell = &cells[l.index].cell;
        cell.setting.codec == IDENTITY && cell.serializer.as_ref() == serializer
    });
    let mut shown = envelope.to_vec();
    for line in reference.into_iter().chain(identity) {
        if !shown.iter().any(|s| s.index == line.index) {
            shown.push(line);
        }
    }
    shown
}

fn totals(line: &Line, speeds: &[f64], cells: &[CellResult]) -> LinkTotals {
    let interval = line.cost.interval();
    let at = |mbit: &f64| {
        let transfer = line.transfer(*mbit);
        (*mbit, line.total(*mbit), interval.low + transfer, interval.high + transfer)
    };
    LinkTotals { cell: cells[line.index].cell.id.clone(), at: speeds.iter().map(at).collect() }
}

/// The line with the smallest total at this speed.
pub(super) fn smallest(lines: &[Line], mbit: f64) -> Option<&Line> {
    candidates(lines).min_by(|a, b| a.total(mbit).total_cmp(&b.total(mbit)))
}

/// The lines that may be best somewhere.
pub(super) fn candidates(lines: &[Line]) -> impl Iterator<Item = &Line> {
    lines.iter().filter(|l| l.candidate)
}

/// The lines that cannot be told apart from the best one at this speed.
pub(super) fn ties<'a>(lines: &'a [Line], best: &Line, mbit: f64) -> Vec<&'a Line> {
    candidates(lines).filter(|l| l.index != best.index && !best.clearly_below(l, mbit)).collect()
}

fn best(lines: &[Line], mbit: f64, cells: &[CellResult]) -> Option<BestAt> {
    let best = smallest(lines, mbit)?;
    let id = |line: &Line| cells[line.index].cell.id.clone();
    Some(BestAt {
        mbit,
        cell: id(best),
        total: best.total(mbit),
        ties: ties(lines, best, mbit).into_iter().map(id).collect(),
    })
}

/// The break-even bandwidth of two lines, the faster one first, with the interval that follows from that of the
/// difference of their times. With a single round of one of them the interval has no ends.
pub(super) fn break_even(fast: &Line, slow: &Line, cells: &[CellResult]) -> Option<BreakEven> {
    let (time, interval) = slow.cost.difference(&fast.cost);
    let crossing = break_even_interval(fast.bytes - slow.bytes, time, interval)?;
    // Bytes a nanosecond to Mbit/s.
    let mbit = |bandwidth: f64| bandwidth * 8e3;
    let id = |line: &Line| cells[line.index].cell.id.clone();
    Some(BreakEven {
        fast: id(fast),
        slow: id(slow),
        mbit: mbit(crossing.bandwidth),
        low: mbit(crossing.low),
        high: mbit(crossing.high),
    })
}
