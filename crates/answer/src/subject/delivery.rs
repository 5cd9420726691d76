//! Deliveries: the cost of a response by component when a web server sends it, its duration, and the best trade-offs.
//! The cost of a codec alone is another subject.

mod tables;

use weigh_load::caveats::BUSY_SHARE;
use weigh_model::caveat::Caveat;
use weigh_model::cell::{Cell, Subject};
use weigh_model::link::Rate;
use weigh_model::payload::Origin;
use weigh_model::plan::Plan;
use weigh_model::protocol::Phase;
use weigh_model::record::delivery::{Workers, littles_law};
use weigh_model::record::{DeliveryVisit, VisitRecord};
use weigh_model::units;
use weigh_model::way::{By, CONFIG, WayKind};
use weigh_stats::hist::Packed;

use crate::block::Block;
use crate::document::group;
use crate::estimate::Estimate;
use crate::finding::delivery as finding;
use crate::gather::{Gathered, Measured};
use crate::group::Group;
use crate::metric::delivery::{
    BODY, CODING, CONTENT, CPU, ONE_BY_ONE, PHP_CPU, RATE, REQUESTS, SECONDS, SERVER_CPU, is_kind,
    is_own_share, rounds,
};
use crate::metric::{Aggregation, Better, Metric, Per, Source, Statistic, Unit, metrics};
use crate::names;
use crate::report::exhibit::Exhibits;
use crate::report::exhibit::crossover::Crossovers;
use crate::report::exhibit::fairness::SlowClients;
use crate::report::exhibit::negotiation::Negotiations;
use crate::report::exhibit::published::BesidePublished;
use crate::report::exhibit::waits::Waits;
use crate::report::finding::Evidence;
use crate::report::ranking::Costs;
use crate::report::shape::{Axes, Factor, Facts, Look, Mark, Shape, ShownColumn, metric, shown};
use crate::report::{OverLink, Report};
use crate::row::{Row, Values};
use crate::subject::codec::RIVAL;
use crate::subject::split::{part_of, subtract_from_whole, user_share};
use crate::table::{Cell as Field, Column, Columns, Grid, Kind, factor, field};
use crate::text::{clean, json_name};

/// A figure from fewer rounds than this has a note.
const ENOUGH_ROUNDS: u32 = 3;
/// Methods that send the content uncompressed, the simplest first; others follow.
const PLAIN: [&str; 5] = ["none", "plain", "readfile", "fpassthru", "fread"];
/// Current practice for gzip in a PHP application, the most common first; others follow.
const GZIP: [&str; 3] = ["ob_gzhandler", "gzencode", "zlib.output_compression"];
/// The default level of zlib.
const LEVEL: i32 = 6;

