//! Invented runs of delivery studies, for tests alone: the figures are plausible and were never measured.

use std::collections::BTreeMap;

use weigh_load::result::Preflight;
use weigh_stats::hist::{Hist, Packed};

use crate::report::{Report, RunFacts};
use weigh_model::cell::{Cell, Delivery, NO_PHP, Subject, Transport};
use weigh_model::payload::{Origin, Payload};
use weigh_model::plan::{Plan, Policy, Runtime, Server};
use weigh_model::protocol::{Phase, Samples};
use weigh_model::record::delivery::{Switches, Workers};
use weigh_model::record::{DeliveryVisit, Record, VisitRecord};
use weigh_model::setting::{Request, Setting};
use weigh_model::study::StudyText;
use weigh_model::way::{By, WayKind};

pub(crate) mod negotiation;
mod slow;
mod studies;

pub(crate) use slow::Watched;
pub(crate) use studies::{downloads, hostile, page_output, static_assets};

/// Relative deviations of one cell's round values, rotated from cell to cell.
const NOISE: [f64; 7] = [0.0, 0.004, -0.003, 0.006, 0.001, -0.005, 0.002];

/// What a way costs a response.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    /// Bytes of the body.
    pub body: u64,
    /// CPU nanoseconds of the server.
    pub server: f64,
    /// CPU nanoseconds of PHP.
    pub php: Option<f64>,
    /// Seconds to the first byte, where that is not when all is done.
    pub first: Option<f64>,
    /// Mean of PHP's busy workers; of a pool that n connections ask, n are busy at most.
    pub busy: f64,
    /// Bytes written to disk.
    pub written: u64,
}

/// Where a cell stands and what it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellSpec<'a> {
    pub subject: &'static str,
    pub payload: &'a str,
    pub server: &'a str,
    pub runtime: &'a str,
    pub transport: Transport,
    pub connections: u32,
}

/// A plan under construction with the records of its run.
pub(crate) struct Lab {
    pub plan: Plan,
    pub records: Vec<Record>,
    pub rounds: u32,
}

impl Lab {
    pub fn new(name: &str, title: &str) -> Lab {
        let plan = Plan {
            study: StudyText {
                name: name.into(),
                title: title.into(),
                question: "A fixture: none of this was measured.".into(),
                ..StudyText::default()
            },
            seed: 1,
            policy: Policy { budget_seconds: 60.0, cell_seconds: 5.0, ..Policy::default() },
            ..Plan::default()
        };
        Lab { plan, records: Vec::new(), rounds: 7 }
    }

    pub fn payload(mut self, name: &str, kind: &str, bytes: u64) -> Lab {
        self.plan.payloads.push(Payload {
            name: name.into(),
            kind: kind.into(),
            blob: "blob".into(),
            sha256: "0".repeat(64),
            bytes,
            items: vec![bytes],
            origin: Origin::Corpus {
                id: "fixture".into(),
                licence: "MIT".into(),
                source: "npm:fixture@1.0.0:data.bin".into(),
                unpinned: None,
            },
            ..Payload::default()
        });
        self
    }

    /// Plans a cell and visits it in every round with a little noise. The way is `php/gzencode:6` with `coding` as
    /// response.
    pub fn cell(
        mut self,
        stand: CellSpec,
        way: &str,
        kind: WayKind,
        coding: Option<&str>,
        figures: Figures,
    ) -> Lab {
        self.planned(stand, way, kind);
        let at = self.plan.cells.len();
        for round in 1..=self.rounds {
            let factor = 1.0 + NOISE[(at + round as usize) % NOISE.len()];
            let visit = self.visit(round, stand, coding, figures, factor);
            self.records.push(Record::Visit(visit));
        }
        self
    }

    /// Plans a cell without visiting it.
    pub fn planned(&mut self, stand: CellSpec, way: &str, kind: WayKind) {
        let (by, setting) = way.split_once('/').unwrap();
        let by = if by == "php" { By::Php } else { By::Server };
        let request = Request::parse(setting).unwrap();
        let level = setting.split([':', ',']).nth(1).and_then(|level| level.parse().ok());
        let options = request.options.into_iter().map(|(name, mut values)| (name, values.remove(0)));
        let setting = Setting { codec: request.name, level, options: options.collect() };
        let delivery = Delivery {
            server: stand.server.into(),
            transport: stand.transport,
            by,
            kind,
            accept: "gzip, deflate, br, zstd".into(),
            connections: stand.connections,
            instances: 1,
            ..Delivery::default()
        };
        self.machinery(stand);
        self.plan.cells.push(Cell {
            id: Cell::make_delivery_id(stand.payload, stand.runtime, &setting, &delivery),
            subject: Subject::new(stand.subject),
            payload: stand.payload.into(),
            runtime: stand.runtime.into(),
            setting,
            keep: true,
            expected_seconds: 0.1,
            delivery: Some(delivery),
            ..Cell::default()
        });
    }

