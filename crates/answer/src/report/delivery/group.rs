//! The ways of one group: what each costs whom, and which are worth considering.

use super::super::document::Block;
use super::super::grid::{Cell, Column, Grid, Kind, Tone};
use super::super::text::clean;
use super::view::{GroupView, Row};
use crate::analysis::delivery::model::{Cpu, Times};
use crate::analysis::model::Quantity;
use weigh_model::cell::{NO_PHP, Subject};
use weigh_model::units;

const LEGEND: &str = "CPU times are of server and PHP a response, ± is the half-width of the 95% interval; vs plain and vs gzip are ratios of \
    CPU times; req/s is the median over rounds; p50, p99 and first byte are of all responses together; 100 in is the time for a hundred \
    requests one after the other; memory is PSS after a block; worker is for how long a response keeps one of the pool's; n the rounds.";

/// Every cell of the group; what the columns mean stands in the report's first.
pub(super) fn section(group: &GroupView, is_first: bool) -> Vec<Block> {
    let front = group.front().count();
    let ways = units::count(group.rows.len(), "way", "ways");
    let are = if front == 1 { "is" } else { "are" };
    let mut blocks = head(group);
    let legend = if is_first { format!(" {LEGEND}") } else { String::new() };
    blocks.push(Block::Remark(format!(
        "{front} of {ways} {are} on the Pareto front (●) of CPU time and bytes.{legend}"
    )));
    blocks.push(Block::Table(table(group, group.rows.iter())));
    blocks
}

/// The front, the reference and gzip only.
pub(super) fn front(group: &GroupView) -> Vec<Block> {
    let named = [&group.group.reference, &group.group.gzip];
    let is_shown = |row: &&Row| {
        row.result.front
            || row.result.cpu.is_none()
            || named.iter().any(|id| id.as_ref() == Some(&row.result.cell.id))
    };
    let mut blocks = head(group);
    blocks.push(Block::Table(table(group, group.rows.iter().filter(is_shown))));
    let hidden = group.rows.iter().filter(|row| !is_shown(row)).count();
    if hidden > 0 {
        let hidden = units::count(hidden, "way is", "ways are");
        blocks.push(Block::Remark(format!(
            "{hidden} beaten on both CPU time and bytes; the full report names them."
        )));
    }
    blocks
}

fn head(group: &GroupView) -> Vec<Block> {
    let mark = if group.synthetic() { " (SYNTHETIC)" } else { "" };
    let mut blocks =
        vec![Block::Heading(2, format!("{}{mark}", group.title())), Block::Remark(group.about())];
    blocks.extend(group.link().map(Block::Remark));
    blocks
}

/// The columns; downloads need their workers sooner than their bytes.
fn columns(subject: Option<Subject>) -> Vec<Column> {
    let is_download = subject == Some(Subject::Download);
    let (bytes, workers) = if is_download { (13, 1) } else { (0, 14) };
    vec![
        Column::new("", "", Kind::Text(1), 0),
        Column::new("way", "", Kind::Text(22), 0),
        Column::new("body", "B", Kind::Whole, bytes),
        Column::new("size", "", Kind::Bar, 0),
        Column::new("saving", "%", Kind::Fixed(1), bytes.max(4)),
        Column::new("CPU", "ms", Kind::Three, 0),
        Column::new("PHP", "ms", Kind::Three, 1),
        Column::new("server", "ms", Kind::Three, 1),
        Column::new("±", "%", Kind::Fixed(1), 5),
        Column::new("vs plain", "×", Kind::Fixed(2), 6),
        Column::new("vs gzip", "×", Kind::Fixed(2), 7),
        Column::new("rate", "req/s", Kind::Three, 2),
        Column::new("p50", "ms", Kind::Three, 3),
        Column::new("p99", "ms", Kind::Three, 8),
        Column::new("first byte", "p50 ms", Kind::Three, 9),
        Column::new("100 in", "s", Kind::Three, 10),
        Column::new("transfer", "MB/s", Kind::Three, 16),
        Column::new("server", "PSS MB", Kind::Three, 15),
        Column::new("PHP", "PSS MB", Kind::Three, 15),
        Column::new("busy", "workers", Kind::Fixed(2), workers),
        Column::new("worker", "ms", Kind::Three, workers),
        Column::new("most", "busy", Kind::Whole, workers + 4),
        Column::new("queue", "most", Kind::Whole, 19),
        Column::new("put aside", "a response", Kind::Three, 20),
        Column::new("spooled", "MB", Kind::Three, 18),
        Column::new("generator", "% of core", Kind::Whole, 21),
        Column::new("wire", "B", Kind::Whole, 22),
        Column::new("n", "", Kind::Whole, 17),
        Column::new("coding", "", Kind::Text(6), 23),
        Column::new("beaten by", "", Kind::Text(12), 12),
        Column::new("note", "", Kind::Text(11), 1),
    ]
}

/// The table of some rows of a group.
pub(in crate::report) fn table<'a>(group: &GroupView, rows: impl Iterator<Item = &'a Row<'a>>) -> Grid {
    let mut grid = Grid::new(columns(group.subject()));
    for row in rows {
        let tone = match (row.result.front, &row.dominated_by) {
            (true, _) => Tone::Strong,
            (false, Some(_)) => Tone::Dim,
            (false, None) => Tone::Plain,
        };
        grid.push(tone, cells(group, row));
    }
    grid
}