pub static SHAPE: Shape = Shape {
    name: "delivery",
    kinds: &[Subject::PAGE, Subject::ASSET, Subject::DOWNLOAD],
    phases: &[Phase::Serve],
    // The cost of a response is another question than that of slow clients.
    is_row: |cell| cell.delivery.is_some() && !cell.is_fairness(),
    factors: FACTORS,
    group_by: &["payload", "server", "runtime", "transport", "connections", "every_ms", "link", "visitor"],
    metrics: &[SIZES, COSTS, RATES, RESPONSE, SERVICE, FIRST_BYTE, MEMORY, WORKERS, KERNEL],
    facts,
    complete: |_| {},
    axes: Some(Axes { times: &[(CPU, "CPU time"), ("service-p50", "response time")], size: BODY }),
    costs: Some(Costs {
        write: None,
        read: (CPU, "server and PHP"),
        bytes: Some((BODY, "body bytes")),
        of_group: None,
    }),
    headline: &[CPU],
    marks: &[
        Mark { name: "reference", note: "plain", pick: plain },
        Mark { name: "gzip", note: "gzip", pick: gzip },
        Mark { name: "today", note: "today", pick: today },
    ],
    caveats,
    watches_wall: false,
    exhibits,
    questions: crate::advice::delivery::questions,
    advise: crate::advice::delivery::advise,
    findings: &[
        ("beats", finding::beats::gzip),
        ("crossing", finding::crossing::sizes),
        ("script", finding::endpoint::scripts),
        ("frees", finding::offload::hand_overs),
        ("reader", finding::waiting::over_links),
        ("outside", finding::waiting::for_urls),
        ("overhead", finding::pages::overhead_of_encoding),
        ("moves", finding::pages::moved_work),
        ("skipped", finding::crossing::passed_over),
        ("example", finding::crossing::one_file),
        ("smaller", finding::crossing::bytes),
        ("returning", finding::returning::visitors),
        ("fairness", finding::fairness::kept_workers),
        ("workers", finding::offload::freed_workers),
        ("spool", finding::offload::spooled),
        ("handler", finding::pages::own_handler),
        ("pieces", finding::pages::flushed_in_pieces),
        ("transport", finding::beside::tls),
        ("runtimes", finding::beside::runtimes),
        ("published", crate::finding::published::agreement),
        ("negotiation", finding::negotiation::rules),
    ],
    look: Look {
        noun: ("method", "methods"),
        method: "Private instances of servers and PHP pools are loaded in blocks of requests by this program's own load generator. Configurations are \
            measured in rounds, in a new random order each round. CPU time is read from the processes of server and PHP right before and after each block. \
            A CPU figure is the 0.1 quantile over rounds with a 95% confidence interval, because neighbours on the machine only add CPU time. Rates are \
            medians over rounds. Intervals of ratios are formed inside rounds and corrected for all comparisons of the run. Times of all rounds are in one \
            histogram. Every body is compared byte for byte with the first of its block, which is decoded and compared with the source.",
        label: names::method,
        title: |_, group| {
            let visitor = if group.factor("visitor").is_empty() { "" } else { ", to returning visitors" };
            format!("{} from {}{visitor}", clean(group.payload()), names::stack_of_group(group))
        },
        about: |report, group| {
            let content = report.payload(group.payload()).map(group::about);
            content.into_iter().chain(report.link(group.factor("link")).map(about_link)).collect()
        },
        columns: tables::columns,
        notes: |_, row| is_own_share(row).then(|| "the script's own share".to_owned()).into_iter().collect(),
        overview: tables::overview,
        pictures: crate::picture::delivery::pictures,
        part: None,
        few: 3,
    },
};

const FACTORS: &[Factor] = &[
    Factor { id: "subject", of: |cell| Some(cell.subject.name().to_owned()) },
    Factor { id: "payload", of: |cell| Some(cell.payload.clone()) },
    Factor { id: "server", of: |cell| Some(cell.delivery.as_ref()?.server.clone()) },
    Factor { id: "runtime", of: |cell| Some(cell.runtime.clone()) },
    Factor { id: "transport", of: |cell| Some(cell.delivery.as_ref()?.transport.name().to_owned()) },
    Factor { id: "connections", of: |cell| Some(cell.delivery.as_ref()?.connections.to_string()) },
    Factor { id: "every_ms", of: |cell| Some(cell.delivery.as_ref()?.every_ms?.to_string()) },
    Factor { id: "link", of: |cell| cell.delivery.as_ref()?.link.clone() },
    // What only those get who have the last version does not compete with what all get.
    Factor { id: "visitor", of: |cell| cell.is_delta().then(|| "returning".to_owned()) },
    Factor { id: "way", of: |cell| Some(cell.delivery.as_ref()?.way(&cell.setting)) },
    Factor { id: "way-kind", of: |cell| Some(json_name(cell.delivery.as_ref()?.kind)) },
    Factor { id: "accept", of: |cell| Some(cell.delivery.as_ref()?.accept.clone()) },
];

/// The block of a visit, with a response.
fn block(visit: &VisitRecord) -> Option<&DeliveryVisit> {
    visit.delivery.as_deref().filter(|block| block.requests > 0)
}

/// A counter of a block, and its responses.
fn per_request(visit: &VisitRecord, of: fn(&DeliveryVisit) -> Option<u64>) -> Option<(f64, f64)> {
    let block = block(visit)?;
    Some((of(block)? as f64, block.requests as f64))
}

/// The workers of a block whose pool status could be read.
fn workers(visit: &VisitRecord) -> Option<Workers> {
    block(visit)?.workers.filter(|workers| workers.readings > 0)
}

const SIZES: &[Metric] = metrics! {
    CONTENT => Bytes, Neither, Exact, per Request: Source::Visit(|v| Some(v.decoded_bytes as f64)), "Bytes of the content.";
    BODY => Bytes, Less, Exact, per Request: Source::Visit(|v| Some(v.encoded_bytes as f64)),
        "Bytes of the body in its content coding.";
    "saving" => Share, More, Exact, per Run: Source::Values(|_, v| saving(v)), "Space saving: 1 − body ÷ content.";
    "wire-bytes" => Bytes, Less, Mean, per Request: Source::Total(|v| per_request(v, |b| Some(b.wire_bytes))),
        "Bytes over the connection with head and framing, without TLS.";
};

