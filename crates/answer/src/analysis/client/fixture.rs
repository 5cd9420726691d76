//! Invented runs of studies of clients, for tests alone: the figures are plausible and were never measured.

use std::collections::BTreeMap;

use weigh_load::hist::{Hist, Packed};

use crate::analysis::client::analyse_clients;
use crate::analysis::client::model::ClientAnalysis;
use crate::analysis::model::RunFacts;
use weigh_model::cell::{Cell, Subject};
use weigh_model::client::{Client, Keys, Mix, ValueKind};
use weigh_model::payload::{Origin, Payload};
use weigh_model::plan::{Plan, Policy, Runtime, Store};
use weigh_model::protocol::client::{Memory, Reads, Writes};
use weigh_model::protocol::{Phase, Samples};
use weigh_model::record::client::{ClientVisit, WorkerVisit};
use weigh_model::record::delivery::Switches;
use weigh_model::record::{Record, VisitRecord};
use weigh_model::setting::{Request, Setting};
use weigh_model::study::StudyText;

mod link;
mod studies;

pub(crate) use studies::{hostile, levels, many, versions};

/// Relative deviations of one cell's round values, rotated from cell to cell.
const NOISE: [f64; 7] = [0.0, 0.004, -0.003, 0.006, 0.001, -0.005, 0.002];

/// What a client costs a transaction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    /// CPU nanoseconds of a worker in user space, in the kernel, and of the store.
    pub cpu: (f64, f64, f64),
    /// Median nanoseconds inside a call.
    pub call: f64,
    /// Bytes stored.
    pub stored: Option<u64>,
    /// `memory_get_peak_usage()`.
    pub peak: u64,
    /// Nanoseconds of encoding and of decoding.
    pub coding: Option<(f64, f64)>,
}

/// A plan under construction with the records of its run.
pub(crate) struct Lab {
    pub plan: Plan,
    pub records: Vec<Record>,
    pub rounds: u32,
}

