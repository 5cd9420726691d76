//! Total times with the value in a store behind a link: encode + transfer + decode, computed from measured parts. The
//! transfer is that of [`weigh_model::transfer`], and includes the time of driver and store per byte if the study knows
//! it. The one round trip of each call, the set-up of a new connection and the fixed time of driver and store are the
//! same for every setting and left out.

use anyhow::Result;
use weigh_model::study::Links;
use weigh_model::transfer::{Path, packet_bytes};
use weigh_model::units;
use weigh_stats::{Bent, lower_envelope};

use crate::bars::sparkline;
use crate::block::Block;
use crate::csv_table::{end, file_of, text};
use crate::document::group;
use crate::estimate::Estimate;
use crate::exhibit::present::Exhibit;
use crate::group::Group;
use crate::metric::codec::IDENTITY;
use crate::output::{Options, Rendered};
use crate::report::Report;
use crate::report::exhibit::links::{BestAt, BreakEven, CellTotals, GroupTotals, LinkTotals, Mix, MixTotals};
use crate::report::finding::Evidence;
use crate::report::ranking::conditions::{reads_per_write, speeds_of, usual_reads};
use crate::report::ranking::{Answer, Conditions, Contender, LinkShare, Ranking};
use crate::row::Row;
use crate::table::{Cell, Column, Grid, Kind, factor, field, remark};
use crate::text::clean;
use crate::verdict::{Confidence, difference, is_total_less};

/// One setting as a line over the time per byte: CPU nanoseconds and bytes per operation.
pub struct Line<'a> {
    pub row: &'a Row,
    /// CPU time of one operation, in nanoseconds.
    pub cost: Estimate,
    /// Encoded bytes of one operation.
    pub bytes: f64,
    /// Nanoseconds that driver and store take for these bytes; 0 if unknown.
    pub stored: f64,
    pub links: &'a Links,
    /// Whether it may be the best at some speed, see [`Contender`].
    pub candidate: bool,
}

impl Line<'_> {
    /// Nanoseconds for the bytes at this speed in Mbit/s: over the link, and in driver and store.
    pub fn transfer(&self, mbit: f64) -> f64 {
        self.over(&self.links.path(mbit))
    }

    fn over(&self, path: &Path) -> f64 {
        path.transfer_ns(self.bytes, self.links.connection) + self.stored
    }

    /// The same as a function of the nanoseconds per byte on its share of the link.
    fn bent(&self, value: f64) -> Bent {
        let round_trip_ns = self.links.path(1.0).round_trip_ns;
        let bends = Path::bends(round_trip_ns, self.bytes, self.links.connection);
        Bent::of(bends, packet_bytes(self.bytes), |byte_ns| {
            value + self.over(&Path { byte_ns, round_trip_ns })
        })
    }

    /// Nanoseconds per operation at this speed in Mbit/s.
    pub fn total(&self, mbit: f64) -> f64 {
        self.cost.value + self.transfer(mbit)
    }

    /// Whether ours is the smaller total with significance.
    pub fn clearly_below(&self, other: &Line, mbit: f64) -> bool {
        is_total_less((&self.cost, self.transfer(mbit)), (&other.cost, other.transfer(mbit)))
    }
}

/// The conditions of totals, in short: `a round trip of 500 µs and one worker on a warm connection`.
pub(crate) fn place_of(links: &Links) -> String {
    let trip = units::ns(links.rtt_ms * 1e6);
    let connection = links.connection.words();
    match links.concurrency {
        1 => format!("a round trip of {trip} and one worker on {connection}"),
        n => format!("a round trip of {trip} and {n} workers that share the link, each on {connection}"),
    }
}

/// Whether driver and store are included in totals: `driver and store are left out`.
pub(crate) fn stored_by(links: &Links) -> String {
    let rate = |ns: Option<f64>, call: &str| {
        let ns = units::significant(ns?);
        Some(format!("{ns} ns per byte of {call}"))
    };
    let rates = [rate(links.write_ns_per_byte, "a write"), rate(links.read_ns_per_byte, "a read")];
    let rates: Vec<String> = rates.into_iter().flatten().collect();
    match rates.as_slice() {
        [] => "driver and store are left out".to_owned(),
        rates => format!("driver and store take {}", units::list(rates)),
    }
}

/// How totals are computed, and their conditions.
fn computed(assumed: &str) -> String {
    format!(
        "Computed from measured times and bytes: encode + transfer + decode, for {assumed}; no live store was asked."
    )
}

