//! Codecs, native and inside PHP: resident workers that time themselves, and an independent decoder that checks what came out.

pub mod parts;
pub mod plan;
mod request;
pub mod study;
pub mod sweep;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::{Planned, Subject, Surroundings};
use crate::dir::log_of;
use crate::draft::{ContentSource, Draft};
use crate::executor::{CodecWorker, Executor, Failure, Version, VisitOrder};
use crate::lab::Stager;
use crate::state::{History, LONG_CALL};
use crate::study::block::in_form;
use crate::study::{Blocks, Study};
use crate::worker::ProcessExecutor;
use parts::{Cuts, Done};
use plan::BYTES;
use request::{request, samples, wants_memory};
use weigh_answer::report::shape::Shape;
use weigh_answer::subject::codec;
use weigh_model::cell::{self, Cell};
use weigh_model::inventory::{Inventory, NATIVE, RuntimeEntry};
use weigh_model::payload::Payload;
use weigh_model::plan::{Plan, Policy};
use weigh_model::protocol::{CheckRequest, Fault, FaultKind, Visit, VisitRequest};
use weigh_model::record::VisitRecord;
use weigh_model::units;
use weigh_os::interrupt::Interrupt;
use weigh_os::process::{Invocation, WorkerSpec};
use weigh_rig::runtime;

/// What a visit costs beside the codec, in seconds.
const OVERHEAD: f64 = 0.005;

/// What a visit costs beside the codec by nominal figures: pipes, the record, the check.
const VISIT_SECONDS: f64 = 0.002;
/// Samples of each phase under a profiler: some hundred calls of a quick codec.
const SAMPLES: u32 = 100;
/// Calls in a first visit: verified, measured for memory, and sampled.
const FIRST_VISIT_CALLS: f64 = 3.0;

pub struct Codecs;

impl Planned for Codecs {
    fn blocks(&self) -> Blocks {
        Blocks::Cells
    }

    fn runtimes<'i>(&self, inventory: &'i Inventory) -> &'i [RuntimeEntry] {
        &inventory.runtimes
    }

    fn stage(&self, stager: &mut Stager<'_>, name: &str, bytes: Option<u64>) -> Result<Vec<Payload>> {
        stager.families(name, bytes)
    }

    fn plan(&self, study: &Study, draft: &mut Draft<'_>, contents: &mut ContentSource<'_>) -> Result<()> {
        let blocks = in_form(&study.cells, draft.options.quick);
        blocks.iter().try_for_each(|block| plan::block(draft, block, contents))
    }

    fn columns(&self) -> &'static [&'static str] {
        &["content", "bytes", "runtime", "serializer", "cells", "codecs"]
    }

    fn overview(&self, cell: &Cell, bytes: u64) -> (Vec<String>, String) {
        let serializer = cell.serializer.clone().unwrap_or(BYTES.into());
        let group = vec![cell.payload.clone(), units::bytes(bytes), cell.runtime.clone(), serializer];
        (group, cell.setting.codec.clone())
    }
}

