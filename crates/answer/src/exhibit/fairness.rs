//! Slow clients beside light requests: which methods keep the workers of a PHP pool busy, and how other requests fare.

use weigh_model::caveat::Caveat;
use weigh_model::cell::Slow;
use weigh_model::record::DeliveryVisit;
use weigh_model::record::fairness::Fairness;
use weigh_model::units;
use weigh_stats::hist::{Hist, Packed};
use weigh_stats::median;

use crate::block::Block;
use crate::exhibit::present::Exhibit;
use crate::gather::{Gathered, Measured};
use crate::metric::merged;
use crate::names;
use crate::output::{Detail, Options};
use crate::report::Report;
use crate::report::exhibit::fairness::{FairnessResult, LightTimes, SlowClientEffect, SlowClients};
use crate::table::{Cell as Field, Column, Grid, Kind, Tone, factor, field, remark};
use crate::text::{clean, json_name};
use crate::words::note;

/// Workers count as kept if slow clients keep at least this share of those that they could keep.
const KEPT: f64 = 0.5;
/// A response that takes more nanoseconds than this is a noticeable wait.
const PROMPT: u64 = 100_000_000;
/// Light requests are starved if a smaller share of them is answered promptly.
const MOST: f64 = 0.5;
/// The percentiles of light requests, as `ab` prints them.
const PERCENTILES: [u32; 9] = [50, 66, 75, 80, 90, 95, 98, 99, 100];

const LEGEND: &str = "50 light requests per second use new connections and need a worker of the same PHP pool. Their times count from the schedule. \
    A request without an answer at the end of its block, after four seconds, counts as slower. Busy: median over time. \
    Starved: less than half were answered within 0.1 s.";

impl SlowClients {
    /// Of every cell with light requests.
    pub(crate) fn of(gathered: &Gathered) -> Option<SlowClients> {
        let found: Vec<_> = gathered.cells.iter().filter_map(FairnessResult::of).collect();
        (!found.is_empty()).then_some(SlowClients(found))
    }

    /// The fewest slow clients that could keep every worker of such a pool busy, otherwise the largest number.
    fn is_telling(&self, of: &Slow) -> bool {
        let alike = self.0.iter().filter_map(FairnessResult::slow).filter(|s| s.workers == of.workers);
        let numbers: Vec<u32> = alike.map(|s| s.clients).collect();
        let enough = numbers.iter().filter(|n| **n >= of.workers).min();
        enough.or(numbers.iter().max()) == Some(&of.clients)
    }
}

impl FairnessResult {
    fn of(measured: &Measured) -> Option<FairnessResult> {
        let slow = measured.cell.delivery.as_ref()?.slow.as_ref()?;
        let blocks = measured.visits.iter().filter_map(|v| v.delivery.as_deref());
        let visits: Vec<(&DeliveryVisit, &Fairness)> =
            blocks.filter_map(|block| Some((block, block.fairness.as_ref()?))).collect();
        let (_, last) = visits.last()?;
        let sum =
            |of: fn(&Fairness) -> u64| visits.iter().fold(0_u64, |all, (_, f)| all.saturating_add(of(f)));
        let moments = || visits.iter().flat_map(|(_, fairness)| &fairness.busy);
        let busy: Vec<f64> = moments().map(|moment| f64::from(moment.busy)).collect();
        let busy = median(&busy);
        let (due, answered) = (sum(|f| f.due), sum(|f| f.answered));
        let prompt = visits.iter().map(|(_, fairness)| prompt(fairness)).sum();
        let seconds: f64 = visits.iter().map(|(block, _)| block.seconds).sum();
        let slow_rate = sum(|f| f.slow_bytes) as f64 / seconds / f64::from(slow.clients);
        let mut caveats = measured.caveats.clone();
        let is_deep = visits.iter().any(|(_, fairness)| !fairness.narrow);
        if is_deep && !caveats.contains(&Caveat::DeepBuffers) {
            caveats.push(Caveat::DeepBuffers);
        }
        Some(FairnessResult {
            cell: measured.cell.clone(),
            rounds: visits.len() as u32,
            content_bytes: measured.last().map_or(0, |v| v.decoded_bytes),
            due,
            answered,
            prompt,
            failed: sum(|f| f.failed),
            light: light_times(visits.iter().map(|(_, f)| &f.response), due.saturating_sub(answered)),
            beyond: visits.iter().map(|(block, _)| block.seconds).reduce(f64::max).filter(|_| answered < due),
            busy,
            queue_max: moments().map(|moment| moment.queue).max(),
            written_bytes: visits.iter().filter_map(|(block, _)| block.written_bytes).max(),
            php_pss: visits.iter().filter_map(|(_, f)| f.php_pss).max(),
            slow_rate: slow_rate.is_finite().then_some(slow_rate),
            outcome: outcome(slow, busy, prompt as f64 / due.max(1) as f64),
            busy_over_time: last.busy.clone(),
            light_over_time: last.light.clone(),
            caveats,
        })
    }

    /// Server and method, as `nginx · readfile`; with its PHP and its workers where they differ.
    pub(crate) fn setup(&self, report: &Report) -> String {
        let server = self.cell.delivery.as_ref().map_or("", |delivery| &delivery.server);
        let mut parts = vec![names::server(server)];
        parts.extend((report.runtimes.len() > 1).then(|| names::runtime(&self.cell.runtime)));
        parts.push(names::way(&self.cell));
        let workers = self.slow().filter(|slow| slow.script_memory > 0).map(|slow| slow.workers);
        let workers = workers.map(|workers| format!(", {workers} workers")).unwrap_or_default();
        clean(&parts.join(" · ")) + &workers
    }

