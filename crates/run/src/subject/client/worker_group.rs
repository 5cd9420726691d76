//! The workers of one block: fresh PHP processes that prepare, begin together, and end. None serves a second block, so that a
//! driver keeps no connection and no state of another cell; dropping a group kills its workers.

use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use crate::executor::Failure;
use crate::worker::{garbage, silent, worker_fault};
use weigh_model::protocol::FaultKind;
use weigh_model::protocol::client::{Cleaned, ClientRequest, Done, Prepare, Prepared, Refusal};
use weigh_os::group::pss_of;
use weigh_os::interrupt::Interrupt;
use weigh_os::process::{Silence, Worker, WorkerSpec};

/// How long a worker may take to end by itself.
const END: Duration = Duration::from_secs(2);
/// How often a store that does not take the first writes is asked again.
const AGAIN: Duration = Duration::from_millis(100);

/// Running workers. Dropping it kills them.
pub struct WorkerGroup<'a> {
    workers: Vec<Worker>,
    spec: &'a WorkerSpec,
    deadline: Instant,
    interrupt: Interrupt,
}

impl<'a> WorkerGroup<'a> {
    fn start(
        spec: &'a WorkerSpec,
        count: u32,
        deadline: Instant,
        interrupt: &Interrupt,
    ) -> Result<WorkerGroup<'a>, Failure> {
        let start = |_| {
            let started = Worker::start(spec);
            started.map_err(|e| {
                Failure::Fault(worker_fault(spec, FaultKind::Crash, format!("cannot be started: {e}")))
            })
        };
        let workers = (0..count).map(start).collect::<Result<_, _>>()?;
        Ok(WorkerGroup { workers, spec, deadline, interrupt: interrupt.clone() })
    }

    /// Starts this many and prepares them. Until `settled` it begins again when they cannot: a store that has just started may need a
    /// moment more than its own word.
    pub fn ready(
        spec: &'a WorkerSpec,
        (count, order): (u32, &Prepare),
        (settled, deadline): (Instant, Instant),
        interrupt: &Interrupt,
    ) -> Result<(WorkerGroup<'a>, Vec<Prepared>), Failure> {
        loop {
            let mut group = WorkerGroup::start(spec, count, deadline, interrupt)?;
            match group.prepare(order) {
                Ok(prepared) => return Ok((group, prepared)),
                Err(Failure::Fault(_)) if Instant::now() < settled => std::thread::sleep(AGAIN),
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Has all of them connect, fill the key space and warm up.
    fn prepare(&mut self, order: &Prepare) -> Result<Vec<Prepared>, Failure> {
        for (number, worker) in (0..).zip(&mut self.workers) {
            let order = Prepare { worker: number, ..order.clone() };
            say(worker, &ClientRequest::Prepare(Box::new(order)))
                .map_err(|s| silent(self.spec, s, "before it was prepared"))?;
        }
        self.all(order.id, "while it prepared", |prepared: &Prepared| prepared.id)
    }

    pub fn go(&mut self, id: u64) -> Result<Vec<Done>, Failure> {
        self.order(&ClientRequest::Go { id })?;
        self.all(id, "during its transactions", |done: &Done| done.id)
    }

    /// Has each remove what it wrote; how many keys that were.
    pub fn clean(&mut self, id: u64) -> Result<u64, Failure> {
        self.order(&ClientRequest::Clean { id })?;
        let cleaned: Vec<Cleaned> =
            self.all(id, "while it removed its keys", |cleaned: &Cleaned| cleaned.id)?;
        Ok(cleaned.iter().map(|cleaned| cleaned.removed).sum())
    }

    /// The memory of each, PSS in bytes.
    pub fn pss(&self) -> Vec<Option<u64>> {
        self.workers.iter().map(|worker| worker.id().and_then(pss_of)).collect()
    }

    pub fn ids(&self) -> Vec<u32> {
        self.workers.iter().filter_map(Worker::id).collect()
    }

    pub fn end(self) {
        self.workers.into_iter().for_each(|worker| worker.end(END));
    }

    fn order(&mut self, request: &ClientRequest) -> Result<(), Failure> {
        let spec = self.spec;
        self.workers
            .iter_mut()
            .try_for_each(|worker| say(worker, request).map_err(|s| silent(spec, s, "before it began")))
    }

    fn all<T: DeserializeOwned>(
        &mut self,
        id: u64,
        during: &str,
        id_of: impl Fn(&T) -> u64,
    ) -> Result<Vec<T>, Failure> {
        let mut answers = Vec::new();
        for worker in &mut self.workers {
            let line = worker.hear_by(self.deadline, &self.interrupt);
            let line = line.map_err(|silence| silent(self.spec, silence, during))?;
            if let Ok(refusal) = serde_json::from_slice::<Refusal>(&line) {
                return Err(Failure::Fault(refusal.fault));
            }
            let answer = serde_json::from_slice::<T>(&line);
            let answer = answer.map_err(|e| garbage(self.spec, &line, &e.to_string()))?;
            if id_of(&answer) != id {
                return Err(garbage(self.spec, &line, "it answers another request"));
            }
            answers.push(answer);
        }
        Ok(answers)
    }
}

fn say(worker: &mut Worker, request: &ClientRequest) -> Result<(), Silence> {
    worker.say(serde_json::to_vec(request).unwrap_or_default())
}
