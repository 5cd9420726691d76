//! A site on several kinds of machine: decided for each, and the best of them taken.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};
use weigh_model::policy::{Compared, Machine, Objective};
use weigh_model::site::{Figure, From, Site};
use weigh_model::text::clean;

use super::{Encoded, Weighted};
use crate::estimate::Estimate;
use crate::first::grouped;
use crate::money::Weights;
use crate::policy::change::change;
use crate::policy::decide::{Decided, decide_by};
use crate::report::Report;
use crate::verdict::between_machines;

struct MachineDecision {
    machine: Machine,
    decided: Decided,
    /// What is minimised, of everything together.
    total: Estimate,
}

/// Decides; runs that a cluster made are sorted by the kind of machine that they were made on, and priced as the site has it. The best
/// kind is taken: by the time that visitors wait, or by the cost. `links` are those of [`Site::visitors`], with their shares; `sha256` is
/// the digest of the site's file; `encoded` tells what rules make of sample files that were not measured, whose bytes are counted so.
///
/// # Errors
/// One line: runs of several machines that cannot be compared, or a price that is missing.
pub fn decide(
    site: &Site,
    sha256: &str,
    links: &[Weighted],
    reports: Vec<Report>,
    objective: Objective,
    encoded: Encoded<'_>,
) -> Result<Decided> {
    let mut all = Vec::new();
    for (kind, reports) in sorted(reports)? {
        let Some(kind) = kind else {
            return Ok(decide_by(site, sha256, links, &reports, (objective, encoded)).0);
        };
        let site = priced(site, &kind)?;
        let (decided, together) = decide_by(&site, sha256, links, &reports, (objective, encoded));
        let Some(together) = together else { return Ok(decided) };
        let total = change(&site, &together, &together);
        let machine = Machine {
            kind,
            core_hour: site.prices.core_hour.value,
            core_hours: total.core_hours.after,
            wait_hours: total.wait_hours.after,
            cost: total.cost.after,
            compared: None,
        };
        let (cpu, exact) = together.total(&Weights::new(&site, objective, 0.0));
        all.push(MachineDecision { machine, decided, total: cpu.shifted(exact) });
    }
    all.sort_by(|a, b| a.total.value.total_cmp(&b.total.value));
    let Some((first, others)) = all.split_first_mut() else {
        return Ok(decide_by(site, sha256, links, &[], (objective, encoded)).0);
    };
    let pairs: Vec<_> = others.iter().map(|other| vec![(&first.total, &other.total)]).collect();
    let ratios = between_machines(&pairs, 1);
    for (there, (_, each)) in others.iter_mut().zip(ratios) {
        let told = each.into_iter().flatten().next();
        there.machine.compared = told.map(|told| Compared {
            ratio: told.value,
            low: told.low,
            high: told.high.min(f64::MAX),
            claimed: told.claimed,
        });
    }
    let machines = all.iter().map(|there| there.machine.clone()).collect();
    let mut decided = all.swap_remove(0).decided;
    decided.policy.machines = machines;
    Ok(decided)
}

/// Runs by the kind of machine, as their cluster calls it; none: no cluster named it.
fn sorted(reports: Vec<Report>) -> Result<Vec<(Option<String>, Vec<Report>)>> {
    let kind = |report: &Report| report.run.environment.get("kind").cloned();
    let all = grouped(reports.into_iter().map(|report| (kind(&report), report)));
    let Some(((first, runs), others)) = all.split_first() else { return Ok(all) };
    let named = |kind: &Option<String>| kind.as_deref().map_or("this machine".into(), clean);
    let studies = |runs: &[Report]| runs.iter().map(|run| run.study.name.clone()).collect::<BTreeSet<_>>();
    for (other, theirs) in others {
        let (a, b) = (named(first), named(other));
        ensure!(
            first.is_some() && other.is_some(),
            "runs of {a} are given together with runs of {b}; give those of one machine, or those of a cluster's machines"
        );
        let (a, b) = (studies(runs), studies(theirs));
        if let Some(study) = a.symmetric_difference(&b).next() {
            let (with, without) = if a.contains(study) { (first, other) } else { (other, first) };
            bail!(
                "a run of {} is given for {}, but none for {}: machines are compared by runs of the same studies",
                clean(study),
                named(with),
                named(without)
            );
        }
    }
    Ok(all)
}

/// The site at the price of a kind of machine. Where no kind has a price, it is that of the site.
fn priced(site: &Site, kind: &str) -> Result<Site> {
    let machines = &site.prices.machines;
    let mut site = site.clone();
    if !machines.is_empty() {
        let price = machines.iter().find(|machine| machine.kind == kind);
        let price = price.with_context(|| {
            format!(
                "the price of {0} is missing: add {{ kind = \"{0}\", core_hour = PRICE }} to prices.machines",
                clean(kind)
            )
        })?;
        site.prices.core_hour = Figure { value: price.core_hour, from: From::Given };
    }
    Ok(site)
}
