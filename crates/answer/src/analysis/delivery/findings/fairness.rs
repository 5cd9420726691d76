//! What slow clients keep, and what becomes of everybody else: one sentence a server and pool.

use crate::analysis::delivery::findings::{Evidence, label};
use crate::analysis::delivery::model::{FairnessResult, Outcome};
use crate::analysis::findings::Draft;
use crate::analysis::findings::label::setting;
use weigh_model::cell::{Delivery, Slow};
use weigh_model::units;
use weigh_model::way::WayKind;

/// A cell with its place.
#[derive(Clone, Copy)]
struct Watched<'a> {
    result: &'a FairnessResult,
    delivery: &'a Delivery,
    slow: &'a Slow,
}

/// One sentence for each server, pool and content, at the smallest number of slow clients that could keep every worker, else the largest.
pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let all: Vec<Watched> = evidence.fairness.iter().filter_map(watched).collect();
    let mut drafts: Vec<Draft> = Vec::new();
    let mut said: Vec<Stand> = Vec::new();
    for one in &all {
        let stand = stand(one);
        if said.contains(&stand) {
            continue;
        }
        said.push(stand);
        let here: Vec<Watched> = all.iter().filter(|w| self::stand(w) == stand).copied().collect();
        if let Some((text, cells)) = sentence(evidence, &here) {
            drafts.push(Draft { text, cells, lead: drafts.is_empty() });
        }
    }
    drafts
}

/// Server, runtime, content and workers.
type Stand<'a> = (&'a str, &'a str, &'a str, u32);

fn stand<'a>(of: &Watched<'a>) -> Stand<'a> {
    (&of.delivery.server, &of.result.cell.runtime, &of.result.cell.payload, of.slow.workers)
}

fn watched(result: &FairnessResult) -> Option<Watched<'_>> {
    let delivery = result.cell.delivery.as_ref()?;
    Some(Watched { result, delivery, slow: delivery.slow.as_ref()? })
}

fn sentence(evidence: &Evidence, here: &[Watched]) -> Option<(String, Vec<String>)> {
    let first = here.first()?;
    let numbers = || here.iter().map(|w| w.slow.clients).filter(|n| *n > 0);
    let enough = numbers().filter(|n| *n >= first.slow.workers).min();
    let clients = enough.or_else(|| numbers().max())?;
    let at: Vec<Watched> = here.iter().filter(|w| w.slow.clients == clients).copied().collect();
    let of = |wanted: fn(Outcome) -> bool| {
        at.iter().filter(|w| wanted(w.result.outcome)).copied().collect::<Vec<_>>()
    };
    let parts: Vec<String> = [kept(&of(|o| o != Outcome::Free), here), free(&of(|o| o == Outcome::Free))]
        .into_iter()
        .flatten()
        .collect();
    let runtimes = evidence.plan.runtimes.len() > 1;
    let runtime = if runtimes { format!(" ({})", first.result.cell.runtime) } else { String::new() };
    let memory = match first.slow.script_memory {
        0 => String::new(),
        bytes => format!(" of {} each", units::bytes(bytes)),
    };
    let text = format!(
        "On {}{runtime}, {} that take {} ({}) at {}/s, and a pool of {}{memory}: {}.",
        label::stand(&first.delivery.server, first.delivery.transport, 1, None),
        units::count(clients as usize, "slow client", "slow clients"),
        label::content(evidence, &first.result.cell.payload),
        units::bytes(first.result.content_bytes),
        units::bytes(first.slow.read_rate),
        units::count(first.slow.workers as usize, "worker", "workers"),
        parts.join("; ")
    );
    Some((text, at.iter().map(|w| w.result.cell.id.clone()).collect()))
}

fn names(ways: &[Watched]) -> String {
    let names: Vec<String> = ways.iter().map(|w| setting(&w.result.cell.setting)).collect();
    units::list(&names)
}

/// Ways whose workers are kept: how many, what that does, and from how many clients on.
fn kept(ways: &[Watched], here: &[Watched]) -> Option<String> {
    let worst = ways.iter().min_by_key(|w| w.result.prompt)?;
    let busy = ways.iter().filter_map(|w| w.result.busy).fold(f64::INFINITY, f64::min);
    let workers = worst.slow.workers;
    let hold = if busy.is_finite() {
        format!("keep {busy:.0} of {workers} workers busy")
    } else {
        "keep the workers".into()
    };
    let verb = if ways.len() == 1 { hold.replacen("keep", "keeps", 1) } else { hold };
    let handed = ways.iter().filter(|w| w.delivery.kind == WayKind::Offload).count();
    let although = if handed > 0 { ", although handed over," } else { "" };
    let prompt =
        format!("{} of {} light requests were answered within 0.1 s", worst.result.prompt, worst.result.due);
    let alike = here.iter().filter(|w| w.result.cell.setting == worst.result.cell.setting);
    let from = alike.filter(|w| w.result.outcome == Outcome::Starved).map(|w| w.slow.clients).min();
    let from = match from.filter(|_| here.iter().any(|w| w.slow.clients != worst.slow.clients)) {
        Some(from) => {
            format!(
                ", and most wait longer from {} on",
                units::count(from as usize, "slow client", "slow clients")
            )
        }
        None => String::new(),
    };
    Some(format!("{}{although} {verb}, {prompt}{from}", names(ways)))
}

/// Ways that leave the workers free: what a light request takes, and what is spooled for it.
fn free(ways: &[Watched]) -> Option<String> {
    let slowest = ways.iter().filter_map(|w| w.result.light.as_ref()).map(|t| t.p99).fold(0.0, f64::max);
    let is_spooled = |w: &&Watched| {
        w.result.written_bytes.unwrap_or(0) > w.result.content_bytes / 10 && w.delivery.kind == WayKind::Plain
    };
    let spooled: Vec<Watched> = ways.iter().filter(is_spooled).copied().collect();
    let most = spooled.iter().filter_map(|w| w.result.written_bytes).max();
    let spool = match most {
        Some(bytes) => {
            format!(" ({} by writing {} to temporary files)", names(&spooled), units::bytes(bytes))
        }
        None => String::new(),
    };
    (!ways.is_empty()).then(|| {
        let verb = if ways.len() == 1 { "leaves" } else { "leave" };
        format!(
            "{} {verb} them free, and 99% of light requests take at most {}{spool}",
            names(ways),
            label::seconds(slowest)
        )
    })
}
