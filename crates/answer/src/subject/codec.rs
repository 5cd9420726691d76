//! Codecs, native and in PHP: the cost of encoding and decoding, and the encoded size.

use std::collections::BTreeMap;

use weigh_model::caveat::Caveat;
use weigh_model::cell::{Cell as Configuration, Subject};
use weigh_model::payload::Payload;
use weigh_model::plan::Plan;
use weigh_model::protocol::{Phase, Samples};
use weigh_model::record::VisitRecord;
use weigh_model::units;
use weigh_stats::{median, summary};

use crate::block::Block;
use crate::document::group;
use crate::estimate::Estimate;
use crate::finding::codec as finding;
use crate::finding::codec::content_bytes;
use crate::gather::{Gathered, Measured, usable};
use crate::group::Group;
use crate::metric::codec::{COMPRESS, DECODE, DECODED, DECOMPRESS, ENCODE, ENCODED, IDENTITY, STORED};
use crate::metric::{Metric, Source, metrics};
use crate::names;
use crate::report::Report;
use crate::report::exhibit::Exhibits;
use crate::report::exhibit::links::LinkTotals;
use crate::report::exhibit::published::BesidePublished;
use crate::report::finding::Evidence;
use crate::report::ranking::Costs;
use crate::report::shape::{Axes, Factor, Facts, Look, Mark, Shape, ShownColumn, metric, shown};
use crate::row::{Row, Values};
use crate::table::{Column, Columns, Grid, Kind, factor, field};
use crate::text::clean;

/// Figures per uncompressed byte: for all serializers of a value, by the size with `serialize`.
const SHARED: [&str; 4] = ["ratio", "saving", "encode-rate", "decode-rate"];

/// A figure from fewer samples than this has a note.
const ENOUGH_SAMPLES: f64 = 7.0;

/// Current practice, the most common first: the reference of a group is the first of these in it, preferably at this
/// level and without options.
const REFERENCES: &[(&str, i32)] = &[
    ("gzdeflate", 6),
    ("gzcompress", 6),
    ("gzencode", 6),
    ("gzip", 6),
    ("zlib", 6),
    ("deflate", 6),
    ("zlib-ng", 6),
    ("zlib-rs", 6),
    ("libdeflate", 6),
];

pub static SHAPE: Shape = Shape {
    name: "codec",
    kinds: &[Subject::CODEC, Subject::PHP_CODEC],
    phases: &[Phase::Encode, Phase::Decode],
    is_row: |_| true,
    factors: FACTORS,
    group_by: &["payload", "runtime"],
    metrics: &[SIZES, ENCODING, DECODING, COMPRESSING, DECOMPRESSING, AGAIN],
    facts,
    complete: |rows| {
        add_serializers(rows);
        share_base(rows);
    },
    axes: Some(Axes { times: &[(ENCODE, "encode time")], size: STORED }),
    costs: Some(Costs {
        write: Some((ENCODE, "encoding")),
        read: (DECODE, "decoding"),
        bytes: Some((ENCODED, "encoded bytes")),
        of_group: None,
    }),
    headline: &[ENCODE, DECODE],
    marks: &[Mark { name: "reference", note: "reference", pick: reference }],
    caveats,
    watches_wall: true,
    exhibits,
    questions: crate::advice::codec::questions,
    advise: crate::advice::codec::advise,
    findings: &[
        ("beats", finding::beats::settings),
        ("break-even", finding::breakeven::bandwidths),
        ("serializer", finding::serializer::effects),
        ("published", crate::finding::published::agreement),
        ("level", finding::levels::steps),
        ("size", finding::size::thresholds),
        ("memory", finding::memory::peaks),
        ("marshaller", finding::marshaller::beside_by_hand),
    ],
    look: Look {
        noun: ("setting", "settings"),
        method: "Each configuration is timed once per round, in random order, by a process that keeps running. The main figure is CPU \
            time; wall time is also shown. A figure is the 0.1 quantile over rounds with a 95% \
            interval: neighbours on the machine only ever add CPU time, so a low quantile is what the code costs when it is left alone. \
            Ratios are those of two figures. Every round trip was compared byte for byte. Throughput divides \
            by uncompressed bytes, in both directions.",
        label: names::setting,
        title,
        part: None,
        about,
        columns,
        notes: |_, row| {
            let dictionary = row.count("dictionary-bytes");
            (dictionary > 0)
                .then(|| format!("+ dictionary {}", units::bytes(dictionary)))
                .into_iter()
                .collect()
        },
        overview,
        pictures: crate::picture::codec::pictures,
        few: 3,
    },
};

