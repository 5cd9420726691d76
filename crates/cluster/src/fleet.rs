//! A load from several nodes: one agent a node, each with its share of the plan, all from the same instant on.
//!
//! It divides, starts and waits; how results add up is the answer's business. Nothing above it knows that there is more than one agent.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use weigh_load::Progress;
use weigh_load::message::{Begin, STOP};
use weigh_load::plan::{LoadPlan, Share};
use weigh_load::result::AgentResult;
use weigh_load::target::Resolver;

use super::message::Node;
use super::nodes::Cluster;
use weigh_answer::load::side_by_side;
use weigh_model::text::clean;
use weigh_os::digest;
use weigh_os::interrupt::Interrupt;
use weigh_run::loading::clock::Clock;
use weigh_run::loading::{BlockOutcome, Failure, LoadAgent};

/// How often the sum is looked at, and told.
const GLANCE: Duration = Duration::from_millis(50);
const TELL: Duration = Duration::from_millis(500);
/// From the word to begin until that instant: this, and this many of the longest round trips to an agent.
const LEAD: Duration = Duration::from_millis(300);
const TRIPS: u32 = 8;

/// What carries plans out: an agent on this machine, or one on each of several nodes.
#[derive(Debug)]
pub enum Generator {
    /// One process of this machine.
    Here(LoadAgent),
    /// One process a node; each sends its share.
    Fleet(Fleet),
}

impl Generator {
    /// See [`LoadAgent::run`] and [`Fleet::run`].
    ///
    /// # Errors
    /// See [`Failure`].
    pub fn run(&mut self, plan: &LoadPlan, tell: &mut dyn FnMut(&Progress)) -> Result<BlockOutcome, Failure> {
        match self {
            Generator::Here(agent) => agent.run(plan, tell),
            Generator::Fleet(fleet) => fleet.run(plan, tell),
        }
    }

    pub fn end(self) {
        match self {
            Generator::Here(agent) => agent.end(),
            Generator::Fleet(fleet) => fleet.end(),
        }
    }
}

/// One agent a node.
#[derive(Debug)]
pub struct Fleet {
    members: Vec<Member>,
    cluster: Option<Cluster>,
    interrupt: Interrupt,
}

/// An agent on a node.
#[derive(Debug)]
pub struct Member {
    pub node: String,
    /// What kind of machine it is.
    pub machine: String,
    pub agent: LoadAgent,
    /// It is on this machine, which its loopback is.
    pub own: bool,
    /// Its threads; none: as the plan says.
    pub threads: Option<u32>,
}

/// What an agent came to: its outcome, with when it began in seconds after the common start.
struct TimedOutcome {
    outcome: BlockOutcome,
    began: f64,
    uncertainty: f64,
}

impl Fleet {
    pub fn of(members: Vec<Member>, interrupt: Interrupt) -> Fleet {
        Fleet { members, cluster: None, interrupt }
    }

    /// One agent on each node of a cluster, with as many threads as the node has processors where `threads` says nothing.
    ///
    /// # Errors
    /// One line: a node is lost, or another kind of machine.
    pub fn on(
        cluster: &Cluster,
        threads: Option<u32>,
        log: &Path,
        interrupt: &Interrupt,
    ) -> std::io::Result<Fleet> {
        let member = |node: &Node| {
            let agent = LoadAgent::start_at(cluster.place(&node.node), log, interrupt.clone())?;
            let threads = threads.or(Some(node.cpus.max(1)));
            let (node, machine, own) = (node.node.clone(), node.kind.clone(), node.own);
            Ok(Member { node, machine, agent, own, threads })
        };
        let members = cluster.nodes().iter().map(member).collect::<std::io::Result<_>>()?;
        Ok(Fleet { members, cluster: Some(cluster.clone()), interrupt: interrupt.clone() })
    }

