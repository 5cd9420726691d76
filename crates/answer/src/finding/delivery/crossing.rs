//! Files encoded before beside encoding each response: from which size on they pay, server by server, in CPU time and in rate, and what they save
//! in bytes.

use super::*;
use crate::exhibit::crossover::{Pays, SizeRatio, size_end, way_name};
use crate::first::grouped;

/// The example where no table was published: the median transfer size of a script is near it.
const USUAL: u64 = 50_000;

/// One sentence per server: its gzip if it has one.
pub fn leads(evidence: &Evidence) -> Vec<Draft> {
    super::leads(chosen(evidence).into_iter().filter(|one| is_a_question(one)).map(sentence))
}

/// The others.
pub fn details(evidence: &Evidence) -> Vec<Draft> {
    let chosen = chosen(evidence);
    let is_left = |c: &&Crossover| is_a_question(c) && !chosen.iter().any(|known| std::ptr::eq(*known, *c));
    super::details(crossovers(evidence).iter().filter(is_left).map(sentence))
}

/// From which size on it pays can be asked where there are two: of one alone the ratio says all.
fn is_a_question(crossover: &Crossover) -> bool {
    crossover.sizes.len() > 1
}

/// What a way that encodes each response sent as it is: one sentence per server and way. Such responses are on no side of a comparison.
pub fn passed_over(evidence: &Evidence) -> Vec<Draft> {
    let rows = [Subject::PAGE, Subject::ASSET].into_iter().flat_map(|subject| all(evidence, subject));
    let skipped: Vec<Sent> = rows.filter(|sent| is_not_encoded(sent.row)).collect();
    let ways = grouped(skipped.iter().map(|sent| {
        let key = (label::endpoint(&sent.delivery.into()), label::way(sent));
        (key, sent)
    }));
    super::details(ways.into_iter().map(|((endpoint, way), rows)| {
        let mut contents: Vec<String> =
            rows.iter().map(|sent| label::content(evidence, &sent.row.cell.payload)).collect();
        contents.dedup();
        let text = format!(
            "On {endpoint}, {way} did not encode {}: the type is not in its list, or the content is too small. \
             These responses are in no comparison of precompressed with on the fly.",
            units::list(&contents)
        );
        (text, rows.iter().map(|sent| sent.own_id()).collect())
    }))
}

/// The crossover that stands for a server: with the most sizes, gzip before others.
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
        [first, .., last] => format!(" ({} to {})", units::bytes(first.bytes), units::bytes(last.bytes)),
        [only] => format!(" ({})", units::bytes(only.bytes)),
        [] => String::new(),
    };
    let place = label::endpoint(&crossover.endpoint);
    let (before, fly) = (way_name(&crossover.pre_encoded), way_name(&crossover.on_the_fly));
    if crossover.cpu.is_none() && crossover.rate.is_none() {
        return format!(
            "On {place}, whether {before} pays instead of encoding each response with {fly} is not settled{range}: it takes five rounds at two sizes.",
        );
    }
    let words = |pays: &Option<Pays>| pays.as_ref().map_or("is not settled".to_string(), pays_words);
    let (cpu, rate) = (words(&crossover.cpu), words(&crossover.rate));
    let verdict = if cpu == rate {
        format!("{cpu} in CPU time and in rate")
    } else {
        format!("{cpu} in CPU time, and {rate} in rate")
    };
    let wins = fly_wins(crossover);
    format!(
        "On {place}, sending {before} instead of encoding each response with {fly} {verdict}{range}.{wins}"
    )
}

/// `pays from 1.2 KB [0.9 KB, 2 KB] on`.
fn pays_words(pays: &Pays) -> String {
    match *pays {
        Pays::Everywhere { high: None } => "pays at every size measured".to_string(),
        Pays::Everywhere { high } => {
            format!("pays at every size measured (beyond doubt from {} on)", size_end(high, ""))
        }
        Pays::Nowhere { low: None } => "pays at no size measured".to_string(),
        Pays::Nowhere { low } => format!("pays at no size measured (perhaps from {} on)", size_end(low, "")),
        Pays::From { bytes, low, high } => format!(
            "pays from {} [{}, {}] on",
            units::bytes(bytes.round() as u64),
            size_end(low, "the smallest"),
            size_end(high, "no upper end")
        ),
    }
}

/// Sizes at which encoding each response is the better, beyond doubt.
fn fly_wins(crossover: &Crossover) -> String {
    let sizes = |of: fn(&SizeRatio) -> Option<Ratio>| -> Vec<String> {
        let wins = crossover.sizes.iter().filter(|size| of(size).is_some_and(|r| r.high < 1.0));
        wins.map(|size| units::bytes(size.bytes)).collect()
    };
    let mut parts = Vec::new();
    for (what, sizes) in [("less CPU time", sizes(|s| s.cpu)), ("a higher rate", sizes(|s| s.rate))] {
        if !sizes.is_empty() {
            parts.push(format!("{what} at {}", units::list(&sizes)));
        }
    }
    if parts.is_empty() {
        String::new()
    } else {
        format!(" Encoding each response has {}.", units::list(&parts))
    }
}

/// One file as an example: what it costs on the fly and encoded before.
pub fn one_file(evidence: &Evidence) -> Vec<Draft> {
    let published = evidence.plan.study.published_delivery.as_ref();
    let wanted = published.map(|table| bytes_of(evidence, &table.payload)).filter(|bytes| *bytes > 0);
    let wanted = wanted.unwrap_or(USUAL) as f64;
    let distance = |size: &&SizeRatio| {
        let far = (size.bytes.max(1) as f64 / wanted).ln().abs();
        (far * 1e6) as u64
    };
    first_leads(chosen(evidence).into_iter().filter_map(|crossover| {
        let size = crossover.sizes.iter().min_by_key(distance)?;
        let (fly, pre) = (sent(evidence, &size.on_the_fly)?, sent(evidence, &size.pre_encoded)?);
        let (cpu, rate) = (size.cpu?, size.rate?);
        let text = format!(
            "On {}, a response with {} ({}) takes {} of CPU time with {} and {} with {}: {} the CPU time on the fly, and {} the rate from the file encoded before.",
            label::endpoint(&crossover.endpoint),
            label::content(evidence, &size.payload),
            units::bytes(size.bytes),
            units::ns(fly.value(CPU)?),
            label::name(&fly),
            units::ns(pre.value(CPU)?),
            label::name(&pre),
            units::times_interval(cpu.value, cpu.low, cpu.high),
            units::times_interval(rate.value, rate.low, rate.high),
        );
        Some((text, vec![fly.own_id(), pre.own_id()]))
    }))
}

/// Bytes: files encoded before at the highest level, beside what the server makes for each response.
pub fn bytes(evidence: &Evidence) -> Vec<Draft> {
    first_leads(chosen(evidence).into_iter().filter_map(|usual| fewer_bytes(evidence, usual)))
}

/// Each coding that the server has encoded before, beside its usual way on the fly, over all sizes.
fn fewer_bytes(evidence: &Evidence, usual: &Crossover) -> Option<Sentence> {
    let fly = usual.on_the_fly.split_once('/')?.1;
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
    let words: Vec<String> = parts
        .iter()
        .map(|(coding, shares)| {
            format!("{coding} {}", label::range(shares, |share| format!("{:+.1}%", share * 100.0)))
        })
        .collect();
    let text = format!(
        "Bytes of files encoded before, beside {fly} on the fly on {}: {}.",
        label::endpoint(&usual.endpoint),
        words.join(", ")
    );
    (!words.is_empty()).then_some((text, cells))
}
