//! The visits of a run on a node of a cluster: an executor like any other, whose other end is [`super::visits`].
//!
//! A node that is lost in mid-visit makes that visit a fault. The next one is made on another node of its kind, if there is one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::message::Node;
use super::nodes::{At, Cluster};
use super::visits::{Answer, LONGEST_LINE, NodeRequest};
use weigh_model::inventory::{Inventory, NATIVE};
use weigh_model::plan::Plan;
use weigh_model::protocol::{Fault, FaultKind};
use weigh_model::record::{Record, StopReason, VisitRecord};
use weigh_model::text::{clean, clean_bytes};
use weigh_os::interrupt::Interrupt;
use weigh_os::machine::Machine;
use weigh_os::process::{Silence, Worker, WorkerSpec};
use weigh_run::dir::{kept, log_of};
use weigh_run::executor::{Executor, Failure, Version, VisitOrder};
use weigh_run::same_versions;
use weigh_run::state::State;
use weigh_run::study::Study;
use weigh_run::subject::Surroundings;
use weigh_run::subject::codec::sweep::Sweep;

/// How long an answer may take beyond a visit's limit: servers and workers are started first.
const PATIENCE: Duration = Duration::from_secs(300);
/// How long the other end may take to end what it started.
const END: Duration = Duration::from_secs(5);
/// An answer to another question.
const STRANGE: &str = "answered something else than was asked";

/// A lab's end on a node. It ends with this value.
#[derive(Debug)]
pub struct Remote {
    node: String,
    worker: Worker,
}

/// Why there is no answer.
enum Trouble {
    /// The other end is there, and says why.
    Said(String),
    /// It is gone, or of no use any more.
    Gone(String),
    Interrupted,
}

impl Trouble {
    fn error(self) -> anyhow::Error {
        match self {
            Trouble::Said(why) | Trouble::Gone(why) => anyhow::anyhow!(why),
            Trouble::Interrupted => anyhow::anyhow!("interrupted; nothing was measured"),
        }
    }
}

impl Remote {
    /// Starts it on a node.
    ///
    /// # Errors
    /// See [`Cluster::start`].
    pub fn start(cluster: &Cluster, node: &str) -> Result<Remote> {
        let args = ["agent".to_owned(), "--visits".to_owned()];
        Ok(Remote { node: node.to_owned(), worker: cluster.start(node, &args, LONGEST_LINE)? })
    }

    /// The machine there.
    ///
    /// # Errors
    /// One line: it does not answer, or the user wants an end.
    pub fn machine(&mut self, interrupt: &Interrupt) -> Result<Machine> {
        match self.ask(&NodeRequest::Machine, PATIENCE, interrupt).map_err(Trouble::error)? {
            Answer::Machine { machine } => Ok(*machine),
            _ => bail!("node {} {STRANGE}", self.node),
        }
    }

    /// What studies can be measured on there.
    ///
    /// # Errors
    /// As [`weigh_run::lab::Home::found`], and as [`Remote::machine`].
    pub fn inventory(
        &mut self,
        studies: &[Study],
        php: &[PathBuf],
        interrupt: &Interrupt,
    ) -> Result<Inventory> {
        let studies = studies.iter().map(|study| study.source.clone()).collect();
        let ask = NodeRequest::Inventory { studies, php: php.to_owned() };
        match self.ask(&ask, PATIENCE, interrupt).map_err(Trouble::error)? {
            Answer::Inventory { inventory } => Ok(*inventory),
            _ => bail!("node {} {STRANGE}", self.node),
        }
    }

    fn ask(&mut self, ask: &NodeRequest, limit: Duration, interrupt: &Interrupt) -> Result<Answer, Trouble> {
        let node = &self.node;
        let line = serde_json::to_vec(ask).map_err(|e| Trouble::Said(format!("no question: {e}")))?;
        if line.len() >= LONGEST_LINE {
            return Err(Trouble::Said(format!(
                "the plan is larger than {LONGEST_LINE} bytes; use less content"
            )));
        }
        let line = self.worker.ask(line, limit, interrupt).map_err(|silence| match silence {
            // It names the node if that is why.
            Silence::Ended(how) if how.contains(node.as_str()) => Trouble::Gone(how),
            Silence::Ended(how) => Trouble::Gone(format!("node {node}: the worker ended: {how}")),
            Silence::Timeout => Trouble::Gone(format!("node {node}: no answer in {} s", limit.as_secs())),
            Silence::TooLong(_) => {
                Trouble::Gone(format!("node {node}: an answer of over {LONGEST_LINE} bytes"))
            }
            Silence::Interrupted => Trouble::Interrupted,
        })?;
        match serde_json::from_slice(&line) {
            Ok(Answer::Refused { why }) => Err(Trouble::Said(format!("node {node}: {}", clean(&why)))),
            Ok(answer) => Ok(answer),
            Err(e) => {
                let begin = clean_bytes(&line[..line.len().min(80)]);
                Err(Trouble::Gone(format!("node {node}: something other than an answer ({e}): {begin}")))
            }
        }
    }

