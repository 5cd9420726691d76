//! The workers that slow clients keep busy, and the effect on other requests: one finding per server and pool.

use weigh_model::cell::{Delivery, Slow};
use weigh_model::units;
use weigh_model::way::WayKind;

use crate::finding::delivery::label;
use crate::finding::delivery::sent::{Sentence, first_leads};
use crate::first::grouped;
use crate::metric::delivery::Endpoint;
use crate::report::exhibit::fairness::{FairnessResult, SlowClientEffect};
use crate::report::finding::{Draft, Evidence};

/// A result with how it was sent.
#[derive(Clone, Copy)]
struct Watched<'a> {
    result: &'a FairnessResult,
    delivery: &'a Delivery,
    slow: &'a Slow,
}

impl<'a> Watched<'a> {
    fn of(result: &'a FairnessResult) -> Option<Watched<'a>> {
        let delivery = result.cell.delivery.as_ref()?;
        Some(Watched { result, delivery, slow: delivery.slow.as_ref()? })
    }

    /// Server, runtime, content and workers.
    fn stand(&self) -> (&'a str, &'a str, &'a str, u32) {
        let cell = &self.result.cell;
        (&self.delivery.server, &cell.runtime, &cell.payload, self.slow.workers)
    }
}

/// One finding for each server, pool and content, at the smallest number of slow clients that could keep every worker
/// busy, otherwise the largest.
pub fn kept_workers(evidence: &Evidence) -> Vec<Draft> {
    let Some(fairness) = &evidence.report.exhibits.fairness else { return Vec::new() };
    let stands = grouped(fairness.0.iter().filter_map(Watched::of).map(|watched| (watched.stand(), watched)));
    first_leads(stands.iter().filter_map(|(_, here)| sentence(evidence, here)))
}

fn sentence(evidence: &Evidence, here: &[Watched]) -> Option<Sentence> {
    let first = here.first()?;
    let numbers = || here.iter().map(|w| w.slow.clients).filter(|n| *n > 0);
    let enough = numbers().filter(|n| *n >= first.slow.workers).min();
    let clients = enough.or_else(|| numbers().max())?;
    let at = || here.iter().filter(|w| w.slow.clients == clients).copied();
    let (free, not_free): (Vec<_>, Vec<_>) = at().partition(|w| w.result.outcome == SlowClientEffect::Free);
    let memory = match first.slow.script_memory {
        0 => String::new(),
        bytes => format!(" of {} each", units::bytes(bytes)),
    };
    let endpoint = Endpoint { connections: 1, link: None, ..first.delivery.into() };
    let text = format!(
        "On {}{}, {} take {} ({}) at {}/s from a pool of {}{memory}.{}{}",
        label::endpoint(&endpoint),
        label::on_runtime(evidence, &first.result.cell.runtime),
        units::count(clients as usize, "slow client", "slow clients"),
        label::content(evidence, &first.result.cell.payload),
        units::bytes(first.result.content_bytes),
        units::bytes(first.slow.read_rate),
        units::count(first.slow.workers as usize, "worker", "workers"),
        kept(&not_free, here).unwrap_or_default(),
        left_free(&free).unwrap_or_default()
    );
    Some((text, at().map(|w| w.result.cell.id.clone()).collect()))
}

fn names(ways: &[Watched]) -> String {
    let name = |w: &Watched| {
        let codec = &w.result.cell.setting.codec;
        label::setting(&w.result.cell.setting).replacen(codec.as_str(), label::owned(codec), 1)
    };
    units::list(&ways.iter().map(name).collect::<Vec<_>>())
}

/// Methods whose workers are kept busy: how many workers, the effect, and from how many clients on.
fn kept(ways: &[Watched], here: &[Watched]) -> Option<String> {
    let worst = ways.iter().min_by_key(|w| w.result.prompt)?;
    let busy = ways.iter().filter_map(|w| w.result.busy).fold(f64::INFINITY, f64::min);
    let hold = if busy.is_finite() {
        format!("{busy:.0} of {} workers busy", worst.slow.workers)
    } else {
        "the workers".into()
    };
    let verb = if ways.len() == 1 { "keeps" } else { "keep" };
    let is_handed_over = ways.iter().any(|w| w.delivery.kind == WayKind::Offload);
    let although = if is_handed_over { ", although handed over," } else { "" };
    let prompt =
        format!("{} of {} light requests were answered within 0.1 s", worst.result.prompt, worst.result.due);
    let alike = here.iter().filter(|w| w.result.cell.setting == worst.result.cell.setting);
    let from = alike.filter(|w| w.result.outcome == SlowClientEffect::Starved).map(|w| w.slow.clients).min();
    let several = here.iter().any(|w| w.slow.clients != worst.slow.clients);
    let from = from.filter(|_| several).map_or(String::new(), |from| {
        let clients = units::count(from as usize, "slow client", "slow clients");
        format!(" Most wait longer from {clients} on.")
    });
    Some(format!(" {}{although} {verb} {hold}; {prompt}.{from}", names(ways)))
}

/// Methods that leave the workers free: the time of a light request, and the bytes buffered on disk for it.
fn left_free(ways: &[Watched]) -> Option<String> {
    // None: for one of them, more than 1% had no response.
    let slowest: Option<f64> = ways
        .iter()
        .map(|w| w.result.light.as_ref()?.p99)
        .try_fold(0.0, |most: f64, p99| Some(most.max(p99?)));
    let is_spooled = |w: &&Watched| {
        w.result.written_bytes.unwrap_or(0) > w.result.content_bytes / 10 && w.delivery.kind == WayKind::Plain
    };
    let spooled: Vec<Watched> = ways.iter().filter(is_spooled).copied().collect();
    let most = spooled.iter().filter_map(|w| w.result.written_bytes).max();
    let spool = most.map_or(String::new(), |bytes| {
        format!(" With {}, {} go to temporary files for that.", names(&spooled), units::bytes(bytes))
    });
    let verb = if ways.len() == 1 { "leaves" } else { "leave" };
    let times = match slowest {
        Some(slowest) => format!("99% of light requests take at most {}", label::seconds(slowest)),
        None => "more than 1% of light requests had no answer in their block".to_owned(),
    };
    (!ways.is_empty()).then(|| format!(" {} {verb} all workers free; {times}.{spool}", names(ways)))
}
