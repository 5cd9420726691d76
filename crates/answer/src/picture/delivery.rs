//! The charts of a delivery study: CPU time against bytes, bars as in published tables, ratios by size, CPU time by
//! component, and slow clients.

use weigh_model::cell::{Slow, Subject};
use weigh_model::units;
use weigh_model::way::{By, WayKind};

use super::{TradeoffWords, is_made_up, of_group, plain_title, source, tradeoff_title};
use crate::chart::{
    Axis, Bar, BarPanel, Bars, Chart, Color, Drawing, Field, FieldRow, Fields, GREEN, INK, Line, LinePanel,
    Lines, Mark, ORANGE, ScatterPoint, VIOLET, beside, bytes_tick, codec, ends, heat, heat_legend,
};
use crate::document::group::{View, views};
use crate::first::{distinct, grouped};
use crate::label::bytes_beside;
use crate::metric::delivery::{BODY, CPU, PHP_CPU, SERVER_CPU, is_own_share};
use crate::names;
use crate::output::Picture;
use crate::report::Report;
use crate::report::exhibit::crossover::{Crossover, Pays, SizeRatio};
use crate::report::exhibit::fairness::{FairnessResult, SlowClientEffect};
use crate::row::Row;
use crate::text::{clean, dotted, shorten, slug};
use crate::verdict::Ratio;
use crate::worth::LONGEST;

/// Bars longer than this many times that of gzip are truncated, so that the others stay visible.
const CUT: f64 = 2.0;
/// Lines of ratios drawn at most.
const LINES: usize = 6;
/// Rows and columns of slow clients drawn at most.
const ROWS: usize = 16;
const COLUMNS: usize = 9;
/// The largest number of columns with full words.
const WIDE: usize = 5;

pub(crate) fn pictures(report: &Report) -> Vec<Picture> {
    let of_study = |stem: String, about: String, chart| Picture { stem, about, group: None, chart };
    let mut entries = Vec::new();
    entries.extend(crossover(report).map(|chart| {
        let about = "CPU time and rate of precompressed files compared with compression on the fly, by size";
        of_study("crossover".into(), about.into(), chart)
    }));
    entries.extend(slow_clients(report).map(|chart| {
        let about = "Response time of light requests with slow clients, by server and method";
        of_study("slow-clients".into(), about.into(), chart)
    }));
    for (index, payload) in downloaded(report).into_iter().enumerate() {
        let stem = format!("downloads-{:02}-{}", index + 1, slug(payload));
        let about = format!("CPU time of server and PHP by method, for {}", clean(payload));
        entries.push(of_study(stem, about, downloads(report, payload)));
    }
    for (index, group) in views(report).iter().enumerate() {
        let drawn = [
            ("tradeoff", "CPU time against bytes", tradeoff(report, group)),
            ("bars", "Bytes and CPU time by method", bars(report, group)),
        ];
        entries.extend(of_group(index, &plain_title(group), drawn));
    }
    entries
}

fn group_chart(report: &Report, group: &View, title: String, remark: &str, drawing: Drawing) -> Chart {
    Chart {
        title,
        about: dotted([
            group.payload().map(crate::document::group::about).unwrap_or_default(),
            names::stack_of_group(group.group),
            clean(&report.run.machine),
        ]),
        remark: remark.into(),
        source: source(report, group.is_synthetic()),
        drawing,
    }
}

fn color(row: &Row) -> Color {
    codec(&row.cell.setting.codec)
}

fn server(result: &Row) -> &str {
    result.cell.delivery.as_ref().map_or("", |delivery| &delivery.server)
}

/// The methods of a group that are good trade-offs; none with fewer than three encodings.
fn tradeoff(report: &Report, group: &View) -> Option<Chart> {
    let mut rows = group.rows.clone();
    rows.sort_by_key(|row| row.cell.setting.level);
    let point = |row: &&Row| {
        let cell = &row.cell;
        let by_server = cell.delivery.as_ref().is_some_and(|delivery| delivery.by == By::Server);
        let x = row.value(CPU).filter(|ns| *ns > 0.0 && ns.is_finite())?;
        (row.count(BODY) > 0).then(|| ScatterPoint {
            x,
            y: row.count(BODY) as f64,
            label: names::method(row),
            color: color(row),
            family: format!("{by_server}{}{:?}", cell.setting.codec, cell.setting.options),
            is_front: row.front,
            is_worth: false,
            is_recommended: report.recommends(row.id()),
            is_open: by_server,
            is_aside: is_copy(row),
            mark: (group.group.mark("gzip") == Some(&cell.id)).then_some("gzip"),
        })
    };
    let points = rows.iter().filter_map(point).collect();
    let x = "CPU time of server and PHP per response, logarithmic";
    let scatter = super::tradeoff(points, LONGEST, 3, x, "body size", group.payload())?;
    let title = tradeoff_title(group.group.payload(), &scatter, &TRADEOFF);
    let remark = "Line: Pareto front. Filled: encoded by PHP; open: by the server.";
    Some(group_chart(report, group, title, remark, Drawing::Scatter(scatter)))
}

