//! A load in the common model: its classes as rows of a report, so that it is compared, kept and listed as runs of studies
//! are.

use std::collections::{BTreeMap, BTreeSet};

use weigh_load::plan::{LoadPlan, Protocol, Request, Stream};
use weigh_load::result::{Checked, ClassResult, Preflight};
use weigh_model::cell::{Cell, NO_PHP, Subject};
use weigh_model::payload::{Origin, Payload};
use weigh_model::setting::Setting;
use weigh_model::study::StudyText;

use super::{LoadCaveat, slices};
use crate::estimate::Estimate;
use crate::load::document::{Document, Measured, Run, Searched};
use crate::metric::MetricDescription;
use crate::metric::load::{
    ARRIVALS, BODY, CAPACITY, CLIENT_CPU, ERRORS, FIRST_BYTE, MEAN_BODY, PERCENTILES, RATE,
};
use crate::report::{Report, RunFacts};
use crate::row::{Row, Values};
use crate::subject::load::SHAPE;

/// Characters of a URL in an id.
const LONGEST: usize = 160;
const NAMED: usize = 3;

impl Document {
    /// Its blocks, with the names of their sides; one side has none.
    pub(crate) fn sides(&self) -> Vec<(&'static str, &Run)> {
        match &self.measured {
            Measured::Run(run) => vec![("", run)],
            Measured::Comparison(compared) => vec![("A ", &compared.a), ("B ", &compared.b)],
            Measured::Capacity(searched) => vec![("", &searched.closed)],
            Measured::Calibration(_) => Vec::new(),
        }
    }

    /// Whether it is one side, which can be compared with another.
    pub fn is_single(&self) -> bool {
        matches!(self.measured, Measured::Run(_) | Measured::Capacity(_))
    }

    /// Whether the user did not stop it early.
    pub fn is_complete(&self) -> bool {
        self.sides().iter().all(|(_, run)| !run.caveats.contains(&LoadCaveat::Interrupted))
    }

    /// The same as a report of rows, one for each class.
    pub fn report(&self) -> Report {
        let sides = self.sides();
        let mut ids = BTreeSet::new();
        let mut rows: Vec<Row> = match &self.measured {
            Measured::Capacity(searched) => vec![capacity(searched)],
            _ => sides.iter().flat_map(|(side, run)| rows(side, run)).collect(),
        };
        rows.retain(|row| ids.insert(row.cell.id.clone()));
        Report {
            study: StudyText { name: SHAPE.name.into(), title: "Load".into(), ..StudyText::default() },
            run: self.facts(),
            shape: &SHAPE,
            payloads: sides.iter().flat_map(|(_, run)| contents(run)).collect(),
            metrics: SHAPE.metrics().map(MetricDescription::from).collect(),
            rows,
            ..Report::default()
        }
    }

    fn facts(&self) -> RunFacts {
        let sides = self.sides();
        let mut environment = self.environment.clone();
        if !environment.is_empty() {
            sides.iter().for_each(|(side, run)| environment.extend(describe_requests(side, run)));
        }
        RunFacts {
            started: self.started.clone(),
            version: self.weigh.clone(),
            seed: sides.first().map_or(0, |(_, run)| run.plan.seed),
            seconds: sides.iter().map(|(_, run)| run.result.seconds).sum(),
            rounds: sides.iter().map(|(_, run)| run.result.slices.len() as u32).max().unwrap_or(0),
            complete: self.is_complete(),
            machine: self.machine.clone(),
            folder: None,
            environment,
        }
    }
}

/// What was asked of whom, by name.
fn describe_requests(side: &str, run: &Run) -> BTreeMap<String, String> {
    let plan = &run.plan;
    let servers: BTreeSet<&str> =
        run.result.preflights.iter().filter_map(|seen| seen.server.as_deref()).collect();
    let urls: Vec<&str> = plan.requests.iter().take(NAMED).map(|request| request.url.as_str()).collect();
    let more = match plan.requests.len() - urls.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let protocol = match plan.protocol {
        Protocol::Http10 => "1.0",
        Protocol::Http11 => "1.1",
        Protocol::Http2 => "2",
    };
    let all = [
        (ARRIVALS, plan.streams.iter().map(stream).collect::<Vec<_>>().join("; ")),
        ("requests", format!("{}{more}", urls.join(", "))),
        ("HTTP", protocol.to_owned()),
        ("web server", servers.into_iter().collect::<Vec<_>>().join(", ")),
    ];
    let named = all.into_iter().filter(|(_, value)| !value.is_empty());
    named.map(|(name, value)| (format!("{side}{name}"), value)).collect()
}

/// When a stream sends, over how many connections, and how it reads.
fn stream(stream: &Stream) -> String {
    let mut text = format!("{}, {} connections", stream.arrival, stream.connections);
    if stream.streams_per_connection > 1 {
        text.push_str(&format!(" of {} streams", stream.streams_per_connection));
    }
    if !stream.keepalive {
        text.push_str(", one per request");
    }
    if let Some(rate) = stream.read_rate {
        text.push_str(&format!(", read at {rate} bytes/s"));
    }
    if let Some(bytes) = stream.abandon_after {
        text.push_str(&format!(", aborted after {bytes} bytes"));
    }
    text
}