fn saving(values: &Values) -> Option<Estimate> {
    let (body, content) = (values.get(BODY)?, values.get(CONTENT)?.value);
    Some(Estimate::exact(1.0 - body.value / content.max(1.0), body.rounds as usize))
}

const COSTS: &[Metric] = metrics! {
    SERVER_CPU => Ns, Less, LowQuantile, per Request: Source::Visit(|v| cpu(v, |b| b.server_cpu_ns)),
        "CPU time of the server's processes.";
    PHP_CPU => Ns, Less, LowQuantile, per Request: Source::Visit(|v| cpu(v, |b| b.php_cpu_ns)), "CPU time of PHP's processes.";
    CPU => Ns, Less, LowQuantile, per Request: Source::Values(|_, v| sum_of(v, SERVER_CPU, PHP_CPU)),
        "CPU time of server and PHP: the sum of the two.";
    "server-user-share" => Share, Neither, Mean, per Run: Source::Visits(|m| user_share(blocks(m).filter_map(|b| apart(b.server_user_ns, b.server_cpu_ns)))),
        "Share of the server's CPU time in user space, of all rounds together.";
    "php-user-share" => Share, Neither, Mean, per Run: Source::Visits(|m| user_share(blocks(m).filter_map(|b| apart(b.php_user_ns, b.php_cpu_ns)))),
        "Share of PHP's CPU time in user space, of all rounds together.";
    "server-user-cpu" => Ns, Less, LowQuantile, per Request: Source::Values(|_, v| part_of(v, SERVER_CPU, v.get("server-user-share")?)),
        "CPU time of the server's processes in user space.";
    "server-kernel-cpu" => Ns, Less, LowQuantile, per Request: Source::Values(|_, v| part_of(v, SERVER_CPU, &subtract_from_whole(v.get("server-user-share")?))),
        "CPU time of the server's processes in the kernel.";
    "php-user-cpu" => Ns, Less, LowQuantile, per Request: Source::Values(|_, v| part_of(v, PHP_CPU, v.get("php-user-share")?)),
        "CPU time of PHP's processes in user space.";
    "php-kernel-cpu" => Ns, Less, LowQuantile, per Request: Source::Values(|_, v| part_of(v, PHP_CPU, &subtract_from_whole(v.get("php-user-share")?))),
        "CPU time of PHP's processes in the kernel.";
    "server-idle" => Share, Neither, Max, per Run: Source::Visit(|v| Some(block(v)?.idle?.server_per_second / 1e9)),
        "Share of a core that the server's processes use without load; it is taken off their CPU time.";
    "php-idle" => Share, Neither, Max, per Run: Source::Visit(|v| Some(block(v)?.idle?.php_per_second? / 1e9)),
        "Share of a core that PHP's processes use without load; it is taken off their CPU time.";
    "generator-cpu" => Ns, Less, Median, per Request: Source::Visit(|v| cpu(v, |b| Some(b.client_cpu_ns))),
        "CPU time of the load generator; it is in none of the others.";
    "generator-share" => Share, Neither, Max, per Run: Source::Visit(|v| Some(block(v)?.client_share)),
        "Share of a core that the generator's busiest thread used.";
};

fn blocks<'m>(measured: &'m Measured<'_>) -> impl Iterator<Item = &'m DeliveryVisit> {
    measured.visits.iter().filter_map(|visit| block(visit))
}

/// CPU time in user space and in the kernel.
fn apart(user: Option<u64>, both: Option<u64>) -> Option<(u64, u64)> {
    Some((user?, both?.saturating_sub(user?)))
}

fn cpu(visit: &VisitRecord, of: fn(&DeliveryVisit) -> Option<u64>) -> Option<f64> {
    let block = block(visit)?;
    block.a_response(of(block)? as f64)
}

/// The sum of both, or the only one that is available.
fn sum_of(values: &Values, a: &str, b: &str) -> Option<Estimate> {
    match (values.get(a), values.get(b)) {
        (Some(a), Some(b)) => Some(a.plus(b)),
        (one, other) => one.or(other).cloned(),
    }
}

