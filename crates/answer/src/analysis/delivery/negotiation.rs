//! How servers negotiate, judged from what they answered: which variant for which Accept-Encoding, what distinguishes variants,
//! and whether they can be revalidated and sent in parts.
//!
//! It owns the rules. What it finds is a remark on a way and no fault: the wrong bytes alone are, and those the run has
//! refused already.

mod choice;
mod etag;
mod variant;

use std::collections::BTreeMap;

use crate::analysis::delivery::model::{Judged, NegotiationResult, Quirk, Remark, Variant};
use crate::analysis::gather::Measured;
use etag::{Form, form};
use variant::{names, names_encoding};
use weigh_model::cell::Cell;
use weigh_model::plan::negotiation::bare;
use weigh_model::record::negotiation::{Answer, Ask, Body, Exchange, IDENTITY, Negotiation, Purpose};

/// Requests of one server that are looked at; the lab never sends as many.
const MOST: usize = 1000;

/// The results of all cells that were asked, in the plan's order.
pub(super) fn find(cells: &[Measured]) -> Vec<NegotiationResult> {
    let told = |measured: &Measured| {
        let visits = measured.visits.iter().filter_map(|visit| visit.delivery.as_ref());
        let told = visits.filter_map(|delivery| delivery.negotiation.as_deref()).next()?;
        result(measured.cell, told)
    };
    cells.iter().filter_map(told).collect()
}

/// Judges what was answered to one cell's requests; none for a cell that no server sends.
pub fn result(cell: &Cell, told: &Negotiation) -> Option<NegotiationResult> {
    let delivery = cell.delivery.as_ref()?;
    let exchanges = &told.exchanges[..told.exchanges.len().min(MOST)];
    let variants = variants(exchanges);
    let judged = judge(exchanges, &variants);
    let remarks = remarks(&judged, &variants);
    Some(NegotiationResult {
        cell: cell.id.clone(),
        server: delivery.server.clone(),
        runtime: cell.runtime.clone(),
        transport: delivery.transport,
        way: delivery.way(&bare(&cell.setting)),
        variants,
        exchanges: judged,
        remarks,
        ended: told.ended.clone(),
    })
}

/// The answers that a variant has shown itself in.
fn seen(exchanges: &[Exchange]) -> impl Iterator<Item = &Answer> {
    let choices = exchanges.iter().filter(|e| e.ask.purpose == Purpose::Choose);
    choices.map(|e| &e.answer).filter(|answer| answer.status == 200 && answer.body == Body::Content)
}

fn variants(exchanges: &[Exchange]) -> Vec<Variant> {
    let mut variants: Vec<Variant> = Vec::new();
    for answer in seen(exchanges) {
        let coding = answer.coding();
        let varies = names_encoding(answer.vary.as_deref());
        match variants.iter_mut().find(|variant| variant.coding == coding) {
            Some(known) => known.varies &= varies,
            None => {
                variants.push(Variant { coding, bytes: answer.bytes, etag: answer.etag.clone(), varies });
            }
        }
    }
    variants.sort_by_key(|variant| variant.coding != IDENTITY);
    variants
}

fn judge(exchanges: &[Exchange], variants: &[Variant]) -> Vec<Judged> {
    let available: Vec<String> = variants.iter().map(|variant| variant.coding.clone()).collect();
    let quirk = |exchange: &Exchange| match exchange.ask.purpose {
        Purpose::Choose => {
            let quirk = choice::judge(exchange.ask.accept.as_deref(), &exchange.answer, &available);
            match quirk {
                Some(wrong) if wrong.is_wrong() => quirk,
                _ if is_rule(exchange, exchanges) => Some(Quirk::BrowserRule),
                _ => quirk,
            }
        }
        _ => {
            let coding = exchange.ask.variant.as_deref()?;
            let get = seen(exchanges).find(|answer| answer.coding() == coding)?;
            variant::judge(exchange, get, variants)
        }
    };
    let mut judged: Vec<Judged> = exchanges
        .iter()
        .map(|exchange| Judged {
            ask: exchange.ask.clone(),
            answer: exchange.answer.clone(),
            quirk: quirk(exchange),
        })
        .collect();
    // Where ranges are ignored at all, If-Range has no part in it.
    let ignored: Vec<Option<String>> = judged
        .iter()
        .filter(|one| one.ask.purpose == Purpose::First && one.quirk == Some(Quirk::RangesIgnored))
        .map(|one| one.ask.variant.clone())
        .collect();
    for one in &mut judged {
        if one.quirk == Some(Quirk::NotResumed) && ignored.contains(&one.ask.variant) {
            one.quirk = Some(Quirk::RangesIgnored);
        }
    }
    judged
}

/// A browser of old gets another variant than others do for the same Accept-Encoding.
fn is_rule(exchange: &Exchange, exchanges: &[Exchange]) -> bool {
    let is_beside = |other: &&Exchange| {
        other.ask.purpose == Purpose::Choose
            && other.ask.browser.is_none()
            && other.ask.accept == exchange.ask.accept
    };
    let beside = exchanges.iter().find(is_beside);
    exchange.ask.browser.is_some()
        && beside.is_some_and(|other| other.answer.coding() != exchange.answer.coding())
}

/// Everything that is to be said, once each, with what it is seen in.
fn remarks(judged: &[Judged], variants: &[Variant]) -> Vec<Remark> {
    let mut said: BTreeMap<Quirk, Vec<String>> = BTreeMap::new();
    let mut say = |quirk: Quirk, seen_in: String| {
        let all = said.entry(quirk).or_default();
        if !all.contains(&seen_in) {
            all.push(seen_in);
        }
    };
    for one in judged {
        if let Some(quirk) = one.quirk {
            say(quirk, label(&one.ask));
        }
        if one.quirk == Some(Quirk::BrowserRule) && !names(one.answer.vary.as_deref(), "user-agent") {
            say(Quirk::NoVary, label(&one.ask));
        }
    }
    for variant in variants {
        let coding = || variant.coding.clone();
        if variants.len() > 1 && !variant.varies {
            let is_coded = variant.coding != IDENTITY;
            say(if is_coded { Quirk::NoVary } else { Quirk::PlainWithoutVary }, coding());
        }
        match variant.etag.as_deref().map(form) {
            Some(Form::Strong) => {}
            Some(Form::Weak) => say(Quirk::WeakEtag, coding()),
            Some(Form::Unclosed) => say(Quirk::UnclosedEtag, coding()),
            Some(Form::Broken) => say(Quirk::BrokenEtag, coding()),
            None => say(Quirk::NoEtag, coding()),
        }
        let is_shared = |other: &Variant| other.coding != variant.coding && other.etag == variant.etag;
        let is_weak = variant.etag.as_deref().is_none_or(|etag| form(etag) == Form::Weak);
        if !is_weak && variants.iter().any(is_shared) {
            say(Quirk::SharedEtag, coding());
        }
    }
    said.into_iter().map(|(quirk, seen_in)| Remark { quirk, seen_in }).collect()
}

/// `gzip;q=0`, `no Accept-Encoding`, `MSIE 6`; of what was asked of one variant, its coding.
fn label(ask: &Ask) -> String {
    let choice = || ask.accept.clone().unwrap_or_else(|| "no Accept-Encoding".to_owned());
    ask.variant.clone().or_else(|| ask.browser.clone()).unwrap_or_else(choice)
}

#[cfg(test)]
mod tests;
