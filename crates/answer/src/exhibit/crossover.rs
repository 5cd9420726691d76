//! The size from which on a precompressed file pays, compared with compression on the fly: server by server.

use std::collections::BTreeMap;

use anyhow::Result;
use weigh_model::cell::{Delivery, Subject, Transport};
use weigh_model::units;
use weigh_model::way::{By, WayKind};
use weigh_stats::{ROUNDS, Threshold, ThresholdInterval};

use crate::block::Block;
use crate::csv_table::{file_of, text};
use crate::exhibit::present::Exhibit;
use crate::metric::delivery::{BODY, CODING, CPU, Endpoint, RATE};
use crate::names::{self, per_second};
use crate::output::{Detail, Options, Rendered};
use crate::report::Report;
use crate::report::exhibit::crossover::{Crossover, Crossovers, Pays, SizeRatio};
use crate::report::finding::Evidence;
use crate::row::Row;
use crate::table::{Column, Grid, Kind, factor, field};
use crate::text::clean;
use crate::verdict::{Ratio, ratio_if};

/// The default levels of servers.
const DEFAULTS: [(&str, i32); 4] = [("gzip", 6), ("deflate", 6), ("br", 5), ("zstd", 3)];

/// One method of sending files with its rows, one per size.
struct Ladder<'a> {
    endpoint: Endpoint,
    way: String,
    delivery: &'a Delivery,
    first: &'a Row,
    /// The content coding of its responses.
    coding: &'a str,
    /// By the payload's bytes and name.
    rows: BTreeMap<(u64, &'a str), &'a Row>,
}

impl Crossovers {
    /// Methods of sending precompressed files, each compared with the same server's usual method on the fly with the
    /// same coding.
    pub(crate) fn of(evidence: &Evidence) -> Option<Crossovers> {
        let ladders = ladders(evidence.report);
        let pre_encoded = ladders.iter().filter(|l| l.delivery.kind == WayKind::PreEncoded);
        let beside_usual = pre_encoded.filter_map(|pre| {
            let on_the_fly = ladders.iter().filter(|l| l.delivery.kind == WayKind::OnTheFly);
            let usual = on_the_fly
                .filter(|l| l.endpoint == pre.endpoint && l.coding == pre.coding)
                .min_by_key(|l| (usize::MAX - l.rows.len(), unusual(l)))?;
            crossover(usual, pre)
        });
        Some(Crossovers(beside_usual.collect())).filter(|found| !found.0.is_empty())
    }
}

/// How far a method is from its server's default.
fn unusual(ladder: &Ladder) -> (usize, u32) {
    let setting = &ladder.first.cell.setting;
    let default = DEFAULTS.iter().find(|(coding, _)| *coding == ladder.coding).map(|(_, level)| *level);
    let distance = setting.level.zip(default).map_or(0, |(level, default)| level.abs_diff(default));
    (setting.options.len(), distance)
}

/// The methods of sending files, except those of PHP. A response that was not encoded (its type is not in the server's
/// list, or it is too small) is left out.
fn ladders(report: &Report) -> Vec<Ladder<'_>> {
    let mut ladders: Vec<Ladder> = Vec::new();
    for row in report.rows.iter().filter(|row| row.cell.subject == Subject::ASSET) {
        let Some(delivery) = row.cell.delivery.as_ref().filter(|d| d.by == By::Server) else { continue };
        let Some(payload) = report.payload(&row.cell.payload) else { continue };
        let Some(coding) = row.fact(CODING) else { continue };
        let (endpoint, way) = (Endpoint::from(delivery), delivery.way(&row.cell.setting));
        let key = (payload.size(), payload.name.as_str());
        match ladders.iter_mut().find(|l| l.endpoint == endpoint && l.way == way && l.coding == coding) {
            Some(ladder) => {
                ladder.rows.insert(key, row);
            }
            None => {
                let rows = BTreeMap::from([(key, row)]);
                ladders.push(Ladder { endpoint, way, delivery, first: row, coding, rows });
            }
        }
    }
    ladders
}

