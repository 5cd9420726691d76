//! One visit from request to verdict: the worker measures, the independent decoder checks, and what does not
//! hold is a fault.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};

use super::request::{Place, request};
use super::state::{State, to_record};
use super::verdict;
use super::{deliver, forecast, transact};
use crate::executor::{Executor, Failure, Pool, Standing, TransactRequest};
use weigh_model::cell::Cell;
use weigh_model::payload::Payload;
use weigh_model::plan::{Plan, Runtime};
use weigh_model::protocol::{CheckRequest, Description, Fault, FaultKind, Visit};
use weigh_model::record::VisitRecord;

/// What any request may take, however quick it is expected to be: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(30);
/// How much longer than expected a request may take beyond that.
const SLOWER: f64 = 20.0;

/// Carries out the visits of a run.
pub struct Visitor<'a> {
    plan: &'a Plan,
    root: PathBuf,
    dump: PathBuf,
    pool: &'a mut Pool,
    /// By runtime, the codecs that take a value themselves.
    marshallers: BTreeMap<String, BTreeSet<String>>,
}

impl<'a> Visitor<'a> {
    /// Starts the workers that live cells need, and makes sure that they are what the plan was made with.
    ///
    /// # Errors
    /// A runtime or a library has another version now. A worker that does not start is no error here: its cells
    /// become faults.
    pub fn new(
        plan: &'a Plan,
        state: &State,
        root: &Path,
        scratch: &Path,
        pool: &'a mut Pool,
    ) -> Result<Self> {
        let mut marshallers = BTreeMap::new();
        let live = state.live();
        for runtime in &plan.runtimes {
            if plan.is_client() || !live.iter().any(|&i| plan.cells[i].runtime == runtime.name) {
                continue;
            }
            let Ok(description) = pool.runtime(&runtime.name).and_then(Executor::describe) else { continue };
            same_versions(runtime, &description)?;
            let takers = description.codecs.into_iter().filter(|c| c.takes_value).map(|c| c.name);
            marshallers.insert(runtime.name.clone(), takers.collect());
        }
        if plan.is_client()
            && let Ok(transactor) = pool.transactor()
        {
            same_servers(plan, &transactor.versions(plan))?;
        }
        if plan.is_delivery()
            && let Ok(deliverer) = pool.deliverer()
        {
            same_servers(plan, &deliverer.versions(plan))?;
        }
        Ok(Visitor { plan, root: root.to_path_buf(), dump: scratch.join("output"), pool, marshallers })
    }

    /// The user wants the run to end.
    pub fn is_interrupted(&self) -> bool {
        self.pool.interrupt().is_set()
    }

    /// Visits a cell. The record's times are the caller's to fill in.
    ///
    /// # Errors
    /// [`Failure`]: the cell has a fault, or the user wants the run to end.
    pub fn visit(&mut self, state: &State, index: usize, round: u32) -> Result<VisitRecord, Failure> {
        let cell = &self.plan.cells[index];
        let Some(payload) = self.plan.payloads.iter().find(|p| p.name == cell.payload) else {
            return Err(fault(FaultKind::Payload, format!("{}: no such payload in the plan", cell.payload)));
        };
        if cell.client.is_some() {
            return self.transact(state, (index, round), payload);
        }
        if cell.delivery.is_some() {
            return self.deliver(state, (index, round), payload);
        }
        let past = &state.cells[index];
        let place = Place { seed: self.plan.seed, round, index, past, root: &self.root, dump: &self.dump };
        let request = request(cell, payload, place);
        let limit = limit(forecast::expected(self.plan, state)[index]);
        let result = self.pool.runtime(&cell.runtime)?.visit(&request, limit).and_then(|visit| {
            let bytes = cell.serializer.is_none() && !self.takes_value(cell);
            verdict::judge(cell, payload, bytes, &request, &visit).map_err(Failure::Fault)?;
            let independent = match request.dump {
                Some(_) => self.check(cell, &visit, limit)?,
                None => None,
            };
            Ok(to_record(visit, &cell.id, round, independent))
        });
        if request.dump.is_some() {
            self.clear();
        }
        result
    }

    fn deliver(
        &mut self,
        state: &State,
        (index, round): (usize, u32),
        payload: &Payload,
    ) -> Result<VisitRecord, Failure> {
        let cell = &self.plan.cells[index];
        let blob = self.root.join(&payload.blob);
        let limit = limit(forecast::expected(self.plan, state)[index]);
        let request = deliver::request(self.plan, state, (index, round), payload, (&blob, limit));
        let visit = self.pool.deliverer()?.deliver(&request)?;
        deliver::judge(cell, payload, &visit).map_err(Failure::Fault)?;
        Ok(deliver::to_record(visit, cell, payload, round))
    }

