//! An invented analysis for the tests of reports: its figures are plausible and were never measured.

use std::path::PathBuf;

use crate::analysis::model::*;
use weigh_model::caveat::Caveat;
use weigh_model::payload::{Origin, Payload};
use weigh_model::plan::Runtime;
use weigh_model::record::StopReason;
use weigh_model::study::{Links, StudyText};

mod cells;
mod lines;
mod links;
mod notes;
mod published;

use cells::{cell, cells, group};
use lines::{Line, PAGE, ROW, TREE};

const SPEEDS: [f64; 8] = [10.0, 50.0, 100.0, 500.0, 1000.0, 2500.0, 10000.0, 25000.0];

/// Three groups, more than fifty cells, every kind of row.
pub(super) fn analysis() -> Analysis {
    let mut payloads = vec![
        payload("war-and-peace.html", "html", 3_960_000, corpus("war-and-peace")),
        payload("tree-2.4m", "php-value", 2_400_000, corpus("compat-data")),
        payload("row-1k", "php-value", 1_024, Origin::Synthetic { imitates: "a row of a query".into() }),
    ];
    payloads[2].items = vec![512, 512];
    let mut cells = cells("war-and-peace.html", "native", 3_960_000, PAGE);
    cells.extend(self::cells("tree-2.4m", "php8.2", 2_400_000, TREE));
    cells.extend(self::cells("row-1k", "php8.2", 1_024, ROW));
    let odd = cells.iter_mut().find(|cell| cell.cell.setting.codec == "zopfli").unwrap();
    odd.caveats = vec![Caveat::FewSamples { samples: 2 }];
    let odd = cells.iter_mut().find(|cell| cell.cell.id.ends_with("native/-/br:11")).unwrap();
    odd.caveats = vec![Caveat::Unconverged { half_width: 0.06, asked: 0.02 }];
    odd.stop = Some(StopReason::Budget);
    let groups = [("war-and-peace.html", "native"), ("tree-2.4m", "php8.2"), ("row-1k", "php8.2")];
    let groups = groups.map(|(payload, runtime)| group(payload, runtime, &mut cells)).to_vec();
    Analysis {
        published: Some(published::comparisons()),
        findings: notes::findings(),
        faults: vec![notes::fault("zstd-dict:3"), notes::fault("snappy")],
        unmeasured: vec!["war-and-peace.html/native/-/xz:9".into()],
        exclusions: notes::exclusions(),
        caveats: vec![
            Caveat::NoisyMachine { wall_over_cpu: 1.34 },
            Caveat::FrequencyScaling { governor: "schedutil".into() },
            Caveat::Synthetic { payload: "row-1k".into() },
        ],
        runtimes: vec![runtime("native", "0.1.0"), runtime("php8.2", "8.2.29")],
        ..bare(payloads, cells, groups)
    }
}

/// An analysis of one group with the given lines, everything else empty.
pub(super) fn small(name: &str, kind: &str, origin: Origin, lines: &[Line]) -> Analysis {
    let mut cells = cells(name, "native", 3_960_000, lines);
    let group = group(name, "native", &mut cells);
    bare(vec![payload(name, kind, 3_960_000, origin)], cells, vec![group])
}

/// Six contents in one runtime.
pub(super) fn many() -> Analysis {
    let names = ["a.html", "b.css", "c.js", "d.json", "e.svg", "row-1k"];
    let mut all = analysis();
    let parts = names.map(|name| small(name, "text", corpus(name), PAGE));
    all.payloads = parts.iter().flat_map(|part| part.payloads.clone()).collect();
    all.payloads[5].origin = Origin::Synthetic { imitates: "a row".into() };
    all.cells = parts.iter().flat_map(|part| part.cells.clone()).collect();
    all.groups = parts.into_iter().flat_map(|part| part.groups).collect();
    all
}

