//! Precompressed files compared with compression on the fly: the size from which on they pay, by server, in CPU time
//! and in throughput, and the saved bytes.

use weigh_model::cell::Subject;
use weigh_model::units;

use crate::exhibit::crossover::{size_end, way_name};
use crate::finding::delivery::label;
use crate::finding::delivery::sent::{
    Sent, Sentence, all, bytes_of, crossovers, details, first_leads, leads, sent,
};
use crate::first::grouped;
use crate::metric::delivery::{CPU, RATE, is_not_encoded};
use crate::report::exhibit::crossover::{Crossover, Pays, SizeRatio};
use crate::report::finding::{Draft, Evidence};
use crate::verdict::Ratio;

/// The example if no table was published: the median transfer size of a script is close to it.
const USUAL: u64 = 50_000;

/// Contents that a sentence names.
const NAMED: usize = 3;

/// One finding per server, its gzip if it has one, then the others.
pub fn sizes(evidence: &Evidence) -> Vec<Draft> {
    let chosen = chosen(evidence);
    let is_left = |c: &&Crossover| is_a_question(c) && !chosen.iter().any(|known| std::ptr::eq(*known, *c));
    let mut drafts = leads(chosen.iter().filter(|one| is_a_question(one)).map(|one| sentence(one)));
    drafts.extend(details(crossovers(evidence).iter().filter(is_left).map(sentence)));
    drafts
}

/// The size from which on it pays needs two sizes; with one, the ratio says everything.
fn is_a_question(crossover: &Crossover) -> bool {
    crossover.sizes.len() > 1
}

/// The contents that a method for encoding each response sent uncompressed: one finding per server and method. Such
/// responses are not compared.
pub fn passed_over(evidence: &Evidence) -> Vec<Draft> {
    let rows = [Subject::PAGE, Subject::ASSET].into_iter().flat_map(|subject| all(evidence, subject));
    let skipped: Vec<Sent> = rows.filter(|sent| is_not_encoded(sent.row)).collect();
    let ways = grouped(skipped.iter().map(|sent| {
        let key = (label::endpoint(&sent.delivery.into()), label::way(sent));
        (key, sent)
    }));
    details(ways.into_iter().map(|((endpoint, way), rows)| {
        let mut contents: Vec<String> =
            rows.iter().map(|sent| label::content(evidence, &sent.row.cell.payload)).collect();
        contents.dedup();
        let text = format!(
            "On {endpoint}, {way} sent {} uncompressed: the type is not in its list, or the content is too small. \
             These responses are in no comparison of precompressed with on the fly.",
            label::some(&contents, NAMED)
        );
        (text, rows.iter().map(|sent| sent.own_id()).collect())
    }))
}

/// The crossover that represents a server: the one with the most sizes, gzip before others.
fn chosen<'a>(evidence: &Evidence<'a>) -> Vec<&'a Crossover> {
    let mut chosen: Vec<&Crossover> = Vec::new();
    for one in crossovers(evidence) {
        let rank = |c: &Crossover| (c.coding == "gzip", c.sizes.len());
        match chosen.iter_mut().find(|known| known.endpoint == one.endpoint) {
            Some(known) if rank(one) > rank(known) => *known = one,
            Some(_) => {}
            None => chosen.push(one),
        }
    }
    chosen
}

fn sentence(crossover: &Crossover) -> Sentence {
    let sizes = crossover.sizes.iter();
    (verdict(crossover), sizes.flat_map(|size| [size.on_the_fly.clone(), size.pre_encoded.clone()]).collect())
}

fn verdict(crossover: &Crossover) -> String {
    let range = match crossover.told(|size| size.cpu.or(size.rate)).as_slice() {
        [first, .., last] => {
            format!(" Measured: {} to {}.", units::bytes(first.bytes), units::bytes(last.bytes))
        }
        [only] => format!(" Measured: {}.", units::bytes(only.bytes)),
        [] => String::new(),
    };
    let place = label::endpoint(&crossover.endpoint);
    let (before, fly) = (shown(&crossover.pre_encoded), shown(&crossover.on_the_fly));
    if crossover.cpu.is_none() && crossover.rate.is_none() {
        return format!(
            "On {place}, too little was measured to compare {before} with {fly} on the fly: that takes five rounds at two sizes.{range}",
        );
    }
    let words =
        |pays: &Option<Pays>| pays.as_ref().map_or("at sizes that are not settled".to_string(), pays_words);
    let (cpu, rate) = (words(&crossover.cpu), words(&crossover.rate));
    let wins = fly_wins(crossover, &fly);
    if cpu == rate {
        let saves = "saves CPU time and raises throughput";
        format!("On {place}, {before} {saves} over {fly} on the fly {cpu}.{range}{wins}")
    } else {
        format!(
            "On {place}, {before} saves CPU time over {fly} on the fly {cpu}. It raises throughput {rate}.{range}{wins}"
        )
    }
}

/// `gzip 6`, `type-map (coding=gzip)`: a server's method as text.
fn shown(way: &str) -> String {
    let (name, options) = way_name(way).split_once(',').unwrap_or((way_name(way), ""));
    let options =
        if options.is_empty() { String::new() } else { format!(" ({})", options.replace(',', ", ")) };
    format!("{}{options}", name.replace(':', " "))
}

