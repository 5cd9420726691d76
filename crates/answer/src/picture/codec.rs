//! The charts of a study of codecs: encode time against bytes and total time by link speed for each group.

use weigh_model::link::{MTU, TCP_PAYLOAD};
use weigh_model::units;

use super::{TradeoffWords, of_group, plain_title, source, tradeoff_title};
use crate::chart::{
    Axis, Chart, Color, Drawing, INK, Line, LinePanel, Lines, LinkStrip, Mark, QUIET, Scatter, ScatterPoint,
    Slope, codec, ends, time_tick, whole,
};
use crate::document::group::{View, about, views};
use crate::exhibit::links::{mix_words, ranges};
use crate::label::setting;
use crate::metric::codec::{ENCODE, ENCODED, IDENTITY};
use crate::names;
use crate::output::Picture;
use crate::report::Report;
use crate::report::exhibit::links::{BestAt, BreakEven, CellTotals, MixTotals};
use crate::row::Row;
use crate::text::{clean, dotted, shorten};
use crate::worth::LONGEST;

/// Links that most readers know, in Mbit/s.
const LINKS: [f64; 4] = [10.0, 100.0, 1000.0, 10_000.0];
/// Lines over links drawn at most: the best ones, the reference and the copy.
const LINES: usize = 9;
/// Strips of best settings drawn at most.
const STRIPS: usize = 4;

pub(crate) fn pictures(report: &Report) -> Vec<Picture> {
    let mut entries = Vec::new();
    for (index, group) in views(report).iter().enumerate() {
        let drawn = [
            ("tradeoff", "Encode time against bytes", tradeoff(report, group)),
            ("links", "Total time against link speed", links(report, group)),
        ];
        entries.extend(of_group(index, &plain_title(group), drawn));
    }
    entries
}

/// What a cell's row is called.
fn said_of(group: &View, id: &str) -> String {
    group.report.row(id).map_or_else(|| clean(id), names::setting)
}

fn is_copy(row: &Row) -> bool {
    row.cell.setting.codec == IDENTITY
}

fn color(row: &Row) -> Color {
    codec(&row.cell.setting.codec)
}

/// The settings of a group that are good trade-offs; none with fewer than two to compare.
fn tradeoff(report: &Report, group: &View) -> Option<Chart> {
    let mut rows = group.rows.clone();
    rows.sort_by_key(|row| row.cell.setting.level);
    let point = |row: &&Row| {
        let setting = &row.cell.setting;
        let serializer = row.cell.serializer.as_deref().unwrap_or_default();
        let x = row.value(ENCODE).filter(|ns| *ns > 0.0 && ns.is_finite())?;
        let is_reference = Some(row.cell.id.as_str()) == group.group.reference();
        (row.count(ENCODED) > 0).then(|| ScatterPoint {
            x,
            y: row.count(ENCODED) as f64,
            label: names::setting(row),
            color: color(row),
            family: format!("{serializer} {}{:?}", setting.codec, setting.options),
            is_front: row.front,
            is_worth: false,
            is_recommended: report.recommends(row.id()),
            is_open: false,
            is_aside: is_copy(row),
            mark: is_reference.then_some("reference"),
        })
    };
    let points = rows.iter().filter_map(point).collect();
    let x = "encode time (CPU), logarithmic";
    let items = group.payload().map_or(1, |payload| payload.items.len().max(1));
    let longest = LONGEST * items as f64;
    let mut scatter = super::tradeoff(points, longest, 2, x, "encoded size", group.payload())?;
    scatter.slopes = slopes(report, &scatter);
    let mut remark = "Line: Pareto front.".to_owned();
    if !scatter.slopes.is_empty() {
        remark.push_str(" Dashed: equal encode + transfer cost.");
    }
    if scatter.points.iter().any(|point| point.is_recommended) {
        remark.push_str(" Arrow: recommended, reads included.");
    }
    let title = plain_title(group);
    let runtime = title.rsplit(", ").next().unwrap_or_default();
    Some(Chart {
        title: tradeoff_title(group.group.payload(), &scatter, &TRADEOFF),
        about: dotted([group_about(group), runtime.to_owned(), clean(&report.run.machine)]),
        remark,
        source: source(report, group.is_synthetic()),
        drawing: Drawing::Scatter(scatter),
    })
}