/// Names that try to break out of every format.
pub(super) fn hostile() -> Analysis {
    let name = "x\x1b[2J\u{202e}|`</text><script>alert(1)</script>&\"'=cmd()\n../a.html";
    let path = PathBuf::from(name);
    let mut analysis = small(name, "ht|ml<b>", Origin::User { path, sampled: None }, &PAGE[..6]);
    analysis.faults = vec![notes::fault("snappy")];
    analysis.faults[0].fault.message = "\x1b]0;owned\x07 <b>|`".into();
    analysis.study.question = "What | `is` <b>this</b>?\x1b[31m".into();
    analysis
}

/// Eighty settings on one payload, as close together as real ones are.
pub(super) fn crowd() -> Analysis {
    let mut analysis = small("app.css", "css", corpus("app"), PAGE);
    let mut lines = Vec::new();
    for (index, codec) in
        ["zlib", "zlib-ng", "zlib-rs", "libdeflate", "gzip", "zstd", "br", "lz4hc"].iter().enumerate()
    {
        for level in 1..=9 {
            let slow = f64::from(level).powf(1.8);
            let line = (
                300.0 / slow / (1.0 + index as f64 * 0.15),
                400.0,
                40.0 - 1.3 * f64::from(level) - index as f64 * 0.4,
            );
            lines.push((format!("{codec}:{level}"), line));
        }
    }
    lines.extend((1..=8).map(|level| {
        (format!("zstd:{}", level + 10), (14.0 / f64::from(level), 900.0, 29.0 - f64::from(level)))
    }));
    analysis.cells = lines
        .iter()
        .map(|(setting, (encode, decode, left))| {
            cell("app.css", "native", 3_960_000, (setting, *encode, *decode, *left))
        })
        .collect();
    analysis.groups = vec![group("app.css", "native", &mut analysis.cells)];
    analysis
}

fn bare(payloads: Vec<Payload>, cells: Vec<CellResult>, groups: Vec<Group>) -> Analysis {
    Analysis {
        study: StudyText {
            name: "cache-levels".into(),
            title: "Codec and level for cached values".into(),
            question: "Which codec and level should a PHP application use for the values it caches?".into(),
            reading: "Smaller values travel faster and cost more time to make.\n\nA rate over compressed bytes is too low by the ratio.".into(),
            links: Some(Links { mbit: SPEEDS.to_vec(), reads_per_write: vec![9.0] }),
            published: Some(published::table()),
            published_delivery: None,
        },
        run: RunFacts {
            started: "2026-01-02T03:04:05Z".into(),
            version: "0.1.0".into(),
            seed: 42,
            seconds: 93.4,
            rounds: 9,
            complete: true,
            machine: "Test processor 3.0 GHz, 2 cores, Linux 6.1".into(),
        },
        payloads,
        runtimes: vec![runtime("native", "0.1.0")],
        cells,
        groups,
        published: None,
        findings: Vec::new(),
        faults: Vec::new(),
        unmeasured: Vec::new(),
        exclusions: Vec::new(),
        caveats: Vec::new(),
    }
}

pub(super) fn corpus(id: &str) -> Origin {
    let source = format!("npm:{id}@1.0.0:data.bin");
    Origin::Corpus { id: id.into(), licence: "MIT".into(), source, unpinned: None }
}

fn payload(name: &str, kind: &str, bytes: u64, origin: Origin) -> Payload {
    Payload {
        name: name.into(),
        kind: kind.into(),
        blob: "blob".into(),
        sha256: "00".repeat(32),
        bytes,
        items: vec![bytes],
        value: (kind == "php-value").then(|| "serialize".into()),
        origin,
    }
}

fn runtime(name: &str, version: &str) -> Runtime {
    let libraries = [("zstd", "libzstd 1.5.7"), ("gzdeflate", "zlib 1.2.13")];
    Runtime {
        name: name.into(),
        binary: (name != "native").then(|| "/usr/bin/php8.2".into()),
        version: version.into(),
        libraries: libraries.map(|(name, version)| (name.into(), version.into())).into(),
        facts: [("opcache.enable_cli".to_owned(), "0".to_owned())].into(),
        ini: Vec::new(),
    }
}
