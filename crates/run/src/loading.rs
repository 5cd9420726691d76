//! Load in a process of its own: the lab's hold on the agent that carries plans out, on many of them at once, and the directory that
//! keeps what they saw.
//!
//! It knows plans and results of [`weigh_load`]; it refuses to derive anything from them or to print.

pub mod clock;
pub mod load_dir;
pub mod stored;
pub mod target;

use std::path::Path;
use std::time::{Duration, Instant};

use thiserror::Error;
use weigh_load::Progress;
use weigh_load::message::{AgentMessage, CLOCK, STOP};
use weigh_load::plan::LoadPlan;
use weigh_load::result::LoadResult;

use clock::Clock;
use weigh_os::interrupt::Interrupt;
use weigh_os::lifeline;
use weigh_os::network::Network;
use weigh_os::process::{SharedWorkerHost, Silence, Worker, WorkerSpec};

/// How often a wait looks at the interrupt.
const GLANCE: Duration = Duration::from_millis(50);
/// A result has the histograms of every slice.
const LONGEST_LINE: usize = 256 << 20;
/// Silence that is borne, and time beyond the plan's end. A sound agent says twice a second that each of its threads goes on, and takes no
/// longer than half of this for what the load has left to be decoded.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long the agent may take to end by itself.
const END: Duration = Duration::from_millis(500);
/// Where libraries look for authorities, beside the system's place.
const AUTHORITIES: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// A resident load agent. Dropping it kills it; it dies with the lab.
#[derive(Debug)]
pub struct LoadAgent {
    worker: Worker,
    interrupt: Interrupt,
    patience: Duration,
}

#[derive(Clone, Debug)]
pub struct BlockOutcome {
    /// The result; of an interrupted block that of the part that ran.
    pub result: LoadResult,
    pub interrupted: bool,
}

/// Why a block has no result.
#[derive(Debug, Error)]
pub enum Failure {
    /// The agent refused the plan; its words.
    #[error("{0}")]
    Refused(String),
    /// The agent died, hung or talked nonsense.
    #[error("the load agent {0}")]
    Broken(String),
}

impl LoadAgent {
    /// Starts one; its stderr goes to `log`.
    pub fn start(log: &Path, interrupt: Interrupt) -> std::io::Result<LoadAgent> {
        LoadAgent::start_in(None, log, interrupt)
    }

    /// The same inside a network of one's own.
    ///
    /// # Errors
    /// As [`LoadAgent::start`]; an agent that cannot enter it shows as one that ends at once.
    pub fn start_in(
        network: Option<&Network>,
        log: &Path,
        interrupt: Interrupt,
    ) -> std::io::Result<LoadAgent> {
        let mut spec = spec(log);
        spec.args.extend(
            network.into_iter().flat_map(|network| ["--network".into(), network.path().into_os_string()]),
        );
        let set = AUTHORITIES.iter().filter_map(|name| Some(((*name).into(), std::env::var_os(name)?)));
        spec.env.extend(set);
        LoadAgent::of(&spec, PATIENCE, interrupt)
    }

    /// The same on another machine, whose own authorities it trusts.
    ///
    /// # Errors
    /// As [`LoadAgent::start`].
    pub fn start_at(place: SharedWorkerHost, log: &Path, interrupt: Interrupt) -> std::io::Result<LoadAgent> {
        LoadAgent::of(&spec(log).on(place), PATIENCE, interrupt)
    }

    /// Any program that answers as one does, and is given so much patience.
    ///
    /// # Errors
    /// As [`LoadAgent::start`].
    pub fn of(spec: &WorkerSpec, patience: Duration, interrupt: Interrupt) -> std::io::Result<LoadAgent> {
        Ok(LoadAgent { worker: Worker::start(spec)?, interrupt, patience })
    }

    /// Carries out one block. An interrupt ends it early, with the result so far.
    ///
    /// # Errors
    /// See [`Failure`]. After [`Failure::Broken`] the agent is of no further use.
    pub fn run(&mut self, plan: &LoadPlan, tell: &mut dyn FnMut(&Progress)) -> Result<BlockOutcome, Failure> {
        let mut tell = |progress: Option<&Progress>| {
            progress.into_iter().for_each(&mut *tell);
            None
        };
        Ok(self.block(plan, &mut tell)?.0)
    }

