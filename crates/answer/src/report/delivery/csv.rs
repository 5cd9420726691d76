//! A delivery study as flat tables for other programs: one row a cell, one row a crossover and size. Units stand in the
//! header; nothing is rounded.

use anyhow::{Context, Result};
use csv::Writer;

use super::super::csv::{stop, text};
use super::super::{Rendered, words};
use super::{negotiation, view};
use crate::analysis::delivery::model::{DeliveryAnalysis, DeliveryResult, Times};
use crate::analysis::model::{Quantity, Relative};
use weigh_model::payload::Origin;

/// The columns before the figures.
const FACTORS: [&str; 15] = [
    "cell",
    "subject",
    "payload",
    "kind",
    "synthetic",
    "server",
    "runtime",
    "transport",
    "connections",
    "link",
    "way",
    "way kind",
    "accept",
    "library",
    "coding",
];

/// Single figures.
const FIGURES: [&str; 22] = [
    "content (bytes)",
    "body (bytes)",
    "wire (bytes a response)",
    "responses",
    "faulted",
    "rounds",
    "generator CPU (ms a response)",
    "generator share of a core (%)",
    "server memory PSS (bytes)",
    "PHP memory PSS (bytes)",
    "PHP peak (bytes)",
    "workers",
    "workers busy mean",
    "workers busy most",
    "worker (ms a response)",
    "workers idle fewest",
    "listen queue most",
    "voluntary switches (a response)",
    "involuntary switches (a response)",
    "read from disk (bytes a response)",
    "written to disk (bytes a response)",
    "front",
];

/// Figures with an interval.
const QUANTITIES: [&str; 6] = [
    "CPU (ms a response)",
    "server CPU (ms a response)",
    "PHP CPU (ms a response)",
    "responses a second",
    "transfer (bytes a second)",
    "100 one after the other (s)",
];

const TIMES: [&str; 3] = ["response", "service", "first byte"];

/// The tables that there is something for.
///
/// # Errors
/// A table cannot be written.
pub fn files(analysis: &DeliveryAnalysis) -> Result<Vec<Rendered>> {
    let cells = cells(analysis).context("writing the table of cells")?;
    let mut files = vec![Rendered::new("cells.csv", cells)];
    if !analysis.crossovers.is_empty() {
        let crossovers = crossovers(analysis).context("writing the table of crossovers")?;
        files.push(Rendered::new("crossovers.csv", crossovers));
    }
    if !analysis.negotiations.is_empty() {
        let requests = negotiation::csv::requests(analysis).context("writing the table of negotiation")?;
        files.push(Rendered::new("negotiation.csv", requests));
    }
    Ok(files)
}

/// One row a cell.
fn cells(analysis: &DeliveryAnalysis) -> Result<Vec<u8>> {
    let mut out = Writer::from_writer(Vec::new());
    let mut header: Vec<String> = FACTORS.iter().chain(&FIGURES).map(|name| (*name).to_owned()).collect();
    let ratios = ["CPU ÷ plain (×)", "CPU ÷ gzip (×)"];
    let ranged = QUANTITIES.iter().chain(&ratios);
    header.extend(ranged.flat_map(|name| ["", " 95% low", " 95% high"].map(|end| format!("{name}{end}"))));
    let parts = ["mean", "sd", "p50", "p99", "max"];
    header.extend(TIMES.iter().flat_map(|time| parts.map(|part| format!("{time} {part} (ms)"))));
    header.extend(["dominated by", "stop", "caveats"].map(str::to_owned));
    out.write_record(header)?;
    for result in &analysis.cells {
        let mut row = factors(analysis, result);
        row.extend(figures(result));
        row.extend(quantities(result).into_iter().flat_map(ends));
        let relative = |r: Option<Relative>| {
            r.map(|r| [r.ratio, r.low, r.high].map(|x| x.to_string())).unwrap_or_default()
        };
        row.extend([result.to_reference, result.to_gzip].into_iter().flat_map(relative));
        row.extend([&result.response, &result.service, &result.ttfb].into_iter().flat_map(times));
        row.push(text(result.dominated_by.as_deref().unwrap_or_default()));
        row.push(result.stop.as_ref().map(stop).unwrap_or_default().to_owned());
        row.push(text(&result.caveats.iter().map(words::note).collect::<Vec<_>>().join("; ")));
        out.write_record(row)?;
    }
    Ok(out.into_inner()?)
}

