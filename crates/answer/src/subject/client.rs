//! Clients of stores in PHP: the cost of a transaction by component, transactions per second, and the time per call.

use weigh_model::caveat::Caveat;
use weigh_model::cell::{Cell as Configuration, Subject};
use weigh_model::client::Client;
use weigh_model::protocol::Phase;
use weigh_model::record::client::WorkerVisit;
use weigh_model::record::{ClientVisit, VisitRecord};
use weigh_model::units;
use weigh_stats::hist::{Hist, Packed};
use weigh_stats::median;

use crate::block::{Block, more};
use crate::document::group;
use crate::estimate::Estimate;
use crate::finding::client as finding;
use crate::gather::{Gathered, Measured};
use crate::group::Group;
use crate::metric::client::{
    CLIENT_CPU, COMBINED, CPU, DECODE, ENCODE, GET_MEAN, GET_MIDDLE, PEAK, PEAK_MIDDLE, PER_PROCESS, PSS,
    PSS_MIDDLE, PUT_MEAN, PUT_MIDDLE, SECONDS, STORE_CPU, STORE_PSS, STORED, UNMETERED, due, over, work,
};
use crate::metric::{Metric, Source, Statistic, metrics};
use crate::names;
use crate::report::Report;
use crate::report::exhibit::Exhibits;
use crate::report::exhibit::comparison::{self, Comparisons};
use crate::report::exhibit::prediction::ComputedCalls;
use crate::report::finding::Evidence;
use crate::report::ranking::Costs;
use crate::report::shape::{Factor, Look, Shape, ShownColumn, metric, shown};
use crate::row::{Row, Values};
use crate::subject::split::{part_of, subtract_from_whole, user_share};
use crate::table::{Cell as Field, Column, Columns, Grid, Kind, Tone};
use crate::text::clean;

const SKEW: &str = "start-skew";

/// A figure from fewer rounds than this has a note.
const ENOUGH_ROUNDS: u64 = 3;

/// If workers start this share of their time apart, they did not start together.
const APART: f64 = 0.1;

/// Rows of a summary; more are in the full report.
const FEW: usize = 24;

pub static SHAPE: Shape = Shape {
    name: "client",
    kinds: &[Subject::CLIENT],
    phases: &[Phase::Transact],
    is_row: |cell| cell.client.is_some(),
    factors: FACTORS,
    group_by: &["payload", "work", "link", "transactions"],
    metrics: &[COUNTS, RATES, COSTS, PUT, GET, PUT_DUE, GET_DUE, CALLS, MEMORY],
    facts: |_, measured| {
        let first = |of: fn(&ClientVisit) -> Option<&String>| visits(measured).find_map(of).cloned();
        vec![("library", first(|v| v.library.as_ref())), ("server", first(|v| v.server.as_ref()))]
    },
    complete: |_| {},
    axes: None,
    costs: Some(Costs { write: None, read: (CPU, "workers and store"), bytes: None, of_group: Some(costs) }),
    headline: &[CPU],
    marks: &[],
    caveats,
    watches_wall: false,
    exhibits,
    questions: crate::advice::client::questions,
    advise: crate::advice::client::advise,
    findings: &[
        ("runtime", finding::beside::runtimes),
        ("split", finding::cpu::split),
        ("driver", |e| finding::beside::sentences(e, comparison::Kind::Driver)),
        ("store", |e| finding::beside::sentences(e, comparison::Kind::Store)),
        ("setting", |e| finding::beside::sentences(e, comparison::Kind::Setting)),
        ("coding", finding::coding::share_of_writes),
        ("advice", finding::advice::computed_and_measured),
        ("values", finding::values::beside_integers),
        ("memory", finding::memory::of_new_keys),
        ("rates", finding::rates::kept),
        ("overhead", finding::own_part),
    ],
    look: Look {
        noun: ("client", "clients"),
        method: "Private stores are started for the run. For each block, fresh PHP workers connect, prepare and start together. Each makes its \
            transactions one after the other, or on a schedule where a rate is given, and times itself. Every value that is read is compared with what was \
            written. CPU time is read from workers and store right before and after each block. A store that others run is metered where its process is on \
            this machine and readable; otherwise its part and the sum are missing. Configurations are measured in rounds, in a new random order each \
            round. A CPU figure is the 0.1 quantile over rounds with a 95% confidence interval, because neighbours on the machine only add CPU time; user \
            space and kernel are divided as in all rounds together. Rates are medians over rounds. Times inside calls are of all rounds in one histogram. \
            Memory is the maximum over workers and rounds. Ratios are formed inside each round and are medians over rounds.",
        label: names::client_and_setting,
        title: |_, group| clean(group.payload()),
        part: Some(work_title),
        about: |report, group| report.payload(group.payload()).map(group::about).into_iter().collect(),
        columns,
        notes: |_, _| Vec::new(),
        overview,
        pictures: crate::picture::client::pictures,
        few: 0,
    },
};