fn cells(group: &GroupView, row: &Row) -> Vec<Cell> {
    let result = row.result;
    let cpu = result.cpu.as_ref();
    let ms = |of: fn(&Cpu) -> Option<Quantity>| cpu.and_then(of).map(|q| q.value / 1e6);
    let at = |times: &Option<Times>, of: fn(&Times) -> f64| times.as_ref().map(|times| of(times) * 1e3);
    let megabytes = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / 1e6);
    let workers = result.workers.as_ref();
    let mut notes = row.notes();
    for (id, name) in [(&group.group.reference, "plain"), (&group.group.gzip, "gzip")] {
        if id.as_ref() == Some(&result.cell.id) {
            notes.insert(0, name.into());
        }
    }
    vec![
        if result.front { "●" } else { "" }.into(),
        row.label.clone().into(),
        (result.body_bytes as f64).into(),
        (result.body_bytes as f64).into(),
        (result.space_saving() * 100.0).into(),
        row.cpu_ms().into(),
        ms(|cpu| cpu.php).into(),
        ms(|cpu| cpu.server).into(),
        row.interval().into(),
        result.to_reference.map(|r| r.ratio).into(),
        result.to_gzip.map(|r| r.ratio).into(),
        result.rate.map(|rate| rate.value).into(),
        at(&result.response, |t| t.p50).into(),
        at(&result.response, |t| t.p99).into(),
        at(&result.ttfb, |t| t.p50).into(),
        result.one_by_one.map(|one| one.value * 100.0).into(),
        result.transfer.map(|rate| rate.value / 1e6).into(),
        megabytes(result.server_pss).into(),
        megabytes(result.php_pss).into(),
        workers.map(|w| w.busy_mean).into(),
        result.worker_seconds.map(|seconds| seconds * 1e3).into(),
        workers.map(|w| f64::from(w.busy_max)).into(),
        workers.map(|w| f64::from(w.queue_max)).into(),
        result.switches.map(|s| s.involuntary).into(),
        result.written_bytes.filter(|bytes| *bytes >= 1.0).map(|bytes| bytes / 1e6).into(),
        (result.client_share * 100.0).into(),
        result.wire_bytes.round().into(),
        f64::from(result.rounds).into(),
        clean(result.coding.as_deref().unwrap_or_default()).into(),
        row.dominated_by.clone().unwrap_or_default().into(),
        notes.join(", ").into(),
    ]
}

/// One line a group, when there are too many groups to show their fronts.
pub(super) fn overview(groups: &[GroupView]) -> Vec<Block> {
    let mut grid = Grid::new(vec![
        Column::new("content", "", Kind::Text(12), 0),
        Column::new("", "", Kind::Text(9), 0),
        Column::new("size", "", Kind::Text(6), 4),
        Column::new("server", "", Kind::Text(6), 0),
        Column::new("runtime", "", Kind::Text(6), 1),
        Column::new("over", "", Kind::Text(10), 2),
        Column::new("as it is", "CPU ms", Kind::Three, 0),
        Column::new("gzip", "CPU ms", Kind::Three, 0),
        Column::new("gzip", "B", Kind::Whole, 3),
        Column::new("least CPU time", "", Kind::Text(14), 1),
        Column::new("its CPU", "ms", Kind::Three, 1),
        Column::new("smallest", "", Kind::Text(12), 2),
        Column::new("its CPU", "ms", Kind::Three, 2),
        Column::new("its bytes", "B", Kind::Whole, 3),
    ]);
    for group in groups {
        let coded: Vec<&Row> =
            group.rows.iter().filter(|row| !row.is_copy() && row.cpu_ms().is_some()).collect();
        let limit = group.gzip().map_or(u64::MAX, |gzip| gzip.result.body_bytes);
        let least = |a: &&&Row, b: &&&Row| a.cpu_ms().unwrap_or(0.0).total_cmp(&b.cpu_ms().unwrap_or(0.0));
        let quick = coded.iter().filter(|row| row.result.body_bytes < limit).min_by(least);
        let small = coded.iter().min_by_key(|row| row.result.body_bytes);
        let label = |row: Option<&&Row>| row.map(|row| row.label.clone()).unwrap_or_default();
        let connections = match group.group.connections {
            1 => String::new(),
            n => format!(" ×{n}"),
        };
        let link = group.group.link.as_ref();
        let link = link.map_or(String::new(), |link| format!(" @{}", clean(&link.asked.name)));
        let runtime = if group.group.runtime == NO_PHP { String::new() } else { clean(&group.group.runtime) };
        grid.push(
            Tone::Plain,
            vec![
                clean(&group.group.payload).into(),
                if group.synthetic() { "SYNTHETIC" } else { "" }.into(),
                group.payload.map(|payload| units::bytes(payload.bytes)).unwrap_or_default().into(),
                clean(&group.group.server).into(),
                runtime.into(),
                format!("{}{connections}{link}", group.group.transport.name()).into(),
                group.reference().and_then(Row::cpu_ms).into(),
                group.gzip().and_then(Row::cpu_ms).into(),
                group.gzip().map(|row| row.result.body_bytes as f64).into(),
                label(quick).into(),
                quick.and_then(|row| row.cpu_ms()).into(),
                label(small).into(),
                small.and_then(|row| row.cpu_ms()).into(),
                small.map(|row| row.result.body_bytes as f64).into(),
            ],
        );
    }
    vec![
        Block::Heading(2, "Each content and server".into()),
        Block::Remark(
            "CPU time of server and PHP a response. Least CPU time: of the ways that do not send the content through PHP as it \
             is and, where there is a gzip, send fewer bytes. The full report has a table for each."
                .into(),
        ),
        Block::Table(grid),
    ]
}