    fn transact(
        &mut self,
        state: &State,
        (index, round): (usize, u32),
        payload: &Payload,
    ) -> Result<VisitRecord, Failure> {
        let cell = &self.plan.cells[index];
        let blob = self.root.join(&payload.blob);
        let request = TransactRequest {
            cell,
            payload,
            blob: &blob,
            seed: self.plan.seed ^ (u64::from(round) << 32),
            limit: limit(forecast::expected(self.plan, state)[index]),
        };
        let visit = self.pool.transactor()?.transact(&request)?;
        transact::judge(cell, &visit).map_err(Failure::Fault)?;
        Ok(transact::to_record(visit, cell, payload, round))
    }

    /// Has the dumped output decoded independently; `None` when there is no decoder for its format.
    fn check(&mut self, cell: &Cell, visit: &Visit, limit: Duration) -> Result<Option<String>, Failure> {
        let Some(checker) = self.pool.checker() else { return Ok(None) };
        let request = CheckRequest {
            id: 0,
            format: visit.format.clone(),
            path: self.dump.to_string_lossy().into_owned(),
            encoded: visit.encoded.clone(),
            decoded: visit.decoded.clone(),
            dictionary: visit.dictionary_path.clone(),
        };
        match checker.check(&request, limit) {
            Ok(checked) => {
                verdict::agree(cell, visit, &checked).map_err(Failure::Fault)?;
                Ok(Some(checked.decoder))
            }
            // There is no independent decoder for every format.
            Err(Failure::Fault(Fault { kind: FaultKind::Missing | FaultKind::Parameter, .. })) => Ok(None),
            Err(Failure::Fault(fault)) => {
                let message = format!("{}: the independent decoder: {}", cell.id, fault.message);
                Err(Failure::Fault(Fault { kind: FaultKind::Independent, message, remedy: fault.remedy }))
            }
            Err(Failure::Interrupted) => Err(Failure::Interrupted),
        }
    }

    fn takes_value(&self, cell: &Cell) -> bool {
        self.marshallers.get(&cell.runtime).is_some_and(|codecs| codecs.contains(&cell.setting.codec))
    }

    /// Empties the scratch folder: dumps, and dictionaries beside them.
    fn clear(&self) {
        let files = self.dump.parent().and_then(|scratch| std::fs::read_dir(scratch).ok());
        for file in files.into_iter().flatten().flatten() {
            // What stays is written over by the next dump and removed with the folder.
            let _ = std::fs::remove_file(file.path());
        }
    }
}

fn limit(expected: f64) -> Duration {
    PATIENCE + Duration::try_from_secs_f64(expected * SLOWER).unwrap_or(PATIENCE)
}

fn fault(kind: FaultKind, message: String) -> Failure {
    Failure::Fault(Fault { kind, message, remedy: None })
}

fn changed(what: &str, planned: &str, now: &str) -> Result<()> {
    bail!("{what} was {planned} when this run was planned and is {now} now; start a new run")
}

/// The same for what stands under deliveries.
fn same_servers(plan: &Plan, now: &[Standing]) -> Result<()> {
    let runtimes = plan.runtimes.iter().map(|r| (&r.name, &r.version));
    let servers = plan.servers.iter().map(|s| (&s.name, &s.version));
    let stores = plan.stores.iter().filter(|s| s.binary.is_some()).map(|s| (&s.name, &s.version));
    for (name, version) in runtimes.chain(servers).chain(stores) {
        if let Some(other) = now.iter().find(|n| n.name == *name && n.version != *version) {
            return changed(name, version, &other.version);
        }
    }
    Ok(())
}

/// A run has one version of everything, whenever its parts were measured.
fn same_versions(planned: &Runtime, now: &Description) -> Result<()> {
    if planned.version != now.version {
        return changed(&planned.name, &planned.version, &now.version);
    }
    let codecs = now.codecs.iter().map(|c| (&c.name, &c.library));
    for (name, library) in codecs.chain(now.serializers.iter().map(|s| (&s.name, &s.library))) {
        if let (Some(planned), Some(now)) = (planned.libraries.get(name), library)
            && planned != now
        {
            return changed(name, planned, now);
        }
    }
    Ok(())
}
