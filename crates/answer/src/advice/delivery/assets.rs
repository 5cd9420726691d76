//! Whether to precompress files, from which size on, with which encoders, and how each server sends them.
//!
//! A file is read much more often than written, so encoding time hardly matters. Of the encoders of a coding, the one
//! with the fewest bytes is recommended; of those within 0.5% of it, the first in the study. On each server, the method
//! with the least CPU time is recommended; without a significant difference, the first in the study. Precompressed
//! files are recommended if the [crossover](crate::exhibit::crossover) says that they pay, or, with too few rounds for
//! a test, if the figures say so.

use weigh_model::cell::Subject;
use weigh_model::units;
use weigh_model::way::{By, ENCODER, WayKind};
use weigh_stats::ROUNDS;

use super::{Said, fewest_rounds, ids};
use crate::advice::{Part, Recommended, Sentence, is_short};
use crate::exhibit::crossover::{Crossover, Pays, SizeRatio, size_end, way_name};
use crate::finding::Evidence;
use crate::finding::delivery::{Sent, all, bytes_of, crossovers, label, sent};
use crate::first::{distinct, grouped};
use crate::subject::delivery::CPU;
use crate::verdict::is_told_less;

/// Encoders whose bytes differ by less than this share count as equal: the first in the study is recommended.
const ALIKE: f64 = 1.005;
/// The default encoders of variants, by coding.
const ENCODERS: [(&str, &str); 3] = [("br", "brotli 11"), ("gzip", "zlib 9"), ("zstd", "zstd 19")];
/// The most servers that a sentence names.
const NAMED: usize = 4;

/// A method of sending precompressed files of one coding from one server.
struct Method<'a> {
    server: &'a str,
    coding: &'a str,
    /// Its codec, as `gzip_static`.
    name: &'a str,
    encoder: &'a str,
    rows: Vec<Sent<'a>>,
}

/// The recommendation for files; none if no server sends both precompressed files and others.
pub(super) fn advise(evidence: &Evidence) -> Option<Said> {
    let methods = methods(evidence);
    let usual = usual(evidence);
    let (pays, not): (Vec<&Crossover>, Vec<&Crossover>) = usual.iter().copied().partition(|c| is_worth(c));
    let servers = distinct(pays.iter().map(|c| c.endpoint.server.as_str()));
    let encoders: Vec<(&str, &str)> =
        ENCODERS.iter().filter_map(|(coding, _)| Some((*coding, encoder(&methods, coding)?))).collect();
    let chosen: Vec<&Method> = servers
        .iter()
        .flat_map(|server| encoders.iter().filter_map(|of| best(&methods, server, *of)))
        .collect();
    let precompressed: Vec<Recommended> =
        chosen.iter().map(|method| recommended(evidence, method, &pays)).collect();
    let sentences = match (chosen.is_empty(), not.is_empty()) {
        (true, true) => return None,
        (true, false) => vec![leave(&not)],
        (false, _) => used(&chosen, &encoders, &precompressed),
    };
    let mut said = Said { recommended: precompressed, sentences };
    said.recommended.extend(not.iter().filter_map(|c| on_the_fly(evidence, c)));
    said.sentences.extend(pays.first().and_then(|c| gain(evidence, c)));
    said.sentences.extend(fewer_bytes(evidence, &chosen));
    said.sentences.extend(change(&pays, &not));
    said.sentences.extend(limit(evidence, &usual));
    Some(said)
}

/// Every method by server, coding and encoder, in the plan's order.
fn methods<'a>(evidence: &Evidence<'a>) -> Vec<Method<'a>> {
    let mut rows = all(evidence, Subject::ASSET);
    rows.retain(|row| row.delivery.by == By::Server && row.delivery.kind == WayKind::PreEncoded);
    let key = |row: Sent<'a>| {
        let (coding, cell) = (row.coding()?, &row.row.cell);
        let default = ENCODERS.iter().find(|(of, _)| *of == coding).map_or("", |(_, name)| name);
        let encoder = cell.setting.options.get(ENCODER).map_or(default, String::as_str);
        row.cpu()?;
        Some(((row.delivery.server.as_str(), coding, cell.setting.codec.as_str(), encoder), row))
    };
    let of = |((server, coding, name, encoder), rows)| Method { server, coding, name, encoder, rows };
    grouped(rows.into_iter().filter_map(key)).into_iter().map(of).collect()
}

/// The crossover that represents each server: the one with the most sizes, gzip before others.
fn usual<'a>(evidence: &Evidence<'a>) -> Vec<&'a Crossover> {
    let servers = grouped(crossovers(evidence).iter().map(|c| (c.endpoint.server.as_str(), c)));
    let rank = |c: &&Crossover| (c.coding == "gzip", c.sizes.len());
    servers.into_iter().filter_map(|(_, all)| all.into_iter().rev().max_by_key(rank)).collect()
}

