//! The clients of one content: what a transaction costs whom, how many there are a second, and what a call takes.

use super::super::document::Block;
use super::super::grid::{Cell, Column, Grid, Kind, Tone};
use super::view::{GroupView, Row, half_width};
use crate::analysis::client::model::{CallTimes, ClientCpu};
use crate::analysis::model::Quantity;
use weigh_model::units;

/// Rows of a summary; more are in the full report.
const FEW: usize = 24;

const LEGEND: &str = "Transactions a second are of all workers together, median over rounds, with half of the 95% interval; a process is one worker's. \
    CPU times are a transaction: of the workers in user space (PHP) and in the kernel, and of the store. PUT and GET are times inside the call, of all \
    rounds together; due is from the scheduled send. Peak is PHP's own account of a worker, PSS what its process has, each the most of all workers and \
    rounds. Own is the worker's loop in percent of its CPU time; skew is between the first worker's begin and the last one's; n the rounds.";

/// Every cell of a content, one table for each work; what the columns mean stands in the report's first.
pub(super) fn section(group: &GroupView, is_first: bool) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(2, group.title()), Block::Remark(group.about())];
    if is_first {
        blocks.push(Block::Remark(LEGEND.into()));
    }
    for work in &group.works {
        blocks.push(Block::Heading(3, work.title()));
        blocks.push(Block::Table(table(work.rows.iter())));
    }
    blocks
}

/// All contents in one table.
pub(super) fn overview(groups: &[GroupView]) -> Vec<Block> {
    let all = groups.iter().map(|group| group.rows().count()).sum::<usize>();
    if all == 0 {
        return Vec::new();
    }
    let mut columns =
        vec![Column::new("content", "", Kind::Text(7), 0), Column::new("work", "", Kind::Text(9), 1)];
    columns.extend(self::columns());
    let mut grid = Grid::new(columns);
    for (group, row) in groups.iter().flat_map(|g| g.rows().map(move |row| (g, row))).take(FEW) {
        let mut line: Vec<Cell> = vec![group.title().into(), row.work().into()];
        line.extend(cells(row));
        grid.push(Tone::Plain, line);
    }
    let mut blocks = vec![Block::Heading(2, "Clients".into()), Block::Table(grid)];
    if all > FEW {
        let more = units::count(all - FEW, "more cell", "more cells");
        blocks.push(Block::Remark(format!("{more} in the full report.")));
    }
    blocks
}

/// The table of some rows.
pub(in crate::report) fn table<'a, 'b: 'a>(rows: impl Iterator<Item = &'a Row<'b>>) -> Grid {
    let mut grid = Grid::new(columns());
    rows.for_each(|row| grid.push(Tone::Plain, cells(row)));
    grid
}

fn columns() -> Vec<Column> {
    vec![
        Column::new("client", "", Kind::Text(12), 0),
        Column::new("runtime", "", Kind::Text(6), 0),
        Column::new("setting", "", Kind::Text(12), 1),
        Column::new("combined", "trans/s", Kind::Whole, 0),
        Column::new("±", "%", Kind::Fixed(1), 5),
        Column::new("a process", "trans/s", Kind::Whole, 8),
        Column::new("CPU", "µs", Kind::Three, 0),
        Column::new("±", "%", Kind::Fixed(1), 9),
        Column::new("PHP", "user µs", Kind::Three, 2),
        Column::new("PHP", "kernel µs", Kind::Three, 2),
        Column::new("store", "µs", Kind::Three, 2),
        Column::new("PUT", "p50 µs", Kind::Three, 4),
        Column::new("PUT", "p99 µs", Kind::Three, 6),
        Column::new("GET", "p50 µs", Kind::Three, 4),
        Column::new("GET", "p99 µs", Kind::Three, 6),
        Column::new("GET", "p99.9 µs", Kind::Three, 13),
        Column::new("due", "p50 µs", Kind::Three, 7),
        Column::new("due", "p99 µs", Kind::Three, 7),
        Column::new("encode", "µs", Kind::Three, 3),
        Column::new("decode", "µs", Kind::Three, 3),
        Column::new("stored", "B", Kind::Whole, 10),
        Column::new("total", "s", Kind::Three, 11),
        Column::new("peak", "MB", Kind::Three, 3),
        Column::new("PSS", "MB", Kind::Three, 10),
        Column::new("store", "PSS MB", Kind::Three, 12),
        Column::new("found", "%", Kind::Fixed(1), 14),
        Column::new("own", "%", Kind::Fixed(1), 7),
        Column::new("skew", "ms", Kind::Three, 15),
        Column::new("n", "", Kind::Whole, 12),
        Column::new("note", "", Kind::Text(11), 1),
    ]
}

fn cells(row: &Row) -> Vec<Cell> {
    let result = row.result;
    let cpu = |of: fn(&ClientCpu) -> Option<Quantity>| {
        result.cpu.as_ref().and_then(of).map(|quantity| quantity.value / 1e3)
    };
    let us = |times: Option<CallTimes>, of: fn(&CallTimes) -> f64| times.map(|times| of(&times) * 1e6);
    let megabytes = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / 1e6);
    let due = result.get_response.or(result.put_response);
    let reads = result.summary.reads;
    let found = (reads.misses > 0).then(|| reads.hits as f64 / reads.count.max(1) as f64 * 100.0);
    vec![
        row.place.clone().into(),
        row.runtime.clone().into(),
        row.setting.clone().into(),
        result.combined().into(),
        half_width(result.summary.combined).into(),
        result.summary.per_process.map(|rate| rate.value).into(),
        cpu(|cpu| Some(cpu.total)).into(),
        half_width(result.cpu.map(|cpu| cpu.total)).into(),
        cpu(|cpu| Some(cpu.client_user)).into(),
        cpu(|cpu| Some(cpu.client_system)).into(),
        cpu(|cpu| cpu.server).into(),
        us(result.put, |t| t.p50).into(),
        us(result.put, |t| t.p99).into(),
        us(result.get, |t| t.p50).into(),
        us(result.get, |t| t.p99).into(),
        us(result.get, |t| t.p999).into(),
        us(due, |t| t.p50).into(),
        us(due, |t| t.p99).into(),
        result.encode.map(|coding| coding.ns.value / 1e3).into(),
        result.decode.map(|coding| coding.ns.value / 1e3).into(),
        result.stored_bytes.map(|bytes| bytes as f64).into(),
        result.total_seconds.map(|seconds| seconds.value).into(),
        megabytes(result.memory.map(|memory| memory.peak)).into(),
        megabytes(result.memory.and_then(|memory| memory.pss)).into(),
        megabytes(result.server_pss).into(),
        found.into(),
        result.own_share.map(|share| share * 100.0).into(),
        (result.skew * 1e3).into(),
        f64::from(result.rounds).into(),
        row.notes().join(", ").into(),
    ]
}