fn crossover(usual: &Ladder, pre: &Ladder) -> Option<Crossover> {
    let both: Vec<(u64, &Row, &Row)> =
        usual.rows.iter().filter_map(|(key, fly)| Some((key.0, *fly, *pre.rows.get(key)?))).collect();
    if both.is_empty() {
        return None;
    }
    let of = |&(bytes, fly, pre): &(u64, &Row, &Row)| SizeRatio {
        payload: fly.cell.payload.clone(),
        bytes,
        on_the_fly: fly.cell.id.clone(),
        pre_encoded: pre.cell.id.clone(),
        cpu: ratio_if(fly.get(CPU), pre.get(CPU)),
        rate: ratio_if(pre.get(RATE), fly.get(RATE)),
        body: pre.value(BODY).unwrap_or(0.0) / fly.value(BODY).unwrap_or(0.0).max(1.0),
    };
    let sizes: Vec<SizeRatio> = both.iter().map(of).collect();
    Some(Crossover {
        endpoint: pre.endpoint.clone(),
        coding: pre.coding.to_owned(),
        on_the_fly: usual.way.clone(),
        pre_encoded: pre.way.clone(),
        cpu: pays(&sizes, |size| size.cpu),
        rate: pays(&sizes, |size| size.rate),
        sizes,
    })
}

impl Crossover {
    /// The sizes with enough common rounds for a test; all sizes if none has.
    pub fn told(&self, of: impl Fn(&SizeRatio) -> Option<Ratio>) -> Vec<&SizeRatio> {
        let told: Vec<&SizeRatio> = self.sizes.iter().filter(|size| has_rounds(of(size))).collect();
        if told.is_empty() { self.sizes.iter().collect() } else { told }
    }
}

fn has_rounds(ratio: Option<Ratio>) -> bool {
    ratio.is_some_and(|ratio| ratio.rounds as usize >= ROUNDS)
}

/// A threshold needs two sizes. Sizes with too few common rounds for a test are left out, because they would hide the
/// others.
fn pays(sizes: &[SizeRatio], of: fn(&SizeRatio) -> Option<Ratio>) -> Option<Pays> {
    let ratios: Vec<(f64, f64, f64, f64)> = sizes
        .iter()
        .filter_map(|size| Some((size.bytes, of(size).filter(|ratio| has_rounds(Some(*ratio)))?)))
        .map(|(bytes, ratio)| (bytes as f64, ratio.value, ratio.low, ratio.high))
        .collect();
    if ratios.len() < 2 {
        return None;
    }
    let found = ThresholdInterval::of(&ratios)?;
    let size = |threshold: Threshold| match threshold {
        Threshold::From(bytes) => Some(bytes),
        Threshold::Everywhere | Threshold::Nowhere => None,
    };
    Some(match found.value {
        // An end above the largest size means that it is unknown.
        Threshold::Everywhere if found.high == Threshold::Nowhere => return None,
        Threshold::Nowhere if found.low == Threshold::Everywhere => return None,
        Threshold::Everywhere => Pays::Everywhere { high: size(found.high) },
        Threshold::Nowhere => Pays::Nowhere { low: size(found.low) },
        Threshold::From(bytes) => Pays::From { bytes, low: size(found.low), high: size(found.high) },
    })
}

impl Exhibit for Crossovers {
    fn leads(&self) -> bool {
        true
    }

    /// The verdicts, and in full the ratios of every size.
    fn blocks(&self, _: &Report, options: &Options) -> Vec<Block> {
        let mut blocks = vec![
            Block::Heading(2, "From which size precompression pays".into()),
            Block::Remark(
                "The sizes from which precompressed files need less CPU time and have a higher rate than compression on the fly. \
                 Interpolated between sizes on logarithmic axes, with 95% confidence intervals over rounds."
                    .into(),
            ),
            Block::Table(verdicts(&self.0)),
        ];
        if options.detail == Detail::Full {
            blocks.push(Block::Heading(3, "Ratios by size".into()));
            blocks.push(Block::Table(ratios(&self.0)));
        }
        blocks
    }

    fn csv(&self, _: &Report) -> Result<Vec<Rendered>> {
        let sizes = self.0.iter().flat_map(|one| one.sizes.iter().map(move |size| (one, size)));
        file_of("crossovers.csv", sizes, |(one, size)| {
            let Endpoint { server, transport, connections, every_ms, link } = &one.endpoint;
            let ends = |r: Option<Ratio>| r.map(|r| [r.value, r.low, r.high].map(|x| x.to_string()));
            let [cpu, cpu_low, cpu_high] = ends(size.cpu).unwrap_or_default();
            let [rate, rate_low, rate_high] = ends(size.rate).unwrap_or_default();
            vec![
                ("server", text(server)),
                ("transport", transport.name().to_owned()),
                ("connections", connections.to_string()),
                ("every (ms)", every_ms.map(|ms| ms.to_string()).unwrap_or_default()),
                ("link", text(link.as_deref().unwrap_or_default())),
                ("coding", text(&one.coding)),
                ("on the fly", text(&one.on_the_fly)),
                ("encoded before", text(&one.pre_encoded)),
                ("payload", text(&size.payload)),
                ("size (bytes)", size.bytes.to_string()),
                ("CPU on the fly ÷ before (×)", cpu),
                ("CPU 95% low", cpu_low),
                ("CPU 95% high", cpu_high),
                ("rate before ÷ on the fly (×)", rate),
                ("rate 95% low", rate_low),
                ("rate 95% high", rate_high),
                ("bytes before ÷ on the fly (×)", size.body.to_string()),
                ("pays in CPU", pays_from(one.cpu.as_ref())),
                ("pays in rate", pays_from(one.rate.as_ref())),
            ]
        })
    }
}

