//! A payload of many parts on many nodes: an executor whose workers each carry out one part after another, until all are done. A part whose
//! worker or node was lost is carried out again elsewhere, which is safe because it only reads.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::Workers;
use super::parts::{self, Cuts, Done, parts};
use super::request::request;
use crate::executor::{CodecWorker, Executor, Failure, Version, VisitOrder};
use crate::worker::ProcessExecutor;
use weigh_model::inventory::NATIVE;
use weigh_model::plan::Plan;
use weigh_model::protocol::{FaultKind, VisitRequest};
use weigh_model::record::VisitRecord;
use weigh_model::text::clean;
use weigh_os::interrupt::Interrupt;
use weigh_os::process::WorkerSpec;

/// How often a part is tried before its failure is the configuration's.
const TRIES: u32 = 3;
/// Retries are this far apart, for the engine to tell which node is lost.
const PAUSE: Duration = Duration::from_millis(200);

/// A machine on which parts are carried out.
pub trait Site: Send + Sync {
    fn name(&self) -> &str;

    /// Brings a file there, once however often it is asked for: its path there.
    ///
    /// # Errors
    /// One line: it is not there.
    fn put(&self, file: &Path, sha256: &str) -> Result<PathBuf, String>;

    /// Why it is lost; none: it is not.
    fn why_lost(&self) -> Option<String>;

    /// Nothing can be carried out anywhere any more.
    fn all_lost(&self) -> bool;
}

/// A site with its workers: one that is measured, and the independent decoder's.
struct SiteWorkers {
    site: Box<dyn Site>,
    workers: Workers,
    number: usize,
}

impl SiteWorkers {
    /// One part. Its failure as a pair: whether another try may do better.
    fn carry_out(&mut self, job: &Job<'_>, number: usize) -> Result<Done, (bool, Failure)> {
        let crash = |why: String| (true, Failure::fault(FaultKind::Crash, why));
        let request = &job.requests[number];
        let blob = self.site.put(Path::new(&request.blob), &request.sha256).map_err(crash)?;
        // Beside the part, which is in a folder of this run's own.
        let dump = request.dump.as_ref().map(|_| {
            let beside = blob.with_file_name(format!("output-{}", self.number));
            beside.to_string_lossy().into_owned()
        });
        let request = VisitRequest { blob: blob.to_string_lossy().into_owned(), dump, ..request.clone() };
        let done = self.workers.carry_out(job.order, &request, job.order.limit);
        match done {
            Ok(done) => self.believed(done).map_err(|failure| (false, failure)),
            Err(Failure::Interrupted) => Err((false, Failure::Interrupted)),
            // A worker that ended may have ended with its machine.
            Err(Failure::Fault(fault)) => {
                Err((fault.kind == FaultKind::Crash, Failure::Fault(fault.cleaned())))
            }
        }
    }

    /// What a node says is bounded and safe to print.
    fn believed(&self, done: Done) -> Result<Done, Failure> {
        let digest = &done.visit.sha256_encoded;
        if digest.len() != 64 || !digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let message = format!("node {} answered no digest", self.site.name());
            return Err(Failure::fault(FaultKind::Garbage, message));
        }
        Ok(Done { independent: done.independent.as_deref().map(clean), ..done })
    }
}

/// The parts of one visit.
struct Job<'a> {
    order: &'a VisitOrder<'a>,
    requests: Vec<VisitRequest>,
    left: Mutex<RemainingParts>,
}

/// What is left of a visit to do.
struct RemainingParts {
    /// Parts with how often they were tried.
    waiting: VecDeque<(usize, u32)>,
    done: Vec<Option<Done>>,
    failure: Option<Failure>,
}

impl Job<'_> {
    fn left(&self) -> std::sync::MutexGuard<'_, RemainingParts> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Option<(usize, u32)> {
        let mut left = self.left();
        if left.failure.is_some() { None } else { left.waiting.pop_front() }
    }

    /// Carries out parts until none waits, or one fails.
    fn work(&self, hand: &mut SiteWorkers) {
        while let Some((number, tries)) = self.next() {
            match hand.carry_out(self, number) {
                Ok(done) => {
                    self.left().done[number] = Some(done);
                    self.order.parts.one();
                }
                Err((true, _)) if tries + 1 < TRIES || hand.site.why_lost().is_some() => {
                    self.left().waiting.push_back((number, tries + 1));
                    return;
                }
                Err((_, failure)) => {
                    self.left().failure.get_or_insert(failure);
                    return;
                }
            }
        }
    }
}