    /// Carries out one block, each agent its share of it. An agent that is lost in mid-load leaves what the others measured, and
    /// [`AgentResult::lost`] says why; one that is lost before the start leaves nothing.
    ///
    /// # Errors
    /// See [`Failure`], with the node.
    pub fn run(&mut self, plan: &LoadPlan, tell: &mut dyn FnMut(&Progress)) -> Result<BlockOutcome, Failure> {
        let plans = self.plans(plan)?;
        let board = Board::of(self.members.len());
        let parts = std::thread::scope(|scope| {
            let board = &board;
            let mut threads = Vec::new();
            for ((index, member), plan) in self.members.iter_mut().enumerate().zip(plans) {
                threads.push(scope.spawn(move || member.take_part(&plan, index, board)));
            }
            let mut told = Instant::now();
            while threads.iter().any(|thread| !thread.is_finished()) {
                std::thread::sleep(GLANCE);
                if told.elapsed() >= TELL {
                    told = Instant::now();
                    tell(&board.sum());
                }
            }
            let died = || Err(Failure::Broken("panicked".into()));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| died())).collect::<Vec<_>>()
        });
        let interrupted = parts.iter().flatten().any(|part| part.outcome.interrupted);
        self.sum(parts, board.first_failed(), interrupted)
    }

    fn plans(&self, plan: &LoadPlan) -> Result<Vec<LoadPlan>, Failure> {
        let count = self.members.len() as u32;
        let most = plan.streams.iter().map(|stream| stream.connections).max().unwrap_or(0);
        if most < count {
            return Err(Failure::Refused(format!(
                "{most} connections are less than {count} nodes, of which some would send nothing; raise -c, or lower --nodes"
            )));
        }
        self.reach(plan)?;
        let authorities = plan.tls.authorities.as_ref().map(PathBuf::from);
        let of = |(index, member): (u32, &Member)| {
            let mut own = LoadPlan { share: Some(Share { index, count }), ..plan.clone() };
            let connections = u32::try_from(own.connections()).unwrap_or(u32::MAX);
            own.threads = member.threads.unwrap_or(plan.threads).min(connections).max(1);
            if let (Some(file), Some(cluster)) = (&authorities, &self.cluster) {
                let put = bring(cluster, &member.node, file).map_err(Failure::Refused)?;
                own.tls.authorities = Some(put.to_string_lossy().into_owned());
            }
            Ok(own)
        };
        (0..count).zip(&self.members).map(of).collect()
    }

    /// Makes sure that no node takes its own loopback for this machine's.
    fn reach(&self, plan: &LoadPlan) -> Result<(), Failure> {
        let Some(other) = self.members.iter().find(|member| !member.own) else { return Ok(()) };
        let resolver = Resolver::default();
        for request in &plan.requests {
            let target = resolver.target(&request.url).map_err(|e| Failure::Refused(e.to_string()))?;
            if target.is_loopback() {
                return Err(Failure::Refused(format!(
                    "{} is this machine itself, which is not what node {} would reach by it; give the server's address in their network, \
                     and allow it with --allow-remote",
                    clean(&target.location.host),
                    other.node
                )));
            }
        }
        Ok(())
    }

    /// The parts as one result; `first` is the agent whose failure called the start off.
    fn sum(
        &self,
        parts: Vec<Result<TimedOutcome, Failure>>,
        first: Option<usize>,
        interrupted: bool,
    ) -> Result<BlockOutcome, Failure> {
        let named = |index: usize, failure: &Failure| match failure {
            Failure::Refused(why) if self.interrupt.is_set() => Failure::Refused(why.clone()),
            Failure::Refused(why) => Failure::Refused(format!("node {}: {why}", self.members[index].node)),
            Failure::Broken(why) => Failure::Broken(format!("on node {} {why}", self.members[index].node)),
        };
        let failed = |index: usize| parts[index].as_ref().err().map(|failure| named(index, failure));
        if let Some(failure) = first.and_then(failed) {
            return Err(failure);
        }
        let of = |(member, part): (&Member, &Result<TimedOutcome, Failure>)| {
            let (node, machine) = (member.node.clone(), member.machine.clone());
            match part {
                Ok(TimedOutcome { outcome, began, uncertainty }) => {
                    let (began, uncertainty, result) = (*began, *uncertainty, outcome.result.clone());
                    AgentResult { node, machine, began, uncertainty, result, lost: None }
                }
                Err(Failure::Refused(why) | Failure::Broken(why)) => {
                    AgentResult { node, machine, lost: Some(clean(why)), ..AgentResult::default() }
                }
            }
        };
        let agents = self.members.iter().zip(&parts).map(of).collect();
        match side_by_side(agents) {
            Some(result) => Ok(BlockOutcome { result, interrupted }),
            None => Err(failed(0).unwrap_or_else(|| Failure::Broken("did not start".into()))),
        }
    }

    pub fn end(self) {
        self.members.into_iter().for_each(|member| member.agent.end());
    }
}