const FACTORS: &[Factor] = &[
    Factor { id: "payload", of: |cell| Some(cell.payload.clone()) },
    Factor { id: "store", of: |cell| of_client(cell, |c| Some(c.store.clone())) },
    Factor { id: "driver", of: |cell| of_client(cell, |c| Some(c.driver.clone())) },
    Factor { id: "runtime", of: |cell| Some(cell.runtime.clone()) },
    Factor { id: "work", of: |cell| of_client(cell, |c| Some(c.work())) },
    Factor { id: "mix", of: |cell| of_client(cell, |c| Some(c.mix.to_string())) },
    Factor { id: "keys", of: |cell| of_client(cell, |c| Some(c.keys.to_string())) },
    Factor { id: "workers", of: |cell| of_client(cell, |c| Some(c.workers.to_string())) },
    Factor { id: "transactions", of: |cell| of_client(cell, |c| Some(c.transactions.to_string())) },
    Factor { id: "rate", of: |cell| of_client(cell, |c| Some(c.rate?.to_string())) },
    Factor { id: "link", of: |cell| of_client(cell, |c| c.link.clone()) },
    Factor { id: "serializer", of: |cell| cell.serializer.clone() },
    Factor { id: "setting", of: |cell| of_client(cell, |c| c.encoded.then(|| cell.setting.to_string())) },
];

fn of_client(cell: &Configuration, of: impl Fn(&Client) -> Option<String>) -> Option<String> {
    of(cell.client.as_ref()?)
}

/// A visit with a transaction.
fn visit(visit: &VisitRecord) -> Option<&ClientVisit> {
    visit.client.as_deref().filter(|visit| visit.transactions() > 0)
}

/// The visits of a cell with a transaction, ascending by round.
fn visits<'a>(measured: &Measured<'a>) -> impl Iterator<Item = &'a ClientVisit> {
    measured.visits.iter().filter_map(|v| visit(v))
}

/// The median over rounds of a possible amount, without an interval.
fn middle(measured: &Measured, of: fn(&ClientVisit) -> Option<f64>) -> Option<Estimate> {
    let amounts: Vec<f64> = visits(measured).filter_map(of).filter(|amount| amount.is_finite()).collect();
    Some(Estimate::exact(median(&amounts)?, amounts.len()))
}

/// An amount of a visit with a transaction.
macro_rules! amount {
    ($visit:ident => $of:expr) => {
        Source::Visit(|record| {
            let $visit = visit(record)?;
            $of
        })
    };
}

/// The number of something in all visits.
macro_rules! total {
    ($visit:ident => $of:expr) => {
        amount!($visit => Some($of as f64))
    };
}

/// An amount of a visit to a worker that encodes.
macro_rules! encoded {
    ($visit:ident => $of:expr) => {
        Source::CellVisit(|cell, record| {
            let $visit =
                visit(record).filter(|_| cell.client.as_ref().is_some_and(|client| client.encoded))?;
            $of
        })
    };
}

/// The maximum over the workers of a visit.
macro_rules! most {
    ($worker:ident => $of:expr) => {
        Source::Visit(|record| most(record, |$worker| $of))
    };
}