const TRADEOFF: TradeoffWords = TradeoffWords {
    things: "encodings",
    first: "least CPU time",
    axes: "CPU time against bytes",
    alone: |one, _| format!("{one} takes the least CPU time and bytes"),
};

/// Bytes and CPU time by method, for a page; none with fewer than two.
fn bars(report: &Report, group: &View) -> Option<Chart> {
    let rows = barred(group);
    if rows.len() < 2 || rows[0].cell.subject != Subject::PAGE {
        return None;
    }
    let bytes = |row: &&Row| Bar {
        parts: vec![(row.count(BODY) as f64, color(row).faded(0.85))],
        text: units::bytes(row.count(BODY)),
        ..Bar::default()
    };
    let time = |row: &&Row| {
        let color = color(row);
        cpu_bar(row, [(PHP_CPU, color.faded(0.9)), (SERVER_CPU, color.faded(0.4))])
    };
    let gzip = group.marked("gzip").and_then(|row| row.value(CPU));
    let cap = gzip.map_or(f64::INFINITY, |ns| ns * CUT);
    let panels = vec![
        BarPanel::new("Body per response", 0.5, rows.iter().map(bytes).collect()),
        BarPanel {
            title: "CPU time per response: PHP, then server (paler)",
            share: 0.5,
            cap,
            bars: rows.iter().map(time).collect(),
        },
    ];
    let names = rows
        .iter()
        .map(|row| (names::marked(report, row, &shorten(&names::method(row), 32)), color(row)))
        .collect();
    let is_cut = rows.iter().any(|row| row.value(CPU).is_some_and(|ns| ns > cap));
    let more = if is_cut { " Truncated bar: more than twice gzip." } else { "" };
    let remark = &format!("Label: total. Intervals: see table.{more}");
    let drawing = Drawing::Bars(Bars { names, panels, legend: Vec::new() });
    Some(group_chart(report, group, bars_title(group), remark, drawing))
}

/// The parts of a CPU time with their sum behind them.
fn cpu_bar(row: &Row, parts: [(&str, Color); 2]) -> Bar {
    let Some(total) = row.value(CPU) else { return Bar::default() };
    let parts = parts.map(|(part, color)| (row.value(part).unwrap_or(0.0), color));
    Bar { parts: parts.to_vec(), text: units::ns(total), ..Bar::default() }
}

/// Methods with both figures in the plan's order. If there are too many, those off the front are left out, from the
/// end.
fn barred<'a>(group: &View<'a>) -> Vec<&'a Row> {
    let mut rows: Vec<&Row> = group.rows.iter().copied().filter(|row| row.get(CPU).is_some()).collect();
    rows.sort_by_key(|row| group.group.cells.iter().position(|id| *id == row.cell.id));
    let is_told = |row: &Row| row.front || group.group.marks.values().any(|id| *id == row.cell.id);
    while rows.len() > Bars::MOST {
        let least = rows.iter().rposition(|row| !is_told(row)).unwrap_or(rows.len() - 1);
        rows.remove(least);
    }
    rows
}

fn bars_title(group: &View) -> String {
    let name = shorten(&clean(group.group.payload()), 40);
    let time = |row: &Row| row.value(CPU).unwrap_or(f64::MAX);
    let gzip = group.marked("gzip");
    let is_better = |row: &&Row| {
        group.report.recommends(row.id()) && !is_copy(row) && Some(row.id()) != gzip.map(Row::id)
    };
    let best = group.rows.iter().copied().filter(is_better).min_by(|a, b| time(a).total_cmp(&time(b)));
    let label = names::method;
    match (gzip, best) {
        (Some(gzip), Some(best)) => format!(
            "{name}: {} takes {} of the CPU time of {}, and {}",
            label(best),
            units::percent(time(best) / time(gzip)),
            label(gzip),
            bytes_beside(best.count(BODY) as f64, gzip.count(BODY) as f64)
        ),
        _ => format!("{name}: bytes and CPU time by method"),
    }
}