/// `nginx https ×10 @cable`, cleaned.
fn describe_endpoint(Endpoint { server, transport, connections, every_ms, link }: &Endpoint) -> String {
    let connections = match connections {
        1 => String::new(),
        n => format!(" ×{n}"),
    };
    let transport = match transport {
        Transport::Http => "",
        Transport::Https => " https",
    };
    let link = link.as_ref().map_or(String::new(), |link| format!(" @{}", clean(link)));
    let rate = every_ms.map_or(String::new(), |ms| format!(" {}/s", per_second(ms)));
    format!("{}{transport}{connections}{rate}{link}", names::server(server))
}

/// `gzip_static` of `server/gzip_static`: the method is always the server's.
pub(crate) fn way_name(way: &str) -> &str {
    way.split_once('/').map_or(way, |(_, name)| name)
}

/// `gzip 6`, cleaned.
fn describe_method(way: &str) -> String {
    clean(&way.replacen(':', " ", 1))
}

fn verdicts(crossovers: &[Crossover]) -> Grid {
    Grid::of(crossovers, |one| {
        let shares = one.sizes.iter().map(|size| size.body);
        let (low, high) =
            shares.fold((f64::INFINITY, 0.0), |(low, high), s| (f64::min(low, s), f64::max(high, s)));
        vec![
            factor("server", describe_endpoint(&one.endpoint)),
            factor("on the fly", describe_method(way_name(&one.on_the_fly))),
            factor("precompressed", describe_method(way_name(&one.pre_encoded))),
            factor("coding", clean(&one.coding)),
            field("pays in CPU", "from", Kind::Text, 0, pays_from(one.cpu.as_ref())),
            field("pays in rate", "from", Kind::Text, 2, pays_from(one.rate.as_ref())),
            field("bytes", "÷ on the fly", Kind::Text, 3, format!("{low:.3}\u{a0}to\u{a0}{high:.3}")),
        ]
    })
}

/// An end of an interval of sizes.
pub(crate) fn size_end(end: Option<f64>, open: &str) -> String {
    end.map_or_else(|| open.to_owned(), |bytes| units::bytes(bytes.round() as u64))
}

/// `from 1.2 KB (900 bytes to 2 KB)`, `at every size`, `at no size`.
pub(crate) fn pays_from(pays: Option<&Pays>) -> String {
    match pays {
        None => "open".into(),
        Some(Pays::Everywhere { .. }) => "at every size".into(),
        Some(Pays::Nowhere { .. }) => "at no size".into(),
        Some(Pays::From { bytes, low, high }) => format!(
            "from {} ({} to {})",
            units::bytes(bytes.round() as u64),
            size_end(*low, "smallest"),
            size_end(*high, "largest")
        ),
    }
}

fn ratios(crossovers: &[Crossover]) -> Grid {
    let value = |ratio: Option<Ratio>| ratio.map(|r| r.value);
    let interval = |ratio: Option<Ratio>| {
        ratio.map_or(String::new(), |r| {
            format!("{}–{}", units::significant(r.low), units::significant(r.high))
        })
    };
    Grid::of(
        crossovers.iter().flat_map(|one| one.sizes.iter().map(move |size| (one, size))),
        |(one, size)| {
            vec![
                factor("server", describe_endpoint(&one.endpoint)),
                factor(
                    "precompressed",
                    format!(
                        "{}, not {}",
                        describe_method(way_name(&one.pre_encoded)),
                        describe_method(way_name(&one.on_the_fly))
                    ),
                ),
                factor("content", clean(&size.payload)),
                (Column::factor("size", "B", Kind::Whole), (size.bytes as f64).into()),
                field("CPU", "fly ÷ pre", Kind::Three, 0, value(size.cpu)),
                field("CPU", "95% CI", Kind::Text, 2, interval(size.cpu)),
                field("rate", "pre ÷ fly", Kind::Three, 1, value(size.rate)),
                field("rate", "95% CI", Kind::Text, 3, interval(size.rate)),
                field("bytes", "pre ÷ fly", Kind::Three, 1, size.body),
            ]
        },
    )
}