const COUNTS: &[Metric] = metrics! {
    "rounds" => Count, Neither, Sum, per Run: Source::Visits(|m| Some(Estimate::exact(visits(m).count() as f64, m.visits.len()))), "Rounds with a transaction.";
    "writes" => Count, Neither, Sum, per Run: total!(v => v.writes.count), "Writes, failed ones among them.";
    "writes-failed" => Count, Less, Sum, per Run: total!(v => v.writes.failed), "Writes that failed.";
    "writes-made" => Share, More, Sum, per Run: Source::Values(|_, v| made(v, "writes", &["writes-failed"])),
        "Share of writes that succeeded; 1 without a write.";
    "reads" => Count, Neither, Sum, per Run: total!(v => v.reads.count), "Reads, failed ones and those that found nothing among them.";
    "reads-failed" => Count, Less, Sum, per Run: total!(v => v.reads.failed), "Reads that failed.";
    "hits" => Count, Neither, Sum, per Run: total!(v => v.reads.hits), "Reads that found a value.";
    "misses" => Count, Less, Sum, per Run: total!(v => v.reads.misses), "Reads that found nothing.";
    "wrong" => Count, Less, Sum, per Run: total!(v => v.reads.wrong), "Reads that gave another value than was written.";
    "reads-made" => Share, More, Sum, per Run: Source::Values(|_, v| made(v, "reads", &["reads-failed", "wrong"])),
        "Share of reads that succeeded; 1 without a read. A read that finds nothing is no failure.";
    "transactions" => Count, Neither, Sum, per Run: total!(v => v.transactions()), "Writes and reads, failed ones among them.";
    "dropped" => Count, Less, Sum, per Run: total!(v => v.dropped), "Scheduled and never sent.";
};

/// The share of calls that did not fail.
fn made(values: &Values, calls: &str, failed: &[&str]) -> Option<Estimate> {
    let calls = values.get(calls)?;
    let failed: f64 = failed.iter().filter_map(|metric| values.get(*metric)).map(|e| e.value).sum();
    let made = if calls.value == 0.0 { 1.0 } else { (calls.value - failed).max(0.0) / calls.value };
    Some(Estimate::exact(made, calls.rounds as usize))
}

const RATES: &[Metric] = metrics! {
    COMBINED => PerSecond, More, Median, per Run: amount!(v => v.tps_combined()),
        "Transactions per second of all workers: all transactions ÷ the longest worker's seconds.";
    PER_PROCESS => PerSecond, More, Median, per Run: amount!(v => v.tps_per_process()),
        "Transactions per second of a worker: all transactions ÷ the sum of the workers' seconds.";
    SECONDS => S, Less, Median, per Run: amount!(v => Some(v.seconds())),
        "A block from the first begin to its longest worker's last answer.";
    SKEW => S, Less, Median, per Run: Source::Visits(|m| middle(m, |v| Some(v.skew)).or(Some(Estimate::exact(0.0, 0)))),
        "Between the first begin and the last begin of a worker.";
};

const COSTS: &[Metric] = metrics! {
    CLIENT_CPU => Ns, Less, LowQuantile, per Transaction: amount!(v => client_cpu(v)), "CPU time of the workers.";
    STORE_CPU => Ns, Less, LowQuantile, per Transaction: amount!(v => v.a_transaction((v.server_user_ns? + v.server_system_ns?) as f64)),
        "CPU time of the store's processes; none without a process of its own, and where others run it and it could not be read.";
    UNMETERED => Count, Less, Sum, per Run: Source::Visits(unmetered),
        "Rounds in which others ran the store and its processes could not be read; none without such a round.";
    CPU => Ns, Less, LowQuantile, per Transaction: Source::Values(|_, v| together(v)),
        "CPU time of workers and store together; none where the store's could not be read.";
    "client-user-share" => Share, Neither, Mean, per Run: Source::Visits(|m| user_share(visits(m).map(|v| (v.client_user_ns, v.client_system_ns)))),
        "Share of the workers' CPU time in user space, of all rounds together.";
    "store-user-share" => Share, Neither, Mean, per Run: Source::Visits(|m| user_share(visits(m).filter_map(store_ns))),
        "Share of the store's CPU time in user space, of all rounds together.";
    "client-user-cpu" => Ns, Less, LowQuantile, per Transaction: Source::Values(|_, v| part_of(v, CLIENT_CPU, v.get("client-user-share")?)),
        "CPU time of the workers in user space: PHP's own code and the driver's.";
    "client-kernel-cpu" => Ns, Less, LowQuantile, per Transaction: Source::Values(|_, v| part_of(v, CLIENT_CPU, &subtract_from_whole(v.get("client-user-share")?))),
        "CPU time of the workers in the kernel.";
    "store-user-cpu" => Ns, Less, LowQuantile, per Transaction: Source::Values(|_, v| part_of(v, STORE_CPU, v.get("store-user-share")?)),
        "CPU time of the store's processes in user space.";
    "store-kernel-cpu" => Ns, Less, LowQuantile, per Transaction: Source::Values(|_, v| part_of(v, STORE_CPU, &subtract_from_whole(v.get("store-user-share")?))),
        "CPU time of the store's processes in the kernel.";
    "own-share" => Share, Less, Median, per Run: Source::Visits(|m| middle(m, |v| Some(v.own_ns / client_cpu(v).filter(|cpu| *cpu > 0.0)?))),
        "Share of the workers' CPU time that is their own loop.";
};