    /// The server and the runtime of a cell, once each.
    fn machinery(&mut self, stand: CellSpec) {
        if !self.plan.servers.iter().any(|s| s.name == stand.server) {
            self.plan.servers.push(Server {
                name: stand.server.into(),
                version: "1.0".into(),
                libraries: BTreeMap::from([("gzip".into(), "zlib 1.2.13".into())]),
                ..Server::default()
            });
        }
        if stand.runtime != NO_PHP && !self.plan.runtimes.iter().any(|r| r.name == stand.runtime) {
            self.plan.runtimes.push(Runtime {
                name: stand.runtime.into(),
                version: "8.2".into(),
                libraries: BTreeMap::from([("gzencode".into(), "zlib 1.2.13".into())]),
                ..Runtime::default()
            });
        }
    }

    /// A visit to the cell planned last.
    pub fn visit(
        &self,
        round: u32,
        stand: CellSpec,
        coding: Option<&str>,
        figures: Figures,
        factor: f64,
    ) -> VisitRecord {
        let cell = self.plan.cells.last().unwrap();
        let bytes = self.plan.payloads.iter().find(|p| p.name == cell.payload).unwrap().bytes;
        let cpu = (figures.server + figures.php.unwrap_or(0.0)) * factor;
        let seconds = cpu / 1e9 * 1.2 + 100e-6 * factor + figures.body as f64 / 10e9;
        let requests = 20;
        let first = figures.first.unwrap_or(seconds * 0.8);
        VisitRecord {
            cell: cell.id.clone(),
            round,
            at: f64::from(round),
            took: 0.1,
            decoded_bytes: bytes,
            encoded_bytes: figures.body,
            verified: true,
            phases: BTreeMap::from([(
                Phase::Serve,
                Samples { batch: 1, cpu_ns: vec![cpu], wall_ns: vec![cpu], preempted: 0 },
            )]),
            delivery: Some(Box::new(DeliveryVisit {
                requests,
                metered: requests + 1,
                seconds: seconds * requests as f64,
                server_cpu_ns: Some((figures.server * factor) as u64 * requests),
                php_cpu_ns: figures.php.map(|ns| (ns * factor) as u64 * requests),
                server_user_ns: Some((figures.server * factor) as u64 * requests / 4),
                php_user_ns: figures.php.map(|ns| (ns * factor) as u64 * requests / 2),
                client_cpu_ns: 20_000 * requests,
                client_share: 0.1,
                wire_bytes: (figures.body + 300) * requests,
                head_bytes: 300 * requests,
                body_bytes: figures.body * requests,
                decoded_bytes: bytes * requests,
                compared: requests,
                decoded: 1,
                ttfb: times(first * factor, requests),
                service: times(seconds * f64::from(stand.connections), requests),
                response: times(seconds * f64::from(stand.connections), requests),
                switches: Some(Switches { voluntary: 4 * requests, involuntary: requests / 2 }),
                read_bytes: Some(0),
                written_bytes: Some(figures.written * requests),
                server_pss: Some(9_000_000 + figures.body),
                php_pss: figures.php.map(|_| 40_000_000 + bytes),
                php_peak: figures.php.map(|_| 400_000 + bytes),
                workers: figures.php.map(|_| Workers {
                    total: 8,
                    busy_max: (figures.busy.ceil() as u32).min(8),
                    busy_mean: figures.busy,
                    idle_min: 8 - (figures.busy.ceil() as u32).min(8),
                    queue_max: 0,
                    readings: 10,
                }),
                preflight: Preflight {
                    status: 200,
                    content_encoding: coding.map(str::to_owned),
                    ..Preflight::default()
                },
                ..DeliveryVisit::default()
            })),
            ..VisitRecord::default()
        }
    }

    /// The run ended by itself.
    pub fn end(mut self) -> Lab {
        let end = Record::End { at: 0, rounds: self.rounds, seconds: 93.4 };
        self.records.push(end);
        self
    }

    pub fn report(&self) -> Report {
        let run = RunFacts {
            started: "2026-01-02T03:04:05Z".into(),
            version: "0.1.0".into(),
            seed: 1,
            machine: "Test processor 3.0 GHz, 2 cores, Linux 6.1".into(),
            ..RunFacts::default()
        };
        Report::of(&run, &self.plan, &self.records)
    }
}

fn times(seconds: f64, requests: u64) -> Packed {
    let mut hist = Hist::default();
    (0..requests).for_each(|at| hist.record((seconds * 1e9 * (0.95 + 0.005 * at as f64)) as u64));
    Packed::of(&hist)
}
