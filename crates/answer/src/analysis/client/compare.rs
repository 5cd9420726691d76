//! Cells beside each other that differ in one thing: runtimes, drivers, stores by their quickest driver, settings.

use weigh_stats::Ratio;

use crate::analysis::client::costs::Costs;
use crate::analysis::client::model::{ClientResult, Comparison, Kind, is_settled};
use crate::analysis::cost::Cost;
use crate::analysis::estimate::IDENTITY;
use crate::analysis::model::Relative;
use weigh_model::client::Client;
use weigh_model::plan::Plan;

/// What divides a PHP from another way to run it: `php8.2+jit`.
const VARIANT: char = '+';

/// Every comparison of a run, kind by kind. `costs` and `cells` stand side by side.
pub(super) fn find(plan: &Plan, costs: &[Costs], cells: &[ClientResult]) -> Vec<Comparison> {
    let all = Cells { plan, costs, cells };
    let kinds = [Kind::Runtime, Kind::Variant, Kind::Driver, Kind::Store, Kind::Setting];
    let pairs = kinds.into_iter().flat_map(|kind| (0..cells.len()).map(move |at| (kind, at)));
    pairs
        .filter_map(|(kind, at)| {
            let beside = all.beside(kind, at).filter(|other| *other != at)?;
            all.compare(kind, at, beside)
        })
        .collect()
}

/// A ratio that was formed inside each round, with how many rounds it is from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paired {
    pub relative: Relative,
    pub rounds: u32,
}

impl Paired {
    /// The two differ beyond doubt.
    pub fn is_settled(&self) -> bool {
        is_settled(&self.relative, self.rounds)
    }
}

/// Ours ÷ theirs, formed inside each round, with two rounds of both.
pub(super) fn paired(ours: Option<&Cost>, theirs: Option<&Cost>, seed: u64) -> Option<Paired> {
    let (Ratio { value, low, high }, rounds) = ours?.paired_with(theirs?, seed)?;
    Some(Paired { relative: Relative { ratio: value, low, high }, rounds: rounds as u32 })
}

struct Cells<'a> {
    plan: &'a Plan,
    costs: &'a [Costs],
    cells: &'a [ClientResult],
}

