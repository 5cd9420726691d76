//! A policy as blocks of text, for the terminal and for `advice.md`: what to do first, then what it brings.

use weigh_model::policy::{
    Amount, Change, Compared, Decision, Encoder, Flip, LoadChange, Objective, OtherPhp, Policy, Pool,
};
use weigh_model::site::{Kind, Site};
use weigh_model::units;

use super::basis::{self, gigabytes};
use crate::block::{Block, Step, Tile};
use crate::first::distinct;
use crate::policy::decide::Decided;
use crate::table::Grid;
use crate::text::clean;

/// Fewer busy workers than this are hardly any.
const SELDOM: f64 = 0.05;
/// A change of less than this share is not a change to a reader.
const VISIBLE: f64 = 0.005;

/// What the site does today of this kind is not known.
fn is_open(policy: &Policy, decision: &Decision) -> bool {
    policy.coverage.iter().any(|one| one.kind == decision.kind && !one.in_total)
}

/// The answer, how sure it is, and the steps in their order.
pub fn verdict(policy: &Policy, site: &Site) -> Vec<Block> {
    let (keep, change): (Vec<&Decision>, Vec<&Decision>) =
        policy.decisions.iter().partition(|decision| decision.keep);
    let is_open = |decision: &&Decision| is_open(policy, decision);
    let is_known = !change.is_empty() || !keep.iter().all(is_open);
    let cache = policy.page_cache.as_ref();
    let held = cache.filter(|cache| !cache.keep);
    let is_known = is_known || held.is_some();
    let mut answer = vec![headline(policy, change.len() + usize::from(held.is_some()), is_known)];
    answer.extend(policy.unsettled.iter().map(|open| clean(open)));
    match (is_known, policy.unsettled.is_empty()) {
        (false, _) if !policy.decisions.is_empty() => {
            answer.insert(1, "Gain unknown: there is nothing to compare with.".into());
        }
        (true, true) => answer.push("Settled: enough rounds for every decision.".into()),
        _ => {}
    }
    let mut blocks = vec![Block::Answer(answer)];
    blocks.extend(basis::counted(policy).map(Block::Text));
    let cached = held.map(|cache| Step::new(clean(&cache.text)));
    let steps: Vec<Step> =
        cached.into_iter().chain(change.iter().map(|decision| step(decision, site))).collect();
    if !steps.is_empty() {
        blocks.push(Block::Steps(steps));
    }
    blocks.extend(cache.filter(|cache| cache.keep).map(|cache| Block::Text(clean(&cache.text))));
    let told = keep.iter().filter(|one| !change.is_empty() || is_open(one));
    blocks.extend(told.map(|decision| Block::Text(clean(&decision.text))));
    blocks
}

/// How many changes to make; or that nothing is to be changed, and why. `is_known`: what the site does today is, of some kind.
fn headline(policy: &Policy, changes: usize, is_known: bool) -> String {
    let order = if changes > 1 { ", in this order" } else { "" };
    let count = units::count(changes, "change", "changes");
    let is_settled = policy.unsettled.is_empty();
    let is_withheld = policy.trial.as_ref().is_some_and(|trial| !trial.withheld.is_empty());
    match changes {
        _ if policy.decisions.is_empty() => "No decision: nothing of the site was measured.".into(),
        0 if is_withheld => {
            "Change nothing: the files of what was better make answers of this site worse.".into()
        }
        0 if !is_known => "No advice: what the site does today is not known.".into(),
        0 if !is_settled => {
            "Change nothing so far: there are too few rounds to say that another setting is better.".into()
        }
        0 if basis::is_whole(policy) => "Change nothing: no other setting is better.".into(),
        0 => "Change nothing of what was measured: no other setting is better.".into(),
        _ if is_settled => format!("Make {count}{order}."),
        _ => format!("So far {count}{order}."),
    }
}