impl Subject for Codecs {
    fn shape(&self) -> &'static Shape {
        &codec::SHAPE
    }

    /// The first visit verifies and measures memory beside its samples; the others are bounded by what a cell may take.
    fn cell_seconds(&self, cell: &Cell, policy: &Policy) -> f64 {
        let visit = cell.expected_seconds + VISIT_SECONDS;
        let first = FIRST_VISIT_CALLS * visit;
        if policy.exhaustive {
            return first + f64::from(policy.max_rounds.saturating_sub(1)) * visit;
        }
        first + (f64::from(policy.min_samples) * visit).min(policy.cell_seconds)
    }

    /// The samples, with the call before them, and with the codec alone timed beside the whole; the memory of a PHP worker takes a
    /// pass of its own.
    fn visit_seconds(&self, cell: &Cell, past: &History, pass: f64) -> f64 {
        let is_family = past.visits.last().is_some_and(|visit| visit.instances > 0);
        let timed = if pass > LONG_CALL { 1 } else { 1 + samples(pass, is_family) };
        let apart = if cell.serializer.is_some() { 2 } else { 1 };
        let memory = u32::from(cell.subject == cell::Subject::PHP_CODEC && wants_memory(cell, past));
        pass * f64::from(timed * apart + memory) + OVERHEAD
    }

    /// Both encode a value, or both bytes. A cell in PHP on a value without a serializer may be either (a marshaller takes the value
    /// itself), so it competes with none.
    fn do_the_same(&self, plan: &Plan, a: &Cell, b: &Cell) -> bool {
        let is_value = || plan.payloads.iter().any(|p| p.name == a.payload && p.value.is_some());
        match (&a.serializer, &b.serializer) {
            (Some(_), Some(_)) => true,
            (None, None) => a.subject != cell::Subject::PHP_CODEC || !is_value(),
            _ => false,
        }
    }

    fn is_profiled(&self, cell: &Cell) -> bool {
        cell.subject == cell::Subject::PHP_CODEC
    }

    fn executor(&self, plan: &Plan, around: &Surroundings<'_>) -> Result<Box<dyn Executor>> {
        let mut workers = Workers::new(around.scratch);
        let started =
            |spec: &WorkerSpec| Box::new(ProcessExecutor::new(spec.clone(), around.interrupt.clone()));
        for runtime in &plan.runtimes {
            let log = log_of(around.logs, &runtime.name);
            let spec = match &runtime.binary {
                Some(binary) => {
                    let script = around.home.php_home()?.join("worker.php");
                    runtime::worker(&runtime.name, binary, &[], &script, log)
                }
                None => WorkerSpec::native(NATIVE, log),
            };
            workers.add(&runtime.name, started(&spec));
            workers.alone.insert(runtime.name.clone(), (spec, around.interrupt.clone()));
        }
        workers.set_checker(started(&WorkerSpec::native("checker", log_of(around.logs, "checker"))));
        Ok(Box::new(workers))
    }
}

/// The workers of a run: one a runtime, and the independent decoder's.
pub struct Workers {
    runtimes: BTreeMap<String, Box<dyn CodecWorker>>,
    checker: Option<Box<dyn CodecWorker>>,
    /// How a worker of each runtime is started alone.
    alone: BTreeMap<String, (WorkerSpec, Interrupt)>,
    /// By runtime, the codecs that take a value themselves.
    marshallers: BTreeMap<String, BTreeSet<String>>,
    /// Where an output is dumped for the independent decoder.
    dump: PathBuf,
    cuts: Cuts,
}

impl Workers {
    /// None yet; outputs are dumped into the folder `scratch`, which is theirs.
    pub fn new(scratch: &Path) -> Workers {
        let (runtimes, checker, alone, marshallers) = Default::default();
        let (dump, cuts) = (scratch.join("output"), Cuts::new(scratch));
        Workers { runtimes, checker, alone, marshallers, dump, cuts }
    }

    pub fn add(&mut self, runtime: impl Into<String>, worker: Box<dyn CodecWorker>) {
        self.runtimes.insert(runtime.into(), worker);
    }

    /// Sets the worker that decodes independently: a native one of its own, so that checking leaves no
    /// trace in the memory of those that are measured. Without one, nothing is checked independently.
    pub fn set_checker(&mut self, worker: Box<dyn CodecWorker>) {
        self.checker = Some(worker);
    }