/// Whether the content is sent uncompressed.
fn is_copy(row: &Row) -> bool {
    row.cell.delivery.as_ref().is_some_and(|delivery| delivery.kind == WayKind::Plain)
}

fn is_download(result: &Row) -> bool {
    result.cell.subject == Subject::DOWNLOAD && result.get(CPU).is_some()
}

/// The contents that are downloaded, in the plan's order.
fn downloaded(report: &Report) -> Vec<&str> {
    let sent = report.rows.iter().filter(|row| is_download(row) && !is_own_share(row));
    distinct(sent.map(|row| row.cell.payload.as_str()))
}

/// CPU time by component, for each server and method, with the number of busy workers.
fn downloads(report: &Report, payload: &str) -> Chart {
    let cells = report.rows.iter().filter(|result| is_download(result) && result.cell.payload == payload);
    let mut cells: Vec<&Row> = cells.collect();
    // Methods of a server are grouped.
    cells.sort_by_key(|result| server(result));
    let title = downloads_title(&cells, payload);
    cells.truncate(Bars::MOST);
    let time =
        |result: &&Row| cpu_bar(result, [(SERVER_CPU, GREEN.faded(0.8)), (PHP_CPU, VIOLET.faded(0.8))]);
    let panels = vec![
        BarPanel::new(
            "CPU time per response: server (green), PHP (violet)",
            0.58,
            cells.iter().map(time).collect(),
        ),
        BarPanel::new(
            "PHP worker busy per response",
            0.42,
            cells.iter().map(|result| worker_bar(result)).collect(),
        ),
    ];
    let content = report.payload(payload);
    let size = content.map(|content| units::bytes(content.bytes)).unwrap_or_default();
    let names = cells
        .iter()
        .map(|result| (names::marked(report, result, &shorten(&download_name(result), 44)), INK))
        .collect();
    Chart {
        title,
        about: dotted([clean(payload), size, clean(&report.run.machine)]),
        remark: "Label: total. Intervals and rates: see table.".into(),
        source: source(report, is_made_up(report, payload)),
        drawing: Drawing::Bars(Bars { names, panels, legend: Vec::new() }),
    }
}

/// `nginx: readfile in PHP`, with further parts that distinguish it.
fn download_name(result: &Row) -> String {
    let delivery = result.cell.delivery.as_ref();
    let connections = delivery.map_or(1, |d| d.connections);
    let more = if connections > 1 { format!(" ×{connections}") } else { String::new() };
    let link = delivery.and_then(|d| d.link.as_ref()).map(|link| format!(" @{}", clean(link)));
    format!("{}: {}{more}{}", names::server(server(result)), names::method(result), link.unwrap_or_default())
}

fn worker_bar(result: &Row) -> Bar {
    let has_php = result.get(PHP_CPU).is_some();
    let (parts, text) = match result.value("worker-seconds") {
        Some(seconds) => (vec![(seconds, ORANGE.faded(0.7))], units::ns(seconds * 1e9)),
        None => (Vec::new(), if has_php { "not read".into() } else { "no PHP".into() }),
    };
    Bar { parts, text, ..Bar::default() }
}

/// The CPU time of handing over, compared with sending in PHP: the range over servers.
fn downloads_title(cells: &[&Row], payload: &str) -> String {
    let name = shorten(&clean(payload), 40);
    let of_kind = |wanted: WayKind| {
        cells.iter().filter(move |c| c.cell.delivery.as_ref().is_some_and(|d| d.kind == wanted))
    };
    let shares = of_kind(WayKind::Offload).filter_map(|offload| {
        let same = of_kind(WayKind::Plain).filter(|c| server(c) == server(offload));
        Some(offload.value(CPU)? / same.filter_map(|c| c.value(CPU)).reduce(f64::min)?)
    });
    let shares: Vec<f64> = shares.collect();
    if shares.is_empty() {
        return format!("{name}: CPU time by method");
    }
    let (low, high) = ends(shares);
    let (low, high) = (units::percent(low), units::percent(high));
    let range = if low == high { low } else { format!("{low} to {high}") };
    format!("{name}: handing over takes {range} of the CPU time of PHP's best method")
}

/// A figure of the crossover chart: its name, the two terms, the ratio by size, and the size from which on it pays.
type Quotient = (&'static str, &'static str, fn(&SizeRatio) -> Option<Ratio>, fn(&Crossover) -> Option<Pays>);

