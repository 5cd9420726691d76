//! A policy as blocks of text, for the terminal and for `advice.md`: what to do first, then what it brings.

use weigh_model::policy::{
    Amount, Change, Compared, Decision, Encoder, Flip, Objective, OtherPhp, Policy, Pool,
};
use weigh_model::site::{Kind, Site};
use weigh_model::units;

use super::basis::{self, gigabytes};
use crate::block::Block;
use crate::policy::decide::Decided;
use crate::table::Grid;
use crate::text::clean;

/// Fewer busy workers than this are hardly any.
const SELDOM: f64 = 0.05;
/// A change of less than this share is not a change to a reader.
const VISIBLE: f64 = 0.005;

/// What stands above the steps of a policy, and above those that rest on too few rounds.
const DO_THIS: &str = "Do this, in this order";
const SO_FAR: &str = "Not settled: so far this is ahead, in this order";

/// What to do, the steps in their order; or that nothing is to be changed, and why.
pub fn verdict(policy: &Policy, site: &Site) -> Vec<Block> {
    let (keep, change): (Vec<&Decision>, Vec<&Decision>) =
        policy.decisions.iter().partition(|decision| decision.keep);
    let is_open =
        |decision: &&Decision| policy.coverage.iter().any(|one| one.kind == decision.kind && !one.in_total);
    let mut blocks: Vec<Block> = basis::counted(policy).map(Block::Text).into_iter().collect();
    if policy.decisions.is_empty() {
        blocks.push(Block::Text("No decision: nothing of the site was measured.".into()));
    } else if change.is_empty() {
        let is_withheld = policy.trial.as_ref().is_some_and(|trial| !trial.withheld.is_empty());
        let what = match (keep.iter().all(is_open), policy.unsettled.is_empty(), basis::is_whole(policy)) {
            _ if is_withheld => {
                "Change nothing: the files of what was better make answers of this site worse."
            }
            (true, ..) => "Change nothing: what is done today was not measured.",
            (false, false, _) => {
                "Change nothing so far: there are too few rounds to say that another setting is better."
            }
            (false, true, true) => "Change nothing: no other setting is better.",
            (false, true, false) => "Change nothing of what was measured: no other setting is better.",
        };
        blocks.push(Block::Answer(vec![what.into()]));
    } else {
        let heading = if policy.unsettled.is_empty() { DO_THIS } else { SO_FAR };
        blocks.push(Block::Heading(2, heading.into()));
        blocks.extend(policy.unsettled.iter().map(|open| Block::Text(clean(open))));
        blocks.push(Block::Steps(change.iter().map(|decision| step(decision, site)).collect()));
    }
    let told = keep.iter().filter(|one| !change.is_empty() || is_open(one));
    blocks.extend(told.map(|decision| Block::Text(clean(&decision.text))));
    blocks
}

pub fn document(decided: &Decided, site: &Site) -> Vec<Block> {
    let policy = &decided.policy;
    let mut blocks = verdict(policy, site);
    blocks.extend(basis::gaps(policy).into_iter().map(Block::Text));
    blocks.extend(policy.pool.map(|pool| Block::Text(workers(&pool))));
    blocks.extend(policy.php.iter().filter_map(other_php).map(Block::Text));
    blocks.extend(machines(policy, site));
    if policy.total != Change::default() && !policy.decisions.is_empty() {
        blocks.push(Block::Heading(2, "Together, per month".into()));
        blocks.push(Block::Table(together(&policy.total, site)));
        blocks.extend(basis::coverage(policy).map(Block::Remark));
    }
    // `80% of visitors were on fibre`, with what is better then.
    let flip = |flip: &Flip| (clean(&flip.when), Some(clean(&flip.then)));
    let flips: Vec<_> = policy.decisions.iter().filter_map(|one| one.flips.first()).map(flip).collect();
    if !flips.is_empty() {
        blocks.push(Block::Heading(2, "This would change if".into()));
        blocks.push(Block::Points(flips));
    }
    let open = policy.unsettled.iter().filter(|_| policy.decisions.iter().all(|decision| decision.keep));
    blocks.extend(open.chain(&decided.notes).map(|note| Block::Remark(clean(note))));
    let objective = match policy.objective {
        Objective::Time => {
            "Chosen for the shortest time that visitors wait; waiting times are modelled from measured CPU time and bytes."
        }
        Objective::Money => {
            "Chosen for the lowest cost at the site's prices; costs follow from measured CPU time and bytes."
        }
    };
    blocks.push(Block::Remark(objective.into()));
    blocks
}

/// `Precompress assets with … Visitors wait −12% (−13 to −11). It needs …`.
fn step(decision: &Decision, site: &Site) -> String {
    let mut text = clean(&decision.text);
    let gains = gains(decision, site);
    if !gains.is_empty() {
        text.push_str(&format!(" {}.", gains.join(", ")));
    }
    let needs: Vec<String> = decision.needs.iter().map(|need| clean(&need.what)).collect();
    if !needs.is_empty() {
        text.push_str(&format!(" Needs {}.", units::list(&crate::first::distinct(needs))));
    }
    if decision.rules.iter().any(|rule| rule.by == Encoder::Beforehand) {
        // What the configuration refuses has no variants.
        let config = site.sources.server_config.as_ref();
        let config = config.map(|file| format!(" --server-config {}", clean(file))).unwrap_or_default();
        text.push_str(&format!(" Run at each deployment: weigh pack DIR --policy policy.toml{config}."));
    }
    text
}