/// CPU nanoseconds per transaction of the workers.
fn client_cpu(visit: &ClientVisit) -> Option<f64> {
    visit.a_transaction((visit.client_user_ns + visit.client_system_ns) as f64)
}

/// The rounds in which the CPU time of a store with processes is missing.
fn unmetered(measured: &Measured) -> Option<Estimate> {
    let rounds = visits(measured).filter(|v| v.server_user_ns.is_none()).count();
    (measured.is_others && rounds > 0).then(|| Estimate::exact(rounds as f64, rounds))
}

/// Both parts, or only the workers' if the store has no process. A part that was not read is missing, not zero: then
/// there is no sum.
fn together(values: &Values) -> Option<Estimate> {
    let client = values.get(CLIENT_CPU)?;
    match values.get(STORE_CPU) {
        Some(store) => Some(client.plus(store)),
        None => values.get(UNMETERED).is_none().then(|| client.clone()),
    }
}

/// CPU time of the store's processes in user space and in the kernel.
fn store_ns(visit: &ClientVisit) -> Option<(u64, u64)> {
    let (user, system) = (visit.server_user_ns, visit.server_system_ns);
    (user.is_some() || system.is_some()).then(|| (user.unwrap_or(0), system.unwrap_or(0)))
}

/// Times of one kind of call, all rounds in one histogram.
macro_rules! times {
    ($id:literal, $of:expr, $what:literal) => {
        metrics! {
            concat!($id, "-count") => Count, Neither, Distribution(Statistic::Count), per Op: Source::Times($of), concat!("How many: ", $what);
            concat!($id, "-mean") => S, Less, Distribution(Statistic::Mean), per Op: Source::Times($of), concat!("The mean: ", $what);
            concat!($id, "-p50") => S, Less, Distribution(Statistic::Quantile(0.5)), per Op: Source::Times($of), concat!("The median: ", $what);
            concat!($id, "-p90") => S, Less, Distribution(Statistic::Quantile(0.9)), per Op: Source::Times($of), concat!("The 90th percentile: ", $what);
            concat!($id, "-p99") => S, Less, Distribution(Statistic::Quantile(0.99)), per Op: Source::Times($of), concat!("The 99th percentile: ", $what);
            concat!($id, "-p999") => S, Less, Distribution(Statistic::Quantile(0.999)), per Op: Source::Times($of), concat!("The 99.9th percentile: ", $what);
            concat!($id, "-max") => S, Less, Distribution(Statistic::Max), per Op: Source::Times($of), concat!("The largest: ", $what);
        }
    };
}

fn put(v: &VisitRecord) -> Option<&Packed> {
    Some(&visit(v)?.put)
}

fn get(v: &VisitRecord) -> Option<&Packed> {
    Some(&visit(v)?.get)
}

fn put_due(v: &VisitRecord) -> Option<&Packed> {
    visit(v)?.put_response.as_ref()
}

fn get_due(v: &VisitRecord) -> Option<&Packed> {
    visit(v)?.get_response.as_ref()
}

const PUT: &[Metric] = times!("put", put, "time inside PUT.");
const GET: &[Metric] = times!("get", get, "time inside GET.");
const PUT_DUE: &[Metric] = times!("put-due", put_due, "from the scheduled send of a write to its answer.");
const GET_DUE: &[Metric] = times!("get-due", get_due, "from the scheduled send of a read to its answer.");

