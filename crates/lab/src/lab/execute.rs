//! Execution: a plan becomes a run directory, a pool of workers is made, and the run is driven to its end.

use anyhow::Result;

use crate::executor::Pool;
use crate::interrupt::Interrupt;
use crate::lab::Lab;
use crate::lab::discover::php_worker;
use crate::rig::process::WorkerSpec;
use crate::rig::server::Definition;
use crate::rig::service::FolderDefinition;
use crate::rig::store::{StoreDefinition, StoreUrl};
use crate::rig::worker::ProcessExecutor;
use crate::run::clock::SystemClock;
use crate::run::dir::RunDir;
use crate::run::observer::Observer;
use crate::run::{self, Outcome};
use crate::subject::client::{self, Tellers};
use crate::subject::delivery::{Courier, Room};
use weigh_answer::report::Report;
use weigh_model::inventory::NATIVE;
use weigh_model::plan::Plan;

/// A run that ended, by itself or at the user's wish.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub outcome: Outcome,
    /// Its results so far.
    pub results: Report,
}

/// The workers that a plan needs. Nothing is started before the first visit. `stores` are the user's words for stores: a URL with its
/// password is nowhere else.
///
/// # Errors
/// The plan has cells in PHP, and the PHP side cannot be put in place.
pub fn pool(lab: &Lab, dir: &RunDir, plan: &Plan, stores: &[String], interrupt: &Interrupt) -> Result<Pool> {
    let mut pool = Pool::new(interrupt.clone());
    if plan.is_client() {
        let room = client::Room { logs: dir.logs(), php_home: lab.php_home()? };
        let definitions = StoreDefinition::load(&lab.definitions)?;
        let urls = store_urls(plan, stores, &definitions)?;
        pool.set_transactor(Box::new(Tellers::new(plan, &definitions, urls, room, interrupt.clone())?));
        return Ok(pool);
    }
    if plan.is_delivery() {
        let room = Room { scratch: dir.scratch(), logs: dir.logs(), php_home: lab.php_home()? };
        let definitions = Definition::load(&lab.definitions)?;
        pool.set_deliverer(Box::new(Courier::new(plan, &definitions, room, interrupt.clone())?));
        return Ok(pool);
    }
    for runtime in &plan.runtimes {
        let log = dir.log_path(&runtime.name);
        let spec = match &runtime.binary {
            Some(binary) => php_worker(&runtime.name, binary, &lab.php_home()?, log),
            None => WorkerSpec::native(NATIVE, log),
        };
        pool.add(&runtime.name, Box::new(ProcessExecutor::new(spec, interrupt.clone())));
    }
    let checker = WorkerSpec::native("checker", dir.log_path("checker"));
    pool.set_checker(Box::new(ProcessExecutor::new(checker, interrupt.clone())));
    Ok(pool)
}

/// The stores of a plan that others run: as the user names them now, else as the plan does, which knows no password.
pub(super) fn store_urls(
    plan: &Plan,
    stores: &[String],
    definitions: &[StoreDefinition],
) -> Result<Vec<StoreUrl>> {
    let given: Vec<StoreUrl> = stores
        .iter()
        .filter(|text| text.contains("://"))
        .map(|text| StoreUrl::parse(text, definitions))
        .collect::<Result<_>>()?;
    let named = plan.stores.iter().filter_map(|store| store.url.as_ref());
    named
        .map(|url| match given.iter().find(|g| g.to_string() == *url) {
            Some(given) => Ok(given.clone()),
            None => StoreUrl::parse(url, definitions),
        })
        .collect()
}

/// Drives a run to its end and derives its results.
///
/// # Errors
/// The run directory cannot be written any more.
pub fn execute(mut dir: RunDir, mut pool: Pool, observer: &mut dyn Observer) -> Result<Finished> {
    let outcome = run::run(&mut dir, &mut pool, &SystemClock::new(), observer)?;
    pool.end();
    let stored = dir.into_stored();
    let results = Report::of(&stored.facts(), &stored.plan, &stored.records);
    Ok(Finished { outcome, results })
}