const FACTORS: &[Factor] = &[
    Factor { id: "payload", of: |cell| Some(cell.payload.clone()) },
    Factor { id: "runtime", of: |cell| Some(cell.runtime.clone()) },
    Factor { id: "serializer", of: |cell| cell.serializer.clone() },
    Factor { id: "codec", of: |cell| Some(cell.setting.codec.clone()) },
    Factor { id: "level", of: |cell| cell.setting.level.map(|level| level.to_string()) },
    Factor { id: "options", of: options },
];

fn options(cell: &Configuration) -> Option<String> {
    let options = cell.setting.options.iter().map(|(name, value)| format!("{name}={value}"));
    Some(options.collect::<Vec<_>>().join(",")).filter(|options| !options.is_empty())
}

const SIZES: &[Metric] = metrics! {
    DECODED => Bytes, Less, Exact, per Pass: Source::Visit(|v| Some(v.share(v.decoded_bytes as f64))),
        "Uncompressed size (mean per value of a family); of a value, that of its serialization.";
    ENCODED => Bytes, Less, Exact, per Pass: Source::Visit(|v| Some(v.share(v.encoded_bytes as f64))),
        "Compressed size (mean per value of a family), without the dictionary.";
    "dictionary-bytes" => Bytes, Less, Exact, per Pass: Source::Visit(|v| Some(v.dictionary_bytes as f64)),
        "Bytes of the dictionary, which are not part of the compressed size.";
    STORED => Bytes, Less, Exact, per Pass: Source::Visit(|v| Some(v.share(v.encoded_bytes as f64 + v.dictionary_bytes as f64))),
        "Encoded bytes with a dictionary's; of a family with an instance's share of it.";
    "sample-error" => Share, Less, Exact, per Run: Source::Visit(|v| v.sample?.error),
        "Of a sample of files: half the width of the 95% interval of the encoded bytes, as a share of them.";
    "ratio" => Ratio, More, Exact, per Run: Source::Values(|_, v| quotient(v, DECODED, ENCODED, |a, b| a / b.max(1.0))),
        "Compression ratio: uncompressed ÷ encoded bytes.";
    "saving" => Share, More, Exact, per Run: Source::Values(|_, v| quotient(v, ENCODED, DECODED, |a, b| 1.0 - a / b.max(1.0))),
        "Space saving: 1 − encoded ÷ uncompressed bytes.";
    "serialize" => Ns, Less, LowQuantile, per Pass: Source::Beside,
        "CPU time of the serializer alone: encode time of the row with the same serializer and no compression.";
    "unserialize" => Ns, Less, LowQuantile, per Pass: Source::Beside,
        "CPU time of the serializer alone: decode time of the row with the same serializer and no compression.";
};

fn quotient(values: &Values, a: &str, b: &str, of: fn(f64, f64) -> f64) -> Option<Estimate> {
    let (a, b) = (values.get(a)?, values.get(b)?);
    Some(Estimate::exact(of(a.value, b.value), a.rounds as usize))
}

/// The metrics of one phase of an operation.
macro_rules! phase {
    ($id:literal, $phase:ident, $what:literal) => {
        metrics! {
            $id => Ns, Less, LowQuantile, per Pass: Source::Samples(|v| v.phases.get(&Phase::$phase)),
                concat!("CPU time of ", $what, " all items (mean per value of a family); 10th percentile over rounds.");
            concat!($id, "-rate") => BytesPerSecond, More, LowQuantile, per Run: Source::Values(|_, v| rate(v, $id)),
                "Uncompressed bytes per second of CPU time.";
            concat!($id, "-min") => Ns, Less, Min, per Pass: Source::Visits(|m| samples(m, Phase::$phase, |all| all.min)),
                "The smallest CPU time of a sample.";
            concat!($id, "-mad") => Ns, Less, Median, per Pass: Source::Visits(|m| samples(m, Phase::$phase, |all| all.mad)),
                "Median absolute deviation of CPU time over all samples.";
            concat!($id, "-median") => Ns, Less, Median, per Pass: Source::Visits(|m| {
                    median_of(m.round_medians(|v| v.phases.get(&Phase::$phase)).iter().map(|r| r.1))
                }), "CPU time in a round in the middle, neighbours and all.";
            concat!($id, "-wall") => Ns, Less, Median, per Pass: Source::Visits(|m| {
                    median_of(m.visits.iter().filter_map(|v| wall(v, Phase::$phase)))
                }), "Wall time: median over rounds of the median within each.";
            concat!($id, "-samples") => Count, Neither, Sum, per Run: Source::Visits(|m| samples(m, Phase::$phase, |all| all.n as f64)),
                "Samples of all rounds.";
            concat!($id, "-preempted") => Count, Less, Sum, per Run: Source::Visit(|v| Some(v.phases.get(&Phase::$phase)?.preempted as f64)),
                "Involuntary context switches over all samples.";
            concat!($id, "-peak") => Bytes, Less, Max, per Run: Source::Visit(|v| Some(*v.peak_bytes.get(&Phase::$phase)? as f64)),
                "Peak memory above that of the idle process.";
        }
    };
}