impl Cells<'_> {
    /// The cell that this one stands beside.
    fn beside(&self, kind: Kind, at: usize) -> Option<usize> {
        match kind {
            Kind::Runtime => self.first_runtime(at),
            Kind::Variant => self.without_variant(at),
            Kind::Driver => self.first_driver(at),
            Kind::Store => self.first_store(at),
            Kind::Setting => self.identity(at),
        }
    }

    fn client(&self, at: usize) -> Option<&Client> {
        self.cells[at].cell.client.as_ref()
    }

    /// The cells that do the same work with the same payload over the same link, as `like` wants them beside `at`.
    fn alike(&self, at: usize, like: impl Fn(&ClientResult, &Client) -> bool) -> Vec<usize> {
        let Some(own) = self.client(at) else { return Vec::new() };
        let same = |other: &usize| {
            self.client(*other).is_some_and(|client| {
                self.cells[*other].cell.payload == self.cells[at].cell.payload
                    && (client.work(), client.transactions) == (own.work(), own.transactions)
                    && client.link == own.link
                    && client.encoded == own.encoded
                    && like(&self.cells[*other], client)
            })
        };
        (0..self.cells.len()).filter(same).collect()
    }

    /// As [`Cells::alike`], with the same serializer and setting.
    fn same_setting(&self, at: usize, like: impl Fn(&ClientResult, &Client) -> bool) -> Vec<usize> {
        let own = &self.cells[at].cell;
        self.alike(at, |result, client| {
            let cell = &result.cell;
            (&cell.setting, &cell.serializer) == (&own.setting, &own.serializer) && like(result, client)
        })
    }

    fn of_runtimes(&self, at: usize) -> Vec<usize> {
        let Some(own) = self.client(at) else { return Vec::new() };
        self.same_setting(at, |_, client| client.place() == own.place())
    }

    /// The same on the plan's first runtime that has it.
    fn first_runtime(&self, at: usize) -> Option<usize> {
        let name = |at: usize| &self.cells[at].cell.runtime;
        let place = |at: &usize| self.plan.runtimes.iter().position(|r| r.name == *name(*at));
        self.of_runtimes(at).into_iter().min_by_key(place)
    }

    /// The same on the same PHP as it is, unless that stands as the first runtime already.
    fn without_variant(&self, at: usize) -> Option<usize> {
        let (base, _) = self.cells[at].cell.runtime.split_once(VARIANT)?;
        let plain = self.of_runtimes(at).into_iter().find(|other| self.cells[*other].cell.runtime == base)?;
        (self.first_runtime(at) != Some(plain)).then_some(plain)
    }

    fn first_driver(&self, at: usize) -> Option<usize> {
        let (own, runtime) = (self.client(at)?, &self.cells[at].cell.runtime);
        let alike = |result: &ClientResult, client: &Client| {
            result.cell.runtime == *runtime && client.store == own.store
        };
        self.same_setting(at, alike).first().copied()
    }

    /// The first store with its quickest driver, where this cell is the quickest of its own.
    fn first_store(&self, at: usize) -> Option<usize> {
        let (own, runtime) = (self.client(at)?, &self.cells[at].cell.runtime);
        let alike = self.same_setting(at, |result, _| result.cell.runtime == *runtime);
        let store = |at: usize| self.client(at).map(|client| client.store.as_str());
        let rate = |at: &usize| self.cells[*at].combined().unwrap_or(0.0);
        let quickest = |name: &str| {
            let of_store = alike.iter().copied().filter(|other| store(*other) == Some(name));
            of_store.max_by(|a, b| rate(a).total_cmp(&rate(b)))
        };
        let place = |name: &str| self.plan.stores.iter().position(|s| s.name == name);
        let first = alike.iter().filter_map(|other| store(*other)).min_by_key(|name| place(name))?;
        if quickest(&own.store) != Some(at) || first == own.store {
            return None;
        }
        quickest(first)
    }

    /// The worker that serializes and does not encode: with the same serializer, else with another.
    fn identity(&self, at: usize) -> Option<usize> {
        let (own, cell) = (self.client(at)?, &self.cells[at].cell);
        if !own.encoded || cell.setting.codec == IDENTITY {
            return None;
        }
        let alike = |result: &ClientResult, client: &Client| {
            let is_plain = result.cell.setting.codec == IDENTITY;
            is_plain && result.cell.runtime == cell.runtime && client.place() == own.place()
        };
        let other = |at: &usize| self.cells[*at].cell.serializer != cell.serializer;
        self.alike(at, alike).into_iter().min_by_key(other)
    }

    fn compare(&self, kind: Kind, at: usize, beside: usize) -> Option<Comparison> {
        let (ours, theirs) = (&self.costs[at], &self.costs[beside]);
        let paired = |of: fn(&Costs) -> Option<&Cost>| paired(of(ours), of(theirs), self.plan.seed);
        let ratio = |of: fn(&Costs) -> Option<&Cost>| paired(of).map(|paired| paired.relative);
        let rounds = paired(|c| c.seconds.as_ref())?.rounds;
        Some(Comparison {
            kind,
            cell: self.cells[at].cell.id.clone(),
            beside: self.cells[beside].cell.id.clone(),
            rounds,
            combined: ratio(|c| c.combined.as_ref()),
            cpu: ratio(|c| c.cpu.as_ref()),
            client_cpu: ratio(|c| c.client.as_ref()),
            memory: ratio(|c| c.memory.as_ref()),
            pss: ratio(|c| c.pss.as_ref()),
            put: ratio(|c| c.put.as_ref()),
            get: ratio(|c| c.get.as_ref()),
        })
    }
}