/// `from 1.2 KB (0.9 KB to 2 KB) up`.
fn pays_words(pays: &Pays) -> String {
    match *pays {
        Pays::Everywhere { high: None } => "at every size measured".to_string(),
        Pays::Everywhere { high } => {
            format!("at every size measured, significantly from {} up", size_end(high, ""))
        }
        Pays::Nowhere { low: None } => "at no size measured".to_string(),
        Pays::Nowhere { low } => format!("at no size measured, perhaps from {} up", size_end(low, "")),
        Pays::From { bytes, low, high } => format!(
            "from {} ({} to {}) up",
            units::bytes(bytes.round() as u64),
            size_end(low, "the smallest"),
            size_end(high, "the largest")
        ),
    }
}

/// Sizes at which encoding each response is significantly better.
fn fly_wins(crossover: &Crossover, fly: &str) -> String {
    let sizes = |of: fn(&SizeRatio) -> Option<Ratio>| -> Vec<String> {
        let wins = crossover.sizes.iter().filter(|size| of(size).is_some_and(|r| r.high < 1.0));
        wins.map(|size| units::bytes(size.bytes)).collect()
    };
    let parts = [("needs less CPU time", sizes(|s| s.cpu)), ("has a higher throughput", sizes(|s| s.rate))];
    let parts = parts.into_iter().filter(|(_, sizes)| !sizes.is_empty());
    let parts: Vec<String> =
        parts.map(|(what, sizes)| format!("{what} at {}", label::some(&sizes, NAMED))).collect();
    if parts.is_empty() { String::new() } else { format!(" On the fly, {fly} {}.", units::list(&parts)) }
}

/// One file as an example: its cost on the fly and precompressed.
pub fn one_file(evidence: &Evidence) -> Vec<Draft> {
    let published = evidence.plan.study.published_table.as_ref();
    let wanted = published.map(|table| bytes_of(evidence, &table.payload)).filter(|bytes| *bytes > 0);
    let wanted = wanted.unwrap_or(USUAL) as f64;
    let distance = |size: &&SizeRatio| {
        let far = (size.bytes.max(1) as f64 / wanted).ln().abs();
        (far * 1e6) as u64
    };
    first_leads(chosen(evidence).into_iter().filter_map(|crossover| {
        let size = crossover.sizes.iter().min_by_key(distance)?;
        let (fly, pre) = (sent(evidence, &size.on_the_fly)?, sent(evidence, &size.pre_encoded)?);
        let text = format!(
            "On {}, {} ({}) costs {} of CPU time with {} on the fly. Precompressed, it costs {} with {}: {}. It has {}.",
            label::endpoint(&crossover.endpoint),
            label::content(evidence, &size.payload),
            units::bytes(size.bytes),
            units::ns(fly.value(CPU)?),
            label::name(&fly),
            units::ns(pre.value(CPU)?),
            label::name(&pre),
            label::change(&pre.ratio_to(&fly, CPU)?, "CPU time"),
            label::change(&pre.ratio_to(&fly, RATE)?, "throughput"),
        );
        Some((text, vec![fly.own_id(), pre.own_id()]))
    }))
}

/// Bytes: files precompressed at the highest level, compared with the server's encoding of each response.
pub fn bytes(evidence: &Evidence) -> Vec<Draft> {
    first_leads(chosen(evidence).into_iter().filter_map(|usual| fewer_bytes(evidence, usual)))
}

/// Each coding that the server has precompressed, compared with its usual method on the fly, over all sizes.
fn fewer_bytes(evidence: &Evidence, usual: &Crossover) -> Option<Sentence> {
    let fly = shown(&usual.on_the_fly);
    let mut cells = Vec::new();
    let mut parts: Vec<(&str, Vec<f64>)> = Vec::new();
    for other in crossovers(evidence).iter().filter(|other| other.endpoint == usual.endpoint) {
        if parts.iter().any(|(coding, _)| *coding == other.coding) {
            continue;
        }
        let shares = other.sizes.iter().filter_map(|size| {
            let base = usual.sizes.iter().find(|s| s.payload == size.payload)?;
            let (ours, theirs) = (sent(evidence, &size.pre_encoded)?, sent(evidence, &base.on_the_fly)?);
            cells.extend([ours.own_id(), theirs.own_id()]);
            Some(ours.bytes() / theirs.bytes().max(1.0) - 1.0)
        });
        parts.push((&other.coding, shares.collect()));
    }
    parts.retain(|(_, shares)| !shares.is_empty());
    let words: Vec<String> =
        parts.iter().map(|(coding, shares)| format!("{coding} {}", fewer(shares))).collect();
    let text = format!(
        "Precompressed on {}, compared with {fly} on the fly: {}.",
        label::endpoint(&usual.endpoint),
        words.join(", ")
    );
    (!words.is_empty()).then_some((text, cells))
}

/// `2.1–3.4% fewer bytes`; with signs where some are more: `-0.1% to +0.2% bytes`.
fn fewer(changes: &[f64]) -> String {
    let is_zero = |change: &f64| change.abs() < 0.0005;
    if changes.iter().all(is_zero) {
        return "the same bytes".to_owned();
    }
    if changes.iter().all(|change| *change <= 0.0) {
        let shares: Vec<f64> = changes.iter().map(|change| -change).collect();
        return format!("{} fewer bytes", label::shares(&shares));
    }
    format!("{} bytes", label::range(changes, |change| format!("{:+.1}%", change * 100.0)))
}