/// `PHP 8.4.2 instead of 8.2.29: CPU time −9.1% (−9.9 to −8.3) for values.`
fn other_php(other: &OtherPhp) -> Option<String> {
    let change = other.core_hours.share()?;
    let taken = match change.abs() >= VISIBLE {
        true => format!("CPU time {}", interval(change, &other.core_hours)),
        false => "the same CPU time".into(),
    };
    let (version, own, kind) = (clean(&other.version), clean(&other.instead_of), other.kind.plural());
    Some(format!("PHP {version} instead of {own}: {taken} for {kind}."))
}

/// `Machine: c7g.large. m7i.large: 1.18× (1.09 to 1.28) the cost.`, and what the site takes on each.
fn machines(policy: &Policy, site: &Site) -> Vec<Block> {
    let Some((first, others)) = policy.machines.split_first() else { return Vec::new() };
    let what = match policy.objective {
        Objective::Time => "time that visitors wait",
        Objective::Money => "cost",
    };
    let mut text = format!("Machine: {}.", clean(&first.kind));
    for other in others {
        let kind = clean(&other.kind);
        let Some(Compared { ratio, low, high, claimed }) = other.compared else {
            text += &format!(" {kind}: too few rounds for a comparison.");
            continue;
        };
        let by = units::times_interval(ratio, low, high);
        let sure = if claimed { "" } else { ", no significant difference" };
        text += &format!(" {kind}: {by} the {what}{sure}.");
    }
    let currency = clean(&site.prices.currency);
    let mut table = Grid::list(&["machine", "core-hour", "CPU per month", "visitors wait", "cost per month"]);
    for machine in &policy.machines {
        table.line(&[
            clean(&machine.kind),
            format!("{} {currency}", units::significant(machine.core_hour)),
            hours(machine.core_hours),
            hours(machine.wait_hours),
            format!("{} {currency}", units::significant(machine.cost)),
        ]);
    }
    vec![Block::Text(text), Block::Table(table)]
}

/// `PHP workers: 8 are busy in the mean in PHP's busiest hour (4 requests per second of all clients, 2000 ms each, as logged). …`
fn workers(pool: &Pool) -> String {
    let times = if pool.is_logged { "as logged" } else { "measured one after the other" };
    let (requests, ms) = (units::significant(pool.requests), units::significant(pool.ms));
    let busy = if pool.busy < SELDOM { "hardly any" } else { &units::significant(pool.busy) };
    let range = match pool.enough {
        Some(enough) => &format!(
            "with {enough} one request in a hundred waits for one. See that pm.max_children is not lower, and that they fit into memory."
        ),
        None => "the cores do not suffice for them.",
    };
    let at_least = pool.at_least;
    format!(
        "PHP workers: {busy} are busy in the mean in PHP's busiest hour ({requests} requests per second of all clients, {ms} ms each, {times}). It takes at least {at_least}, and {range}"
    )
}

/// What a decision brings, in short.
fn gains(decision: &Decision, site: &Site) -> Vec<String> {
    let change = &decision.change;
    let mut all = Vec::new();
    let mut add = |name: &str, amount: &Amount| {
        if let Some(share) = amount.share().filter(|share| share.abs() >= VISIBLE) {
            all.push(format!("{name} {}", interval(share, amount)));
        }
    };
    match decision.kind {
        Kind::Value => {
            add("memory of the store", &change.gb_stored);
            add("CPU time of encoding and decoding", &change.core_hours);
        }
        Kind::Download => {
            add("time of PHP workers", &change.worker_hours);
            add("CPU time", &change.core_hours);
        }
        Kind::Asset | Kind::Page => {
            // Without the time of the application a change is no share of what a page takes.
            let is_whole = decision.kind == Kind::Asset || site.knows_made();
            add("visitors wait", &change.wait_hours);
            add("traffic", &change.gb_out);
            add(if is_whole { "CPU time" } else { "CPU time of sending" }, &change.core_hours);
        }
    }
    if let Some(first) = all.first_mut() {
        first[..1].make_ascii_uppercase();
    }
    all
}

/// `−12% (−13 to −11)`.
pub(super) fn interval(share: f64, amount: &Amount) -> String {
    let percent = |share: f64| {
        let text = units::percent(share.abs());
        match text.as_str() {
            "0%" => text,
            _ if share < 0.0 => format!("−{text}"),
            _ => format!("+{text}"),
        }
    };
    match (amount.low, amount.high) {
        (Some(low), Some(high)) if high - low > 0.002 => {
            format!("{} ({} to {})", percent(share), percent(low), percent(high))
        }
        _ => percent(share),
    }
}

fn hours(value: f64) -> String {
    format!("{} h", units::significant(value))
}

/// The amounts before and after.
fn together(total: &Change, site: &Site) -> Grid {
    let mut table = Grid::list(&["per month", "before", "after", "change"]);
    let mut line = |name: &str, amount: &Amount, figure: fn(f64) -> String| {
        if amount.before == 0.0 && amount.after == 0.0 {
            return;
        }
        let change = match amount.share() {
            Some(share) if share.abs() >= VISIBLE => interval(share, amount),
            Some(_) => "=".to_owned(),
            None => "–".to_owned(),
        };
        table.line(&[name.to_owned(), figure(amount.before), figure(amount.after), change]);
    };
    line("visitors wait", &total.wait_hours, hours);
    let cpu = if site.knows_made() { "server and PHP CPU" } else { "CPU of encoding and sending" };
    line(cpu, &total.core_hours, hours);
    line("PHP workers are busy", &total.worker_hours, hours);
    line("traffic", &total.gb_out, gigabytes);
    line("stored values", &total.gb_stored, gigabytes);
    let prices = format!("at the site's prices, {}", clean(&site.prices.currency));
    line(&prices, &total.cost, units::significant);
    table
}