/// Whether precompressed files take less CPU time from some size on: by the verdict, or without a verdict by the
/// figures of every size.
fn is_worth(crossover: &Crossover) -> bool {
    match crossover.cpu {
        Some(pays) => !matches!(pays, Pays::Nowhere { .. }),
        None => crossover.sizes.iter().all(|size| size.cpu.is_none_or(|ratio| ratio.value > 1.0)),
    }
}

/// The encoder with the fewest bytes, over the contents that several encoders have.
fn encoder<'a>(methods: &[Method<'a>], coding: &str) -> Option<&'a str> {
    let of_coding = || methods.iter().filter(|method| method.coding == coding);
    let bytes = |encoder: &str, payload: &str| {
        let rows = of_coding().filter(|method| method.encoder == encoder).flat_map(|method| &method.rows);
        rows.filter(|row| row.row.cell.payload == payload).map(Sent::bytes).reduce(f64::min)
    };
    let encoders = distinct(of_coding().map(|method| method.encoder));
    let payloads = distinct(of_coding().flat_map(|m| &m.rows).map(|row| row.row.cell.payload.as_str()));
    let beside = |encoder: &str| -> f64 {
        let least = |payload: &str| encoders.iter().filter_map(|e| bytes(e, payload)).reduce(f64::min);
        let ratios = payloads.iter().filter_map(|of| Some(bytes(encoder, of)? / least(of)?.max(1.0)));
        ratios.fold(1.0, f64::max)
    };
    let least = encoders.iter().map(|encoder| beside(encoder)).reduce(f64::min)?;
    encoders.iter().find(|encoder| beside(encoder) <= least * ALIKE).copied()
}

/// How a server sends the files of an encoder: with the least CPU time, or the first method without a significant
/// difference to it.
fn best<'m, 'a>(methods: &'m [Method<'a>], server: &str, of: (&str, &str)) -> Option<&'m Method<'a>> {
    let all: Vec<&Method> = methods
        .iter()
        .filter(|method| method.server == server && (method.coding, method.encoder) == of)
        .collect();
    let most = all.iter().map(|method| method.rows.len()).max()?;
    let all: Vec<&Method> = all.into_iter().filter(|method| method.rows.len() == most).collect();
    let total = |m: &Method| m.rows.iter().map(|row| row.row.value(CPU).unwrap_or(0.0)).sum::<f64>();
    let least = all.iter().min_by(|a, b| total(a).total_cmp(&total(b)))?;
    let is_slower = |other: &Method| {
        let pairs = least.rows.iter().flat_map(|a| other.rows.iter().map(move |b| (a, b)));
        let mut alike = pairs.filter(|(a, b)| a.row.cell.group() == b.row.cell.group());
        alike.any(|(a, b)| is_told_less(a.cpu(), b.cpu()))
    };
    all.iter().find(|other| !is_slower(other)).copied()
}

fn recommended(evidence: &Evidence, method: &Method, pays: &[&Crossover]) -> Recommended {
    let least = pays.iter().find(|c| c.endpoint.server == method.server).and_then(|c| match c.cpu {
        Some(Pays::From { bytes, .. }) => Some(bytes),
        _ => None,
    });
    let size = |row: &Sent| bytes_of(evidence, &row.row.cell.payload);
    let mut rows = method.rows.clone();
    rows.retain(|row| least.is_none_or(|least| size(row) as f64 >= least));
    rows.sort_by_key(size);
    Recommended {
        scope: format!("{}, clients that take {}", label::owned(method.server), method.coding),
        name: format!("{} with {}", method.name, method.encoder),
        cells: ids(&rows),
    }
}

/// Where encoding each response is better.
fn on_the_fly(evidence: &Evidence, crossover: &Crossover) -> Option<Recommended> {
    let rows: Vec<Sent> =
        crossover.sizes.iter().filter_map(|size| sent(evidence, &size.on_the_fly)).collect();
    Some(Recommended {
        scope: label::owned(&crossover.endpoint.server).to_owned(),
        name: format!("{} on the fly", label::name(rows.first()?)),
        cells: ids(&rows),
    })
}

fn leave(not: &[&Crossover]) -> Sentence {
    let servers = not.iter().map(|c| label::owned(&c.endpoint.server));
    let text = format!("Do not precompress assets for {}.", units::list(&distinct(servers)));
    Sentence::new(Part::Use, text, cells(not.iter().flat_map(|c| &c.sizes)))
}

fn cells<'s>(sizes: impl Iterator<Item = &'s SizeRatio>) -> Vec<String> {
    sizes.flat_map(|size| [size.pre_encoded.clone(), size.on_the_fly.clone()]).collect()
}

