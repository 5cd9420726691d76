//! The node of a cluster that a run is made on, and goes on on.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::on::OnFlags;
use weigh_cluster::executor::Remote;
use weigh_cluster::{Cluster, On, Want};
use weigh_model::plan::Plan;
use weigh_model::text::{clean, clean_path};
use weigh_os::interrupt::Interrupt;
use weigh_os::machine::Machine;
use weigh_run::dir::RunDir;
use weigh_run::executor::Executor;
use weigh_run::lab::Home;
use weigh_run::measure::{Elsewhere, RunOptions};
use weigh_run::subject::Surroundings;

/// A node of a cluster that a run is made on.
#[derive(Clone, Debug)]
pub struct Placed {
    /// What the user wrote, to go on with.
    pub on: On,
    pub cluster: Cluster,
    pub node: String,
    /// The machine that it is.
    pub machine: Machine,
}

/// What a run needs to know, with these words for stores and on this node.
pub fn run_options(stores: &[String], placed: Option<Placed>) -> RunOptions {
    let elsewhere = placed.map(|placed| Box::new(placed) as Box<dyn Elsewhere>);
    RunOptions { stores: stores.to_vec(), elsewhere }
}

impl Placed {
    /// The node that the flags ask for, of this kind if one is given; none: they ask for none.
    ///
    /// # Errors
    /// As [`OnFlags::open`] and [`Placed::new`].
    pub fn asked(flags: &OnFlags, home: &Home, kind: Option<&str>) -> Result<Option<(Placed, Remote)>> {
        let cluster = flags.open(home, Want::all(1))?;
        let place = |(on, cluster)| Interrupt::during(|interrupt| Placed::new(on, &cluster, kind, interrupt));
        let placed = flags.on.as_ref().zip(cluster).map(place);
        placed.transpose().context("signals cannot be caught")?.transpose()
    }

    /// The first of the nodes that can be used, of this kind if one is given.
    ///
    /// # Errors
    /// One line: there is none, or it does not answer.
    pub fn new(
        on: &On,
        cluster: &Cluster,
        kind: Option<&str>,
        interrupt: &Interrupt,
    ) -> Result<(Placed, Remote)> {
        let usable = cluster.usable();
        let node = usable.iter().find(|node| kind.is_none_or(|kind| node.kind == kind));
        let node = node.with_context(|| match kind {
            Some(kind) => format!("the cluster has no node of the kind {}", clean(kind)),
            None => "the cluster has no node left".into(),
        })?;
        let mut remote = Remote::start(cluster, &node.node)?;
        let machine = Machine { kind: Some(clean(&node.kind)), ..remote.machine(interrupt)? };
        Ok((Placed { on: on.clone(), cluster: cluster.clone(), node: node.node.clone(), machine }, remote))
    }
}

impl Elsewhere for Placed {
    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn executor(&self, plan: &Plan, folder: &Path, around: &Surroundings<'_>) -> Result<Box<dyn Executor>> {
        self.cluster.executor(&self.node, plan, folder, around)
    }

    fn why_lost(&self) -> Option<String> {
        self.cluster.why_ended()
    }

    fn flags(&self) -> String {
        format!(" --on {}", self.on)
    }
}

/// The cluster that a command names.
fn was_on(command: &[String]) -> String {
    let after = |at: usize, word: &String| match word.strip_prefix("--on")? {
        "" => command.get(at + 1).cloned(),
        with => with.strip_prefix('=').map(str::to_owned),
    };
    let named = command.iter().enumerate().find_map(|(at, word)| after(at, word));
    named.map_or_else(|| "ray://HOST:PORT".into(), |named| clean(&named))
}

/// The node that a run goes on on: a machine such as the one that it was begun on.
///
/// # Errors
/// One line: it is another one, or the run was begun on a cluster and none is given.
pub fn resumed_on(
    dir: &RunDir,
    flags: &OnFlags,
    place: impl FnOnce() -> Result<Option<(Placed, Remote)>>,
) -> Result<Option<Placed>> {
    let begun = &dir.file().machine;
    if dir.stored().is_complete() {
        return Ok(None);
    }
    if let (Some(kind), None) = (&begun.kind, &flags.on) {
        bail!(
            "this run was begun on a cluster; go on there: weigh run --resume {} --on {} (a node of the kind {})",
            clean_path(dir.path()),
            was_on(&dir.file().command),
            clean(kind)
        );
    }
    let Some((placed, _)) = place()? else { return Ok(None) };
    let now = &placed.machine;
    ensure!(
        (&begun.processor, begun.cores) == (&now.processor, now.cores),
        "this run was begun on {}, and node {} is {}; go on there, or start a new run",
        begun.line(),
        placed.node,
        now.line()
    );
    Ok(Some(placed))
}