    pub fn slow(&self) -> Option<&Slow> {
        self.cell.delivery.as_ref()?.slow.as_ref()
    }
}

fn light_times<'a>(packed: impl Iterator<Item = &'a Packed>, unanswered: u64) -> Option<LightTimes> {
    let all: Hist = merged(packed);
    let at = |percent: u32| all.quantile_with(f64::from(percent) / 100.0, unanswered);
    Some(LightTimes {
        count: all.count(),
        min: all.min()?,
        mean: all.mean()?,
        sd: all.sd()?,
        p50: at(50),
        p99: at(99),
        max: all.max()?,
        percentiles: PERCENTILES.iter().filter_map(|percent| Some((*percent, at(*percent)?))).collect(),
    })
}

fn prompt(fairness: &Fairness) -> u64 {
    fairness.response.unpack().map_or(0, |hist| hist.inner().count_between(0, PROMPT))
}

/// Without status readings of the pool, only the light requests decide.
fn outcome(slow: &Slow, busy: Option<f64>, prompt: f64) -> SlowClientEffect {
    let most = f64::from(slow.clients.min(slow.workers));
    let is_kept = busy.is_some_and(|busy| busy >= KEPT * most);
    match (slow.clients, prompt < MOST) {
        (0, _) => SlowClientEffect::Alone,
        (_, true) => SlowClientEffect::Starved,
        (_, false) if is_kept => SlowClientEffect::Kept,
        (_, false) => SlowClientEffect::Free,
    }
}

impl Exhibit for SlowClients {
    fn leads(&self) -> bool {
        true
    }

    /// A summary shows the smallest number of slow clients that could keep every worker busy, the full report every
    /// number.
    fn blocks(&self, _: &Report, options: &Options) -> Vec<Block> {
        let full = options.detail == Detail::Full;
        let with_slow = self.0.iter().filter_map(|result| Some((result, result.slow()?)));
        let shown: Vec<_> = with_slow.filter(|(_, slow)| full || self.is_telling(slow)).collect();
        if shown.is_empty() {
            return Vec::new();
        }
        let grid = Grid::toned(shown, |(result, slow)| {
            let tone = match result.outcome {
                SlowClientEffect::Starved => Tone::Strong,
                SlowClientEffect::Alone => Tone::Dim,
                SlowClientEffect::Free | SlowClientEffect::Kept => Tone::Plain,
            };
            (tone, fields(result, slow))
        });
        vec![Block::Heading(2, "With slow clients".into()), Block::Remark(LEGEND.into()), Block::Table(grid)]
    }
}

fn fields(result: &FairnessResult, slow: &Slow) -> Vec<(Column, Field)> {
    let delivery = result.cell.delivery.as_ref();
    let server = delivery.map(|d| names::stack(&d.server, &result.cell.runtime)).unwrap_or_default();
    let way = names::way(&result.cell);
    let beyond = result.beyond.map(|seconds| format!("> {}", units::significant(seconds * 1e3)));
    let ms = |of: fn(&LightTimes) -> Option<f64>| match (result.light.as_ref().and_then(of), &beyond) {
        (None, Some(beyond)) => Field::from(beyond.as_str()),
        (seconds, _) => Field::from(seconds.map(|s| s * 1e3)),
    };
    // A percentile of all requests, not only of the answered ones.
    let longest = |t: &LightTimes| t.percentiles.iter().find(|(percent, _)| *percent == 100).map(|(_, s)| *s);
    let percent = |count: u64| Field::from(count as f64 / result.due.max(1) as f64 * 100.0);
    let megabytes = |bytes: Option<u64>| Field::from(bytes.map(|bytes| bytes as f64 / 1e6));
    let spooled = result.written_bytes.filter(|bytes| *bytes > result.content_bytes / 10);
    let content = format!(
        "{} ({})",
        clean(&result.cell.payload),
        units::bytes(result.content_bytes).replace(' ', "\u{a0}")
    );
    let notes: Vec<String> = result.caveats.iter().map(note).collect();
    vec![
        factor("server", server),
        factor("method and content", format!("{} {content}", clean(&way))),
        (Column::factor("slow", "clients", Kind::Whole), f64::from(slow.clients).into()),
        (Column::factor("pool", "workers", Kind::Whole), f64::from(slow.workers).into()),
        field("busy", "workers", Kind::Fixed(1), 1, result.busy),
        field("workers", "are", Kind::Text, 0, json_name(result.outcome)),
        field("in 0.1 s", "%", Kind::Whole, 0, percent(result.prompt)),
        field("answered", "%", Kind::Whole, 3, percent(result.answered)),
        field("p50", "ms", Kind::Three, 1, ms(|t| t.p50)),
        field("p99", "ms", Kind::Three, 1, ms(|t| t.p99)),
        field("longest", "ms", Kind::Three, 3, ms(longest)),
        field("failed", "", Kind::Whole, 5, result.failed as f64),
        field("queue", "at most", Kind::Whole, 4, result.queue_max.map(f64::from)),
        field("spooled", "MB", Kind::Three, 3, megabytes(spooled)),
        field("PHP", "PSS MB", Kind::Three, 4, megabytes(result.php_pss)),
        field("rounds", "", Kind::Whole, 8, f64::from(result.rounds)),
        remark("note", 5, notes.join(", ")),
    ]
}

#[cfg(test)]
mod tests;