/// The shares of one encode and one decode in an operation of the mix.
pub(crate) fn weights(mix: Mix) -> (f64, f64) {
    match mix {
        Mix::Write => (1.0, 0.0),
        Mix::Read => (0.0, 1.0),
        Mix::ReadsPerWrite(reads) => (1.0 / (1.0 + reads), reads / (1.0 + reads)),
    }
}

impl LinkTotals {
    /// Of every group, if the study requests links.
    pub(crate) fn of(evidence: &Evidence) -> Option<LinkTotals> {
        let links = evidence.plan.study.links.as_ref()?;
        let ranking = Ranking::of(evidence.report);
        let speeds = speeds_of(links);
        let all: Vec<(Mix, Vec<Chosen>)> = mixes(links)
            .into_iter()
            .map(|mix| (mix, speeds.iter().map(|mbit| Chosen::at(&ranking, mix, *mbit)).collect()))
            .collect();
        let totals = |(place, group): (usize, &Group)| GroupTotals {
            payload: group.payload().to_owned(),
            runtime: group.runtime().to_owned(),
            mixes: all
                .iter()
                .filter_map(|(mix, chosen)| totals_of(&ranking, links, place, *mix, chosen))
                .collect(),
        };
        let groups = evidence.report.groups.iter().enumerate().map(totals).collect();
        let assumed = format!("{}; {}", place_of(links), stored_by(links));
        Some(LinkTotals { assumed, usual_reads: usual_reads(links), groups })
    }

    pub fn of_group(&self, group: &Group) -> &[MixTotals] {
        let is_own =
            |totals: &&GroupTotals| totals.payload == group.payload() && totals.runtime == group.runtime();
        self.groups.iter().find(is_own).map_or(&[], |totals| &totals.mixes)
    }

    /// The mix that represents a group if only one has room: the usual one, otherwise the first.
    pub fn main_mix(&self, group: &Group) -> Option<&MixTotals> {
        let mixes = self.of_group(group);
        let usual = self.usual_reads.map(Mix::ReadsPerWrite);
        mixes.iter().find(|mix| Some(mix.mix) == usual).or_else(|| mixes.first())
    }
}

/// Every mix that a study counts.
fn mixes(links: &Links) -> Vec<Mix> {
    [Mix::Write, Mix::Read].into_iter().chain(reads_per_write(links).map(Mix::ReadsPerWrite)).collect()
}

/// What is chosen for one mix at one link speed.
struct Chosen<'q> {
    conditions: Conditions,
    answers: Vec<Answer<'q>>,
}

