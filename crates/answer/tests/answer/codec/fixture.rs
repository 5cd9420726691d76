//! Plans and records made by hand, with figures that are invented so that answers can be checked.

use std::collections::BTreeMap;

use weigh_answer::report::{Report, RunFacts};
use weigh_answer::row::Row;
use weigh_model::cell::{Cell, Subject};
use weigh_model::payload::{Origin, Payload};
use weigh_model::plan::{Plan, Policy, Runtime};
use weigh_model::protocol::{Fault, FaultKind, Phase, Samples};
use weigh_model::record::{Record, VisitRecord};
use weigh_model::setting::Setting;
use weigh_model::study::{Links, StudyText};

/// What a cell costs: nanoseconds and bytes a pass.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    pub encode: f64,
    pub decode: f64,
    pub bytes: u64,
}

/// A plan under construction with the records of its run.
pub struct Lab {
    pub plan: Plan,
    pub records: Vec<Record>,
    pub rounds: u32,
}

/// Relative deviations of one cell's round values, rotated from cell to cell.
pub const NOISE: [f64; 7] = [0.0, 0.004, -0.003, 0.006, 0.001, -0.005, 0.002];

impl Lab {
    pub fn new() -> Lab {
        let plan = Plan {
            study: StudyText { name: "invented".into(), ..StudyText::default() },
            seed: 1,
            policy: Policy { budget_seconds: 60.0, cell_seconds: 5.0, ..Policy::default() },
            ..Plan::default()
        };
        Lab { plan, records: Vec::new(), rounds: 9 }
    }

    pub fn payload(mut self, name: &str, item_bytes: u64, items: usize) -> Lab {
        self.plan.payloads.push(Payload {
            name: name.into(),
            kind: "php-value".into(),
            blob: "blob".into(),
            sha256: "0".repeat(64),
            bytes: item_bytes * items as u64,
            items: vec![item_bytes; items],
            family: false,
            parts: Vec::new(),
            value: Some("serialize".into()),
            origin: Origin::Corpus {
                id: name.into(),
                licence: "MIT".into(),
                source: "invented".into(),
                unpinned: None,
            },
        });
        self
    }

    pub fn links(mut self, mbit: &[f64], reads_per_write: &[f64]) -> Lab {
        self.plan.study.links = Some(Links {
            mbit: mbit.to_vec(),
            reads_per_write: reads_per_write.to_vec(),
            ..Links::default()
        });
        self
    }

    /// Plans a cell without visiting it. The setting is `codec` or `codec:level`.
    pub fn planned(mut self, payload: &str, runtime: &str, serializer: Option<&str>, setting: &str) -> Lab {
        let setting = match setting.split_once(':') {
            Some((codec, level)) => Setting::at(codec, level.parse().unwrap()),
            None => Setting::bare(setting),
        };
        if !self.plan.runtimes.iter().any(|r| r.name == runtime) {
            self.plan.runtimes.push(Runtime {
                name: runtime.into(),
                version: "8.2".into(),
                libraries: BTreeMap::from([("zstd".into(), "zstd 1.5.4".into())]),
                ..Runtime::default()
            });
        }
        self.plan.cells.push(Cell {
            id: Cell::make_id(payload, runtime, serializer, &setting),
            subject: if runtime == "native" { Subject::CODEC } else { Subject::PHP_CODEC },
            payload: payload.into(),
            runtime: runtime.into(),
            serializer: serializer.map(Into::into),
            setting,
            expected_seconds: 0.1,
            ..Cell::default()
        });
        self
    }

    /// Plans a cell and visits it in every round, with a little noise. `slow` of the round multiplies all times.
    pub fn cell_with(
        mut self,
        (payload, runtime, serializer, setting): (&str, &str, Option<&str>, &str),
        figures: Figures,
        slow: impl Fn(u32) -> f64,
    ) -> Lab {
        self = self.planned(payload, runtime, serializer, setting);
        let at = self.plan.cells.len();
        for round in 1..=self.rounds {
            let factor = slow(round) * (1.0 + NOISE[(at + round as usize) % NOISE.len()]);
            self.visit(
                round,
                Figures { encode: figures.encode * factor, decode: figures.decode * factor, ..figures },
            );
        }
        self
    }

    /// As `cell_with`, on a steady machine.
    pub fn cell(self, factors: (&str, &str, Option<&str>, &str), figures: Figures) -> Lab {
        self.cell_with(factors, figures, |_| 1.0)
    }

    /// A visit to the cell planned last: three samples of each phase around the figures.
    pub fn visit(&mut self, round: u32, figures: Figures) {
        let cell = self.plan.cells.last().unwrap();
        let payload = self.plan.payloads.iter().find(|p| p.name == cell.payload).unwrap();
        let visit = visit(&cell.id, round, payload.bytes, figures);
        self.records.push(Record::Visit(visit));
    }

    pub fn fault(&mut self, round: u32, kind: FaultKind) {
        let cell = self.plan.cells.last().unwrap().id.clone();
        let fault = Fault { kind, message: "it broke".into(), remedy: None };
        self.records.push(Record::Fault { cell, round, fault });
    }

    /// The same with every payload as a family of this many instances, each equal to the payload.
    pub fn of_families(mut self, count: u32) -> Lab {
        for payload in &mut self.plan.payloads {
            payload.items = vec![payload.bytes; count as usize];
            payload.bytes *= u64::from(count);
            payload.family = true;
        }
        for record in &mut self.records {
            let Record::Visit(visit) = record else { continue };
            visit.instances = count;
            visit.decoded_bytes *= u64::from(count);
            visit.encoded_bytes *= u64::from(count);
            for samples in visit.phases.values_mut() {
                let times = samples.cpu_ns.iter_mut().chain(&mut samples.wall_ns);
                times.for_each(|ns| *ns *= f64::from(count));
            }
        }
        self
    }