/// The same for a page: what it brings follows the answer.
pub fn for_page(policy: &Policy, site: &Site, mut blocks: Vec<Block>) -> Vec<Block> {
    if policy.total != Change::default() {
        blocks.insert(1, tiles(policy, site));
    }
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
        blocks.extend(loads(&policy.loads));
        if policy.page_cache.as_ref().is_some_and(|cache| !cache.keep) {
            blocks.push(Block::Remark("The cache of pages is not part of these sums.".into()));
        }
        blocks.extend(basis::coverage(policy).map(Block::Remark));
    }
    // `80% of visitors were on fibre`, with what is better then.
    let flip = |flip: &Flip| (clean(&flip.when), Some(clean(&flip.then)));
    let flips: Vec<_> = policy.decisions.iter().filter_map(|one| one.flips.first()).map(flip).collect();
    if !flips.is_empty() {
        blocks.push(Block::Heading(2, "This would change if".into()));
        blocks.push(Block::Points(flips));
    }
    blocks.extend(decided.notes.iter().map(|note| Block::Remark(clean(note))));
    let objective = match policy.objective {
        Objective::Time | Objective::Fcp | Objective::Load if !policy.loads.is_empty() => {
            "Chosen for the shortest time that visitors wait, and where loads of pages take as long, for the lower cost; waiting times are modelled from \
             measured CPU time and bytes."
        }
        Objective::Time | Objective::Fcp | Objective::Load => {
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
fn step(decision: &Decision, site: &Site) -> Step {
    let needs = distinct(decision.needs.iter().map(|need| clean(&need.what)));
    let install = decision.needs.iter().map(|need| clean(&need.how)).filter(|how| !how.is_empty());
    let is_packed = decision.rules.iter().any(|rule| rule.by == Encoder::Beforehand);
    // What the configuration refuses has no variants.
    let config = site.sources.server_config.as_ref();
    let mut config = config.map(|file| format!(" --server-config {}", clean(file))).unwrap_or_default();
    config.extend(site.sources.site.iter().map(|name| format!(" --site {}", clean(name))));
    Step {
        text: clean(&decision.text),
        change: gains(decision, site),
        install: distinct(install),
        needs,
        deploy: is_packed.then(|| {
            let pack = |folder: &str| format!("weigh pack {} --policy policy.toml{config}", clean(folder));
            packed(site).into_iter().map(pack).collect::<Vec<_>>().join("; ")
        }),
    }
}

/// The folders to pack: the document root, and those beside it whose files are asked for, or that links lead to.
fn packed(site: &Site) -> Vec<&str> {
    let root = site.sources.docroot.as_deref().unwrap_or("DIR");
    let encoded = site.of(Kind::Asset).filter(|stratum| stratum.is_worth_encoding());
    let folders = encoded
        .flat_map(|stratum| &stratum.sample)
        .filter_map(|sample| Some(site.sources.folder(&sample.path)?.0));
    distinct([root].into_iter().chain(folders).chain(site.sources.linked.iter().map(String::as_str)))
}

/// What a policy brings per month, for a page.
fn tiles(policy: &Policy, site: &Site) -> Block {
    let tile = |name: &str, amount: &Amount, figure: fn(f64) -> String| Tile {
        name: name.to_owned(),
        before: figure(amount.before),
        after: figure(amount.after),
        change: change_of(amount),
        // Less is better; an interval on both sides of nothing is neither, nor is a change that is too small to be shown.
        is_better: match (amount.low, amount.high) {
            _ if amount.share().is_none_or(|share| share.abs() < VISIBLE) => None,
            (_, Some(high)) if high < 0.0 => Some(true),
            (Some(low), _) if low > 0.0 => Some(false),
            _ => None,
        },
    };
    let total = &policy.total;
    let tiles = vec![
        tile("Traffic", &total.gb_out, gigabytes),
        tile(cpu_of(site), &total.core_hours, hours),
        tile("Visitors wait", &total.wait_hours, hours),
    ];
    Block::Tiles("Per month, before and after.".into(), tiles)
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
        Objective::Time | Objective::Fcp | Objective::Load => "time that visitors wait",
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

/// `PHP workers: 8 are busy on average in PHP's busiest hour (4 requests per second of all clients, 2000 ms each, as logged). …`
fn workers(pool: &Pool) -> String {
    let times = if pool.is_logged { "as logged" } else { "measured one after the other" };
    let (requests, ms) = (units::significant(pool.requests), units::significant(pool.ms));
    let busy = if pool.busy < SELDOM { "hardly any" } else { &units::significant(pool.busy) };
    let range = match pool.enough {
        Some(enough) => &format!(
            "with {enough}, one request in a hundred waits for one. Check that pm.max_children is not lower, and that they fit into memory."
        ),
        None => "the cores are not enough for them.",
    };
    let at_least = pool.at_least;
    format!(
        "PHP workers: {busy} are busy on average in PHP's busiest hour ({requests} requests per second of all clients, {ms} ms each, {times}). At least {at_least} are needed; {range}"
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

/// First visits of pages, before and after; none: no page was loaded in a browser.
fn loads(loads: &[LoadChange]) -> Vec<Block> {
    if loads.is_empty() {
        return Vec::new();
    }
    let mut table = Grid::list(&["page", "link", "LCP", "FCP", "load", "change of LCP"]);
    let seconds = |ms: f64| format!("{:.2}", ms / 1e3);
    // The most viewed page comes first.
    let (first, others): (Vec<&LoadChange>, Vec<&LoadChange>) =
        loads.iter().partition(|load| load.page == loads[0].page);
    for load in first {
        let both = |[before, after]: [f64; 2]| format!("{} → {} s", seconds(before), seconds(after));
        let [before, after] = load.lcp_ms;
        let amount = Amount { before, after, ..Amount::default() };
        let (page, link) = (clean(&load.page), clean(&load.link));
        let (lcp, fcp, event) = (both(load.lcp_ms), both(load.fcp_ms), both(load.load_ms));
        table.line(&[page, link, lcp, fcp, event, change_of(&amount)]);
    }
    let mut blocks = vec![Block::Heading(2, "First visits, predicted".into()), Block::Table(table)];
    let more = distinct(others.iter().map(|load| load.page.as_str())).len();
    let pages = units::count(more, "more page", "more pages");
    blocks.extend((more > 0).then(|| Block::Remark(format!("{pages}: [[loads]] in policy.toml."))));
    blocks
}

fn change_of(amount: &Amount) -> String {
    match amount.share() {
        Some(share) if share.abs() >= VISIBLE => interval(share, amount),
        Some(_) => "=".to_owned(),
        None => "–".to_owned(),
    }
}

fn cpu_of(site: &Site) -> &'static str {
    if site.knows_made() { "server and PHP CPU" } else { "CPU of encoding and sending" }
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
        table.line(&[name.to_owned(), figure(amount.before), figure(amount.after), change_of(amount)]);
    };
    line("visitors wait", &total.wait_hours, hours);
    line(cpu_of(site), &total.core_hours, hours);
    line("PHP workers are busy", &total.worker_hours, hours);
    line("traffic", &total.gb_out, gigabytes);
    line("stored values", &total.gb_stored, gigabytes);
    let prices = format!("at the site's prices, {}", clean(&site.prices.currency));
    line(&prices, &total.cost, units::significant);
    table
}