/// Carries out visits by parts on several sites.
pub struct Sweep {
    hands: Vec<SiteWorkers>,
    cuts: Cuts,
    scratch: PathBuf,
}

impl Sweep {
    /// Without sites; files go below `scratch`.
    pub fn new(scratch: &Path) -> Sweep {
        Sweep { hands: Vec::new(), cuts: Cuts::new(scratch), scratch: scratch.to_owned() }
    }

    /// Adds a site with its worker and the one that decodes independently. One worker per site is measured: neighbours on the same processor
    /// would add to each other's CPU time.
    pub fn add(&mut self, site: Box<dyn Site>, worker: Box<dyn CodecWorker>, checker: Box<dyn CodecWorker>) {
        let number = self.hands.len();
        // Nothing is written there: what workers write is beside the parts.
        let mut workers = Workers::new(&self.scratch.join(format!("site-{number}")));
        workers.add(NATIVE, worker);
        workers.set_checker(checker);
        self.hands.push(SiteWorkers { site, workers, number });
    }

    /// Adds a site where this program is started as that spec says.
    pub fn add_native(&mut self, site: Box<dyn Site>, spec: &WorkerSpec, interrupt: &Interrupt) {
        let worker = || Box::new(ProcessExecutor::new(spec.clone(), interrupt.clone()));
        self.add(site, worker(), worker());
    }

    fn live(&mut self) -> Vec<&mut SiteWorkers> {
        self.hands.iter_mut().filter(|hand| hand.site.why_lost().is_none()).collect()
    }

    /// Why there is no site.
    fn no_worker(&self) -> Failure {
        let why = self.hands.iter().filter_map(|hand| Some((hand.site.name(), hand.site.why_lost()?)));
        let why: Vec<String> = why.map(|(name, why)| format!("node {name}: {why}")).collect();
        Failure::fault(FaultKind::Crash, format!("no node is left ({})", why.join("; ")))
    }
}

impl Executor for Sweep {
    fn versions(&mut self, plan: &Plan, live: &[usize]) -> Vec<Version> {
        let mut found = self.live().into_iter().map(|hand| hand.workers.versions(plan, live));
        found.find(|versions| !versions.is_empty()).unwrap_or_default()
    }

    fn visit(&mut self, order: &VisitOrder<'_>) -> Result<VisitRecord, Failure> {
        let whole = request(order, Path::new("output"));
        let path = |number| Ok(self.cuts.own_path(order, number)?.to_string_lossy().into_owned());
        let requests = parts::split(&whole, order.payload, path)?;
        let count = parts(order.payload).len();
        order.parts.begin(count);
        let left = RemainingParts {
            waiting: (0..count).map(|number| (number, 0)).collect(),
            done: vec![None; count],
            failure: None,
        };
        let job = Job { order, requests, left: Mutex::new(left) };
        let mut is_again = false;
        while job.left().done.iter().any(Option::is_none) {
            if is_again {
                std::thread::sleep(PAUSE);
            }
            is_again = true;
            let hands = self.live();
            if hands.is_empty() {
                let is_end = self.hands.iter().any(|hand| hand.site.all_lost());
                return Err(if is_end { Failure::Interrupted } else { self.no_worker() });
            }
            std::thread::scope(|scope| {
                for hand in hands {
                    let job = &job;
                    scope.spawn(move || job.work(hand));
                }
            });
            if let Some(failure) = job.left().failure.take() {
                let is_end = self.hands.iter().any(|hand| hand.site.all_lost());
                return Err(if is_end { Failure::Interrupted } else { failure });
            }
        }
        let done = std::mem::take(&mut job.left().done);
        Ok(parts::merge(order, done.into_iter().flatten().collect()))
    }

    fn end(&mut self) {
        self.hands.iter_mut().for_each(|hand| hand.workers.end());
    }
}

#[cfg(test)]
mod tests;