const CALLS: &[Metric] = metrics! {
    PUT_MIDDLE => Ns, Less, Median, per Op: Source::Visit(|v| of_hist(put(v)?, |hist| hist.quantile(0.5))), "The median time inside PUT of a round.";
    GET_MIDDLE => Ns, Less, Median, per Op: Source::Visit(|v| of_hist(get(v)?, |hist| hist.quantile(0.5))), "The median time inside GET of a round.";
    PUT_MEAN => Ns, Less, Median, per Op: Source::Visit(|v| of_hist(put(v)?, Hist::mean)), "The mean time inside PUT of a round.";
    GET_MEAN => Ns, Less, Median, per Op: Source::Visit(|v| of_hist(get(v)?, Hist::mean)), "The mean time inside GET of a round.";
    ENCODE => Ns, Less, Median, per Op: encoded!(v => per_call(v.encode_ns, v.writes.count)),
        "Serializing and encoding by the worker itself inside a PUT, wall time; none where it does not encode.";
    DECODE => Ns, Less, Median, per Op: encoded!(v => per_call(v.decode_ns, v.reads.hits)),
        "Decoding and unserializing by the worker itself inside a GET, wall time; none where it does not encode.";
    "encode-total" => Ns, Less, Sum, per Run: encoded!(v => Some(v.encode_ns as f64)), "Serializing and encoding of all writes.";
    "decode-total" => Ns, Less, Sum, per Run: encoded!(v => Some(v.decode_ns as f64)), "Decoding and unserializing of all reads.";
    "encode-share" => Share, Less, Mean, per Run: Source::Values(|_, v| coding_share(v, ENCODE, "put")),
        "Share of the time inside PUT that is serializing and encoding, over all rounds.";
    "decode-share" => Share, Less, Mean, per Run: Source::Values(|_, v| coding_share(v, DECODE, "get")),
        "Share of the time inside GET that is decoding and unserializing, over all rounds.";
};

/// A time of a histogram, in nanoseconds.
fn of_hist(packed: &Packed, of: impl Fn(&Hist) -> Option<f64>) -> Option<f64> {
    of(&packed.unpack().ok()?).map(|seconds| seconds * 1e9)
}

fn per_call(ns: u64, calls: u64) -> Option<f64> {
    (calls > 0).then(|| ns as f64 / calls as f64)
}

/// All encoding or decoding ÷ all time inside such calls.
fn coding_share(values: &Values, coding: &str, call: &str) -> Option<Estimate> {
    let value = |metric: String| values.get(&metric).map_or(0.0, |estimate| estimate.value);
    let rounds = values.get(coding)?.rounds;
    let inside = value(format!("{call}-mean")) * value(format!("{call}-count")) * 1e9;
    let share = if inside > 0.0 { (value(format!("{coding}-total")) / inside).min(1.0) } else { 0.0 };
    Some(Estimate::exact(share, rounds as usize))
}

const MEMORY: &[Metric] = metrics! {
    STORED => Bytes, Less, Exact, per Run: amount!(v => Some(v.stored_bytes? as f64)), "What the driver was given for one value; none where that is no text.";
    PEAK => Bytes, Less, Max, per Run: most!(w => Some(w.memory.peak as f64)),
        "memory_get_peak_usage() over a worker's life: the most of all workers and rounds.";
    "peak-memory-system" => Bytes, Less, Max, per Run: most!(w => Some(w.memory.peak_real as f64)),
        "memory_get_peak_usage(true) of a worker, what PHP had from the system: the most of all workers and rounds.";
    "memory-growth" => Bytes, Less, Max, per Run: most!(w => Some((w.memory.end as i64 - w.memory.begin as i64) as f64)),
        "memory_get_usage() after a worker's last transaction less that before its first; negative where it fell. The most of all workers and rounds.";
    PSS => Bytes, Less, Max, per Run: most!(w => Some(w.pss? as f64)), "PSS of a worker's process right after a block: the most of all workers and rounds.";
    STORE_PSS => Bytes, Less, Max, per Run: amount!(v => Some(v.server_pss? as f64)), "PSS of the store's processes right after a block: the most of all rounds.";
    PEAK_MIDDLE => Bytes, Less, Median, per Run: most!(w => Some(w.memory.peak as f64).filter(|bytes| *bytes > 0.0)),
        "memory_get_peak_usage(): the most of a round's workers.";
    PSS_MIDDLE => Bytes, Less, Median, per Run: most!(w => Some(w.pss? as f64).filter(|bytes| *bytes > 0.0)), "PSS of a worker's process: the most of a round's workers.";
};