const RATES: &[Metric] = metrics! {
    REQUESTS => Count, Neither, Sum, per Run: Source::Visit(|v| Some(block(v)?.requests as f64)),
        "Responses that ended as they should, all rounds together.";
    "faulted" => Count, Less, Sum, per Run: Source::Visit(faulted), "Failed requests, all rounds together.";
    RATE => PerSecond, More, Median, per Run: Source::Visit(|v| per_second(v, |b| b.requests)), "Responses per second.";
    "transfer" => BytesPerSecond, More, Median, per Run: Source::Visit(|v| per_second(v, |b| b.wire_bytes)),
        "Bytes per second over the connections.";
    SECONDS => S, Less, Median, per Request: Source::Visit(|v| block(v).and_then(|b| b.a_response(b.seconds))),
        "Wall time of a block ÷ its responses.";
    ONE_BY_ONE => S, Less, Median, per Request: Source::Values(one_by_one),
        "The same where requests come one after the other, over one connection.";
};

fn faulted(visit: &VisitRecord) -> Option<f64> {
    Some(block(visit)?.faults.iter().map(|fault| fault.count).sum::<u64>() as f64)
}

fn per_second(visit: &VisitRecord, total: fn(&DeliveryVisit) -> u64) -> Option<f64> {
    let block = block(visit)?;
    (block.seconds > 0.0).then(|| total(block) as f64 / block.seconds)
}

fn one_by_one(cell: &Cell, values: &Values) -> Option<Estimate> {
    let is_alone = cell.delivery.as_ref().is_some_and(|d| d.connections == 1 && d.every_ms.is_none());
    values.get(SECONDS).filter(|_| is_alone).cloned()
}

/// Times of all rounds in one histogram, with its statistics and percentiles.
macro_rules! times {
    ($id:literal, $field:ident, $what:literal) => {{
        fn packed(visit: &VisitRecord) -> Option<&Packed> {
            Some(&block(visit)?.$field)
        }
        times!($id, packed, $what,
            "min" Min "the smallest", "mean" Mean "the mean", "sd" Sd "the standard deviation", "max" Max "the largest";
            50 0.5, 66 0.66, 75 0.75, 80 0.8, 90 0.9, 95 0.95, 98 0.98, 99 0.99)
    }};
    ($id:literal, $of:ident, $what:literal, $($name:literal $part:ident $is:literal),*; $($percent:literal $quantile:literal),*) => {
        &[
            $(time(concat!($id, "-", $name), Statistic::$part, $of, concat!($what, ": ", $is, ".")),)*
            $(time(concat!($id, "-p", $percent), Statistic::Quantile($quantile), $of, concat!($what, ": ", $percent, "% take at most this.")),)*
        ]
    };
}

const fn time(
    id: &'static str,
    part: Statistic,
    of: fn(&VisitRecord) -> Option<&Packed>,
    about: &'static str,
) -> Metric {
    let (over, of) = (Aggregation::Distribution(part), Source::Times(of));
    Metric { id, unit: Unit::S, better: Better::Less, over, per: Per::Request, of, about }
}

const RESPONSE: &[Metric] = times!("response", response, "Scheduled send to last byte");
const SERVICE: &[Metric] = times!("service", service, "Send to last byte");
const FIRST_BYTE: &[Metric] = times!("first-byte", ttfb, "Send to first byte");

const MEMORY: &[Metric] = metrics! {
    "server-pss" => Bytes, Less, Max, per Run: Source::Visit(|v| Some(block(v)?.server_pss? as f64)),
        "Most memory of the server's processes after a block: PSS.";
    "php-pss" => Bytes, Less, Max, per Run: Source::Visit(|v| Some(block(v)?.php_pss? as f64)),
        "Most memory of PHP's processes after a block: PSS.";
    "server-private" => Bytes, Less, Max, per Run: Source::Visit(|v| Some(block(v)?.server_private? as f64)),
        "Memory of the server's processes after a block that no other process maps.";
    "php-private" => Bytes, Less, Max, per Run: Source::Visit(|v| Some(block(v)?.php_private? as f64)),
        "Memory of PHP's processes after a block that no other process maps.";
    "server-anonymous" => Bytes, Less, Max, per Run: Source::Visit(|v| Some(block(v)?.server_anonymous? as f64)),
        "Memory of the server's processes after a block that has no file behind it and is not shared memory.";
    "php-anonymous" => Bytes, Less, Max, per Run: Source::Visit(|v| Some(block(v)?.php_anonymous? as f64)),
        "Memory of PHP's processes after a block that has no file behind it and is not shared memory.";
    "worker-peak" => Bytes, Less, Max, per Run: Source::Visit(|v| Some(block(v)?.worker_peaks.iter().max().copied()? as f64)),
        "Most memory that one of PHP's workers had resident at once: VmHWM.";
    "php-peak" => Bytes, Less, Max, per Run: Source::Visit(|v| Some(block(v)?.php_peak? as f64)),
        "Most bytes that PHP's memory manager had for one response.";
};