    /// The same, with words of others to the agent: `meanwhile` is called with what it says of its progress, and many times a second
    /// without, and may return a line for it. Of a block that waited for a common start, also when it began, by the agent's clock.
    pub fn block(
        &mut self,
        plan: &LoadPlan,
        meanwhile: &mut dyn FnMut(Option<&Progress>) -> Option<String>,
    ) -> Result<(BlockOutcome, Option<u64>), Failure> {
        let line = serde_json::to_vec(plan).map_err(|e| Failure::Refused(e.to_string()))?;
        self.worker.say(line).map_err(broken)?;
        let mut heard = Instant::now();
        let (mut interrupted, mut until, mut began) = (false, None, None);
        loop {
            if let Some(line) = meanwhile(None) {
                self.worker.say(line.into_bytes()).map_err(broken)?;
            }
            if self.interrupt.is_set() && !interrupted {
                interrupted = true;
                until = heard_by(plan.limits.drain_seconds, self.patience);
                self.worker.say(STOP.into()).map_err(broken)?;
            }
            match self.worker.hear(GLANCE).map_err(broken)? {
                Some(line) => {
                    heard = Instant::now();
                    match parse(&line)? {
                        AgentMessage::Slice(progress) if self.is_beyond(plan, &progress) => {
                            return Err(endless());
                        }
                        AgentMessage::Slice(progress) => {
                            if let Some(line) = meanwhile(Some(&progress)) {
                                self.worker.say(line.into_bytes()).map_err(broken)?;
                            }
                        }
                        AgentMessage::Began(at) => began = Some(at),
                        AgentMessage::Clock(_) => {}
                        AgentMessage::Result(result) => {
                            return Ok((BlockOutcome { result: *result, interrupted }, began));
                        }
                        AgentMessage::Fault(why) => return Err(Failure::Refused(why)),
                    }
                }
                None if heard.elapsed() > self.patience => return Err(broken(Silence::Timeout)),
                None => {}
            }
            if until.is_some_and(|until| Instant::now() > until) {
                return Err(endless());
            }
        }
    }

    /// Whether the load goes on longer than its plan lets it.
    fn is_beyond(&self, plan: &LoadPlan, progress: &Progress) -> bool {
        let beside = plan.limits.drain_seconds + self.patience.as_secs_f64();
        let end = plan.length.seconds.map(|seconds| seconds + beside);
        !progress.is_preflight && end.is_some_and(|end| progress.seconds > end)
    }

    /// What its clock shows, between blocks.
    pub fn clock(&mut self) -> Result<Clock, Failure> {
        Clock::best(|| {
            self.worker.say(CLOCK.into()).map_err(broken)?;
            let asked = Instant::now();
            while asked.elapsed() < self.patience && !self.interrupt.is_set() {
                let Some(line) = self.worker.hear(GLANCE).map_err(broken)? else { continue };
                if let AgentMessage::Clock(at) = parse(&line)? {
                    return Ok(at);
                }
            }
            Err(broken(if self.interrupt.is_set() { Silence::Interrupted } else { Silence::Timeout }))
        })
    }

    pub fn end(self) {
        self.worker.end(END);
    }
}

/// The agent, its stderr in `log`.
fn spec(log: &Path) -> WorkerSpec {
    let args = vec!["agent".into(), "--load".into()];
    let mut spec = WorkerSpec::program("load", lifeline::this_program(), args, log.to_owned());
    spec.longest_line = LONGEST_LINE;
    spec
}

/// When an agent that is told to stop has to have answered; none: at no time that a clock could tell.
fn heard_by(drain_seconds: f64, patience: Duration) -> Option<Instant> {
    let drain = Duration::try_from_secs_f64(drain_seconds).ok()?;
    Instant::now().checked_add(drain)?.checked_add(patience)
}

fn endless() -> Failure {
    Failure::Broken("went on beyond the end of its plan; it was killed".into())
}

fn parse(line: &[u8]) -> Result<AgentMessage, Failure> {
    serde_json::from_slice(line).map_err(|e| Failure::Broken(format!("said what is no answer: {e}")))
}

fn broken(silence: Silence) -> Failure {
    Failure::Broken(match silence {
        Silence::Ended(how) => format!("ended: {how}"),
        Silence::Timeout => "said nothing for too long; it was killed".into(),
        Silence::TooLong(_) => format!("answered a line of over {LONGEST_LINE} bytes"),
        Silence::Interrupted => "was interrupted".into(),
    })
}
