//! A study of clients as flat tables for other programs: one row a cell, one row a comparison. Units stand in the header; nothing is
//! rounded.

use anyhow::{Context, Result};
use csv::Writer;

use super::super::csv::{stop, text};
use super::super::{Rendered, words};
use crate::analysis::client::model::{CallTimes, ClientAnalysis, ClientResult, Coding, is_settled};
use crate::analysis::model::{Quantity, Relative};
use weigh_model::payload::Origin;

/// The columns before the figures.
const FACTORS: [&str; 16] = [
    "cell",
    "payload",
    "synthetic",
    "store",
    "driver",
    "runtime",
    "mix (reads:writes)",
    "keys",
    "workers",
    "transactions of a worker",
    "rate (a second)",
    "link",
    "serializer",
    "setting",
    "library",
    "server",
];

/// Single figures.
const FIGURES: [&str; 22] = [
    "rounds",
    "writes",
    "writes failed",
    "writes made (%)",
    "reads",
    "reads failed",
    "reads made (%)",
    "hits",
    "misses",
    "wrong",
    "transactions",
    "dropped",
    "stored (bytes)",
    "peak memory of a worker (bytes)",
    "peak memory of a worker from the system (bytes)",
    "growth of a worker (bytes)",
    "PSS of a worker (bytes)",
    "PSS of the store (bytes)",
    "start skew (ms)",
    "own share of the workers' CPU time (%)",
    "encode share of PUT (%)",
    "decode share of GET (%)",
];

/// Figures with an interval.
const QUANTITIES: [&str; 12] = [
    "combined (transactions a second)",
    "a process (transactions a second)",
    "total (s)",
    "CPU (µs a transaction)",
    "workers CPU (µs a transaction)",
    "workers user CPU (µs a transaction)",
    "workers kernel CPU (µs a transaction)",
    "store CPU (µs a transaction)",
    "store user CPU (µs a transaction)",
    "store kernel CPU (µs a transaction)",
    "encode (µs a write)",
    "decode (µs a read)",
];

const TIMES: [&str; 4] = ["PUT", "GET", "PUT from its schedule", "GET from its schedule"];

/// The tables that there is something for.
///
/// # Errors
/// A table cannot be written.
pub fn files(analysis: &ClientAnalysis) -> Result<Vec<Rendered>> {
    let cells = cells(analysis).context("writing the table of cells")?;
    let comparisons = comparisons(analysis).context("writing the table of comparisons")?;
    let mut files = vec![Rendered::new("cells.csv", cells), Rendered::new("comparisons.csv", comparisons)];
    if !analysis.predictions.is_empty() {
        let predictions = predictions(analysis).context("writing the table of computed calls")?;
        files.push(Rendered::new("predictions.csv", predictions));
    }
    Ok(files)
}

/// One row a cell.
fn cells(analysis: &ClientAnalysis) -> Result<Vec<u8>> {
    let mut out = Writer::from_writer(Vec::new());
    let mut header: Vec<String> = FACTORS.iter().chain(&FIGURES).map(|name| (*name).to_owned()).collect();
    header.extend(QUANTITIES.iter().flat_map(|name| ends_of(name)));
    let parts = ["mean", "p50", "p90", "p99", "p99.9", "max"];
    header.extend(TIMES.iter().flat_map(|time| parts.map(|part| format!("{time} {part} (µs)"))));
    header.extend(["stop", "caveats"].map(str::to_owned));
    out.write_record(header)?;
    for result in &analysis.cells {
        let mut row = factors(analysis, result);
        row.extend(figures(result));
        row.extend(quantities(result).into_iter().flat_map(ends));
        let all = [result.put, result.get, result.put_response, result.get_response];
        row.extend(all.into_iter().flat_map(times));
        row.push(result.stop.as_ref().map(stop).unwrap_or_default().to_owned());
        row.push(text(&result.caveats.iter().map(words::note).collect::<Vec<_>>().join("; ")));
        out.write_record(row)?;
    }
    Ok(out.into_inner()?)
}

fn ends_of(name: &str) -> [String; 3] {
    ["", " 95% low", " 95% high"].map(|end| format!("{name}{end}"))
}