    /// Brings the contents there, and opens the plan: what the user should know.
    fn open(
        &mut self,
        cluster: &Cluster,
        plan: &Plan,
        root: &Path,
        interrupt: &Interrupt,
    ) -> Result<Option<String>> {
        let mut blobs = BTreeMap::new();
        for payload in &plan.payloads {
            if !blobs.contains_key(&payload.sha256) {
                let path = cluster.put(&self.node, &root.join(kept(payload)), &payload.sha256)?;
                blobs.insert(payload.sha256.clone(), path);
            }
        }
        let ask = NodeRequest::Open { plan: Box::new(plan.clone()), blobs };
        match self.ask(&ask, PATIENCE, interrupt).map_err(Trouble::error)? {
            Answer::Opened { remark } => Ok(remark.map(|remark| clean(&remark))),
            _ => bail!("node {} {STRANGE}", self.node),
        }
    }
}

impl Cluster {
    /// Who carries out the visits of the run in `root` on a node. Payloads in parts are carried out on all usable nodes of its kind; the lab's
    /// own machine is among them only if there is no other.
    ///
    /// # Errors
    /// As of [`Visitor::new`].
    pub fn executor(
        &self,
        node: &str,
        plan: &Plan,
        root: &Path,
        around: &Surroundings<'_>,
    ) -> Result<Box<dyn Executor>> {
        if plan.payloads.iter().all(|payload| payload.parts.is_empty()) {
            return Ok(Box::new(Visitor::new(self, node, plan, root, around.interrupt)?));
        }
        let first = self.node(node)?;
        let is_alike =
            |other: &&&Node| (&other.kind, other.cpus, other.own) == (&first.kind, first.cpus, first.own);
        let mut sweep = Sweep::new(around.scratch);
        for node in self.usable().iter().filter(is_alike) {
            let spec = WorkerSpec::native(&node.node, log_of(around.logs, NATIVE)).on(self.place(&node.node));
            sweep.add_native(Box::new(At::new(self, &node.node)), &spec, around.interrupt);
        }
        Ok(Box::new(sweep))
    }
}

/// Carries out the visits of a run on nodes of one kind, one at a time.
#[derive(Debug)]
pub struct Visitor {
    cluster: Cluster,
    plan: Plan,
    /// The run directory, which has the contents.
    root: PathBuf,
    interrupt: Interrupt,
    /// The kind of the first node, which the others have to be of.
    kind: Node,
    remote: Option<Remote>,
    /// What it was told of each cell: visits, whether it failed, whether it is done.
    told: Vec<(usize, bool, bool)>,
    remark: Option<String>,
}

impl Visitor {
    /// Opens the plan of the run in `root` on a node.
    ///
    /// # Errors
    /// One line: the node is lost, or the plan cannot be carried out there.
    pub fn new(
        cluster: &Cluster,
        node: &str,
        plan: &Plan,
        root: &Path,
        interrupt: &Interrupt,
    ) -> Result<Visitor> {
        let mut visitor = Visitor {
            cluster: cluster.clone(),
            plan: plan.clone(),
            root: root.to_owned(),
            interrupt: interrupt.clone(),
            kind: cluster.node(node)?.clone(),
            remote: None,
            told: Vec::new(),
            remark: None,
        };
        visitor.remark = visitor.connect(node)?;
        Ok(visitor)
    }

    fn connect(&mut self, node: &str) -> Result<Option<String>> {
        let mut remote = Remote::start(&self.cluster, node)?;
        let remark = remote.open(&self.cluster, &self.plan, &self.root, &self.interrupt)?;
        self.told = vec![(0, false, false); self.plan.cells.len()];
        self.remote = Some(remote);
        Ok(remark)
    }

    /// Makes sure that there is an end on a node: the one in use, or one on another node of the kind.
    fn ready(&mut self, live: &[usize]) -> Result<(), Failure> {
        if self.cluster.why_ended().is_some() {
            return Err(Failure::Interrupted);
        }
        if self.remote.is_none() {
            self.reconnect(live).map_err(|why| self.failed(why))?;
        }
        Ok(())
    }