const RATIOS: [Quotient; 2] = [
    ("CPU time", "on the fly ÷ precompressed", |size| size.cpu, |crossover| crossover.cpu),
    ("Rate", "precompressed ÷ on the fly", |size| size.rate, |crossover| crossover.rate),
];

/// Precompressed files compared with encoding each response: the ratio by size, with the size from which on they pay.
/// None without a line.
fn crossover(report: &Report) -> Option<Chart> {
    let is_line =
        |crossover: &&Crossover| RATIOS.iter().all(|ratio| ratio_points(crossover, ratio.2).len() > 1);
    let all: Vec<&Crossover> =
        report.exhibits.crossovers.iter().flat_map(|crossovers| &crossovers.0).filter(is_line).collect();
    // One per server first, then the others, as long as there is room.
    let is_repeated = |at: &usize| all[..*at].iter().any(|c| c.endpoint.server == all[*at].endpoint.server);
    let (repeated, first): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(is_repeated);
    let shown: Vec<&Crossover> = first.into_iter().chain(repeated).take(LINES).map(|at| all[at]).collect();
    if shown.is_empty() {
        return None;
    }
    let mut payloads = shown.iter().flat_map(|crossover| &crossover.sizes).map(|size| &size.payload);
    let synthetic = payloads.any(|name| is_made_up(report, name));
    let panels: Vec<LinePanel> = RATIOS.iter().map(|ratio| ratio_panel(&shown, ratio)).collect();
    let has_circles = panels.iter().any(|panel| !panel.marks.is_empty());
    let circles = if has_circles { " Circles: from this size on, 95% interval." } else { "" };
    Some(Chart {
        title: crossover_title(&shown),
        about: dotted([
            "A precompressed file compared with compression on the fly, by size of the file".into(),
            clean(&report.run.machine),
        ]),
        remark: format!("Above 1×: precompressed is ahead.{circles}"),
        source: source(report, synthetic),
        drawing: Drawing::Lines(Lines { panels, strips: Vec::new(), caption: "" }),
    })
}

fn ratio_points(crossover: &Crossover, ratio: fn(&SizeRatio) -> Option<Ratio>) -> Vec<(f64, f64, f64, f64)> {
    let points = crossover.told(ratio).into_iter().filter_map(|size| {
        let Ratio { value, low, high, .. } = ratio(size)?;
        Some((size.bytes.max(1) as f64, value, low.min(value), high.max(value)))
    });
    points.filter(|point| point.1 > 0.0 && point.1.is_finite()).collect()
}

fn ratio_panel(shown: &[&Crossover], (title, y, ratio, pays): &Quotient) -> LinePanel {
    let line = |(place, crossover): (usize, &&Crossover)| {
        // Options repeat the coding, which is the same for all.
        let way = crossover.pre_encoded.rsplit('/').next().unwrap_or_default();
        let way = way.split(',').next().unwrap_or_default();
        Line {
            name: shorten(&names::server(&crossover.endpoint.server), 24),
            more: clean(way),
            color: beside(place),
            is_strong: true,
            has_dots: true,
            points: ratio_points(crossover, *ratio),
        }
    };
    let mark = |(place, crossover): (usize, &&Crossover)| match pays(crossover) {
        Some(Pays::From { bytes, low, high }) => {
            Some(Mark { x: bytes, y: 1.0, low, high, color: beside(place), label: String::new() })
        }
        _ => None,
    };
    let lines: Vec<Line> = shown.iter().enumerate().map(line).collect();
    let points = || lines.iter().flat_map(|line| &line.points);
    let (least, most) = ends(points().map(|point| point.1));
    LinePanel {
        title,
        x: Axis::log(ends(points().map(|point| point.0)), (0.04, 0.04))
            .named("size of the file, logarithmic", bytes_tick),
        y: Axis::log((least.min(0.8), most.max(1.25)), (0.06, 0.08))
            .named(y, |ratio| format!("{}×", units::trimmed_number(ratio))),
        level: Some(1.0),
        marks: shown.iter().enumerate().filter_map(mark).collect(),
        lines,
    }
}

fn crossover_title(shown: &[&Crossover]) -> String {
    let mut everywhere: Vec<String> = Vec::new();
    let mut froms: Vec<String> = Vec::new();
    for crossover in shown {
        let server = names::server(&crossover.endpoint.server);
        match crossover.cpu {
            Some(Pays::Everywhere { .. }) if !everywhere.contains(&server) => everywhere.push(server),
            Some(Pays::From { bytes, .. }) => froms.push(format!("on {server} from {}", bytes_tick(bytes))),
            _ => {}
        }
    }
    froms.truncate(3);
    let froms = units::list(&froms);
    let everywhere = match everywhere.is_empty() {
        true => String::new(),
        false => format!("at every size measured on {}", units::list(&everywhere)),
    };
    match (everywhere.as_str(), froms.as_str()) {
        ("", "") => "CPU time and rate of files encoded before, by size".into(),
        (one, "") | ("", one) => format!("Precompression saves CPU time {one}"),
        (everywhere, froms) => format!("Precompression saves CPU time {everywhere}, {froms}"),
    }
}