const WORKERS: &[Metric] = metrics! {
    "workers" => Count, Neither, Max, per Run: Source::Visit(|v| Some(workers(v)?.total.into())), "Workers of the PHP pool.";
    "busy-mean" => Count, Neither, Mean, per Run: Source::Total(|v| {
            workers(v).map(|pool| (pool.busy_mean * f64::from(pool.readings), pool.readings.into()))
        }), "Workers that were busy, mean over all readings of the pool's status.";
    "busy-max" => Count, Neither, Max, per Run: Source::Visit(|v| Some(workers(v)?.busy_max.into())),
        "Most workers that were busy at once.";
    "idle-min" => Count, Neither, Min, per Run: Source::Visit(|v| Some(workers(v)?.idle_min.into())),
        "Fewest workers that were idle.";
    "queue-max" => Count, Neither, Max, per Run: Source::Visit(|v| Some(workers(v)?.queue_max.into())),
        "Most connections that waited in the pool's listen queue.";
    "pool-readings" => Count, Neither, Sum, per Run: Source::Visit(|v| Some(workers(v)?.readings.into())),
        "How often the pool's status was read.";
    "worker-seconds" => S, Less, Mean, per Request: Source::Total(|v| {
            workers(v).zip(block(v)).map(|(pool, block)| (pool.busy_mean * block.seconds, block.requests as f64))
        }), "For how long a worker of the pool is busy: busy workers × wall time ÷ responses.";
};

const KERNEL: &[Metric] = metrics! {
    "voluntary-switches" => Count, Less, Mean, per Request: Source::Total(|v| per_request(v, |b| Some(b.switches?.voluntary))),
        "Context switches because server or PHP waited for something.";
    "involuntary-switches" => Count, Less, Mean, per Request: Source::Total(|v| per_request(v, |b| Some(b.switches?.involuntary))),
        "Involuntary context switches of server and PHP.";
    "read-bytes" => Bytes, Less, Mean, per Request: Source::Total(|v| per_request(v, |b| b.read_bytes)), "Bytes read from disk.";
    "written-bytes" => Bytes, Less, Mean, per Request: Source::Total(|v| per_request(v, |b| b.written_bytes)),
        "Bytes written to disk: spooled to temporary files.";
};

/// The library of the method, as PHP or the server reports it, and the content coding in the response.
fn facts(plan: &Plan, measured: &Measured) -> Facts {
    let way = &measured.cell.setting.codec;
    let library = measured.cell.delivery.as_ref().and_then(|delivery| {
        let libraries = match delivery.by {
            By::Php => &plan.runtimes.iter().find(|r| r.name == measured.cell.runtime)?.libraries,
            By::Server => &plan.servers.iter().find(|s| s.name == delivery.server)?.libraries,
        };
        libraries.get(way).cloned()
    });
    let coding = blocks(measured).find_map(|block| block.preflight.content_encoding.clone());
    vec![("library", library), (CODING, coding)]
}

fn rank(names: &[&str], name: &str) -> usize {
    names.iter().position(|known| *known == name).unwrap_or(names.len())
}