/// The maximum over the workers of a visit.
fn most(v: &VisitRecord, of: fn(&WorkerVisit) -> Option<f64>) -> Option<f64> {
    visit(v)?.workers.iter().filter_map(of).reduce(f64::max)
}

/// What a transaction or a call costs rows that compete: the mean time of a call where the worker encodes, else CPU time, or where that is not
/// known of all of them the time of a transaction.
fn costs(rows: &[&Row]) -> Vec<Option<(Estimate, &'static str)>> {
    let is_encoded = |row: &Row| row.cell.client.as_ref().is_some_and(|client| client.encoded);
    let is_metered = rows.iter().all(|row| is_encoded(row) || row.get(CPU).is_some());
    let cost = |row: &&Row| match (is_encoded(row), is_metered) {
        (true, _) => call(row),
        (false, true) => Some((row.get(CPU)?.clone(), CPU)),
        (false, false) => {
            let transactions = row.cell.client.as_ref()?.transactions.max(1) as f64;
            Some((row.get(SECONDS)?.scaled(1e9 / transactions), SECONDS))
        }
    };
    rows.iter().map(cost).collect()
}

/// The mean time inside a call in nanoseconds, over reads and writes in their mix.
fn call(row: &Row) -> Option<(Estimate, &'static str)> {
    let writes = row.cell.client.as_ref()?.mix.writes();
    let part = |metric: &'static str, share: f64| Some((row.get(metric)?.scaled(share * 1e9), metric));
    match (part(PUT_MEAN, writes), part(GET_MEAN, 1.0 - writes)) {
        (Some((put, of_put)), Some((get, of_get))) => {
            let metric = if put.value >= get.value { of_put } else { of_get };
            Some((put.plus(&get), metric))
        }
        (one, other) => one.or(other),
    }
}

fn caveats(_: &Evidence, _: &Measured, row: &Row) -> Vec<Caveat> {
    let rounds = row.count("rounds");
    let few = (rounds < ENOUGH_ROUNDS).then_some(Caveat::FewSamples { samples: rounds as u32 });
    let staggered = row.value(SKEW).zip(row.value(SECONDS)).and_then(|(skew, seconds)| {
        let share = skew / seconds;
        (share.is_finite() && share > APART).then_some(Caveat::Staggered { skew_ms: skew * 1e3, share })
    });
    let not_metered =
        (row.get(UNMETERED).is_some() && row.get(STORE_CPU).is_none()).then_some(Caveat::NotMetered);
    [few, staggered, not_metered].into_iter().flatten().collect()
}

fn exhibits(evidence: &Evidence, _: &Gathered) -> Exhibits {
    Exhibits {
        comparisons: Comparisons::of(evidence),
        computed_calls: ComputedCalls::of(evidence),
        ..Exhibits::default()
    }
}

/// `9:1/one*4, 5,000 transactions per worker`, cleaned.
fn work_title(_: &Report, group: &Group) -> String {
    let transactions = group.factor("transactions").parse().unwrap_or(usize::MAX);
    let transactions = units::count(transactions, "transaction", "transactions");
    let link = Some(group.factor("link")).filter(|link| !link.is_empty());
    format!("{}, {transactions} per worker", clean(&format!("{}{}", group.factor("work"), over(link))))
}

/// Half the width of an interval in percent of its value; empty for a single round.
fn margin(row: &Row, metric: &str) -> Option<f64> {
    Some(row.get(metric)?.margin()? * 100.0)
}