/// For up to three links: all (time, bytes) with the same total as the best setting there. A link on which a copy is
/// better than every codec has none.
fn slopes(report: &Report, scatter: &Scatter) -> Vec<Slope> {
    let links = report.study.links.clone().unwrap_or_default();
    // If round trips are waited for, the curve of equal cost is not a straight line.
    if links.connection.starts_slowly() {
        return Vec::new();
    }
    let studied = if links.mbit.is_empty() { &LINKS[..] } else { links.mbit.as_slice() };
    // Bytes of payload in full packets that the share of a link carries per nanosecond.
    let speed = |mbit: f64| TCP_PAYLOAD as f64 / MTU as f64 / links.path(mbit).byte_ns;
    let mut chosen: Vec<(f64, &ScatterPoint)> = Vec::new();
    for mbit in LINKS.into_iter().filter(|mbit| studied.contains(mbit)) {
        let total = |point: &ScatterPoint| point.x + point.y / speed(mbit);
        let best = scatter.points.iter().min_by(|a, b| total(a).total_cmp(&total(b)));
        if let Some(best) = best.filter(|best| !scatter.is_off(best))
            && !chosen.iter().any(|(_, other)| std::ptr::eq(*other, best))
        {
            chosen.push((mbit, best));
        }
    }
    let slope = |(mbit, best): (f64, &ScatterPoint)| Slope {
        name: units::mbit(mbit),
        start: best.y + best.x * speed(mbit),
        fall: speed(mbit),
    };
    chosen.into_iter().take(3).map(slope).collect()
}

const TRADEOFF: TradeoffWords = TradeoffWords {
    things: "settings",
    first: "fastest",
    axes: "encode time against bytes",
    alone: |one, others| match others {
        1 => format!("{one} beats the other in both time and bytes"),
        _ => format!("{one} beats the {others} others in both time and bytes"),
    },
};

/// Lines for the main mix, a strip of the best for every mix; none without two settings and two speeds.
fn links(report: &Report, group: &View) -> Option<Chart> {
    let totals = report.exhibits.links.as_ref()?;
    let mixes = totals.of_group(group.group);
    let mix = totals.main_mix(group.group)?;
    let is_sound = |at: &(f64, f64, Option<f64>, Option<f64>)| {
        at.0 > 0.0 && at.1 > 0.0 && at.0.is_finite() && at.1.is_finite()
    };
    let is_drawable = |totals: &CellTotals| totals.at.len() > 1 && totals.at.iter().all(is_sound);
    if mix.totals.len() < 2 || mix.best.len() < 2 || !mix.totals.iter().all(is_drawable) {
        return None;
    }
    let shown = link_totals(group, mix);
    let x = Axis::log_at(&mix.best.iter().map(|best| best.mbit).collect::<Vec<_>>());
    let times = ends(shown.iter().flat_map(|totals| totals.at.iter().map(|at| at.1)));
    let (_, fastest) = x.ends();
    let strips = mixes
        .iter()
        .take(STRIPS)
        .map(|mix| LinkStrip { name: mix_words(mix.mix), parts: strip_parts(group, mix, fastest) });
    let strips = strips.collect();
    let panel = LinePanel {
        title: "",
        x: x.named("", units::mbit),
        y: Axis::log(times, (0.06, 0.04)).named("time, logarithmic", time_tick),
        lines: shown.iter().map(|totals| link_line(group, mix, totals)).collect(),
        level: None,
        marks: mix.break_even.iter().filter_map(|even| break_even(even, &shown)).collect(),
    };
    let about = format!(
        "Total time of {}: encode + transfer + decode, computed for {} · {} · {}",
        mix_words(mix.mix),
        totals.assumed,
        plain_title(group),
        group_about(group)
    );
    Some(Chart {
        title: links_title(group, mix),
        about,
        remark: "Circles: break-even speeds, 95% interval (dashed: no upper end).".into(),
        source: source(report, group.is_synthetic()),
        drawing: Drawing::Lines(Lines { panels: vec![panel], strips, caption: "Chosen by link speed:" }),
    })
}

