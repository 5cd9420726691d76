//! Files that a PHP script sends, beside the server that sends them itself.

use crate::analysis::delivery::findings::{Candidate, Evidence, label};
use crate::analysis::findings::Draft;
use weigh_model::cell::Subject;
use weigh_model::units;
use weigh_model::way::{By, WayKind};

/// Sentences at most.
const MOST: usize = 6;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let assets = evidence.all(Subject::Asset);
    let mut scripts: Vec<Candidate> = assets.into_iter().filter(|c| c.delivery.by == By::Php).collect();
    scripts.sort_by_key(|c| u64::MAX - c.result.decoded_bytes);
    let mut drafts: Vec<Draft> = Vec::new();
    let mut said: Vec<(String, String, String)> = Vec::new();
    for script in scripts {
        let cell = &script.result.cell;
        let key = (script.delivery.server.clone(), cell.runtime.clone(), cell.setting.to_string());
        if said.contains(&key) || drafts.len() >= MOST {
            continue;
        }
        let Some((text, cells)) = sentence(evidence, script) else { continue };
        said.push(key);
        drafts.push(Draft { text, cells, lead: drafts.is_empty() });
    }
    drafts
}

fn sentence(evidence: &Evidence, script: Candidate) -> Option<(String, Vec<String>)> {
    let same = |other: &Candidate| {
        other.delivery.by == By::Server
            && matches!(other.delivery.kind, WayKind::Plain | WayKind::PreEncoded)
            && other.delivery.server == script.delivery.server
            && other.delivery.transport == script.delivery.transport
            && other.result.coding == script.result.coding
    };
    let own = evidence
        .beside(script, same)
        .into_iter()
        .filter(|c| c.costs.cpu.is_some())
        .min_by(|a, b| a.result.cpu_ns().unwrap_or(0.0).total_cmp(&b.result.cpu_ns().unwrap_or(0.0)))?;
    let cpu = script.costs.cpu.as_ref()?.ratio_to(own.costs.cpu.as_ref()?)?;
    let rate = script.costs.rate.as_ref()?.ratio_to(own.costs.rate.as_ref()?)?;
    let text = format!(
        "{} ({}) through {} ({}) takes {} the CPU time and has {} the rate of {} alone.",
        label::content(evidence, &script.result.cell.payload),
        units::bytes(script.result.decoded_bytes),
        label::way(&script),
        script.result.cell.runtime,
        label::ratio(&cpu),
        units::times_interval(rate.value, rate.low, rate.high),
        label::way(&own),
    );
    Some((text, vec![script.id(), own.id()]))
}
