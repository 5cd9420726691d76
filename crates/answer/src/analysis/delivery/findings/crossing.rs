//! From which size on a file encoded before pays, server by server, in CPU time and in rate.

use crate::analysis::delivery::findings::{Evidence, label};
use crate::analysis::delivery::model::{Crossover, Pays, SizeRatio};
use crate::analysis::findings::Draft;
use crate::analysis::model::Relative;
use weigh_model::units;

/// One sentence a server: its gzip if it has one.
pub(super) fn leads(evidence: &Evidence) -> Vec<Draft> {
    chosen(evidence).into_iter().map(|c| Draft::lead(sentence(c), cells(c))).collect()
}

/// The others.
pub(super) fn details(evidence: &Evidence) -> Vec<Draft> {
    let chosen = chosen(evidence);
    let is_left = |c: &&Crossover| !chosen.iter().any(|known| std::ptr::eq(*known, *c));
    let others = evidence.crossovers.iter().filter(is_left);
    others.map(|c| Draft::detail(sentence(c), cells(c))).collect()
}

/// The crossover that stands for a server: with the most sizes, gzip before others.
pub(super) fn chosen<'a>(evidence: &Evidence<'a>) -> Vec<&'a Crossover> {
    let mut chosen: Vec<&Crossover> = Vec::new();
    for one in evidence.crossovers {
        let rank = |c: &Crossover| (c.coding == "gzip", c.sizes.len());
        let stand = |c: &Crossover| (c.server.clone(), c.transport, c.connections, c.link.clone());
        match chosen.iter_mut().find(|known| stand(known) == stand(one)) {
            Some(known) if rank(one) > rank(known) => *known = one,
            Some(_) => {}
            None => chosen.push(one),
        }
    }
    chosen
}

/// Where its files are sent.
pub(super) fn stand(of: &Crossover) -> String {
    label::stand(&of.server, of.transport, of.connections, of.link.as_deref())
}

fn cells(crossover: &Crossover) -> Vec<String> {
    crossover.sizes.iter().flat_map(|size| [size.on_the_fly.clone(), size.pre_encoded.clone()]).collect()
}

/// `gzip_static` of `server/gzip_static`.
fn name(way: &str) -> &str {
    way.split_once('/').map_or(way, |(_, name)| name)
}

fn sentence(crossover: &Crossover) -> String {
    let range = match crossover.sizes.as_slice() {
        [first, .., last] => format!(" ({} to {})", units::bytes(first.bytes), units::bytes(last.bytes)),
        [only] => format!(" ({})", units::bytes(only.bytes)),
        [] => String::new(),
    };
    if crossover.cpu.is_none() && crossover.rate.is_none() {
        return format!(
            "On {}, whether {} pays instead of encoding each response with {} is not settled{range}: it takes two rounds at two sizes.",
            stand(crossover),
            name(&crossover.pre_encoded),
            name(&crossover.on_the_fly),
        );
    }
    let words = |pays: &Option<Pays>| pays.as_ref().map_or("is not settled".to_string(), pays_words);
    let (cpu, rate) = (words(&crossover.cpu), words(&crossover.rate));
    let verdict = if cpu == rate {
        format!("{cpu} in CPU time and in rate")
    } else {
        format!("{cpu} in CPU time, and {rate} in rate")
    };
    format!(
        "On {}, sending {} instead of encoding each response with {} {verdict}{range}.{}",
        stand(crossover),
        name(&crossover.pre_encoded),
        name(&crossover.on_the_fly),
        fly_wins(crossover)
    )
}

/// `pays from 1.2 KB [0.9 KB, 2 KB] on`.
fn pays_words(pays: &Pays) -> String {
    let end = |end: &Option<f64>, open: &str| match end {
        Some(bytes) => units::bytes(bytes.round() as u64),
        None => open.to_string(),
    };
    match pays {
        Pays::Everywhere { high: None } => "pays at every size measured".to_string(),
        Pays::Everywhere { high } => {
            format!("pays at every size measured (beyond doubt from {} on)", end(high, ""))
        }
        Pays::Nowhere { low: None } => "pays at no size measured".to_string(),
        Pays::Nowhere { low } => {
            format!("pays at no size measured (perhaps from {} on)", end(low, ""))
        }
        Pays::From { bytes, low, high } => format!(
            "pays from {} [{}, {}] on",
            units::bytes(bytes.round() as u64),
            end(low, "the smallest"),
            end(high, "no upper end")
        ),
    }
}

/// Sizes at which encoding each response is the better, beyond doubt.
fn fly_wins(crossover: &Crossover) -> String {
    let sizes = |of: fn(&SizeRatio) -> Option<Relative>| -> Vec<String> {
        let wins = crossover.sizes.iter().filter(|size| of(size).is_some_and(|r| r.high < 1.0));
        wins.map(|size| units::bytes(size.bytes)).collect()
    };
    let (cpu, rate) = (sizes(|s| s.cpu), sizes(|s| s.rate));
    let mut parts = Vec::new();
    if !cpu.is_empty() {
        parts.push(format!("less CPU time at {}", units::list(&cpu)));
    }
    if !rate.is_empty() {
        parts.push(format!("a higher rate at {}", units::list(&rate)));
    }
    if parts.is_empty() {
        return String::new();
    }
    format!(" Encoding each response has {}.", units::list(&parts))
}