    /// Has the dumped output decoded independently; `None` when there is no decoder for its format.
    fn check(
        &mut self,
        cell: &Cell,
        dump: &str,
        visit: &Visit,
        limit: Duration,
    ) -> Result<Option<String>, Failure> {
        let Some(checker) = &mut self.checker else { return Ok(None) };
        let request = CheckRequest {
            id: 0,
            format: visit.format.clone(),
            path: dump.to_owned(),
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

    /// Has one request of a visit carried out, judged, and checked where an output is dumped.
    ///
    /// # Errors
    /// [`Failure`], as of a visit.
    pub fn carry_out(
        &mut self,
        order: &VisitOrder<'_>,
        request: &VisitRequest,
        limit: Duration,
    ) -> Result<Done, Failure> {
        let cell = order.cell();
        let worker = self.runtimes.get_mut(&cell.runtime).ok_or_else(|| no_worker(cell))?;
        let result = worker.visit(request, limit).and_then(|visit| {
            let bytes = cell.serializer.is_none() && !self.takes_value(cell);
            verdict::judge(cell, order.payload, bytes, request, &visit).map_err(Failure::Fault)?;
            let independent = match &request.dump {
                Some(dump) => self.check(cell, dump, &visit, limit)?,
                None => None,
            };
            Ok(Done { visit, independent })
        });
        if request.dump.is_some() {
            self.clear();
        }
        result
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

impl Executor for Workers {
    fn versions(&mut self, plan: &Plan, live: &[usize]) -> Vec<Version> {
        let mut all = Vec::new();
        for (name, worker) in &mut self.runtimes {
            if !live.iter().any(|&i| plan.cells[i].runtime == *name) {
                continue;
            }
            let Ok(said) = worker.describe() else { continue };
            let codecs = said.codecs.iter().map(|c| (&c.name, &c.library));
            let libraries = codecs.chain(said.serializers.iter().map(|s| (&s.name, &s.library)));
            let libraries = libraries.filter_map(|(name, library)| Some((name.clone(), library.clone()?)));
            all.push(Version {
                name: name.clone(),
                libraries: libraries.collect(),
                version: said.version.clone(),
            });
            let takers = said.codecs.into_iter().filter(|c| c.takes_value).map(|c| c.name);
            self.marshallers.insert(name.clone(), takers.collect());
        }
        all
    }

    fn visit(&mut self, order: &VisitOrder<'_>) -> Result<VisitRecord, Failure> {
        let whole = request(order, &self.dump);
        let path = |number| Ok(self.cuts.path(order, number)?.to_string_lossy().into_owned());
        let requests = parts::split(&whole, order.payload, path)?;
        let end = Instant::now() + order.limit;
        let left = || end.saturating_duration_since(Instant::now());
        order.parts.begin(requests.len());
        let one = |request| self.carry_out(order, request, left()).inspect(|_| order.parts.one());
        let done: Result<Vec<Done>, Failure> = requests.iter().map(one).collect();
        Ok(parts::merge(order, done?))
    }

    /// As in a run, with more samples and nothing beside them: no verification, no look at memory. The CPU seconds are those of one pass
    /// through every phase, in the middle.
    fn alone(&mut self, order: &VisitOrder<'_>, on: &Invocation) -> Result<(f64, u32), Failure> {
        let request = request(order, &self.dump);
        let request = VisitRequest { samples: SAMPLES, verify: false, memory: false, dump: None, ..request };
        let (spec, interrupt) =
            self.alone.get(&order.cell().runtime).ok_or_else(|| no_worker(order.cell()))?;
        let mut worker =
            ProcessExecutor::new(spec.clone().under(on), interrupt.clone()).end_limit(order.limit);
        worker.describe()?;
        let pid = worker.id().unwrap_or_default();
        let visit = worker.visit(&request, order.limit)?;
        worker.end();
        let nanoseconds: f64 = visit.phases.values().filter_map(|s| weigh_stats::median(&s.cpu_ns)).sum();
        Ok((nanoseconds / 1e9, pid))
    }

    fn end(&mut self) {
        self.runtimes.values_mut().chain(self.checker.as_mut()).for_each(|worker| worker.end());
    }
}

fn no_worker(cell: &Cell) -> Failure {
    Failure::fault(FaultKind::Missing, format!("there is no worker for the runtime {}", cell.runtime))
}

#[cfg(test)]
mod tests;