fn links_title(group: &View, mix: &MixTotals) -> String {
    let name = shorten(&clean(group.group.payload()), 40);
    let ranges = ranges(&mix.best);
    let short = |range: &[BestAt]| whole(&shorten(&said_of(group, &range[0].cell), 30));
    let speed = |range: &[BestAt], next: &[BestAt]| whole(&units::mbit(border(mix, range, &next[0])));
    match ranges.as_slice() {
        [] => format!("{name}: total time by link speed"),
        [one] => format!("{name}: {} at every link speed", short(one)),
        [slow, fast] => {
            format!("{name}: {} up to {}, {} above", short(slow), speed(slow, fast), short(fast))
        }
        [slow, middle @ .., fast] => {
            let between = units::list(&middle.iter().map(|range| short(range)).collect::<Vec<_>>());
            let (until, from) = (speed(slow, middle[0]), speed(middle[middle.len() - 1], fast));
            format!("{name}: {} up to {until}, {between} between, {} from {from}", short(slow), short(fast))
        }
    }
}

/// Where one range ends and the next starts: at the break-even, or halfway if none was found.
fn border(mix: &MixTotals, range: &[BestAt], next: &BestAt) -> f64 {
    let last = &range[range.len() - 1];
    let even = mix.break_even.iter().find(|even| even.slow == last.cell && even.fast == next.cell);
    even.map_or((last.mbit * next.mbit).sqrt(), |even| even.mbit).clamp(last.mbit, next.mbit)
}

/// The best cells in the order of the speeds, then the reference, the copy and the others.
fn link_totals<'a>(group: &View, mix: &'a MixTotals) -> Vec<&'a CellTotals> {
    let rank = |totals: &&CellTotals| {
        let id = totals.cell.as_str();
        let best = mix.best.iter().position(|best| best.cell == id);
        (
            best.unwrap_or(usize::MAX),
            group.group.reference() != Some(id),
            !group.report.row(id).is_some_and(is_copy),
        )
    };
    let mut totals: Vec<_> = mix.totals.iter().collect();
    totals.sort_by_key(rank);
    totals.truncate(LINES);
    totals
}

fn link_line(group: &View, mix: &MixTotals, totals: &CellTotals) -> Line {
    let is_reference = group.group.reference() == Some(&totals.cell);
    Line {
        name: said_of(group, &totals.cell) + if is_reference { " (ref.)" } else { "" },
        more: String::new(),
        color: group.report.row(&totals.cell).map_or(QUIET, color),
        is_strong: mix.best.iter().any(|best| best.cell == totals.cell),
        has_dots: false,
        // An unknown end is not drawn.
        points: totals
            .at
            .iter()
            .map(|(x, y, low, high)| (*x, *y, low.unwrap_or(*y), high.unwrap_or(*y)))
            .collect(),
    }
}

/// Where two drawn lines cross.
fn break_even(even: &BreakEven, shown: &[&CellTotals]) -> Option<Mark> {
    let line = shown.iter().find(|totals| totals.cell == even.fast)?;
    // Between two computed totals, on the straight line of the double logarithmic scale.
    let pair = line.at.windows(2).find(|pair| (pair[0].0..=pair[1].0).contains(&even.mbit))?;
    let share = (even.mbit / pair[0].0).ln() / (pair[1].0 / pair[0].0).ln();
    Some(Mark {
        x: even.mbit,
        y: (pair[0].1.ln() + (pair[1].1 / pair[0].1).ln() * share).exp(),
        low: Some(even.low),
        high: even.high.is_finite().then_some(even.high),
        color: INK,
        label: units::mbit(even.mbit),
    })
}

/// The best setting at each link speed; the borders lie at the break-evens.
fn strip_parts(group: &View, mix: &MixTotals, fastest: f64) -> Vec<(f64, Color, Vec<String>)> {
    let ranges = ranges(&mix.best);
    let part = |(index, range): (usize, &&[BestAt])| {
        let end = ranges.get(index + 1).map_or(fastest, |next| border(mix, range, &next[0]));
        let row = group.report.row(&range[0].cell);
        let setting = row.map(|row| clean(&setting(&row.cell.setting)));
        let names = [Some(said_of(group, &range[0].cell)), setting];
        (end, row.map_or(QUIET, color), names.into_iter().flatten().collect())
    };
    ranges.iter().enumerate().map(part).collect()
}

fn group_about(group: &View) -> String {
    group.payload().map(about).unwrap_or_default()
}