fn bring(cluster: &Cluster, node: &str, file: &Path) -> Result<PathBuf, String> {
    let gone = || format!("{}: cannot be read", file.display());
    let sum = digest::of_file(file).ok().flatten().ok_or_else(gone)?;
    cluster.put(node, file, &sum.sha256).map_err(|error| format!("{error:#}"))
}

impl Member {
    fn take_part(&mut self, plan: &LoadPlan, index: usize, board: &Board) -> Result<TimedOutcome, Failure> {
        let part = self.carry_out(plan, index, board);
        if part.is_err() {
            board.failed(index, &self.node);
        }
        part
    }

    fn carry_out(&mut self, plan: &LoadPlan, index: usize, board: &Board) -> Result<TimedOutcome, Failure> {
        let clock = self.agent.clock()?;
        board.reached(&clock);
        let (mut is_told, mut is_stopped) = (false, false);
        let (outcome, began) = self.agent.block(plan, &mut |progress| {
            progress.into_iter().for_each(|progress| board.heard(index, progress));
            if board.first_failed().is_some() {
                return (!std::mem::replace(&mut is_stopped, true)).then(|| STOP.to_owned());
            }
            let begin = Begin { begin: clock.there(board.start()?) };
            (!std::mem::replace(&mut is_told, true)).then(|| serde_json::to_string(&begin).ok()).flatten()
        })?;
        let (Some(start), Some(began)) = (board.start(), began) else {
            return Err(Failure::Broken("did not say when it began".into()));
        };
        let (began, uncertainty) = (clock.seconds_after(start, began), clock.uncertainty().as_secs_f64());
        Ok(TimedOutcome { outcome, began, uncertainty })
    }
}

/// What the agents of a block know of each other.
struct Board(Mutex<State>);

struct State {
    said: Vec<Option<Progress>>,
    lead: Duration,
    start: Option<Instant>,
    /// The first agent that failed before the start, for which the others then do not wait.
    first: Option<usize>,
    lost: Vec<String>,
}

impl Board {
    fn of(count: usize) -> Board {
        let (said, lost) = (vec![None; count], Vec::new());
        Board(Mutex::new(State { said, lead: LEAD, start: None, first: None, lost }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An agent answers within this time: the word to begin has to be there in time.
    fn reached(&self, clock: &Clock) {
        let mut state = self.lock();
        state.lead = state.lead.max(LEAD + clock.trip * TRIPS);
    }

    /// An agent says how far it is. Once all are ready, the start is chosen.
    fn heard(&self, index: usize, progress: &Progress) {
        let mut state = self.lock();
        state.said[index] = Some(progress.clone());
        let are_ready = state.said.iter().all(|said| said.as_ref().is_some_and(|said| said.is_ready));
        if are_ready && state.start.is_none() && state.first.is_none() {
            state.start = Some(Instant::now() + state.lead);
        }
    }

    fn failed(&self, index: usize, node: &str) {
        let mut state = self.lock();
        if state.start.is_none() {
            state.first.get_or_insert(index);
        } else {
            state.lost.push(node.to_owned());
        }
    }

    fn start(&self) -> Option<Instant> {
        self.lock().start
    }

    fn first_failed(&self) -> Option<usize> {
        self.lock().first
    }

    fn sum(&self) -> Progress {
        let state = self.lock();
        let nothing = Progress { is_preflight: true, ..Progress::default() };
        let said = state.said.iter().map(|said| said.as_ref().unwrap_or(&nothing));
        Progress { lost: state.lost.clone(), ..Progress::sum(said) }
    }
}
