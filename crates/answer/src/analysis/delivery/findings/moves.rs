//! What a filter in the server merely moves: the same coding at the same level, made by PHP and by the server.

use crate::analysis::cost::Cost;
use crate::analysis::delivery::findings::{Candidate, Evidence, SPOKEN_OF, label, on_the_fly};
use crate::analysis::delivery::model::DeliveryGroup;
use crate::analysis::findings::Draft;
use weigh_model::cell::Subject;
use weigh_model::units;
use weigh_model::way::By;
use weigh_stats::Ratio;

/// Sums this close are the same work in another place.
const SAME: f64 = 0.1;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for group in evidence.leading(Subject::Page).into_iter().take(SPOKEN_OF * 2) {
        for (php, server) in pairs(evidence, group) {
            let Some(text) = sentence(evidence, group, &php, &server) else { continue };
            let cells = vec![php.id(), server.id()];
            let lead = drafts.is_empty();
            drafts.push(if lead { Draft::lead(text, cells) } else { Draft::detail(text, cells) });
        }
    }
    drafts
}

/// One pair a coding: the level nearest to 6 that both have.
fn pairs<'a>(evidence: &Evidence<'a>, group: &DeliveryGroup) -> Vec<(Candidate<'a>, Candidate<'a>)> {
    let by = |by| on_the_fly(evidence.members(group), Some(by));
    let (in_php, in_server) = (by(By::Php), by(By::Server));
    let mut found: Vec<(Candidate, Candidate)> = Vec::new();
    let mut both: Vec<(Candidate, Candidate)> = in_php
        .iter()
        .flat_map(|php| in_server.iter().map(move |server| (*php, *server)))
        .filter(|(php, server)| php.result.coding == server.result.coding && php.level() == server.level())
        .collect();
    both.sort_by_key(|(php, _)| php.level().map_or(0, |level| level.abs_diff(6)));
    for pair in both {
        if !found.iter().any(|known| known.0.result.coding == pair.0.result.coding) {
            found.push(pair);
        }
    }
    found
}

fn sentence(
    evidence: &Evidence,
    group: &DeliveryGroup,
    php: &Candidate,
    server: &Candidate,
) -> Option<String> {
    let parts = |of: &Candidate| {
        let php = of.costs.php.as_ref().map(|cost| format!("{} PHP", units::ns(cost.time())))?;
        let server = of.costs.server.as_ref().map(|cost| units::ns(cost.time()))?;
        Some(format!("{php} and {server} {}", of.delivery.server))
    };
    let (filter, script) = (server.costs.cpu.as_ref()?, php.costs.cpu.as_ref()?);
    let ratio = filter.ratio_to(script)?;
    Some(format!(
        "{} on {} takes {}, {} takes {}: together {} the CPU time; {}.",
        label::way(php),
        label::place(evidence, group),
        parts(php)?,
        label::way(server),
        parts(server)?,
        units::times_interval(ratio.value, ratio.low, ratio.high),
        verdict(&ratio, filter, script)
    ))
}

fn verdict(ratio: &Ratio, filter: &Cost, script: &Cost) -> &'static str {
    match ratio {
        Ratio { low, high, .. } if *low >= 1.0 - SAME && *high <= 1.0 + SAME => {
            "the filter moves the work and saves none"
        }
        _ if filter.clearly_below(script) => "the filter takes less than PHP does",
        _ if script.clearly_below(filter) => "the filter takes more than PHP does",
        _ => "the two cannot be told apart",
    }
}
