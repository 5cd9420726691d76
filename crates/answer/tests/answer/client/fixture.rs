//! Invented runs of studies of clients: the figures are plausible and were never measured.

use std::collections::BTreeMap;

use weigh_model::cell::{Cell, Subject};
use weigh_model::client::{Client, Keys, Mix, ValueKind};
use weigh_model::link::{LinkSpec, Measured, Rate, RoundTrip, Way};
use weigh_model::payload::Payload;
use weigh_model::plan::{Exclusion, Runtime, Store};
use weigh_model::protocol::client::{Memory, Reads, Writes};
use weigh_model::protocol::{FaultKind, Phase, Samples};
use weigh_model::record::client::{ClientVisit, WorkerVisit};
use weigh_model::record::delivery::Switches;
use weigh_model::record::{Record, VisitRecord};
use weigh_model::setting::{Request, Setting};
use weigh_stats::hist::{Hist, Packed};

use crate::codec::fixture::{self as codec, Lab, NOISE};

const US: f64 = 1e3;

/// What a client costs per transaction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Costs {
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

/// A client with the published mix and a key for each of four workers.
pub fn client(place: &str, value: ValueKind) -> Client {
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

/// An empty lab with seven rounds.
pub fn lab(name: &str, title: &str) -> Lab {
    let mut lab = Lab::new();
    lab.rounds = 7;
    lab.plan.study.name = name.into();
    lab.plan.study.title = title.into();
    lab.plan.study.question = "A fixture: none of this was measured.".into();
    lab
}

impl Lab {
    /// Plans a client and visits it in every round with a little noise. `setting` is `igbinary/zstd:3` for a worker that encodes.
    pub fn client(
        mut self,
        payload: &str,
        runtime: &str,
        client: Client,
        setting: Option<&str>,
        costs: Costs,
    ) -> Lab {
        self.planned_client(payload, runtime, client, setting);
        let at = self.plan.cells.len();
        for round in 1..=self.rounds {
            let factor = 1.0 + NOISE[(at + round as usize) % NOISE.len()];
            let record = self.client_visit(round, costs, factor);
            self.records.push(Record::Visit(record));
        }
        self
    }

    /// Plans a client without visiting it.
    pub fn planned_client(&mut self, payload: &str, runtime: &str, client: Client, setting: Option<&str>) {
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
            subject: Subject::CLIENT,
            payload: payload.into(),
            runtime: runtime.into(),
            serializer,
            setting,
            keep: true,
            expected_seconds: 2e-5,
            client: Some(client),
            ..Cell::default()
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
                ..Payload::default()
            });
        }
        if !self.plan.runtimes.iter().any(|r| r.name == runtime) {
            self.plan.runtimes.push(Runtime {
                name: runtime.into(),
                version: runtime.trim_start_matches("php").into(),
                ..Runtime::default()
            });
        }
        if !self.plan.stores.iter().any(|s| s.name == client.store) {
            let store = Store { name: client.store.clone(), version: "7.0".into(), ..Store::default() };
            self.plan.stores.push(store);
        }
    }

    /// A visit to the client planned last.
    fn client_visit(&self, round: u32, costs: Costs, factor: f64) -> VisitRecord {
        let cell = self.plan.cells.last().unwrap();
        let client = cell.client.as_ref().unwrap();
        let all = client.transactions * u64::from(client.workers);
        let writes = (client.mix.writes() * all as f64) as u64;
        let (user, system, store) = costs.cpu;
        let total = |ns: f64| (ns * factor * all as f64) as u64;
        // Two processors share the work.
        let seconds = (user + system + store) * factor * all as f64 / 2e9;
        let worker = |at: u32| WorkerVisit {
            transactions: client.transactions,
            seconds: seconds * (1.0 - 0.01 * f64::from(at)),
            memory: Memory {
                begin: costs.peak - 90_000,
                end: costs.peak - 80_000,
                peak: costs.peak,
                peak_real: 2 << 20,
                own: 0,
            },
            pss: Some(costs.peak * 7 + u64::from(round) * 1000),
        };
        let (encode, decode) = costs.coding.unwrap_or_default();
        let visit = ClientVisit {
            workers: (0..client.workers).map(worker).collect(),
            skew: if client.workers > 1 { 0.002 } else { 0.0 },
            writes: Writes { count: writes, failed: 0 },
            reads: Reads { count: all - writes, hits: all - writes, ..Reads::default() },
            put: times((costs.call + encode) * factor, writes),
            get: times((costs.call + decode) * factor, all - writes),
            put_response: client.rate.map(|_| times(costs.call * factor * 1.1, writes)),
            get_response: client.rate.map(|_| times(costs.call * factor * 1.1, all - writes)),
            encode_ns: (encode * factor * writes as f64) as u64,
            decode_ns: (decode * factor * (all - writes) as f64) as u64,
            client_user_ns: total(user),
            client_system_ns: total(system),
            server_user_ns: Some(total(store * 0.4)),
            server_system_ns: Some(total(store * 0.6)),
            server_pss: Some(5_000_000 + costs.stored.unwrap_or(0) * all / 10),
            switches: Switches { voluntary: all, involuntary: all / 100 },
            own_ns: 320.0,
            stored_bytes: costs.stored,
            library: Some(format!("{} 1.0", client.driver)),
            server: Some("7.0".into()),
            link: client.link.as_ref().map(|name| Box::new(self.as_asked(name))),
            ..ClientVisit::default()
        };
        let samples = Samples {
            batch: all as u32,
            cpu_ns: visit.cpu_ns().into_iter().collect(),
            wall_ns: vec![seconds * 1e9 / all as f64],
            ..Samples::default()
        };
        let bytes = costs.stored.unwrap_or(0);
        let codec = codec::Figures { encode: 0.0, decode: 0.0, bytes };
        VisitRecord {
            phases: BTreeMap::from([(Phase::Transact, samples)]),
            client: Some(Box::new(visit)),
            ..codec::visit(&cell.id, round, 10, codec)
        }
    }

    /// A link that is as asked.
    fn as_asked(&self, name: &str) -> Measured {
        let spec = self.plan.links.iter().find(|link| link.name == name).unwrap();
        let rate = |kbps: Option<f64>| {
            kbps.map(|kbps| Rate {
                expected_kbps: Some(kbps),
                measured_kbps: kbps,
                payload_kbps: kbps * 0.965,
                by_packets: true,
                seconds: 0.5,
            })
        };
        Measured {
            round_trip: Some(RoundTrip {
                expected_ms: spec.rtt_ms,
                median_ms: spec.rtt_ms + 0.1,
                mad_ms: 0.02,
                p99_ms: spec.rtt_ms + 0.4,
                exchanges: 30,
            }),
            down: rate(spec.down_kbps),
            up: rate(spec.up_kbps),
            ..Measured::nothing(Way::Netem, Vec::new())
        }
    }

    /// The run ended by itself.
    pub fn end(mut self) -> Lab {
        self.records.push(Record::End { at: 0, rounds: self.rounds, seconds: 93.4 });
        self
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

/// Two versions of PHP and a variant with two stores and several drivers; a record, new keys, and a rate.
pub fn versions() -> Lab {
    let mut lab = lab("clients", "Clients of stores");
    // PHP's part is 31% quicker on the second, and keeps less.
    let runtimes =
        [("php7.4", 1.31, 1_600_000), ("php8.4", 1.0, 1_000_000), ("php8.4+jit", 1.001, 1_000_000)];
    let places =
        [("redis/phpredis", 4.3, 7.2), ("redis/socket", 6.9, 7.2), ("memcached/php-memcached", 3.6, 5.0)];
    for (runtime, slower, peak) in runtimes {
        for (place, user, store) in places {
            let cpu = (user * US * slower, 6.5 * US * slower, store * US * slower);
            let costs = Costs { cpu, call: 45.0 * US * slower, peak, ..Costs::default() };
            lab = lab.client("integer", runtime, client(place, ValueKind::Integer), None, costs);
        }
        let cpu = (25.0 * US * slower, 9.0 * US * slower, 9.0 * US * slower);
        let stored = Some(6408);
        let costs = Costs { cpu, call: 90.0 * US * slower, peak: peak + 100_000, stored, ..Costs::default() };
        let record = client("redis/phpredis", ValueKind::Record { bins: 40 });
        lab = lab.client("record:40", runtime, record.clone(), None, costs);
        if runtime == "php8.4" {
            let new = Client { keys: Keys::New, mix: Mix { write_every: 1 }, ..record };
            lab = lab.client("record:40", runtime, new, None, costs);
            let number = client("redis/phpredis", ValueKind::Integer);
            let paced = Client { rate: Some(2000.0), ..number };
            let costs = Costs { cpu: (4300.0, 6500.0, 7200.0), call: 60_000.0, peak, ..Costs::default() };
            lab = lab.client("integer", runtime, paced, None, costs);
        }
    }
    lab.plan.exclusions.push(Exclusion {
        cell: "integer/apcu".into(),
        reason: "APCu is switched off".into(),
        remedy: Some("start PHP with -d apc.enable_cli=1".into()),
    });
    lab.end()
}

/// Encoded values over a link and without one. Over the link the model says what was measured, but for one setting that takes longer
/// than its parts.
pub fn levels() -> Lab {
    let mut lab = lab("levels", "Encoded values over links");
    lab.plan.links.push(LinkSpec::parse("100mbit/20ms").unwrap());
    let settings = [
        ("igbinary/identity", 300_000, (60.0, 40.0), 1.0),
        ("igbinary/zstd:3", 40_000, (500.0, 200.0), 1.0),
        ("igbinary/gzencode:6", 39_000, (2500.0, 700.0), 1.0),
        ("igbinary/lz4", 36_000, (150.0, 100.0), 3.0),
    ];
    for link in [None, Some("100mbit/20ms")] {
        for (setting, bytes, (encode, decode), odd) in settings {
            let own = Client {
                mix: Mix { write_every: 2 },
                workers: 1,
                transactions: 200,
                link: link.map(str::to_owned),
                ..client("redis/phpredis", ValueKind::Value)
            };
            let over = if link.is_some() { 20.1e6 + bytes as f64 * 8.0 / 96.5e6 * 1e9 } else { 50.0 * US };
            let cpu = ((encode + decode) * US / 2.0, 30.0 * US, 30.0 * US);
            let coding = Some((encode * US, decode * US));
            let costs = Costs { cpu, call: over * odd, stored: Some(bytes), peak: 2_000_000, coding };
            lab = lab.client("tree-256k", "php8.2", own, Some(setting), costs);
        }
    }
    lab.end()
}

/// Forty clients of one content.
pub fn many() -> Lab {
    let mut lab = lab("many", "Many clients");
    for runtime in ["php5.6", "php7.4", "php8.2", "php8.4", "php8.4+jit"] {
        for store in 0..8 {
            let place = format!("store-number-{store}/driver-of-store-{store}");
            let cpu = (4300.0 + 300.0 * f64::from(store), 6500.0, 7000.0);
            let costs = Costs { cpu, call: 45_000.0, peak: 1_300_000, ..Costs::default() };
            lab = lab.client("integer", runtime, client(&place, ValueKind::Integer), None, costs);
        }
    }
    lab.end()
}

/// Names that would do harm, a single round, a fault, and a cell that nobody visited.
pub fn hostile() -> Lab {
    let mut lab = lab("a\u{1b}[31m", "<script>alert(1)</script> \u{202e}");
    lab.rounds = 1;
    let name = "x\u{1b}[2J<b>|\n,\"=1";
    let costs = Costs { cpu: (1000.0, 0.0, 0.0), call: 1.0, peak: 100_000, ..Costs::default() };
    lab =
        lab.client(name, "php\u{7}<b>", client("re\u{1b}dis|/dri,ver\u{202e}", ValueKind::Text), None, costs);
    lab = lab.client(
        name,
        "php8",
        client("redis/b", ValueKind::Text),
        None,
        Costs { peak: 90_000, ..Costs::default() },
    );
    lab.planned_client("never", "php8", client("redis/b", ValueKind::Text), None);
    lab.fault(1, FaultKind::Response);
    let Some(Record::Fault { fault, .. }) = lab.records.last_mut() else { unreachable!() };
    fault.message = "went\u{1b}[1m <away>".into();
    lab.end()
}
