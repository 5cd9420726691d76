//! A worker process as an executor: it speaks the protocol, and turns every way a worker can fail into a
//! fault that says what happened.

use std::time::Duration;

use serde::de::DeserializeOwned;

use crate::executor::{CodecWorker, Failure};
use weigh_model::protocol::{
    CheckRequest, Checked, Description, Fault, FaultKind, FaultReply, PROTOCOL, Request, Visit, VisitRequest,
};
use weigh_model::text::clean_bytes;
use weigh_os::interrupt::Interrupt;
use weigh_os::process::{Silence, Worker, WorkerSpec};

/// Starts in a row that may fail before the runtime is given up.
const STARTS: u32 = 3;
/// How long a worker may take to start and to describe itself.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long a worker may take to end by itself once its stdin is closed.
const END_LIMIT: Duration = Duration::from_millis(500);

/// A resident worker that is started when first needed and again after it had to be killed.
#[derive(Debug)]
pub struct ProcessExecutor {
    spec: WorkerSpec,
    interrupt: Interrupt,
    start_limit: Duration,
    end_limit: Duration,
    worker: Option<(Worker, Description)>,
    given_up: Option<Fault>,
    last_id: u64,
}

/// A reply that echoes its request's id.
trait Echo: DeserializeOwned {
    fn id(&self) -> u64;
}

macro_rules! echo {
    ($($reply:ty),*) => {$(
        impl Echo for $reply {
            fn id(&self) -> u64 {
                self.id
            }
        }
    )*};
}
echo!(Description, Visit, Checked, FaultReply);

impl ProcessExecutor {
    pub fn new(spec: WorkerSpec, interrupt: Interrupt) -> ProcessExecutor {
        let (start_limit, end_limit) = (START_LIMIT, END_LIMIT);
        ProcessExecutor { spec, interrupt, start_limit, end_limit, worker: None, given_up: None, last_id: 0 }
    }

    #[must_use]
    pub fn start_limit(mut self, limit: Duration) -> ProcessExecutor {
        self.start_limit = limit;
        self
    }

    #[must_use]
    pub fn end_limit(mut self, limit: Duration) -> ProcessExecutor {
        self.end_limit = limit;
        self
    }

    /// The worker's process id, while there is one on this machine.
    pub fn id(&self) -> Option<u32> {
        self.worker.as_ref().and_then(|(worker, _)| worker.id())
    }

    /// The worker, started and described; up to [`STARTS`] attempts, and none after those.
    fn ready(&mut self) -> Result<&mut (Worker, Description), Failure> {
        if let Some(fault) = &self.given_up {
            return Err(Failure::Fault(fault.clone()));
        }
        if self.worker.as_ref().is_some_and(|(worker, _)| !worker.is_idle()) {
            // What it did after its last answer is not the next cell's fault.
            self.worker = None;
        }
        let mut attempt = 0;
        while self.worker.is_none() {
            attempt += 1;
            match self.start() {
                Ok(started) => self.worker = Some(started),
                // What hung once is not waited for again.
                Err(Failure::Fault(fault)) if attempt < STARTS && fault.kind != FaultKind::Timeout => {}
                Err(Failure::Fault(fault)) => {
                    let starts = if attempt == 1 { "1 start".into() } else { format!("{attempt} starts") };
                    let message = format!("given up after {starts}: {}", fault.message);
                    let fault = Fault { message, ..fault };
                    self.given_up = Some(fault.clone());
                    return Err(Failure::Fault(fault));
                }
                Err(Failure::Interrupted) => return Err(Failure::Interrupted),
            }
        }
        self.worker.as_mut().ok_or(Failure::Interrupted)
    }

    fn start(&mut self) -> Result<(Worker, Description), Failure> {
        let mut worker = Worker::start(&self.spec).map_err(|e| {
            Failure::Fault(worker_fault(&self.spec, FaultKind::Crash, format!("cannot be started: {e}")))
        })?;
        self.last_id += 1;
        let request = Request::Describe { id: self.last_id };
        let description: Description =
            exchange(&mut worker, &request, self.last_id, self.start_limit, &self.interrupt)
                .map_err(|e| self.explain(e, "at its start"))?;
        if description.protocol != PROTOCOL {
            let message = format!("speaks protocol {}, this weigh speaks {PROTOCOL}", description.protocol);
            let remedy = Some("use the worker that belongs to this weigh".into());
            return Err(Failure::Fault(Fault {
                remedy,
                ..worker_fault(&self.spec, FaultKind::Garbage, message)
            }));
        }
        Ok((worker, description))
    }