impl<'q> Chosen<'q> {
    fn at(ranking: &'q Ranking, mix: Mix, mbit: f64) -> Chosen<'q> {
        let usual = Conditions::of(ranking.groups.report);
        let reads = match mix {
            Mix::Write => 0.0,
            Mix::Read => f64::INFINITY,
            Mix::ReadsPerWrite(reads) => reads,
        };
        let links = vec![LinkShare { mbit, ..usual.links[0] }];
        let conditions = Conditions { reads, links, ..usual };
        Chosen { answers: ranking.answers(&conditions), conditions }
    }

    /// Of a group: where several questions are asked, what costs least of what was chosen.
    fn best(&self, ranking: &Ranking, group: usize) -> Option<BestAt> {
        let row = |at: Option<usize>| ranking.groups.rows[group].get(at?).copied();
        let best = |answer: &Answer| {
            let (question, work, choice) = answer.of_group(group)?;
            let of = |one: usize| row(question.alternatives[one].rows[work]);
            let chosen = of(choice.chosen)?;
            let others = choice.tied.iter().filter_map(|one| of(*one)).filter(|row| row.id() != chosen.id());
            let is_known = choice.confidence != Confidence::TooFewRounds;
            Some(BestAt {
                mbit: self.conditions.links[0].mbit,
                cell: chosen.id().to_owned(),
                total: ranking.cost(group, chosen, &self.conditions)?.total(),
                ties: others.filter(|_| is_known).map(|row| row.id().to_owned()).collect(),
            })
        };
        self.answers.iter().filter_map(best).min_by(|a, b| a.total.total_cmp(&b.total))
    }
}

/// Total times of one group for one mix.
fn totals_of(
    ranking: &Ranking,
    links: &Links,
    place: usize,
    mix: Mix,
    chosen: &[Chosen],
) -> Option<MixTotals> {
    let report = ranking.groups.report;
    let rows = ranking.groups.rows[place].iter();
    let lines: Vec<Line> = rows.filter_map(|row| line_of(report, links, row, mix)).collect();
    let envelope = envelope(&lines);
    let best: Vec<BestAt> = chosen.iter().filter_map(|one| one.best(ranking, place)).collect();
    let shown = shown(&lines, &envelope, &best, &report.groups[place]).into_iter();
    let speeds = speeds_of(links);
    let changes = envelope.windows(2);
    (!lines.is_empty()).then(|| MixTotals {
        mix,
        totals: shown.map(|line| totals(line, &speeds)).collect(),
        break_even: changes.filter_map(|w| break_even_at(w[0].0, w[1].0, w[1].1)).collect(),
        best,
    })
}

pub(crate) fn line_of<'a>(report: &Report, links: &'a Links, row: &'a Row, mix: Mix) -> Option<Line<'a>> {
    let contender = Contender::of(report, row)?;
    let shares = weights(mix);
    let (cost, bytes) = (contender.cost(shares)?, contender.bytes?);
    let stored = contender.stored_ns(shares);
    Some(Line { row, cost, bytes, stored, links, candidate: contender.candidate })
}

/// The lower envelope: the lines that are best at some link speed, from an infinite one to zero. Each has the
/// nanoseconds per byte from which on it is the best. With waits for round trips, a line may appear twice.
fn envelope<'l, 'a>(lines: &'l [Line<'a>]) -> Vec<(&'l Line<'a>, f64)> {
    let candidates: Vec<&Line> = candidates(lines).collect();
    let bent: Vec<Bent> = candidates.iter().map(|line| line.bent(line.cost.value)).collect();
    lower_envelope(&bent).into_iter().map(|(place, from)| (candidates[place], from)).collect()
}

/// The lines whose totals are listed: the envelope, what is chosen at some speed, the reference, and no compression with the reference's serializer.
fn shown<'l, 'a>(
    lines: &'l [Line<'a>],
    envelope: &[(&'l Line<'a>, f64)],
    best: &[BestAt],
    group: &Group,
) -> Vec<&'l Line<'a>> {
    let reference = lines.iter().find(|l| group.reference() == Some(l.row.id()));
    let serializer = reference.and_then(|l| l.row.cell.serializer.as_ref());
    let identity = lines
        .iter()
        .find(|l| l.row.cell.setting.codec == IDENTITY && l.row.cell.serializer.as_ref() == serializer);
    let mut shown: Vec<&Line> = Vec::new();
    let chosen = lines.iter().filter(|line| best.iter().any(|best| best.cell == line.row.id()));
    for line in envelope.iter().map(|(line, _)| *line).chain(chosen).chain(reference).chain(identity) {
        if !shown.iter().any(|s| s.row.id() == line.row.id()) {
            shown.push(line);
        }
    }
    shown
}

fn totals(line: &Line, speeds: &[f64]) -> CellTotals {
    let at = |mbit: &f64| {
        let transfer = line.transfer(*mbit);
        let end = |end: Option<f64>| end.map(|end| end + transfer);
        (*mbit, line.total(*mbit), end(line.cost.low), end(line.cost.high))
    };
    CellTotals { cell: line.row.cell.id.clone(), at: speeds.iter().map(at).collect() }
}

/// The lines that may be the best at some speed.
pub(crate) fn candidates<'l, 'a>(lines: &'l [Line<'a>]) -> impl Iterator<Item = &'l Line<'a>> {
    lines.iter().filter(|l| l.candidate)
}

/// The break-even bandwidths of two lines from the fastest link on, the one with less CPU time first. There are two if
/// the larger one needs one more window: it waits for that on fast links, and is only ahead between the two bandwidths.
pub(crate) fn break_evens(fast: &Line, slow: &Line) -> Vec<BreakEven> {
    let gained = fast.bent(fast.cost.value).minus(&slow.bent(slow.cost.value));
    let mut before = 0.0;
    let of = |byte_ns: f64| {
        let is_fast_ahead = gained.at((before + byte_ns) / 2.0) < 0.0;
        before = byte_ns;
        let (first, then) = if is_fast_ahead { (fast, slow) } else { (slow, fast) };
        break_even_at(first, then, byte_ns)
    };
    gained.crossings().into_iter().filter_map(of).collect()
}

