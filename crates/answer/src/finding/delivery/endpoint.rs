//! Files that a PHP script sends, such as a minifying endpoint, with opcode cache and without, compared with the server
//! that sends them itself.

use weigh_model::cell::Subject;
use weigh_model::units;
use weigh_model::way::{By, WayKind};

use crate::finding::delivery::label;
use crate::finding::delivery::sent::{SPOKEN_OF, Sent, Sentence, all, beside, leads};
use crate::metric::delivery::{CONTENT, CPU};
use crate::report::finding::{Draft, Evidence};

/// The option by which a script has a pool with or without opcode cache.
const OPCACHE: &str = "opcache";
/// The level that represents a filter.
const LEVEL: i32 = 6;

/// One finding per server, PHP and script, on its largest content.
pub fn scripts(evidence: &Evidence) -> Vec<Draft> {
    let mut scripts = all(evidence, Subject::ASSET);
    scripts.retain(|c| c.delivery.by == By::Php && c.cpu().is_some());
    scripts.sort_by_key(|c| u64::MAX - c.count(CONTENT));
    let mut said: Vec<(&str, &str, &str)> = Vec::new();
    let mut sentences: Vec<Sentence> = Vec::new();
    for script in scripts {
        let (cell, delivery) = (&script.row.cell, script.delivery);
        let key = (delivery.server.as_str(), cell.runtime.as_str(), cell.setting.codec.as_str());
        if !said.contains(&key) && said.len() < SPOKEN_OF {
            said.push(key);
            sentences.extend(through_script(evidence, script));
        }
    }
    leads(sentences)
}

/// The cost of a script's response compared with the file alone and with the server's filter, all with the same content
/// coding.
fn through_script(evidence: &Evidence, script: Sent) -> Option<Sentence> {
    let mut scripts = beside(evidence, script, |other| {
        other.is_beside(&script)
            && other.delivery.by == By::Php
            && other.setting().codec == script.setting().codec
            && other.coding() == script.coding()
            && other.cpu().is_some()
    });
    scripts.push(script);
    let by_server = beside(evidence, script, |other| {
        other.delivery.by == By::Server
            && other.delivery.server == script.delivery.server
            && other.delivery.transport == script.delivery.transport
            && other.coding() == script.coding()
            && other.cpu().is_some()
    });
    let cheapest = |a: &&Sent, b: &&Sent| a.cpu_or_0().total_cmp(&b.cpu_or_0());
    let is_file = |c: &&Sent| matches!(c.delivery.kind, WayKind::Plain | WayKind::PreEncoded);
    let file = by_server.iter().filter(is_file).min_by(cheapest).copied();
    let is_filter = |c: &&Sent| c.delivery.kind == WayKind::OnTheFly;
    let filter = by_server
        .iter()
        .filter(is_filter)
        .min_by_key(|c| (c.setting().options.len(), c.level().unwrap_or(LEVEL).abs_diff(LEVEL)))
        .copied();
    let with = |word: &str| {
        let is_it = |c: &&Sent| c.setting().options.get(OPCACHE).map(String::as_str) == Some(word);
        scripts.iter().find(is_it).copied()
    };
    let (on, off) = (with("on"), with("off"));
    let usual = on.unwrap_or(script);
    let others: Vec<Sent> = file.into_iter().chain(filter).chain(off).collect();
    let cost = |of: &Sent, other: &Sent| {
        let ratio = of.ratio_to(other, CPU)?;
        let time = units::ns(other.cpu_or_0());
        Some(format!(" Beside {} ({time}): {}.", label::way(other), label::change(&ratio, "CPU time")))
    };
    let costs: Vec<String> = file.iter().chain(&filter).filter_map(|other| cost(&usual, other)).collect();
    let without = on.zip(off).and_then(|(on, off)| Some(label::change(&off.ratio_to(&on, CPU)?, "CPU time")));
    if costs.is_empty() && without.is_none() {
        return None;
    }
    let mut text = format!(
        "On {}, {} ({}) costs {} of CPU time per request with {} ({}).",
        label::endpoint(&script.delivery.into()),
        label::content(evidence, &script.cell.payload),
        units::bytes(script.count(CONTENT)),
        units::ns(usual.cpu_or_0()),
        label::way(&usual),
        label::runtime(&script.cell.runtime)
    );
    text.extend(costs);
    text.extend(without.map(|without| format!(" Without opcode cache: {without}.")));
    Some((text, others.iter().chain([&usual]).map(Sent::own_id).collect()))
}
