//! A decision beside what was measured of it: the part of its prediction that was, line by line.

use std::collections::BTreeSet;

use weigh_model::policy::{Amount, Change, Decision};
use weigh_model::site::{Kind, Site, Stratum};
use weigh_model::units;

use super::super::setup::Setup;
use super::difference::{cause, line};
use super::{CPU_TIME, Line, MEMORY, TRAFFIC, WAIT};
use crate::policy::change::change;

/// A decision beside what was measured of it.
pub(in super::super) struct Compared<'a> {
    pub site: &'a Site,
    pub decision: &'a Decision,
    /// What was measured of before.
    pub before: &'a Setup,
    /// The same after the change.
    pub after: &'a Setup,
}

impl Compared<'_> {
    /// The strata that were measured, by their names.
    fn measured(&self) -> BTreeSet<String> {
        let is_in = |stratum: &&Stratum| self.before.parts.iter().any(|part| part.is_of(stratum));
        self.site.of(self.decision.kind).filter(is_in).map(Stratum::name).collect()
    }

    /// What the policy says of the strata that were measured; of all, where it does not tell them apart.
    fn predicted(&self) -> Change {
        let (whole, measured) = (&self.decision.change, self.measured());
        let own = || self.decision.parts.iter().filter(|part| measured.contains(&part.content));
        if own().next().is_none() {
            return whole.clone();
        }
        // A part's interval reaches as far to both sides of its share as that of the whole.
        let amount = |whole: &Amount, of: fn(&weigh_model::policy::ContentChange) -> [f64; 2]| {
            let sum = |at: usize| own().map(|part| of(part)[at]).sum();
            let amount = Amount { before: sum(0), after: sum(1), ..Amount::default() };
            let moved = amount.share().zip(whole.share()).map(|(own, all)| own - all);
            let end = |end: Option<f64>| Some(end? + moved?);
            Amount {
                low: end(whole.low),
                high: end(whole.high),
                rounds_low: end(whole.rounds_low),
                rounds_high: end(whole.rounds_high),
                ..amount
            }
        };
        Change {
            wait_hours: amount(&whole.wait_hours, |part| part.wait_hours),
            core_hours: amount(&whole.core_hours, |part| part.core_hours),
            gb_out: amount(&whole.gb_out, |part| part.gb_out),
            gb_stored: amount(&whole.gb_stored, |part| part.gb_stored),
            ..Change::default()
        }
    }

    /// What the prediction covers and the proof does not.
    pub fn uncovered(&self) -> Option<String> {
        let measured = self.measured();
        let requests = |is_meant: &dyn Fn(&str) -> bool| -> f64 {
            let own = self.site.of(self.decision.kind).filter(|stratum| is_meant(&stratum.name()));
            own.map(|stratum| stratum.requests.value).sum()
        };
        let is_predicted = |name: &str| self.decision.parts.iter().any(|part| part.content == name);
        let parts = self.decision.parts.iter().map(|part| part.content.clone());
        let left: Vec<String> = parts.filter(|name| !measured.contains(name)).collect();
        let share = requests(&|name| measured.contains(name) && is_predicted(name))
            / requests(&is_predicted).max(1.0);
        let names = crate::label::some(&left, 3);
        let kind = self.decision.kind.plural();
        let covered = units::percent(share);
        (!left.is_empty()).then(|| {
            format!("{kind}: {covered} of the requests that the prediction covers were compared with it; not {names} (--budget).")
        })
    }

    /// The amounts that the decision is judged by. `coding`: something is sent in another coding than the policy says.
    pub fn lines(&self, seconds: f64, coding: Option<&String>) -> Vec<Line> {
        let (said, seen) = (self.predicted(), change(self.site, self.before, self.after));
        let kind = self.decision.kind;
        let wait = (WAIT, "visitors wait", said.wait_hours, seen.wait_hours);
        let traffic = (TRAFFIC, "traffic", said.gb_out, seen.gb_out);
        let cpu = (CPU_TIME, "CPU time", said.core_hours, seen.core_hours);
        let all = match kind {
            Kind::Value => vec![(MEMORY, "memory of the store", said.gb_stored, seen.gb_stored), cpu],
            Kind::Download => vec![cpu],
            Kind::Asset | Kind::Page => vec![wait, traffic, cpu],
        };
        let rounds = self.before.fewest_rounds().min(self.after.fewest_rounds());
        let remark =
            |line: &Line| coding.map(|text| text.trim_end_matches('.').to_owned()).or_else(|| cause(line));
        let line = |(metric, name, said, seen): (&'static str, &str, Amount, Amount)| {
            line((kind, metric, name.to_owned()), said, seen, (rounds, seconds), remark)
        };
        all.into_iter().filter_map(line).collect()
    }
}