/// A client with the published mix and a key for each of four workers.
pub(crate) fn client(place: &str, value: ValueKind) -> Client {
    let (store, driver) = place.split_once('/').unwrap();
    Client {
        store: store.into(),
        driver: driver.into(),
        value,
        mix: Mix { write_every: 10 },
        keys: Keys::One,
        workers: 4,
        transactions: 1000,
        rate: None,
        link: None,
        encoded: false,
    }
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
            policy: Policy {
                budget_seconds: 60.0,
                max_rounds: 30,
                min_samples: 7,
                half_width: 0.02,
                cell_seconds: 5.0,
                exhaustive: false,
            },
            payloads: Vec::new(),
            runtimes: Vec::new(),
            servers: Vec::new(),
            stores: Vec::new(),
            links: Vec::new(),
            cells: Vec::new(),
            exclusions: Vec::new(),
        };
        Lab { plan, records: Vec::new(), rounds: 7 }
    }

    /// Plans a cell and visits it in every round with a little noise. `setting` is `igbinary/zstd:3` for a worker that encodes.
    pub fn cell(
        mut self,
        payload: &str,
        runtime: &str,
        client: Client,
        setting: Option<&str>,
        figures: Figures,
    ) -> Lab {
        self.planned(payload, runtime, client, setting);
        let at = self.plan.cells.len();
        for round in 1..=self.rounds {
            let factor = 1.0 + NOISE[(at + round as usize) % NOISE.len()];
            let record = self.visit(round, figures, factor);
            self.records.push(Record::Visit(record));
        }
        self
    }

    /// Plans a cell without visiting it.
    pub fn planned(&mut self, payload: &str, runtime: &str, client: Client, setting: Option<&str>) {
        let (serializer, setting) = match setting.map(|text| text.split_once('/').unwrap()) {
            None => (None, Setting::bare("none")),
            Some((serializer, text)) => {
                let level = text.split(':').nth(1).and_then(|level| level.parse().ok());
                let codec = Request::parse(text).unwrap().name;
                (Some(serializer.to_owned()), Setting { level, ..Setting::bare(&codec) })
            }
        };
        let client = Client { encoded: serializer.is_some(), ..client };
        self.machinery(payload, runtime, &client);
        self.plan.cells.push(Cell {
            id: Cell::make_client_id(payload, runtime, serializer.as_deref(), &setting, &client),
            subject: Subject::Client,
            payload: payload.into(),
            runtime: runtime.into(),
            serializer,
            setting,
            keep: true,
            expected_seconds: 2e-5,
            delivery: None,
            client: Some(client),
        });
    }

    /// Payload, runtime and store of a cell, once each.
    fn machinery(&mut self, payload: &str, runtime: &str, client: &Client) {
        if !self.plan.payloads.iter().any(|p| p.name == payload) {
            self.plan.payloads.push(Payload {
                name: payload.into(),
                kind: "php-value".into(),
                blob: "blob".into(),
                sha256: "0".repeat(64),
                bytes: payload.len() as u64,
                items: vec![payload.len() as u64],
                value: None,
                origin: Origin::Made,
            });
        }
        if !self.plan.runtimes.iter().any(|r| r.name == runtime) {
            self.plan.runtimes.push(Runtime {
                name: runtime.into(),
                binary: None,
                version: runtime.trim_start_matches("php").into(),
                libraries: BTreeMap::new(),
                facts: BTreeMap::new(),
                ini: Vec::new(),
            });
        }
        if !self.plan.stores.iter().any(|s| s.name == client.store) {
            let store = Store { name: client.store.clone(), version: "7.0".into(), ..Store::default() };
            self.plan.stores.push(store);
        }
    }

    /// A visit to the cell planned last.
    fn visit(&self, round: u32, figures: Figures, factor: f64) -> VisitRecord {
        let cell = self.plan.cells.last().unwrap();
        let client = cell.client.as_ref().unwrap();
        let all = client.transactions * u64::from(client.workers);
        let writes = (client.mix.writes() * all as f64) as u64;
        let (user, system, store) = figures.cpu;
        let total = |ns: f64| (ns * factor * all as f64) as u64;
        // Two processors share the work.
        let seconds = (user + system + store) * factor * all as f64 / 2e9;
        let worker = |at: u32| WorkerVisit {
            transactions: client.transactions,
            seconds: seconds * (1.0 - 0.01 * f64::from(at)),
            memory: Memory {
                begin: figures.peak - 90_000,
                end: figures.peak - 80_000,
                peak: figures.peak,
                peak_real: 2 << 20,
                own: 0,
            },
            pss: Some(figures.peak * 7 + u64::from(round) * 1000),
        };
        let (encode, decode) = figures.coding.unwrap_or_default();
        let visit = ClientVisit {
            workers: (0..client.workers).map(worker).collect(),
            skew: if client.workers > 1 { 0.002 } else { 0.0 },
            writes: Writes { count: writes, failed: 0 },
            reads: Reads { count: all - writes, hits: all - writes, ..Reads::default() },
            put: times((figures.call + encode) * factor, writes),
            get: times((figures.call + decode) * factor, all - writes),
            put_response: client.rate.map(|_| times(figures.call * factor * 1.1, writes)),
            get_response: client.rate.map(|_| times(figures.call * factor * 1.1, all - writes)),
            encode_ns: (encode * factor * writes as f64) as u64,
            decode_ns: (decode * factor * (all - writes) as f64) as u64,
            client_user_ns: total(user),
            client_system_ns: total(system),
            server_user_ns: Some(total(store * 0.4)),
            server_system_ns: Some(total(store * 0.6)),
            server_pss: Some(5_000_000 + figures.stored.unwrap_or(0) * all / 10),
            switches: Switches { voluntary: all, involuntary: all / 100 },
            own_ns: 320.0,
            stored_bytes: figures.stored,
            library: Some(format!("{} 1.0", client.driver)),
            server: Some("7.0".into()),
            link: client.link.as_ref().and_then(|name| self.measured(name)).map(Box::new),
            ..ClientVisit::default()
        };
        let samples = Samples {
            batch: all as u32,
            cpu_ns: visit.cpu_ns().into_iter().collect(),
            wall_ns: vec![seconds * 1e9 / all as f64],
            preempted: 0,
        };
        VisitRecord {
            cell: cell.id.clone(),
            round,
            at: f64::from(round),
            took: 0.1,
            decoded_bytes: 10,
            encoded_bytes: figures.stored.unwrap_or(0),
            dictionary_bytes: 0,
            sha256_encoded: String::new(),
            verified: true,
            independent: None,
            phases: BTreeMap::from([(Phase::Transact, samples)]),
            peak_bytes: BTreeMap::new(),
            delivery: None,
            client: Some(Box::new(visit)),
        }
    }

    /// The run ended by itself.
    pub fn end(mut self) -> Lab {
        let end = Record::End { at: 0, rounds: self.rounds, seconds: 93.4 };
        self.records.push(end);
        self
    }

    pub fn analyse(&self) -> ClientAnalysis {
        let run = RunFacts {
            started: "2026-01-02T03:04:05Z".into(),
            version: "0.1.0".into(),
            seed: 1,
            machine: "Test processor 3.0 GHz, 2 cores, Linux 6.1".into(),
            ..RunFacts::default()
        };
        analyse_clients(&run, &self.plan, &self.records)
    }
}

/// A hundred times round a median, of which two are a hundredfold.
fn times(ns: f64, count: u64) -> Packed {
    let mut hist = Hist::default();
    for at in 0..100u64.min(count) {
        let spread = if at >= 98 { 100.0 } else { 0.95 + 0.001 * at as f64 };
        hist.record_n((ns * spread) as u64, (count / 100).max(1));
    }
    Packed::of(&hist)
}
