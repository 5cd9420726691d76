//! The charts of a study of clients. For each content: throughput, total time, time inside a call and memory as bars,
//! and the CPU time per transaction by component.

use weigh_model::client::Client;
use weigh_model::units;

use super::{of_group, source};
use crate::chart::{Bar, BarPanel, Bars, Chart, Color, Drawing, GREEN, INK, VIOLET, beside, codec, ends};
use crate::document::group::{View, views};
use crate::metric::client::{COMBINED, CPU, PEAK, SECONDS, STORE_CPU};
use crate::names;
use crate::output::Picture;
use crate::report::Report;
use crate::report::exhibit::comparison::Kind;
use crate::row::Row;
use crate::text::{clean, dotted, shorten};

/// Bars longer than this many times the median of all rows are truncated, so that the others stay visible.
const CUT: f64 = 4.0;
/// Columns of a name at most.
const NAME: usize = 60;
/// The parts that distinguish a row from others, and the position of its runtime among them.
const PARTS: usize = 7;
const RUNTIME: usize = 1;

pub(crate) fn pictures(report: &Report) -> Vec<Picture> {
    let mut pictures = Vec::new();
    for (index, content) in contents(report).iter().enumerate() {
        let drawn = [
            (
                "clients",
                "Throughput, total time, time inside a call and memory",
                Some(panels(report, content)),
            ),
            ("cpu", "CPU time of a transaction by whom it falls on", split(report, content)),
        ];
        let drawn = of_group(index, &content.title, drawn);
        pictures.extend(drawn.map(|picture| Picture { group: Some(content.last), ..picture }));
    }
    pictures
}

struct Content<'a> {
    title: String,
    about: String,
    is_synthetic: bool,
    rows: Vec<&'a Row>,
    /// The index of its last group.
    last: usize,
}

/// The contents of a report; groups of one stand together.
fn contents(report: &Report) -> Vec<Content<'_>> {
    let views: Vec<(usize, View)> = views(report).into_iter().enumerate().collect();
    let of_payload = views.chunk_by(|(_, a), (_, b)| a.group.payload() == b.group.payload());
    of_payload.filter_map(|views| content(report, views)).collect()
}

fn content<'a>(report: &'a Report, views: &[(usize, View<'a>)]) -> Option<Content<'a>> {
    let (last, view) = views.last()?;
    Some(Content {
        title: view.title(),
        about: view.payload().map(crate::document::group::about).unwrap_or_default(),
        is_synthetic: view.is_synthetic(),
        rows: views.iter().flat_map(|(_, view)| report.members(view.group)).collect(),
        last: *last,
    })
}

fn chart(
    report: &Report,
    content: &Content,
    title: String,
    (about, remark): (String, &str),
    bars: Bars,
) -> Chart {
    let left = content.rows.len().saturating_sub(Bars::MOST);
    let more = if left == 0 { String::new() } else { format!("{left} more: see table. ") };
    Chart {
        title,
        about: dotted([about, clean(&report.run.machine)]),
        remark: more + remark,
        source: source(report, content.is_synthetic),
        drawing: Drawing::Bars(bars),
    }
}

/// One cell with its name and colour.
struct Named<'a> {
    row: &'a Row,
    name: String,
    color: Color,
}

fn parts(row: &Row) -> [String; PARTS] {
    let client = row.cell.client.as_ref();
    let told = |of: &dyn Fn(&Client) -> String| clean(&client.map(of).unwrap_or_default());
    [
        names::store(row),
        names::runtime(&row.cell.runtime),
        names::encoded(row),
        told(&|c| names::mix(c.mix)),
        told(&|c| format!("{}*{}", c.keys, c.workers)),
        told(&|c| c.rate.map_or(String::new(), |rate| format!("{rate}/s"))),
        told(&|c| c.link.as_ref().map_or(String::new(), |link| format!("over {link}"))),
    ]
}

/// As many rows of a content as fit, named by what differs, coloured by runtime, setting or store.
fn named<'a>(content: &Content<'a>) -> Vec<Named<'a>> {
    let all: Vec<[String; PARTS]> = content.rows.iter().copied().map(parts).collect();
    let differs = |at: &usize| all.iter().any(|parts| parts[*at] != all[0][*at]);
    let differing: Vec<usize> = (0..PARTS).filter(differs).collect();
    let has_runtimes = differing.contains(&RUNTIME);
    let mut kinds: Vec<String> = Vec::new();
    let mut color = |row: &Row| {
        if !has_runtimes && !names::encoded(row).is_empty() {
            return codec(&row.cell.setting.codec);
        }
        let kind = if has_runtimes { clean(&row.cell.runtime) } else { names::store(row) };
        if !kinds.contains(&kind) {
            kinds.push(kind.clone());
        }
        beside(kinds.iter().position(|known| *known == kind).unwrap_or_default())
    };
    let name = |row: &Row, parts: &[String; PARTS]| {
        let told = differing.iter().map(|at| parts[*at].as_str()).filter(|part| !part.is_empty());
        let told = told.collect::<Vec<_>>().join(" · ");
        shorten(&if told.is_empty() { names::store(row) } else { told }, NAME)
    };
    let rows = content.rows.iter().copied().zip(&all).take(Bars::MOST);
    rows.map(|(row, parts)| Named { row, name: name(row, parts), color: color(row) }).collect()
}