/// A server's method with a pool: by the number of slow clients.
struct Pool<'a> {
    name: String,
    cells: Vec<(&'a FairnessResult, &'a Slow)>,
}

fn pools(report: &Report) -> Vec<Pool<'_>> {
    let mut cells: Vec<(String, (&FairnessResult, &Slow))> = Vec::new();
    for result in report.exhibits.fairness.iter().flat_map(|slow| &slow.0) {
        let Some(slow) = result.slow() else { continue };
        cells.push((result.setup(report), (result, slow)));
    }
    let mut pools: Vec<Pool> = grouped(cells).into_iter().map(|(name, cells)| Pool { name, cells }).collect();
    pools.sort_by(|a, b| a.name.cmp(&b.name));
    pools.truncate(ROWS);
    pools
}

/// The time of a light request beside slow clients, and whether workers are free or busy. None without slow clients.
fn slow_clients(report: &Report) -> Option<Chart> {
    let pools = pools(report);
    let (first, slow) = pools.first()?.cells.first()?;
    let mut numbers: Vec<u32> =
        pools.iter().flat_map(|pool| pool.cells.iter().map(|(_, s)| s.clients)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.truncate(COLUMNS);
    let many = numbers.len() > WIDE;
    let columns = numbers.iter().map(|number| match number {
        0 => "no slow client".to_owned(),
        1 => "1 slow client".to_owned(),
        number if many => format!("{number} slow"),
        number => format!("{number} slow clients"),
    });
    let field = |(result, slow): &(&FairnessResult, &Slow)| {
        Some((numbers.iter().position(|number| *number == slow.clients)?, fairness_field(result)))
    };
    let rows = pools.iter().map(|pool| FieldRow {
        name: shorten(&pool.name, 60),
        fields: pool.cells.iter().filter_map(field).collect(),
    });
    let synthetic =
        report.exhibits.fairness.iter().flat_map(|slow| &slow.0).any(|r| is_made_up(report, &r.cell.payload));
    let remark = "Below: how many of the pool's workers are busy. Blank: not measured.";
    Some(Chart {
        title: slow_clients_title(&pools),
        about: dotted([
            format!(
                "p99 of a light request while slow clients take {} at {}/s from a pool of {} workers",
                units::bytes(first.content_bytes),
                units::bytes(slow.read_rate),
                slow.workers
            ),
            clean(&report.run.machine),
        ]),
        remark: remark.into(),
        source: source(report, synthetic),
        drawing: Drawing::Fields(Fields {
            columns: columns.collect(),
            rows: rows.collect(),
            legend: heat_legend(),
        }),
    })
}

/// The 99th percentile of light requests, and below it the number of busy workers; if fewer were answered, the lower
/// bound of the others.
fn fairness_field(result: &FairnessResult) -> Field {
    let p99 = result.light.as_ref().and_then(|light| light.p99);
    let (seconds, words) = match (p99, result.beyond) {
        (Some(seconds), _) => (seconds, units::ns(seconds * 1e9)),
        (None, Some(seconds)) => (seconds, format!("> {}", units::ns(seconds * 1e9))),
        (None, None) => (f64::INFINITY, "no answer".into()),
    };
    let workers = result.slow().map_or(0, |slow| slow.workers);
    let busy = result.busy.map_or(String::new(), |busy| format!("{busy:.0} of {workers} busy"));
    Field { fill: heat(seconds), words, more: busy }
}

/// The methods that starve light requests, and those that never do.
fn slow_clients_title(pools: &[Pool]) -> String {
    let starves =
        |pool: &&Pool| pool.cells.iter().any(|(result, _)| result.outcome == SlowClientEffect::Starved);
    let all = units::count(pools.len(), "setup", "setups");
    match pools.iter().filter(starves).count() {
        0 => format!("Slow clients starve nobody in any of {all}"),
        n if n == pools.len() => format!("Slow clients starve light requests in all of {all}"),
        n => format!("Slow clients starve light requests in {n} of {all}"),
    }
}
