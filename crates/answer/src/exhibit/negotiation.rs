//! How servers negotiate, judged from their responses: which variant for which Accept-Encoding, what distinguishes
//! variants, and whether they support revalidation and ranges.
//!
//! The rules are in this module. A finding is a remark on a method, not a failure: only wrong bytes are a failure, and
//! the run has already refused those.

mod rules;
mod tables;

use std::collections::BTreeMap;

use anyhow::Result;
use weigh_model::caveat::Caveat;
use weigh_model::cell::{Cell, Transport};
use weigh_model::plan::negotiation::bare;
use weigh_model::record::negotiation::{
    Answer, Body, Exchange, IDENTITY, Negotiation, NegotiationRequest, Purpose,
};
use weigh_model::units;

use crate::block::Block;
use crate::exhibit::present::Exhibit;
use crate::first::grouped;
use crate::gather::{Gathered, Measured};
use crate::output::{Options, Rendered};
use crate::report::Report;
use crate::report::exhibit::negotiation::{Judged, NegotiationResult, Negotiations, Remark, Variant};
use rules::{Form, form, names, names_encoding};

pub use crate::report::exhibit::quirk::Quirk;

/// The most requests per server that are examined; the program never sends as many.
const MOST: usize = 1000;

impl Negotiations {
    /// Of all cells with the matrix.
    pub(crate) fn of(gathered: &Gathered) -> Option<Negotiations> {
        let told = |measured: &Measured| {
            let mut deliveries = measured.visits.iter().filter_map(|visit| visit.delivery.as_ref());
            NegotiationResult::of(measured.cell, deliveries.find_map(|d| d.negotiation.as_deref())?)
        };
        let cells = gathered.cells.iter().filter(|measured| !measured.cell.is_fairness());
        let found: Vec<_> = cells.filter_map(told).collect();
        (!found.is_empty()).then_some(Negotiations(found))
    }

    /// A broken rule is a warning for readers who would choose the method by its figures.
    pub(crate) fn caveat(&self, cell: &str) -> Option<Caveat> {
        let mut wrong = self.0.iter().find(|told| told.cell == cell)?.wrong();
        let example = wrong.next()?.quirk.words().to_owned();
        Some(Caveat::Negotiation { quirks: 1 + wrong.count() as u32, example })
    }
}

impl NegotiationResult {
    /// Judges the responses to one cell's requests; none for a cell that no server sends.
    pub fn of(cell: &Cell, told: &Negotiation) -> Option<NegotiationResult> {
        let delivery = cell.delivery.as_ref()?;
        let exchanges = &told.exchanges[..told.exchanges.len().min(MOST)];
        let variants = variants(exchanges);
        let judged = judge(exchanges, &variants);
        Some(NegotiationResult {
            cell: cell.id.clone(),
            server: delivery.server.clone(),
            runtime: cell.runtime.clone(),
            transport: delivery.transport,
            way: delivery.way(&bare(&cell.setting)),
            remarks: remarks(&judged, &variants),
            variants,
            exchanges: judged,
            ended: told.ended.clone(),
        })
    }

    pub fn wrong(&self) -> impl Iterator<Item = &Remark> {
        self.remarks.iter().filter(|remark| remark.quirk.is_wrong())
    }

    /// The method without its owner, and the transport unless it is plain: `type-map`, `gzip over https`.
    pub fn label(&self) -> String {
        let way = self.way.split_once('/').map_or(self.way.as_str(), |(_, name)| name);
        match self.transport {
            Transport::Http => way.to_owned(),
            Transport::Https => format!("{way} over https"),
        }
    }
}

/// Methods by server: `apache type-map and multiviews; nginx gzip over https`.
pub fn places<'a>(ways: impl Iterator<Item = &'a NegotiationResult>) -> String {
    let servers = grouped(ways.map(|one| (one.server.as_str(), one.label())));
    let one = |(server, ways): &(&str, Vec<String>)| format!("{server} {}", units::list(ways));
    servers.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// A remark on several methods, each kind once.
pub struct QuirkByMethod<'a> {
    pub quirk: Quirk,
    pub ways: Vec<&'a NegotiationResult>,
    /// The places where it was seen, in quotes; those left out are counted.
    pub seen_in: String,
}

/// The remarks on methods, with at most `most` of the places.
pub fn quirks_by_method(
    asked: &[NegotiationResult],
    is_told: impl Fn(Quirk) -> bool,
    most: usize,
) -> Vec<QuirkByMethod<'_>> {
    let mut by_quirk: BTreeMap<Quirk, (Vec<&NegotiationResult>, Vec<&str>)> = BTreeMap::new();
    for one in asked {
        for remark in one.remarks.iter().filter(|remark| is_told(remark.quirk)) {
            let (ways, names) = by_quirk.entry(remark.quirk).or_default();
            ways.push(one);
            for name in &remark.seen_in {
                if !names.contains(&name.as_str()) {
                    names.push(name);
                }
            }
        }
    }
    let said = |(quirk, (ways, names)): (Quirk, (Vec<_>, Vec<&str>))| {
        let more = names.len().saturating_sub(most);
        let mut names: Vec<String> = names.iter().take(most).map(|name| format!("“{name}”")).collect();
        names.extend((more > 0).then(|| format!("{more} more")));
        QuirkByMethod { quirk, ways, seen_in: units::list(&names) }
    };
    by_quirk.into_iter().map(said).collect()
}

impl Exhibit for Negotiations {
    fn leads(&self) -> bool {
        true
    }

    fn blocks(&self, _: &Report, options: &Options) -> Vec<Block> {
        tables::section(&self.0, options)
    }

    fn csv(&self, _: &Report) -> Result<Vec<Rendered>> {
        tables::requests(&self.0)
    }
}

/// The responses that contained a variant.
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
            let quirk = rules::of_choice(exchange.ask.accept.as_deref(), &exchange.answer, &available);
            match quirk {
                Some(wrong) if wrong.is_wrong() => quirk,
                _ if is_rule(exchange, exchanges) => Some(Quirk::BrowserRule),
                _ => quirk,
            }
        }
        _ => {
            let coding = exchange.ask.variant.as_deref()?;
            let get = seen(exchanges).find(|answer| answer.coding() == coding)?;
            rules::of_variant(exchange, get, variants)
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
    // If ranges are ignored in general, If-Range does not matter.
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

/// An old browser gets another variant than others do for the same Accept-Encoding.
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

/// All remarks, once each, with the places where they were seen.
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

/// `gzip;q=0`, `no Accept-Encoding`, `MSIE 6`; for requests about one variant, its coding.
fn label(ask: &NegotiationRequest) -> String {
    let choice = || ask.accept.clone().unwrap_or_else(|| "no Accept-Encoding".to_owned());
    ask.variant.clone().or_else(|| ask.browser.clone()).unwrap_or_else(choice)
}

#[cfg(test)]
mod tests;
