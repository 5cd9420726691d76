//! Sides of a paired run: each cell is measured by the executor of its side, which knows its own side alone.

use std::fs;

use anyhow::{Context, Result};

use super::{Surroundings, of_plan};
use crate::executor::{Executor, Failure, Version, VisitOrder};
use crate::lab::Home;
use weigh_model::plan::{Plan, Side};
use weigh_model::protocol::FaultKind;
use weigh_model::record::VisitRecord;

pub struct Sides(Vec<OneSide>);

/// One side: its plan, in which cells have the same indexes as in the plan of all.
struct OneSide {
    name: String,
    plan: Plan,
    executor: Box<dyn Executor>,
}

impl Sides {
    /// Nothing is started before the first visit.
    ///
    /// # Errors
    /// A side's definitions cannot be read, or its PHP side or a folder for temporary files cannot be put in place.
    pub fn new(plan: &Plan, around: &Surroundings<'_>) -> Result<Sides> {
        plan.sides.iter().map(|side| OneSide::new(plan, side, around)).collect::<Result<_>>().map(Sides)
    }
}

impl OneSide {
    fn new(plan: &Plan, side: &Side, around: &Surroundings<'_>) -> Result<OneSide> {
        let name = side.name.clone();
        let own = side.defs.as_deref().map(|defs| Home::open(Some(defs))).transpose()?;
        let (scratch, logs) = (around.scratch.join(&name), around.logs.join(&name));
        for folder in [&scratch, &logs] {
            fs::create_dir_all(folder).with_context(|| format!("{}: cannot be created", folder.display()))?;
        }
        let home = own.as_ref().unwrap_or(around.home);
        let around = Surroundings { home, scratch: &scratch, logs: &logs, ..*around };
        let plan = plan.within(&name);
        let executor = of_plan(&plan).executor(&plan, &around)?;
        Ok(OneSide { name, plan, executor })
    }
}

impl Executor for Sides {
    fn remark(&self) -> Option<&str> {
        self.0.iter().find_map(|side| side.executor.remark())
    }

    fn versions(&mut self, plan: &Plan, live: &[usize]) -> Vec<Version> {
        let mut all = Vec::new();
        for OneSide { name, plan: own, executor } in &mut self.0 {
            let is_own = |index: &usize| plan.cells[*index].side.as_ref() == Some(name);
            let live: Vec<usize> = live.iter().copied().filter(is_own).collect();
            let versions = executor.versions(own, &live).into_iter();
            all.extend(versions.map(|one| Version { name: plan.name_of(name, &one.name), ..one }));
        }
        all
    }

    fn visit(&mut self, order: &VisitOrder<'_>) -> Result<VisitRecord, Failure> {
        let cell = order.cell();
        let nobody = || Failure::fault(FaultKind::Missing, format!("{}: the plan has no such side", cell.id));
        let is_own = |side: &&mut OneSide| cell.side.as_ref() == Some(&side.name);
        let OneSide { plan, executor, .. } = self.0.iter_mut().find(is_own).ok_or_else(nobody)?;
        let named = &plan.cells[order.index].payload;
        let payload = plan.payloads.iter().find(|payload| payload.name == *named).ok_or_else(nobody)?;
        let visit = executor.visit(&VisitOrder { plan, payload, ..*order })?;
        Ok(VisitRecord { cell: cell.id.clone(), ..visit })
    }

    fn end(&mut self) {
        self.0.iter_mut().for_each(|side| side.executor.end());
    }
}