/// Throughput, total time, time inside a call and memory of every client, as bars beside each other.
fn panels(report: &Report, content: &Content) -> Chart {
    let rows = named(content);
    let panel = |title: &'static str, share: f64, is_cut: bool, bar: fn(&Named) -> Bar| {
        let bars: Vec<Bar> = rows.iter().map(bar).collect();
        let lengths: Vec<f64> = bars.iter().filter_map(|bar| Some(bar.parts.first()?.0)).collect();
        let middle = weigh_stats::median(&lengths).filter(|_| is_cut);
        BarPanel { title, share, cap: middle.map_or(f64::INFINITY, |middle| middle * CUT), bars }
    };
    let panels = vec![
        panel("Transactions/s", 0.24, true, |row| bar(row, row.row.value(COMBINED), units::significant)),
        panel("Total time", 0.2, true, |row| {
            bar(row, row.row.value(SECONDS), |seconds| units::ns(seconds * 1e9))
        }),
        panel("Call latency: p50, p99", 0.34, true, inside),
        panel("Peak memory", 0.22, false, |row| {
            bar(row, row.row.value(PEAK), |bytes| units::bytes(bytes as u64))
        }),
    ];
    let workers =
        content.rows.iter().copied().find_map(|row| row.cell.client.as_ref()).map_or(0, |c| c.workers);
    let workers = units::count(workers as usize, "worker", "workers");
    let about = dotted([content.about.clone(), workers]);
    let remark =
        "Latency of reads (of writes if there are no reads). Memory as PHP counts it. Dashes: truncated bar.";
    let names = rows.iter().map(|row| (names::marked(report, row.row, &row.name), row.color)).collect();
    let bars = Bars { names, panels, legend: Vec::new() };
    chart(report, content, panels_title(report, content), (about, remark), bars)
}

fn bar(row: &Named, amount: Option<f64>, text: impl Fn(f64) -> String) -> Bar {
    let Some(amount) = amount else { return nothing() };
    Bar { parts: vec![(amount, row.color.faded(0.8))], text: text(amount), ..Bar::default() }
}

fn nothing() -> Bar {
    Bar { text: "–".into(), ..Bar::default() }
}

fn inside(row: &Named) -> Bar {
    let of =
        |call: &str| Some((row.row.value(&format!("{call}-p50"))?, row.row.value(&format!("{call}-p99"))?));
    let Some((p50, p99)) = of("get").or_else(|| of("put")) else { return nothing() };
    let text = format!("{}, {}", units::ns(p50 * 1e9), units::ns(p99 * 1e9));
    Bar { parts: vec![(p50, row.color.faded(0.8))], whisker: Some(p99), text }
}