    /// One request to a running worker. A worker that failed in any other way than by saying so is killed.
    fn ask<T: Echo>(
        &mut self,
        request: impl FnOnce(u64) -> Request,
        limit: Duration,
        during: &str,
    ) -> Result<T, Failure> {
        self.last_id += 1;
        let id = self.last_id;
        let interrupt = self.interrupt.clone();
        let (worker, _) = self.ready()?;
        exchange(worker, &request(id), id, limit, &interrupt).map_err(|trouble| {
            if !matches!(trouble, Trouble::Said(_)) {
                self.worker = None;
            }
            self.explain(trouble, during)
        })
    }

    fn explain(&self, trouble: Trouble, during: &str) -> Failure {
        match trouble {
            Trouble::Said(fault) => Failure::Fault(fault),
            Trouble::Garbage(what) => {
                Failure::Fault(worker_fault(&self.spec, FaultKind::Garbage, format!("answered {what}")))
            }
            Trouble::Silence(silence) => silent(&self.spec, silence, during),
        }
    }
}

pub fn worker_fault(spec: &WorkerSpec, kind: FaultKind, what: String) -> Fault {
    let remedy = Some(format!("its stderr is in {}", spec.log.display()));
    Fault { kind, message: format!("worker {} {what}", spec.name), remedy }
}

/// Why it did not answer.
pub fn silent(spec: &WorkerSpec, silence: Silence, during: &str) -> Failure {
    let (kind, what) = match silence {
        Silence::Interrupted => return Failure::Interrupted,
        Silence::Ended(how) => (FaultKind::Crash, format!("ended {during}: {how}")),
        Silence::Timeout => {
            (FaultKind::Timeout, format!("did not answer {during}; it was killed when its time was over"))
        }
        Silence::TooLong(begin) => (
            FaultKind::Garbage,
            format!("answered a line of over {} bytes: {}", spec.longest_line, shown(&begin)),
        ),
    };
    Failure::Fault(worker_fault(spec, kind, what))
}

/// A line other than a reply.
pub fn garbage(spec: &WorkerSpec, line: &[u8], why: &str) -> Failure {
    Failure::Fault(worker_fault(spec, FaultKind::Garbage, format!("answered {}", not_a_reply(line, why))))
}

impl CodecWorker for ProcessExecutor {
    fn describe(&mut self) -> Result<Description, Failure> {
        self.ready().map(|(_, description)| description.clone())
    }

    fn visit(&mut self, request: &VisitRequest, limit: Duration) -> Result<Visit, Failure> {
        let during = format!("during a sample limited to {:.0} s", limit.as_secs_f64());
        self.ask(|id| Request::Visit(VisitRequest { id, ..request.clone() }), limit, &during)
    }

    fn check(&mut self, request: &CheckRequest, limit: Duration) -> Result<Checked, Failure> {
        let during = format!("during a check limited to {:.0} s", limit.as_secs_f64());
        self.ask(|id| Request::Check(CheckRequest { id, ..request.clone() }), limit, &during)
    }

    fn end(&mut self) {
        if let Some((worker, _)) = self.worker.take() {
            worker.end(self.end_limit);
        }
    }
}

/// Why a reply of the kind asked for is missing.
enum Trouble {
    Said(Fault),
    Silence(Silence),
    Garbage(String),
}

fn exchange<T: Echo>(
    worker: &mut Worker,
    request: &Request,
    id: u64,
    limit: Duration,
    interrupt: &Interrupt,
) -> Result<T, Trouble> {
    let line = serde_json::to_vec(request).map_err(|e| Trouble::Garbage(format!("no request: {e}")))?;
    let line = worker.ask(line, limit, interrupt).map_err(Trouble::Silence)?;
    if let Ok(reply) = serde_json::from_slice::<FaultReply>(&line) {
        // A worker that could not even read the request answers with id 0.
        return Err(if reply.id() == id || reply.id() == 0 {
            Trouble::Said(reply.fault)
        } else {
            Trouble::Garbage(format!("request {}, not {id}", reply.id()))
        });
    }
    match serde_json::from_slice::<T>(&line) {
        Ok(reply) if reply.id() == id => Ok(reply),
        Ok(reply) => Err(Trouble::Garbage(format!("request {}, not {id}", reply.id()))),
        Err(e) => Err(Trouble::Garbage(not_a_reply(&line, &e.to_string()))),
    }
}

fn not_a_reply(line: &[u8], why: &str) -> String {
    format!("something other than a reply ({why}): {}", shown(line))
}

/// The first bytes of something unexpected, safe to print.
fn shown(bytes: &[u8]) -> String {
    const SHOWN: usize = 80;
    let more = if bytes.len() > SHOWN { "…" } else { "" };
    format!("`{}`{more}", clean_bytes(&bytes[..bytes.len().min(SHOWN)]))
}