/// The break-even bandwidth of two lines at this many nanoseconds per byte, the line that is ahead on faster links
/// first. The interval follows from that of the difference of their times. With a single round of one of them, the
/// interval has no ends.
fn break_even_at(fast: &Line, slow: &Line, byte_ns: f64) -> Option<BreakEven> {
    // At the crossing, this equals the time of the extra bytes.
    let (_, interval) = difference(&slow.cost, &fast.cost);
    let more = fast.bent(0.0).minus(&slow.bent(0.0));
    let (least, most) = more.stays(byte_ns, interval.low, interval.high);
    let mbit = |byte_ns: f64| 8e3 * f64::from(fast.links.concurrency) / byte_ns;
    let id = |line: &Line| line.row.cell.id.clone();
    let even =
        BreakEven { fast: id(fast), slow: id(slow), mbit: mbit(byte_ns), low: mbit(most), high: mbit(least) };
    (even.mbit.is_finite() && even.mbit > 0.0).then_some(even)
}

impl Exhibit for LinkTotals {
    fn blocks(&self, report: &Report, _: &Options) -> Vec<Block> {
        overview(self, report)
    }

    fn group_blocks(&self, report: &Report, group: &Group) -> Vec<Block> {
        section(&group::View::of(report, group), self.of_group(group), &self.assumed)
    }

    fn csv(&self, _: &Report) -> Result<Vec<Rendered>> {
        let mixes = self.groups.iter().flat_map(|of| of.mixes.iter().map(move |mix| (of, mix)));
        let totals = mixes.flat_map(|(of, mix)| mix.totals.iter().map(move |totals| (of, mix, totals)));
        let all = totals.flat_map(|(of, mix, totals)| totals.at.iter().map(move |at| (of, mix, totals, at)));
        file_of("links.csv", all, |(of, mix, totals, (mbit, total, low, high))| {
            let (counted, reads) = match mix.mix {
                Mix::Write => ("write", String::new()),
                Mix::Read => ("read", String::new()),
                Mix::ReadsPerWrite(reads) => ("mean over reads and one write", reads.to_string()),
            };
            let best = mix.best.iter().find(|best| best.mbit == *mbit);
            let is_no_worse = best.is_some_and(|best| best.ties.contains(&totals.cell));
            vec![
                ("cell", text(&totals.cell)),
                ("payload", text(&of.payload)),
                ("runtime", text(&of.runtime)),
                ("counted", counted.into()),
                ("reads per write", reads),
                ("link (Mbit/s)", mbit.to_string()),
                ("total (ns)", total.to_string()),
                ("total 95% low (ns)", end(*low)),
                ("total 95% high (ns)", end(*high)),
                ("best", best.is_some_and(|best| best.cell == totals.cell).to_string()),
                ("tied", is_no_worse.to_string()),
            ]
        })
    }
}

/// The best setting of each group at a few link speeds.
fn overview(totals: &LinkTotals, report: &Report) -> Vec<Block> {
    let views = group::views(report);
    let mixes: Vec<_> = views.iter().filter_map(|view| Some((view, totals.main_mix(view.group)?))).collect();
    let Some((_, first)) = mixes.first() else { return Vec::new() };
    let speeds: Vec<f64> = first.best.iter().map(|best| best.mbit).collect();
    let order = importance(speeds.len());
    let grid = Grid::of(&mixes, |(group, mix)| {
        let mut fields =
            vec![factor("content", group.content()), factor("runtime", clean(group.group.runtime()))];
        fields.extend(speeds.iter().zip(&order).map(|(speed, rank)| {
            let best = mix.best.iter().find(|best| best.mbit == *speed);
            let label = best.map(|best| group.label(&best.cell)).unwrap_or_default();
            field("", &format!("at {}", units::mbit(*speed)), Kind::Text, *rank, label)
        }));
        fields
    });
    vec![
        Block::Heading(2, "Setting by link speed".into()),
        Block::Remark(format!("By total time, {}. {}", mix_words(first.mix), computed(&totals.assumed))),
        Block::Table(grid),
    ]
}

/// The columns that stay longest if room is short: the ends, then the middle, then those between.
fn importance(count: usize) -> Vec<u8> {
    let mut ranks = vec![u8::MAX; count];
    let mut next = 2;
    let mut step = count.saturating_sub(1).max(1);
    while step > 0 {
        for rank in ranks.iter_mut().step_by(step) {
            if *rank == u8::MAX {
                *rank = next;
                next = next.saturating_add(1).min(u8::MAX - 1);
            }
        }
        step /= 2;
    }
    if let Some(last) = ranks.last_mut() {
        *last = (*last).min(3);
    }
    ranks
}