/// The effect of another runtime, if one was measured; otherwise the range of the clients.
fn panels_title(report: &Report, content: &Content) -> String {
    let title = content.title.as_str();
    let row = |id: &str| content.rows.iter().find(|row| row.cell.id == id);
    let comparisons = report.exhibits.comparisons.iter().flat_map(|comparisons| &comparisons.0);
    let mut runtimes = comparisons.filter(|c| c.kind == Kind::Runtime && row(&c.cell).is_some());
    let told = runtimes.find_map(|c| Some((c, c.ratios.get(COMBINED).filter(|ratio| ratio.is_settled())?)));
    if let Some((comparison, ratio)) = told
        && let (Some(ours), Some(theirs)) = (row(&comparison.cell), row(&comparison.beside))
    {
        return format!(
            "{title}: {} makes {} the transactions of {} with {}",
            names::runtime(&ours.cell.runtime),
            units::times(ratio.value),
            names::runtime(&theirs.cell.runtime),
            names::store(ours)
        );
    }
    let rates: Vec<f64> = content.rows.iter().copied().filter_map(|row| row.value(COMBINED)).collect();
    if rates.is_empty() {
        return format!("{title}: nothing was measured");
    }
    let (least, most) = ends(rates);
    match (units::significant(least), units::significant(most)) {
        (low, high) if low == high => format!("{title}: {low} transactions per second"),
        (low, high) => format!("{title}: {low} to {high} transactions per second"),
    }
}

/// The parts from the left: name, colour, metric.
const SPLIT: [(&str, Color, &str); 4] = [
    ("PHP", VIOLET.faded(0.95), "client-user-cpu"),
    ("kernel for PHP", VIOLET.faded(0.45), "client-kernel-cpu"),
    ("store", GREEN.faded(0.95), "store-user-cpu"),
    ("kernel for the store", GREEN.faded(0.45), "store-kernel-cpu"),
];

/// The CPU time per transaction by component; none if it was not read.
fn split(report: &Report, content: &Content) -> Option<Chart> {
    let rows = named(content);
    if content.rows.iter().copied().all(|row| row.get(CPU).is_none()) {
        return None;
    }
    let bar = |row: &Named| {
        let Some(total) = row.row.value(CPU) else { return nothing() };
        let part = |(_, color, metric): (_, Color, &str)| (row.row.value(metric).unwrap_or(0.0), color);
        Bar { parts: SPLIT.map(part).to_vec(), text: units::ns(total), ..Bar::default() }
    };
    let panel = BarPanel::new("CPU time per transaction", 1.0, rows.iter().map(bar).collect());
    let bars = Bars {
        names: rows.iter().map(|row| (names::marked(report, row.row, &row.name), INK)).collect(),
        panels: vec![panel],
        legend: SPLIT.map(|(name, color, _)| (name, color)).to_vec(),
    };
    let remark = "Label: total. Intervals: see table.";
    Some(chart(report, content, split_title(content), (content.about.clone(), remark), bars))
}

/// The share of PHP in it.
fn split_title(content: &Content) -> String {
    let title = content.title.as_str();
    let shares = content.rows.iter().filter_map(|row| Some(1.0 - row.value(STORE_CPU)? / row.value(CPU)?));
    let shares: Vec<f64> = shares.filter(|share| share.is_finite()).collect();
    if shares.is_empty() {
        return format!("{title}: CPU time per transaction");
    }
    let (least, most) = ends(shares);
    let (low, high) = (format!("{:.0}%", least * 100.0), format!("{:.0}%", most * 100.0));
    let range = if low == high { low } else { format!("{low} to {high}") };
    format!("{title}: {range} of the CPU time per transaction is PHP's side")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_metrics_of_clients() {
        let known: Vec<&str> = crate::subject::client::SHAPE.metrics().map(|metric| metric.id).collect();
        assert!(SPLIT.iter().all(|(_, _, metric)| known.contains(metric)), "{known:?}");
    }
}