    /// The report of the whole run.
    pub fn report(&self) -> Report {
        let mut records = self.records.clone();
        let rounds = records.iter().filter_map(|record| match record {
            Record::Visit(visit) => Some(visit.round),
            _ => None,
        });
        let rounds = rounds.max().unwrap_or(0);
        if !records.iter().any(|record| matches!(record, Record::End { .. })) {
            records.push(Record::End { at: 0, rounds, seconds: 0.0 });
        }
        Report::of(&self.facts(), &self.plan, &records)
    }

    /// The report of a run that was interrupted.
    pub fn interrupted(&self) -> Report {
        Report::of(&self.facts(), &self.plan, &self.records)
    }

    fn facts(&self) -> RunFacts {
        RunFacts { machine: "invented".into(), ..RunFacts::default() }
    }
}

/// A visit with three samples of each phase: the figure, a little more, and more still.
pub fn visit(cell: &str, round: u32, decoded_bytes: u64, figures: Figures) -> VisitRecord {
    let samples = |ns: f64| Samples {
        batch: 1,
        cpu_ns: vec![ns, ns * 1.05, ns * 0.99],
        wall_ns: vec![ns * 1.02, ns * 1.07, ns],
        preempted: 1,
    };
    VisitRecord {
        cell: cell.into(),
        round,
        at: f64::from(round),
        took: 0.1,
        decoded_bytes,
        encoded_bytes: figures.bytes,
        sha256_encoded: format!("{:064x}", figures.bytes),
        verified: round == 1,
        independent: (round == 1).then(|| "ruzstd".to_string()),
        phases: BTreeMap::from([
            (Phase::Encode, samples(figures.encode)),
            (Phase::Decode, samples(figures.decode)),
        ]),
        peak_bytes: BTreeMap::from([(Phase::Encode, figures.bytes * 3)]),
        ..VisitRecord::default()
    }
}

pub fn row<'a>(report: &'a Report, id: &str) -> &'a Row {
    report.row(id).unwrap_or_else(|| panic!("{id} has no result"))
}

/// What an invented codec does to a value: MB/s of encode and decode, share of the bytes left.
const CODECS: [(&str, f64, f64, f64); 16] = [
    ("identity", 20_000.0, 20_000.0, 1.0),
    ("gzdeflate:1", 137.0, 420.0, 0.135),
    ("gzdeflate:2", 131.0, 430.0, 0.128),
    ("gzdeflate:3", 115.0, 440.0, 0.125),
    ("gzdeflate:6", 57.0, 470.0, 0.100),
    ("gzdeflate:9", 28.0, 480.0, 0.098),
    ("libdeflate:6", 150.0, 900.0, 0.099),
    ("libdeflate:12", 9.0, 950.0, 0.094),
    ("zstd:-5", 900.0, 2000.0, 0.160),
    ("zstd:1", 600.0, 1500.0, 0.105),
    ("zstd:3", 400.0, 1400.0, 0.095),
    ("zstd:9", 90.0, 1500.0, 0.080),
    ("zstd:19", 4.0, 1400.0, 0.070),
    ("brotli:4", 60.0, 500.0, 0.085),
    ("lz4", 1100.0, 3500.0, 0.170),
    ("snappy", 1000.0, 1800.0, 0.180),
];

/// A whole invented study: three payloads, two serializers, sixteen settings and Symfony's marshaller.
pub fn study() -> Lab {
    let mut lab = Lab::new().links(&[10.0, 100.0, 1000.0, 10_000.0, 25_000.0], &[1.0, 10.0, 100.0]);
    for (payload, bytes, items) in
        [("rows-1k", 1_000, 64), ("rows-64k", 64_000, 4), ("tree-2.4m", 2_400_000, 1)]
    {
        lab = lab.payload(payload, bytes, items);
        let total = (bytes * items as u64) as f64;
        for (serializer, slower, smaller) in [("serialize", 1.0, 1.0), ("igbinary", 1.2, 0.4)] {
            for (setting, encode, decode, left) in CODECS {
                // A call costs something too, so that small values do not compress for nothing.
                let calls = if setting == "identity" { 0.0 } else { items as f64 * 4_000.0 };
                let left: f64 = if bytes < 10_000 { (left * 3.0_f64).min(1.0) } else { left };
                let kept = if setting == "identity" { smaller } else { left * (0.7 + 0.3 * smaller) };
                let figures = Figures {
                    encode: total / 500.0 * 1e3 * slower + total * smaller / encode * 1e3 + calls,
                    decode: total / 400.0 * 1e3 / slower + total * smaller / decode * 1e3 + calls / 2.0,
                    bytes: (total * kept) as u64,
                };
                lab = lab.cell((payload, "php8.2", Some(serializer), setting), figures);
            }
        }
        let marshaller = Figures {
            encode: total / 500.0 * 1e3 + total / 57.0 * 1e3 + items as f64 * 4_100.0,
            decode: total / 400.0 * 1e3 + total / 470.0 * 1e3 + items as f64 * 2_100.0,
            bytes: (total * if bytes < 10_000 { 0.3 } else { 0.1 }) as u64,
        };
        lab = lab.cell((payload, "php8.2", None, "symfony-deflate"), marshaller);
    }
    lab
}