/// The content sent uncompressed: as a whole, by PHP if PHP takes part.
fn plain<'r>(rows: &[&'r Row], _: &[&'r Row]) -> Option<&'r Row> {
    let likeness = |row: &&Row| {
        let by_server = row.cell.delivery.as_ref().is_some_and(|d| d.by == By::Server);
        (row.cell.setting.options.len(), rank(&PLAIN, &row.cell.setting.codec), by_server)
    };
    let plain = rows.iter().copied().filter(|row| is_kind(row, WayKind::Plain) && row.get(CPU).is_some());
    plain.min_by_key(likeness)
}

/// The method that encodes each response with gzip at level 6, or the nearest level, preferably without options.
fn gzip<'r>(rows: &[&'r Row], _: &[&'r Row]) -> Option<&'r Row> {
    let is_gzip = |row: &&Row| {
        is_kind(row, WayKind::OnTheFly) && row.fact(CODING) == Some("gzip") && row.get(CPU).is_some()
    };
    let likeness = |row: &&Row| {
        let setting = &row.cell.setting;
        (setting.options.len(), setting.level.unwrap_or(LEVEL).abs_diff(LEVEL), rank(&GZIP, &setting.codec))
    };
    rows.iter().copied().filter(is_gzip).min_by_key(likeness)
}

/// What the user's own configuration sends, with gzip if it does.
fn today<'r>(rows: &[&'r Row], _: &[&'r Row]) -> Option<&'r Row> {
    let own = rows.iter().copied().filter(|row| row.cell.setting.codec == CONFIG && row.get(CPU).is_some());
    own.min_by_key(|row| row.fact(CODING) != Some("gzip"))
}

fn caveats(evidence: &Evidence, measured: &Measured, row: &Row) -> Vec<Caveat> {
    let share = row.value("generator-share").unwrap_or(0.0);
    let rounds = rounds(row);
    let mut faults = measured.visits.iter().filter_map(|visit| block(visit)).flat_map(|block| &block.faults);
    let example = faults.next().map(|fault| fault.example.message.clone());
    let faulted = row.count("faulted");
    let derived = [
        (share >= BUSY_SHARE).then_some(Caveat::GeneratorLimit { share }),
        (rounds < ENOUGH_ROUNDS).then_some(Caveat::FewSamples { samples: rounds }),
        (rounds > 0 && row.get(CPU).is_none()).then_some(Caveat::NotMetered),
        changing(evidence, measured),
        littles_law(
            &blocks(measured).collect::<Vec<_>>(),
            measured.cell.delivery.as_ref().map_or(1, |d| d.connections),
        )
        .filter(|_| measured.cell.delivery.as_ref().is_none_or(|d| d.every_ms.is_none())),
        evidence.report.exhibits.negotiations.as_ref().and_then(|told| told.caveat(row.id())),
        example.filter(|_| faulted > 0).map(|example| Caveat::FaultyResponses {
            faulted,
            requests: row.count(REQUESTS).saturating_add(faulted),
            example,
        }),
    ];
    derived.into_iter().flatten().collect()
}

/// A URL whose response changed since the run was planned.
fn changing(evidence: &Evidence, measured: &Measured) -> Option<Caveat> {
    let payload = evidence.report.payload(&measured.cell.payload)?;
    let is_url = matches!(payload.origin, Origin::Url { .. });
    let differs = |d: &DeliveryVisit| d.preflight.decoded_sha256.as_ref() != Some(&payload.sha256);
    let changed = measured.visits.iter().filter_map(|v| v.delivery.as_deref()).any(differs);
    (is_url && changed).then(|| Caveat::Changing { payload: payload.name.clone() })
}

fn exhibits(evidence: &Evidence, gathered: &Gathered) -> Exhibits {
    Exhibits {
        crossovers: Crossovers::of(evidence),
        negotiations: Negotiations::of(gathered),
        fairness: SlowClients::of(gathered),
        published: BesidePublished::of(evidence),
        waits: Waits::of(evidence),
        ..Exhibits::default()
    }
}

/// A link as measured, compared with what was requested, on one line.
fn about_link(OverLink { asked, measured }: &OverLink) -> String {
    let beside = |name: &str, asked: Option<String>, seen: Option<String>| {
        let asked = asked.unwrap_or_else(|| "not limited".into());
        seen.map(|seen| format!("{name} {seen} ({asked})"))
    };
    let mbit = |kbps: f64| units::mbit(kbps / 1e3);
    let ms = |ms: f64| units::ns(ms * 1e6);
    let rate = |name, asked: Option<f64>, seen: &Option<Rate>| {
        beside(name, asked.map(mbit), seen.as_ref().map(|rate| mbit(rate.measured_kbps)))
    };
    let trip = measured.round_trip.as_ref();
    let lost = measured.lost.as_ref().filter(|lost| lost.sent > 0);
    let loss = lost.map(|lost| units::percent(lost.lost as f64 / lost.sent as f64));
    let figures = [
        rate("down", asked.down_kbps, &measured.down),
        rate("up", asked.up_kbps, &measured.up),
        beside("round trip", Some(ms(asked.rtt_ms)), trip.map(|trip| ms(trip.median_ms))),
        beside("loss", Some(units::percent(asked.loss)), loss),
    ];
    let figures: Vec<String> = figures.into_iter().flatten().collect();
    let hides = measured.way.hides().map_or(String::new(), |hides| format!(" · {hides}"));
    format!(
        "The link {} ({}), measured (asked): {}. Each response uses a new connection; times include its handshake.{hides}",
        clean(&asked.name),
        measured.way.name(),
        figures.join(", "),
    )
}

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