    fn reconnect(&mut self, live: &[usize]) -> Result<()> {
        let usable = self.cluster.usable();
        let mut alike =
            usable.iter().filter(|node| (&node.kind, node.cpus) == (&self.kind.kind, self.kind.cpus));
        let Some(node) = alike.next().map(|node| node.node.clone()) else {
            let lost = self.cluster.why_lost(&self.kind.node);
            bail!("no node of its kind is left ({})", lost.unwrap_or_else(|| self.kind.kind.clone()));
        };
        self.connect(&node)?;
        let versions = self.versions_of(live).context("no answer")?;
        if let Err(error) = same_versions(&self.plan, &versions) {
            self.remote = None;
            bail!("node {node}: {error:#}");
        }
        Ok(())
    }

    fn versions_of(&mut self, live: &[usize]) -> Option<Vec<Version>> {
        let ask = NodeRequest::Versions { live: live.to_owned() };
        match self.remote.as_mut()?.ask(&ask, PATIENCE, &self.interrupt) {
            Ok(Answer::Versions { versions }) => Some(versions),
            Ok(_) | Err(Trouble::Said(_)) => None,
            Err(_) => {
                self.remote = None;
                None
            }
        }
    }

    /// What a failure of the way there is: a lost cluster ends the run, as a kill does; a lost node is the visit's fault.
    fn failed(&self, why: anyhow::Error) -> Failure {
        if self.interrupt.is_set() || self.cluster.why_ended().is_some() {
            return Failure::Interrupted;
        }
        Failure::fault(FaultKind::Crash, format!("{why:#}"))
    }

    /// What is known of cells by now and was not told.
    fn news(&mut self, state: &State) -> Vec<Record> {
        let mut news = Vec::new();
        for ((cell, past), told) in self.plan.cells.iter().zip(&state.cells).zip(&mut self.told) {
            news.extend(past.visits.iter().skip(told.0).cloned().map(Record::Visit));
            if let Some(round) = past.fault.filter(|_| !told.1) {
                let fault = Fault { kind: FaultKind::Crash, message: String::new(), remedy: None };
                news.push(Record::Fault { cell: cell.id.clone(), round, fault });
            }
            if let Some(reason) = past.stop.as_ref().filter(|_| !told.2) {
                let (cell, reason): (_, StopReason) = (cell.id.clone(), reason.clone());
                news.push(Record::Stop { cell, round: state.round, reason });
            }
            *told = (past.visits.len(), past.fault.is_some(), past.stop.is_some());
        }
        news
    }
}

impl Executor for Visitor {
    fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }

    fn versions(&mut self, _plan: &Plan, live: &[usize]) -> Vec<Version> {
        self.versions_of(live).unwrap_or_default()
    }

    fn visit(&mut self, order: &VisitOrder<'_>) -> Result<VisitRecord, Failure> {
        self.ready(&[order.index])?;
        let records = self.news(order.state);
        let (index, round, limit) = (order.index, order.round, order.limit.as_secs_f64());
        let ask = NodeRequest::Visit { records, index, round, limit };
        let interrupt = self.interrupt.clone();
        let remote = self.remote.as_mut().ok_or(Failure::Interrupted)?;
        let node = remote.node.clone();
        let strange = |what: &str| Failure::fault(FaultKind::Garbage, format!("node {node} {what}"));
        match remote.ask(&ask, order.limit + PATIENCE, &interrupt) {
            // Its figures are its own; where they belong is not for it to say.
            Ok(Answer::Visit { visit }) if visit.cell == order.cell().id && visit.round == round => {
                Ok(*visit)
            }
            Ok(Answer::Visit { .. }) => Err(strange("answered for another configuration")),
            Ok(Answer::Fault { fault }) => Err(Failure::Fault(fault.cleaned())),
            Ok(_) => Err(strange(STRANGE)),
            Err(Trouble::Interrupted) => Err(Failure::Interrupted),
            Err(Trouble::Said(why)) => Err(Failure::fault(FaultKind::Crash, why)),
            Err(Trouble::Gone(why)) => {
                self.remote = None;
                Err(self.failed(anyhow::anyhow!(why)))
            }
        }
    }

    fn end(&mut self) {
        if let Some(remote) = self.remote.take() {
            remote.worker.end(END);
        }
    }
}