/// `Precompress assets with brotli 11 and zopfli, and serve them with gzip_static on nginx and type-map on Apache.`; in two sentences where it is long.
fn used(chosen: &[&Method], encoders: &[(&str, &str)], precompressed: &[Recommended]) -> Vec<Sentence> {
    let names: Vec<&str> = encoders.iter().map(|(_, encoder)| *encoder).collect();
    let by_server = grouped(chosen.iter().map(|method| (method.server, method.name)));
    let served: Vec<String> = by_server
        .into_iter()
        .map(|(server, ways)| format!("{} on {}", units::list(&distinct(ways)), label::owned(server)))
        .collect();
    let (first, second) =
        (format!("Precompress assets with {}", units::list(&names)), label::some(&served, NAMED));
    let one = format!("{first}, and serve them with {second}.");
    let texts = if is_short(&one) {
        vec![one]
    } else {
        vec![format!("{first}."), format!("Serve them with {second}.")]
    };
    let cells = || precompressed.iter().flat_map(|one| one.cells.clone());
    texts.into_iter().map(|text| Sentence::new(Part::Use, text, cells())).collect()
}

/// The improvement on the median content by size, compared with the same server's filter.
fn gain(evidence: &Evidence, crossover: &Crossover) -> Option<Sentence> {
    let size = crossover.sizes.get(crossover.sizes.len() / 2)?;
    let (fly, pre) = (sent(evidence, &size.on_the_fly)?, sent(evidence, &size.pre_encoded)?);
    let text = format!(
        "{} from {}, beside {} on the fly: {}.",
        label::content(evidence, &size.payload),
        label::server(&pre),
        label::name(&fly),
        label::change(&pre.ratio_to(&fly, CPU)?, "CPU time per request")
    );
    Some(Sentence::new(Part::Gain, text, ids(&[pre, fly])))
}

/// The bytes of each coding compared with the filter with gzip, on the first server.
fn fewer_bytes(evidence: &Evidence, chosen: &[&Method]) -> Option<Sentence> {
    let server = chosen.first()?.server;
    let usual = usual(evidence).into_iter().find(|c| c.endpoint.server == server)?;
    let mut cells = Vec::new();
    let mut fly = None;
    let mut part = |method: &&Method| {
        let beside = |row: &Sent| {
            let size = usual.sizes.iter().find(|size| size.payload == row.row.cell.payload)?;
            let filter = sent(evidence, &size.on_the_fly)?;
            cells.extend([row.own_id(), filter.own_id()]);
            fly = fly.or(Some(filter));
            Some(1.0 - row.bytes() / filter.bytes().max(1.0))
        };
        let shares: Vec<f64> = method.rows.iter().filter_map(beside).collect();
        let is_less = !shares.is_empty() && shares.iter().all(|share| *share >= 0.001);
        is_less.then(|| format!("{} {}", method.coding, label::shares(&shares)))
    };
    let parts: Vec<String> = chosen.iter().filter(|m| m.server == server).filter_map(&mut part).collect();
    let text = format!("Fewer bytes than {}: {}.", label::way(&fly?), parts.join(", "));
    (!parts.is_empty()).then(|| Sentence::new(Part::Gain, text, cells))
}

/// Where encoding each response is better.
fn change(pays: &[&Crossover], not: &[&Crossover]) -> Option<Sentence> {
    let from = |c: &&&Crossover| matches!(c.cpu, Some(Pays::From { .. }));
    let below: Vec<String> = pays
        .iter()
        .filter(from)
        .filter_map(|c| match c.cpu? {
            Pays::From { bytes, low, high } => Some(format!(
                "on {} below {} ({} to {})",
                label::owned(&c.endpoint.server),
                units::bytes(bytes.round() as u64),
                size_end(low, "the smallest"),
                size_end(high, "the largest")
            )),
            _ => None,
        })
        .collect();
    // If precompression pays nowhere, that is the answer.
    let never = not.iter().filter(|_| !pays.is_empty());
    let never = never.map(|c| format!("on {}", label::owned(&c.endpoint.server)));
    let places: Vec<String> = below.into_iter().chain(never).collect();
    let of_all = pays.iter().filter(from).chain(not).flat_map(|c| &c.sizes);
    let way = pays.iter().find(from).or(not.first()).map(|c| way_name(&c.on_the_fly).replace(':', " "));
    let text = format!("Better on the fly with {}: {}.", way?, label::some(&places, 2));
    (!places.is_empty()).then(|| Sentence::new(Part::Change, text, cells(of_all)))
}

/// The sizes that it covers, and how certain it is.
fn limit(evidence: &Evidence, usual: &[&Crossover]) -> Option<Sentence> {
    let sizes: Vec<&SizeRatio> = usual.iter().flat_map(|c| c.told(|size| size.cpu)).collect();
    let bytes: Vec<f64> = sizes.iter().map(|size| size.bytes as f64).collect();
    if sizes.is_empty() {
        return None;
    }
    let rows: Vec<Sent> = sizes.iter().filter_map(|size| sent(evidence, &size.pre_encoded)).collect();
    let sure = match fewest_rounds(&rows) as usize {
        few if few < ROUNDS => format!("by figures of {} only", units::count(few, "round", "rounds")),
        _ => "95% confidence, corrected for all comparisons".to_owned(),
    };
    let range = label::range(&bytes, |bytes| units::bytes(bytes as u64));
    let text = format!("Shown for files of {range} ({sure}), each read many times per write.");
    Some(Sentence::new(Part::Limit, text, cells(sizes.into_iter())))
}
