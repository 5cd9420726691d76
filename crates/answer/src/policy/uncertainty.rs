//! How uncertain a change is: by the rounds of what was measured, by the sample that stands for all content, and by the counts of
//! requests.

use std::collections::BTreeMap;

use weigh_model::policy::Amount;
use weigh_model::site::{From, Kind, Site, Stratum};
use weigh_stats::{StratumError, Term, deviation_from_curves, drawn_figures, ratio_of_sums};

use super::setup::{Exact, FileAmounts, Setup};
use crate::estimate::QUANTILE;

/// The seed of drawings: the same figures give the same interval.
const SEED: u64 = 1;
/// A logarithm of a ratio that is none: content that stays as it is.
const SAME: f64 = 1e-6;

/// An amount of CPU nanoseconds and of the rest: the part that varies between rounds, and the part that does not.
pub(super) type Quantity<'q> = &'q dyn Fn(f64, &Exact) -> (f64, f64);

/// A change with the errors of everything that it rests on.
pub(super) struct Uncertainty<'a> {
    before: &'a Setup,
    after: &'a Setup,
    /// The numbers of rows and of strata, by their addresses.
    rows: BTreeMap<usize, usize>,
    strata: Vec<&'a Stratum>,
    /// The factors of true figures to measured ones, by the number of the row; none: nothing was measured twice.
    figures: Option<Vec<Vec<f64>>>,
}

impl<'a> Uncertainty<'a> {
    /// Of a change from one setup to another.
    pub fn new(site: &'a Site, before: &'a Setup, after: &'a Setup) -> Uncertainty<'a> {
        let (mut rows, mut units) = (BTreeMap::new(), Vec::new());
        let mut quantile = QUANTILE;
        for part in before.parts.iter().chain(&after.parts) {
            rows.entry(part.row).or_insert_with(|| {
                let drawn = part.cpu.as_ref().and_then(|cpu| cpu.drawn.as_ref());
                quantile = drawn.map_or(quantile, |drawn| drawn.quantile);
                units.push(drawn.map_or(Vec::new(), |drawn| drawn.rounds.clone()));
                units.len() - 1
            });
        }
        let has = |stratum: &&Stratum| before.parts.iter().chain(&after.parts).any(|p| p.is_of(stratum));
        let strata = Kind::ALL.into_iter().flat_map(|kind| site.of(kind)).filter(has).collect();
        let is_repeated = units.iter().any(|rounds: &Vec<(u32, f64)>| rounds.len() > 1);
        let figures = is_repeated.then(|| drawn_figures(&units, quantile, SEED));
        Uncertainty { before, after, rows, strata, figures }
    }

    /// A quantity before and after, with both intervals of the share that it changes by.
    pub fn amount(&self, of: Quantity, is_same: bool) -> Amount {
        let sum = |setup: &Setup| {
            let (varies, exact) = of(setup.cpu.value, &setup.exact);
            varies + exact
        };
        let (before, after) = (sum(self.before), sum(self.after));
        let amount = Amount { before, after, ..Amount::default() };
        let Some(share) = amount.share() else { return amount };
        let whole = Some((share, share));
        let terms = self.terms(of);
        let varies = terms.iter().any(|term| term.figure.is_some() && term.first + term.second > 0.0);
        let between = |strata: &[StratumError]| {
            let none = Vec::new();
            let figures = if varies { self.figures.as_ref()? } else { &none };
            let fixed = |term: &Term| Term { figure: term.figure.filter(|_| varies), ..*term };
            let terms: Vec<Term> = terms.iter().map(fixed).collect();
            let (low, high) = ratio_of_sums(&terms, figures, strata, SEED)?;
            Some(((low - 1.0).min(share), (high - 1.0).max(share)))
        };
        let rounds =
            if is_same || !varies { whole } else { between(&vec![Default::default(); self.strata.len()]) };
        let all = if is_same { whole } else { self.errors(of).and_then(|errors| between(&errors)) };
        let ((low, high), (rounds_low, rounds_high)) = (all.unzip(), rounds.unzip());
        Amount { low, high, rounds_low, rounds_high, ..amount }
    }

    /// What the sums after and before consist of; what was not measured stands for itself.
    fn terms(&self, of: Quantity) -> Vec<Term> {
        let mut terms = Vec::new();
        for (setup, is_after) in [(self.after, true), (self.before, false)] {
            let mut add = |amount: f64, figure: Option<usize>, stratum: Option<usize>| {
                let (first, second) = if is_after { (amount, 0.0) } else { (0.0, amount) };
                terms.push(Term { first, second, figure, stratum });
            };
            let all = of(setup.cpu.value, &setup.exact);
            let mut rest = all.0 + all.1;
            for part in &setup.parts {
                let (varies, exact) = part.quantity(of);
                let stratum = self.stratum(part);
                rest -= varies + exact;
                add(varies, self.rows.get(&part.row).copied(), stratum);
                add(exact, None, stratum);
            }
            add(rest, None, None);
        }
        terms
    }

    /// The number of a part's stratum.
    fn stratum(&self, part: &FileAmounts) -> Option<usize> {
        self.strata.iter().position(|stratum| part.is_of(stratum))
    }

    /// How far each stratum may be from its sample: files of one type vary as those of it that were measured vary beside what their lengths say, and a stratum whose files were
    /// all measured does not; requests that were counted vary as counts do. None: nothing tells how much files vary.
    fn errors(&self, of: Quantity) -> Option<Vec<StratumError>> {
        let mut files: BTreeMap<(usize, usize), [f64; 2]> = BTreeMap::new();
        for (setup, at) in [(self.before, 0), (self.after, 1)] {
            for part in &setup.parts {
                let (varies, exact) = part.quantity(of);
                let Some(stratum) = self.stratum(part) else { continue };
                files.entry((stratum, part.sample)).or_default()[at] += varies + exact;
            }
        }
        let logs = files.iter().map(|((stratum, sample), [before, after])| {
            let length =
                self.strata[*stratum].sample.iter().find(|own| std::ptr::from_ref(*own).addr() == *sample);
            (*stratum, length.map_or(0.0, |own| (own.bytes.max(1) as f64).ln()), (after / before).ln())
        });
        let changed: Vec<(usize, f64, f64)> =
            logs.filter(|(.., log)| log.is_finite() && log.abs() > SAME).collect();
        // By length within each type; over all types where none has two files.
        let points = || changed.iter().map(|(at, length, log)| (&self.strata[*at].format, *length, *log));
        let spread = deviation_from_curves(points())
            .or_else(|| deviation_from_curves(points().map(|(_, length, log)| ((), length, log))));
        let error = |(at, stratum): (usize, &&Stratum)| {
            let measured = files.keys().filter(|(own, _)| *own == at).count() as f64;
            let left = (1.0 - measured / stratum.files.value.max(1.0)).max(0.0) / measured.max(1.0);
            let is_counted = stratum.requests.from == From::Counted;
            let counted = if is_counted { 1.0 / stratum.requests.value.max(1.0) } else { 0.0 };
            let is_same = changed.iter().all(|(own, ..)| *own != at);
            let of_files = if is_same || left == 0.0 { 0.0 } else { spread? * spread? * left };
            Some(StratumError { ratio: of_files.sqrt(), size: (of_files + counted).sqrt() })
        };
        self.strata.iter().enumerate().map(error).collect()
    }
}