/// The responses that are always the same.
fn contents(run: &Run) -> impl Iterator<Item = Payload> {
    let of = |seen: &Preflight| {
        let request = run.plan.requests.iter().find(|request| request.name == seen.request)?;
        Some(Payload {
            name: seen.request.clone(),
            bytes: seen.decoded_bytes?,
            sha256: seen.decoded_sha256.clone()?,
            origin: Origin::Url { url: request.url.clone() },
            ..Payload::default()
        })
    };
    run.result.preflights.iter().filter(|seen| seen.checked == Checked::Bytes).filter_map(of)
}

/// A row per class; several classes have one together before theirs.
fn rows(side: &str, run: &Run) -> Vec<Row> {
    let (plan, result) = (&run.plan, &run.result);
    let total = slices::total(result);
    let mut all = match result.classes.as_slice() {
        [] => Vec::new(),
        [one] => vec![row(side, plan, &one.name, whole(run, &total))],
        _ => vec![row(side, plan, "all classes", whole(run, &total))],
    };
    if result.classes.len() > 1 {
        let of = |class: &ClassResult| row(side, plan, &class.name, by_itself(run, class));
        all.extend(result.classes.iter().map(of));
    }
    all
}

/// The highest rate that a search found, under its limit.
fn capacity(searched: &Searched) -> Row {
    let limit = searched.capacity.limit;
    let name = format!("capacity p{}={}ms", limit.quantile * 100.0, limit.seconds * 1e3);
    let held = searched.capacity.held.map(|rate| (CAPACITY.to_owned(), alone(rate)));
    row("", &searched.closed.plan, &name, held.into_iter().collect())
}

/// A value that was observed once.
fn alone(value: f64) -> Estimate {
    Estimate { value, rounds: 1, ..Estimate::default() }
}

/// The values of all requests, with their intervals where there are slices enough.
fn whole(run: &Run, total: &ClassResult) -> Values {
    let result = &run.result;
    let mut values = by_itself(run, total);
    let cpu = run.figures.client.cpu_seconds_per_request.map(|cpu| (CLIENT_CPU.to_owned(), alone(cpu)));
    values.extend(cpu);
    let known = [(RATE, slices::rate(result)), (ERRORS, slices::errors(result))].into_iter();
    let times = PERCENTILES.iter().map(|(name, q)| (*name, slices::response(result, *q)));
    let bodies = (!is_one_body(run)).then(|| (MEAN_BODY, slices::body(result)));
    let known = known.chain(times).chain(bodies);
    values.extend(known.filter_map(|(name, estimate)| Some((name.to_owned(), estimate?))));
    values
}

/// The values of a class, which slices do not have.
fn by_itself(run: &Run, class: &ClassResult) -> Values {
    let counts = class.counts;
    let completed = counts.completed as f64;
    let mut found = vec![
        (RATE, (run.result.seconds > 0.0).then(|| completed / run.result.seconds)),
        (ERRORS, slices::unanswered(class)),
    ];
    found.extend(PERCENTILES.map(|(name, q)| (name, slices::percentile(class, q))));
    found.extend(FIRST_BYTE.map(|(name, q)| (name, class.times.ttfb.quantile_with(q, counts.faulted))));
    let mean = (completed > 0.0).then(|| counts.body_bytes as f64 / completed);
    let mut values: Values =
        found.into_iter().filter_map(|(name, value)| Some((name.to_owned(), alone(value?)))).collect();
    let (name, body) = match is_one_body(run) {
        true => (BODY, mean.map(|mean| Estimate::exact(mean, 1))),
        false => (MEAN_BODY, mean.map(alone)),
    };
    values.extend(body.map(|body| (name.to_owned(), body)));
    values
}

/// Whether there is one request, and each of its bodies was compared with the same bytes.
fn is_one_body(run: &Run) -> bool {
    let is_whole = run.plan.streams.iter().all(|stream| stream.abandon_after.is_none());
    is_whole && matches!(run.result.preflights.as_slice(), [one] if one.checked == Checked::Bytes)
}

fn row(side: &str, plan: &LoadPlan, class: &str, values: Values) -> Row {
    let cell = Cell {
        id: format!("{side}{}", id(plan, class)),
        subject: Subject::new(SHAPE.name),
        payload: format!("{side}{class}"),
        runtime: NO_PHP.into(),
        setting: Setting::bare(SHAPE.name),
        expected_seconds: 0.0,
        ..Cell::default()
    };
    Row { cell, values, ..Row::default() }
}

/// What a class asks of whom, and when: the same in loads that ask the same.
fn id(plan: &LoadPlan, class: &str) -> String {
    let of_class: Vec<&Request> = plan.requests.iter().filter(|request| request.class == class).collect();
    let requests = if of_class.is_empty() { plan.requests.iter().collect() } else { of_class };
    let mut streams: Vec<&Stream> =
        requests.iter().filter_map(|request| plan.streams.get(request.stream as usize)).collect();
    streams.dedup();
    let when = |stream: &&Stream| format!("{}*{}", stream.arrival, stream.connections);
    let when: BTreeSet<String> = streams.iter().map(when).collect();
    let when = when.into_iter().collect::<Vec<_>>().join("+");
    let url = requests.first().map_or("", |request| without_user(&request.url));
    let asked: String = match requests.as_slice() {
        [_] if plan.requests.len() == 1 => url.to_owned(),
        [_] => format!("{url} ({class})"),
        _ => format!("{} ({class})", url.split('/').next().unwrap_or_default()),
    };
    format!("{} {when}", asked.chars().take(LONGEST).collect::<String>())
}

/// A URL without its scheme and without a user.
fn without_user(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.find('/').unwrap_or(rest.len());
    rest[..host].rfind('@').map_or(rest, |at| &rest[at + 1..])
}