fn shown<T: ToString>(number: Option<T>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

fn factors(analysis: &ClientAnalysis, result: &ClientResult) -> Vec<String> {
    let cell = &result.cell;
    let payload = analysis.payloads.iter().find(|payload| payload.name == cell.payload);
    let synthetic = payload.is_some_and(|payload| matches!(payload.origin, Origin::Synthetic { .. }));
    let client = cell.client.as_ref();
    let setting = client.filter(|c| c.encoded).map(|_| text(&cell.setting.to_string()));
    vec![
        text(&cell.id),
        text(&cell.payload),
        synthetic.to_string(),
        text(client.map_or("", |c| &c.store)),
        text(client.map_or("", |c| &c.driver)),
        text(&cell.runtime),
        shown(client.map(|c| c.mix)),
        shown(client.map(|c| c.keys)),
        shown(client.map(|c| c.workers)),
        shown(client.map(|c| c.transactions)),
        shown(client.and_then(|c| c.rate)),
        text(client.and_then(|c| c.link.as_deref()).unwrap_or_default()),
        text(cell.serializer.as_deref().unwrap_or_default()),
        setting.unwrap_or_default(),
        text(result.library.as_deref().unwrap_or_default()),
        text(result.server.as_deref().unwrap_or_default()),
    ]
}

fn figures(result: &ClientResult) -> [String; 22] {
    let summary = &result.summary;
    let (writes, reads) = (summary.writes, summary.reads);
    let percent = |share: f64| (share * 100.0).to_string();
    let coding = |of: Option<Coding>| of.map(|coding| percent(coding.share)).unwrap_or_default();
    [
        result.rounds.to_string(),
        writes.count.to_string(),
        writes.failed.to_string(),
        percent(summary.writes_made()),
        reads.count.to_string(),
        reads.failed.to_string(),
        percent(summary.reads_made()),
        reads.hits.to_string(),
        reads.misses.to_string(),
        reads.wrong.to_string(),
        summary.transactions.to_string(),
        result.dropped.to_string(),
        shown(result.stored_bytes),
        shown(result.memory.map(|memory| memory.peak)),
        shown(result.memory.map(|memory| memory.peak_real)),
        shown(result.memory.map(|memory| memory.growth)),
        shown(result.memory.and_then(|memory| memory.pss)),
        shown(result.server_pss),
        (result.skew * 1e3).to_string(),
        result.own_share.map(percent).unwrap_or_default(),
        coding(result.encode),
        coding(result.decode),
    ]
}

/// In the order of [`QUANTITIES`], in its units.
fn quantities(result: &ClientResult) -> [Option<Quantity>; 12] {
    let us = |q: Option<Quantity>| {
        q.map(|q| Quantity { value: q.value / 1e3, low: q.low / 1e3, high: q.high / 1e3 })
    };
    let cpu = result.cpu.as_ref();
    [
        result.summary.combined,
        result.summary.per_process,
        result.total_seconds,
        us(cpu.map(|cpu| cpu.total)),
        us(cpu.map(|cpu| cpu.client)),
        us(cpu.map(|cpu| cpu.client_user)),
        us(cpu.map(|cpu| cpu.client_system)),
        us(cpu.and_then(|cpu| cpu.server)),
        us(cpu.and_then(|cpu| cpu.server_user)),
        us(cpu.and_then(|cpu| cpu.server_system)),
        us(result.encode.map(|coding| coding.ns)),
        us(result.decode.map(|coding| coding.ns)),
    ]
}

fn ends(quantity: Option<Quantity>) -> [String; 3] {
    quantity.map(|q| [q.value, q.low, q.high].map(|x| x.to_string())).unwrap_or_default()
}

fn times(times: Option<CallTimes>) -> [String; 6] {
    let Some(t) = times else { return Default::default() };
    [t.mean, t.p50, t.p90, t.p99, t.p999, t.max].map(|seconds| (seconds * 1e6).to_string())
}

/// One row a comparison.
fn comparisons(analysis: &ClientAnalysis) -> Result<Vec<u8>> {
    let figures = ["transactions", "CPU", "workers CPU", "peak memory", "PSS", "PUT p50", "GET p50"];
    let mut out = Writer::from_writer(Vec::new());
    let mut header: Vec<String> = ["another", "cell", "beside", "rounds"].map(str::to_owned).to_vec();
    header.extend(figures.iter().flat_map(|name| ends_of(&format!("{name} (×)"))));
    header.extend(["transactions settled", "CPU settled"].map(str::to_owned));
    out.write_record(header)?;
    for one in &analysis.comparisons {
        let mut row =
            vec![one.kind.name().to_owned(), text(&one.cell), text(&one.beside), one.rounds.to_string()];
        let all = [one.combined, one.cpu, one.client_cpu, one.memory, one.pss, one.put, one.get];
        let ratio = |r: Option<Relative>| {
            r.map(|r| [r.ratio, r.low, r.high].map(|x| x.to_string())).unwrap_or_default()
        };
        row.extend(all.into_iter().flat_map(ratio));
        row.extend([one.combined, one.cpu].map(|r| shown(r.map(|r| is_settled(&r, one.rounds)))));
        out.write_record(row)?;
    }
    Ok(out.into_inner()?)
}

/// One row a call that was computed.
fn predictions(analysis: &ClientAnalysis) -> Result<Vec<u8>> {
    let mut out = Writer::from_writer(Vec::new());
    out.write_record([
        "cell",
        "link",
        "call",
        "coding (s)",
        "transfer (s)",
        "round trip (s)",
        "computed (s)",
        "measured mean (s)",
        "measured mean 95% low (s)",
        "measured mean 95% high (s)",
        "measured p50 (s)",
        "measured ÷ computed (×)",
    ])?;
    for one in &analysis.predictions {
        let mut row = vec![
            text(&one.cell),
            text(one.link.as_deref().unwrap_or_default()),
            one.operation.name().to_owned(),
        ];
        row.extend([one.coding, one.transfer, one.round_trip, one.predicted].map(|x| x.to_string()));
        row.extend(ends(Some(one.measured)));
        row.extend([one.p50.to_string(), shown(one.ratio)]);
        out.write_record(row)?;
    }
    Ok(out.into_inner()?)
}