fn factors(analysis: &DeliveryAnalysis, result: &DeliveryResult) -> Vec<String> {
    let cell = &result.cell;
    let payload = analysis.payloads.iter().find(|payload| payload.name == cell.payload);
    let synthetic = payload.is_some_and(|payload| matches!(payload.origin, Origin::Synthetic { .. }));
    let delivery = cell.delivery.as_ref();
    let kind = delivery.and_then(|d| serde_json::to_value(d.kind).ok());
    vec![
        text(&cell.id),
        cell.subject.name().to_owned(),
        text(&cell.payload),
        text(payload.map_or("", |payload| &payload.kind)),
        synthetic.to_string(),
        text(delivery.map_or("", |d| &d.server)),
        text(&cell.runtime),
        delivery.map_or("", |d| d.transport.name()).to_owned(),
        delivery.map(|d| d.connections.to_string()).unwrap_or_default(),
        text(delivery.and_then(|d| d.link.as_deref()).unwrap_or_default()),
        text(&view::label(result)),
        kind.and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default(),
        text(delivery.map_or("", |d| &d.accept)),
        text(result.library.as_deref().unwrap_or_default()),
        text(result.coding.as_deref().unwrap_or_default()),
    ]
}

fn figures(result: &DeliveryResult) -> [String; 22] {
    fn shown<T: ToString>(number: Option<T>) -> String {
        number.map(|number| number.to_string()).unwrap_or_default()
    }
    let workers = result.workers.as_ref();
    let switches = result.switches.as_ref();
    [
        result.decoded_bytes.to_string(),
        result.body_bytes.to_string(),
        result.wire_bytes.to_string(),
        result.requests.to_string(),
        result.faulted.to_string(),
        result.rounds.to_string(),
        shown(result.cpu.as_ref().map(|cpu| cpu.client / 1e6)),
        (result.client_share * 100.0).to_string(),
        shown(result.server_pss),
        shown(result.php_pss),
        shown(result.php_peak),
        shown(workers.map(|w| w.total)),
        shown(workers.map(|w| w.busy_mean)),
        shown(workers.map(|w| w.busy_max)),
        shown(result.worker_seconds.map(|seconds| seconds * 1e3)),
        shown(workers.map(|w| w.idle_min)),
        shown(workers.map(|w| w.queue_max)),
        shown(switches.map(|s| s.voluntary)),
        shown(switches.map(|s| s.involuntary)),
        shown(result.read_bytes),
        shown(result.written_bytes),
        result.front.to_string(),
    ]
}

/// In the order of [`QUANTITIES`], in its units.
fn quantities(result: &DeliveryResult) -> [Option<Quantity>; 6] {
    let cpu = result.cpu.as_ref();
    let scaled = |q: Quantity, by: f64| Quantity { value: q.value * by, low: q.low * by, high: q.high * by };
    let ms = |q: Option<Quantity>| q.map(|q| scaled(q, 1e-6));
    [
        ms(cpu.map(|cpu| cpu.total)),
        ms(cpu.and_then(|cpu| cpu.server)),
        ms(cpu.and_then(|cpu| cpu.php)),
        result.rate,
        result.transfer,
        result.one_by_one.map(|one| scaled(one, 100.0)),
    ]
}

fn ends(quantity: Option<Quantity>) -> [String; 3] {
    quantity.map(|q| [q.value, q.low, q.high].map(|x| x.to_string())).unwrap_or_default()
}

fn times(times: &Option<Times>) -> [String; 5] {
    let Some(t) = times else { return Default::default() };
    [t.mean, t.sd, t.p50, t.p99, t.max].map(|seconds| (seconds * 1e3).to_string())
}

/// One row a crossover and size.
fn crossovers(analysis: &DeliveryAnalysis) -> Result<Vec<u8>> {
    let mut out = Writer::from_writer(Vec::new());
    out.write_record([
        "server",
        "transport",
        "connections",
        "link",
        "coding",
        "on the fly",
        "encoded before",
        "payload",
        "size (bytes)",
        "CPU on the fly ÷ before (×)",
        "CPU 95% low",
        "CPU 95% high",
        "rate before ÷ on the fly (×)",
        "rate 95% low",
        "rate 95% high",
        "bytes before ÷ on the fly (×)",
        "pays in CPU",
        "pays in rate",
    ])?;
    let relative =
        |r: Option<Relative>| r.map(|r| [r.ratio, r.low, r.high].map(|x| x.to_string())).unwrap_or_default();
    for one in &analysis.crossovers {
        for size in &one.sizes {
            let mut row = vec![
                text(&one.server),
                one.transport.name().to_owned(),
                one.connections.to_string(),
                text(one.link.as_deref().unwrap_or_default()),
                text(&one.coding),
                text(&one.on_the_fly),
                text(&one.pre_encoded),
                text(&size.payload),
                size.bytes.to_string(),
            ];
            row.extend(relative(size.cpu));
            row.extend(relative(size.rate));
            row.push(size.body.to_string());
            row.extend([&one.cpu, &one.rate].map(|pays| super::crossover::pays(pays.as_ref())));
            out.write_record(row)?;
        }
    }
    Ok(out.into_inner()?)
}