/// The ranges of link speeds with one best setting, for every mix of a group.
fn section(group: &group::View, mixes: &[MixTotals], assumed: &str) -> Vec<Block> {
    if mixes.is_empty() {
        return Vec::new();
    }
    let all = mixes.iter().flat_map(|mix| ranges(&mix.best).into_iter().map(move |range| (mix, range)));
    let grid = Grid::of(all, |(mix, range)| range_fields(group, mix, range));
    vec![
        Block::Heading(3, format!("Over a link: {}", group.title())),
        Block::Remark(computed(assumed)),
        Block::Table(grid),
    ]
}

fn range_fields(group: &group::View, mix: &MixTotals, range: &[BestAt]) -> Vec<(Column, Cell)> {
    let (first, last) = (&range[0], &range[range.len() - 1]);
    let mut ties: Vec<_> = range.iter().flat_map(|best| &best.ties).map(|id| group.label(id)).collect();
    ties.sort();
    ties.dedup();
    let totals = if range.len() == 1 {
        units::ns(first.total)
    } else {
        format!("{} to {}", whole(units::ns(first.total)), whole(units::ns(last.total)))
    };
    let even = mix.break_even.iter().filter(|even| even.slow == first.cell && even.mbit >= last.mbit);
    let even = even.min_by(|a, b| a.mbit.total_cmp(&b.mbit));
    let crossing = even.map(|even| units::mbit_interval(even.mbit, even.low, even.high));
    vec![
        factor("counted", mix_words(mix.mix)),
        (Column::factor("link", "from", Kind::Text), whole(units::mbit(first.mbit)).into()),
        (Column::factor("link", "to", Kind::Text), whole(units::mbit(last.mbit)).into()),
        field("setting", "", Kind::Text, 0, group.label(&first.cell)),
        field("total", "at both ends", Kind::Text, 1, totals),
        field("saved", "vs reference", Kind::Text, 5, savings(group, mix, range)),
        field("break-even", "95% CI", Kind::Text, 2, crossing.unwrap_or_default()),
        field("break-even", "with", Kind::Text, 3, even.map(|e| group.label(&e.fast)).unwrap_or_default()),
        remark("tied", 4, few(&ties)),
    ]
}

/// An amount with its unit, on one line.
fn whole(amount: String) -> String {
    amount.replace(' ', "\u{a0}")
}

/// Names of a list that are written out.
const NAMES: usize = 3;

/// The first names, and how many more there are.
fn few(names: &[String]) -> String {
    let shown = if names.len() > NAMES + 1 { NAMES } else { names.len() };
    let left = names.len() - shown;
    let more = if left == 0 { String::new() } else { format!(", {left} more") };
    names[..shown].join(", ") + &more
}

/// Time saved compared with the reference at each speed of the range: its largest value and a sparkline.
fn savings(group: &group::View, mix: &MixTotals, range: &[BestAt]) -> String {
    let reference = group.group.reference().and_then(|id| mix.totals.iter().find(|totals| totals.cell == id));
    let Some(reference) = reference else { return String::new() };
    let saved: Vec<f64> = range
        .iter()
        .filter_map(|best| {
            let at = reference.at.iter().find(|at| at.0 == best.mbit)?;
            Some(1.0 - best.total / at.1)
        })
        .collect();
    let Some(most) = saved.iter().copied().reduce(f64::max) else { return String::new() };
    if most <= 0.0 {
        return "none".into();
    }
    format!("{:>4} {}", units::percent(most), sparkline(&saved))
}

/// Combines neighbouring speeds with the same best cell.
pub(crate) fn ranges(best: &[BestAt]) -> Vec<&[BestAt]> {
    best.chunk_by(|a, b| a.cell == b.cell).collect()
}
/// What a total time counts, as text.
pub(crate) fn mix_words(mix: Mix) -> String {
    match mix {
        Mix::Write => "one write".into(),
        Mix::Read => "one read".into(),
        Mix::ReadsPerWrite(reads) => {
            let reads = (reads * 100.0).round() / 100.0;
            format!("1 write : {reads} {}", if reads == 1.0 { "read" } else { "reads" })
        }
    }
}