const ENCODING: &[Metric] = phase!("encode", Encode, "encoding");
const DECODING: &[Metric] = phase!("decode", Decode, "decoding");
const COMPRESSING: &[Metric] = phase!("compress", Compress, "the codec alone over");
const DECOMPRESSING: &[Metric] = phase!("decompress", Decompress, "the codec alone back over");

/// The cost of the same value repeatedly, if families are measured.
const AGAIN: &[Metric] = metrics! {
    "encode-again" => Ns, Less, LowQuantile, per Op: Source::Visit(|v| again(v, Phase::Encode)),
        "CPU time of encoding one instance of a family again and again, which the processor learns: no figure of a cache that holds many.";
    "decode-again" => Ns, Less, LowQuantile, per Op: Source::Visit(|v| again(v, Phase::Decode)),
        "CPU time of decoding one instance of a family again and again.";
};

fn again(visit: &VisitRecord, phase: Phase) -> Option<f64> {
    median(&usable(&visit.again.get(&phase)?.cpu_ns).collect::<Vec<_>>())
}

/// Uncompressed bytes per second of a time.
fn rate(values: &Values, time: &str) -> Option<Estimate> {
    let (time, bytes) = (values.get(time)?, values.get(DECODED)?.value);
    let per = |ns: f64| if ns > 0.0 { bytes * 1e9 / ns } else { 0.0 };
    Some(Estimate {
        value: per(time.value),
        low: time.high.map(per),
        high: time.low.map(per),
        rounds: time.rounds,
        drawn: None,
    })
}

fn samples(measured: &Measured, phase: Phase, part: fn(&weigh_stats::Summary) -> f64) -> Option<Estimate> {
    let visits = measured.visits.iter().filter_map(|v| Some((v, v.phases.get(&phase)?)));
    let own = |(v, s): (&&VisitRecord, &Samples)| usable(&s.cpu_ns).map(|ns| v.share(ns)).collect::<Vec<_>>();
    let all: Vec<f64> = visits.clone().flat_map(own).collect();
    Some(Estimate::exact(part(&summary(&all)?), visits.count()))
}

fn median_of(amounts: impl Iterator<Item = f64>) -> Option<Estimate> {
    let amounts: Vec<f64> = amounts.collect();
    Some(Estimate::exact(median(&amounts)?, amounts.len()))
}

fn wall(visit: &VisitRecord, phase: Phase) -> Option<f64> {
    let middle = median(&usable(&visit.phases.get(&phase)?.wall_ns).collect::<Vec<_>>())?;
    Some(visit.share(middle))
}

fn facts(plan: &Plan, measured: &Measured) -> Facts {
    let runtime = plan.runtimes.iter().find(|r| r.name == measured.cell.runtime);
    let library = runtime.and_then(|r| r.libraries.get(&measured.cell.setting.codec)).cloned();
    let independent = measured.visits.iter().rev().find_map(|v| v.independent.clone());
    vec![("library", library), ("independent decoder", independent)]
}

/// Adds the cost of the serializer alone to each row with a serializer: encode and decode of the identity cell with the
/// same payload, runtime and serializer.
fn add_serializers(rows: &mut [Row]) {
    let factors =
        |cell: &Configuration| (cell.payload.clone(), cell.runtime.clone(), cell.serializer.clone());
    let is_alone = |row: &&Row| row.cell.setting.codec == IDENTITY && row.cell.serializer.is_some();
    let alone: Vec<_> = rows
        .iter()
        .filter(is_alone)
        .filter_map(|row| Some((factors(&row.cell), row.get(ENCODE)?.clone(), row.get(DECODE)?.clone())))
        .collect();
    for row in rows.iter_mut() {
        let own = factors(&row.cell);
        if let Some((_, encode, decode)) = alone.iter().find(|(of, _, _)| *of == own) {
            row.values.insert("serialize".into(), encode.clone());
            row.values.insert("unserialize".into(), decode.clone());
        }
    }
}