fn columns(_: &Report, _: &Group) -> Vec<ShownColumn> {
    let whole = |name, unit: &str, rank| Column::new(name, unit, Kind::Whole, rank);
    let three = |name, unit: &str, rank| Column::new(name, unit, Kind::Three, rank);
    let fixed = |name, unit: &str, rank| Column::new(name, unit, Kind::Fixed(1), rank);
    vec![
        shown(Column::factor("client", "", Kind::Text), |report, _, r| {
            group::marked(report, r, &names::client(r)).into()
        }),
        shown(Column::factor("setting", "", Kind::Text), |_, _, r| names::encoded(r).into()),
        metric(whole("combined", "trans/s", 0), COMBINED, 1.0),
        shown(fixed("95% CI", "+%", 5).of("combined-margin").about(MARGIN), |_, _, r| {
            margin(r, COMBINED).into()
        }),
        metric(whole("per process", "trans/s", 8), PER_PROCESS, 1.0),
        metric(three("CPU", "µs", 0), CPU, 1e-3),
        shown(fixed("CPU 95% CI", "+%", 9).of("cpu-margin").about(CPU_MARGIN), |_, _, r| {
            margin(r, CPU).into()
        }),
        metric(three("PHP", "user µs", 5), "client-user-cpu", 1e-3),
        metric(three("PHP", "kernel µs", 5), "client-kernel-cpu", 1e-3),
        metric(three("store", "µs", 3), STORE_CPU, 1e-3),
        metric(three("PUT", "p50 µs", 2), "put-p50", 1e6),
        metric(three("PUT", "p99 µs", 6), "put-p99", 1e6),
        metric(three("GET", "p50 µs", 2), "get-p50", 1e6),
        metric(three("GET", "p99 µs", 4), "get-p99", 1e6),
        metric(three("GET", "p99.9 µs", 13), "get-p999", 1e6),
        shown(three("scheduled", "p50 µs", 7).of("due-p50").about(DUE), |_, _, r| {
            due(r, "p50").map(|s| s * 1e6).into()
        }),
        shown(three("scheduled", "p99 µs", 7).of("due-p99").about(DUE), |_, _, r| {
            due(r, "p99").map(|s| s * 1e6).into()
        }),
        metric(three("encode", "µs", 6), ENCODE, 1e-3),
        metric(three("decode", "µs", 6), DECODE, 1e-3),
        metric(whole("stored", "B", 10), STORED, 1.0),
        metric(three("total", "s", 11), SECONDS, 1.0),
        metric(three("peak", "MB", 3), PEAK, 1e-6),
        metric(three("PSS", "MB", 10), PSS, 1e-6),
        metric(three("store", "PSS MB", 12), STORE_PSS, 1e-6),
        shown(fixed("found", "%", 14).about("Reads that found their value."), |_, _, r| {
            let found = || r.count("hits") as f64 / r.count("reads").max(1) as f64 * 100.0;
            (r.count("misses") > 0).then(found).into()
        }),
        metric(fixed("own loop", "%", 7), "own-share", 100.0),
        metric(three("skew", "ms", 15), SKEW, 1e3),
        metric(whole("rounds", "", 12), "rounds", 1.0),
        shown(Column::note("note", 1), |report, g, r| group::notes(report, g, r).into()),
    ]
}

const MARGIN: &str = "How far the 95% confidence interval of the combined rate reaches above it.";
const CPU_MARGIN: &str = "How far the 95% confidence interval of the CPU time reaches above it.";
const DUE: &str = "From the scheduled send to the answer: of reads, of writes if there are no reads.";

/// All contents in one table.
fn overview(report: &Report, columns: &Columns) -> Vec<Block> {
    let views = group::views(report);
    let mut grid = Grid::default();
    for view in &views {
        let table = view.table(view.rows.iter().copied(), columns);
        let place = ["content", "work"].map(|name| Column::factor(name, "", Kind::Text));
        grid.columns = place.into_iter().chain(table.columns).collect();
        for (row, (_, fields)) in view.rows.iter().zip(table.rows) {
            let place: [Field; 2] = [view.title().into(), work(row).into()];
            grid.push(Tone::Plain, place.into_iter().chain(fields).collect());
        }
    }
    let left = grid.rows.len().saturating_sub(FEW);
    grid.rows.truncate(FEW);
    let mut blocks = vec![Block::Heading(2, "Clients".into()), Block::Table(grid)];
    blocks.extend(more(left, "more configuration", "more configurations"));
    blocks
}