/// Savings, ratios and rates of all serializers of a value use one size, that of `serialize`: by its own size, a
/// serializer that writes fewer bytes would look worse.
fn share_base(rows: &mut [Row]) {
    let key = |row: &Row| (row.cell.payload.clone(), row.cell.runtime.clone());
    let is_base = |row: &&Row| row.cell.serializer.as_deref() == Some("serialize");
    let bases: BTreeMap<_, f64> =
        rows.iter().filter(is_base).filter_map(|row| Some((key(row), row.value(DECODED)?))).collect();
    for row in rows.iter_mut().filter(|row| row.cell.serializer.is_some()) {
        let (Some(base), Some(own)) = (bases.get(&key(row)), row.get(DECODED)) else { continue };
        let mut values = row.values.clone();
        values.insert(DECODED.to_owned(), Estimate::exact(*base, own.rounds as usize));
        for metric in [SIZES, ENCODING, DECODING].into_iter().flatten().filter(|m| SHARED.contains(&m.id)) {
            if let Source::Values(of) = metric.of
                && let Some(estimate) = of(&row.cell, &values)
            {
                row.values.insert(metric.id.to_owned(), estimate);
            }
        }
    }
}

/// The reference: see [`REFERENCES`], with `serialize` if there are serializers; otherwise the identity cell; otherwise
/// the fastest on the front.
fn reference<'r>(rows: &[&'r Row], front: &[&'r Row]) -> Option<&'r Row> {
    let likeness = |row: &&Row| {
        let serializer = match row.cell.serializer.as_deref() {
            Some("serialize") => 0,
            None => 1,
            Some(_) => 2,
        };
        (serializer, row.cell.setting.options.len())
    };
    let named = |name: &str, level: Option<i32>| {
        let timed = rows.iter().copied().filter(|row| row.get(ENCODE).is_some());
        timed
            .filter(|row| row.cell.setting.codec == name && row.cell.setting.level == level)
            .min_by_key(likeness)
    };
    REFERENCES
        .iter()
        .find_map(|(codec, level)| named(codec, Some(*level)))
        .or_else(|| named(IDENTITY, None))
        .or_else(|| front.first().copied())
}

fn caveats(_: &Evidence, measured: &Measured, row: &Row) -> Vec<Caveat> {
    let counts = ["encode-samples", "decode-samples", "compress-samples", "decompress-samples"];
    let fewest = counts.iter().filter_map(|metric| row.value(metric)).reduce(f64::min);
    // A sample of a family is a mean over its instances.
    let instances = measured.last().map_or(1.0, |visit| f64::from(visit.instances.max(1)));
    let fewest = fewest.map(|samples| samples * instances);
    let few = fewest.filter(|samples| *samples < ENOUGH_SAMPLES);
    let differs = measured.visits.iter().any(|v| !v.is_same_output(measured.visits[0]));
    let few = few.map(|samples| Caveat::FewSamples { samples: samples as u32 });
    few.into_iter().chain(differs.then(|| Caveat::Unstable { cell: row.cell.id.clone() })).collect()
}

fn exhibits(evidence: &Evidence, _: &Gathered) -> Exhibits {
    Exhibits {
        links: LinkTotals::of(evidence),
        published: BesidePublished::of(evidence),
        ..Exhibits::default()
    }
}

/// `tree-2.4m, PHP 8.2`.
fn title(_: &Report, group: &Group) -> String {
    let runtime = if group.runtime() == "native" {
        "native libraries".to_owned()
    } else {
        names::runtime(group.runtime())
    };
    format!("{}, {runtime}", clean(group.payload()))
}

/// Kind, size and origin of the group's content, with its size on the group's runtime.
fn about(report: &Report, of: &Group) -> Vec<String> {
    let payload = report.payload(of.payload());
    let own = payload.map(|payload| {
        let bytes = content_bytes(report, of) * payload.instances() as u64;
        // What they stand for is in the bytes then.
        Payload { bytes, parts: Vec::new(), ..payload.clone() }
    });
    own.iter().map(group::about).collect()
}

/// The larger distance of the two directions from the figure to the upper end of its interval.
fn margin(row: &Row) -> Option<f64> {
    [ENCODE, DECODE].iter().filter_map(|metric| row.get(metric)).filter_map(Estimate::margin).reduce(f64::max)
}

fn least(row: &Row, metrics: [&str; 2], pick: fn(f64, f64) -> f64) -> Option<f64> {
    metrics.iter().filter_map(|metric| row.value(metric)).reduce(pick)
}

fn columns(_: &Report, _: &Group) -> Vec<ShownColumn> {
    let three = |name, unit: &str, rank| Column::new(name, unit, Kind::Three, rank);
    let fixed = |name, unit: &str, decimals, rank| Column::new(name, unit, Kind::Fixed(decimals), rank);
    vec![
        shown(Column::factor("setting", "", Kind::Text), |report, _, r| {
            group::marked(report, r, &names::setting(r)).into()
        }),
        metric(Column::new("bytes", "B", Kind::Whole, 0), ENCODED, 1.0),
        metric(Column::new("size", "", Kind::Bar, 0), ENCODED, 1.0),
        metric(fixed("saving", "%", 1, 4), "saving", 100.0),
        metric(fixed("ratio", "×", 2, 7), "ratio", 1.0),
        metric(three("encode", "ms", 0), ENCODE, 1e-6),
        metric(three("encode", "MB/s", 5), "encode-rate", 1e-6),
        metric(three("decode", "ms", 3), DECODE, 1e-6),
        metric(three("decode", "MB/s", 8), "decode-rate", 1e-6),
        metric(three("compress", "ms", 13), COMPRESS, 1e-6),
        metric(three("decompress", "ms", 14), DECOMPRESS, 1e-6),
        metric(three("decode", "again ms", 16), "decode-again", 1e-6),
        metric(three("serialize", "ms", 15), "serialize", 1e-6),
        shown(fixed("95% CI", "+%", 1, 5).of("margin").about(MARGIN), |_, _, r| {
            margin(r).map(|x| x * 100.0).into()
        }),
        shown(fixed("vs reference", "×", 2, 9).about(BESIDE), |_, _, r| {
            r.beside.get("reference").map(|x| x.value).into()
        }),
        shown(
            fixed("wall", "÷ CPU", 2, 12).about("Wall time ÷ CPU time of an encode in the middle round."),
            |_, _, r| {
                let cpu = r.value("encode-median").filter(|cpu| *cpu > 0.0);
                r.value("encode-wall").zip(cpu).map(|(wall, cpu)| wall / cpu).into()
            },
        ),
        shown(three("peak", "MB", 10).about("Peak memory above that of the idle process."), |_, _, r| {
            least(r, ["encode-peak", "decode-peak"], f64::max).map(|x| x / 1e6).into()
        }),
        shown(Column::new("samples", "", Kind::Whole, 11).about("Samples of all rounds."), |_, _, r| {
            least(r, ["encode-samples", "decode-samples"], f64::min).into()
        }),
        shown(Column::note("beaten by", 2).of("rival").about(RIVAL), |report, _, r| {
            r.dominated_by.as_deref().map(|id| group::label(report, id)).unwrap_or_default().into()
        }),
        shown(Column::note("note", 1), |report, g, r| group::notes(report, g, r).into()),
    ]
}

const MARGIN: &str =
    "How far the 95% confidence interval of the CPU time reaches above it, the wider of encode and decode.";
const BESIDE: &str = "Encode time ÷ that of the reference.";
/// The meaning of the column of rivals, for every subject.
pub(super) const RIVAL: &str = "A row on the front that is no larger, and not measurably slower.";

/// One line per group, when there are too many groups to show their fronts.
fn overview<'a>(report: &'a Report, _: &Columns) -> Vec<Block> {
    let ends = |view: &group::View<'a>| {
        let mut front = view.on_front().filter(|row| row.cell.setting.codec != IDENTITY);
        let fast = front.next()?;
        Some((fast, front.last().unwrap_or(fast)))
    };
    let views = group::views(report);
    let with_ends = views.iter().filter_map(|view| Some((view, ends(view)?)));
    let stored = |row: &Row| units::bytes(row.count(ENCODED));
    let grid = Grid::of(with_ends, |(view, (fast, small))| {
        let size = units::bytes(content_bytes(report, view.group));
        let front = format!("{} of {}", view.on_front().count(), view.rows.len());
        let encode = small.value(ENCODE).map(units::ns).unwrap_or_default();
        vec![
            factor("content", view.content()),
            factor("runtime", clean(view.group.runtime())),
            field("size", "", Kind::Text, 3, size),
            field("front", "settings", Kind::Text, 4, front),
            field("fastest", "on the front", Kind::Text, 0, names::setting(fast)),
            field("bytes", "of the fastest", Kind::Text, 1, stored(fast)),
            field("smallest", "on the front", Kind::Text, 0, names::setting(small)),
            field("encode", "of the smallest", Kind::Text, 1, encode),
            field("bytes", "of the smallest", Kind::Text, 1, stored(small)),
        ]
    });
    vec![
        Block::Heading(2, "Each content".into()),
        Block::Remark(
            "The two ends of each Pareto front of encode time and bytes, sending as it is left out. The full report has a table for each.".into(),
        ),
        Block::Table(grid),
    ]
}
