//! Cells under a profiler, after a run: what their PHP spends where. Blocks of their own, by one worker; nothing of them is recorded.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::execute::store_urls;
use super::{Lab, Progress};
use crate::cell::Cell;
use crate::executor::{Failure, TransactRequest, Transactor};
use crate::interrupt::Interrupt;
use crate::plan::Plan;
use crate::profile::document::Run;
use crate::profile::model::Profile;
use crate::profile::script::summed_up;
use crate::profile::tools::{self, Tool};
use crate::record::ClientVisit;
use crate::rig::runtime::PhpRuntime;
use crate::rig::store::Stores;
use crate::shelter::Shelter;
use crate::subject::client::{Room, Tellers};

/// Transactions of a profiled block at most: each call of a function is written down.
const TRANSACTIONS: u64 = 2000;
/// Pairs of a plain and a profiled block that tell what profiling costs.
const PAIRS: usize = 3;
/// What a block may take.
const LIMIT: Duration = Duration::from_secs(120);

/// A cell's profile.
#[derive(Debug)]
pub struct ProfiledCell {
    /// The cell's id.
    pub cell: String,
    /// What was found.
    pub profile: Profile,
    /// How.
    pub run: Run,
    /// What the profiler wrote; it goes with this.
    pub file: PathBuf,
    _place: Shelter,
}

/// Profiles the client cells whose id has these words.
///
/// # Errors
/// No cell has, or a block or its profile fails.
pub fn profile(
    lab: &Lab,
    root: &Path,
    plan: &Plan,
    words: &str,
    stores: &[String],
    (interrupt, progress): (&Interrupt, &mut dyn Progress),
) -> Result<Vec<ProfiledCell>> {
    let cells = chosen(plan, words)?;
    let home = lab.php_home()?;
    let definitions = Stores::load(&lab.definitions)?;
    let urls = store_urls(plan, stores, &definitions)?;
    let room = Room { logs: root.join("logs"), php_home: home.clone() };
    let mut tellers = Tellers::new(plan, &definitions, urls, room, interrupt.clone())?;
    let mut profiled = Vec::new();
    for cell in cells {
        progress.doing(&format!("profiling {}", cell.id));
        let runtime = plan.runtimes.iter().find(|r| r.name == cell.runtime);
        let binary = runtime.and_then(|r| r.binary.as_ref()).context("the plan has no such PHP")?;
        let php = PhpRuntime::of(binary)?;
        let tool = tools::for_php(&php, &home, None)?;
        profiled.push(one(&mut tellers, root, plan, cell, (&php, &tool))?);
    }
    tellers.end();
    Ok(profiled)
}

/// The client cells whose id has these words, whatever their case.
fn chosen<'p>(plan: &'p Plan, words: &str) -> Result<Vec<&'p Cell>> {
    if !plan.is_client() {
        bail!("--profile is for studies of clients; profile a script of yours with: weigh profile -- SCRIPT");
    }
    let wanted = words.to_lowercase();
    let cells: Vec<&Cell> = plan.cells.iter().filter(|c| c.id.to_lowercase().contains(&wanted)).collect();
    if cells.is_empty() {
        let first = plan.cells.first().map_or("-", |cell| cell.id.as_str());
        bail!("--profile {words}: no cell has that in its id, such as {first}");
    }
    Ok(cells)
}

fn one(
    tellers: &mut Tellers,
    root: &Path,
    plan: &Plan,
    cell: &Cell,
    (php, tool): (&PhpRuntime, &Tool),
) -> Result<ProfiledCell> {
    let payload =
        plan.payloads.iter().find(|p| p.name == cell.payload).context("the plan has no such payload")?;
    let blob = root.join(&payload.blob);
    let request = TransactRequest { cell, payload, blob: &blob, seed: plan.seed, limit: LIMIT };
    let (mut plain, mut profiled) = (Vec::new(), Vec::new());
    let mut kept = None;
    for pair in 0..PAIRS {
        let place = Shelter::new().context("no temporary folder")?;
        let ways = [Tool::plain(), tool.invocation(place.path())];
        for way in if pair % 2 == 0 { [0, 1] } else { [1, 0] } {
            let (visit, pid) = tellers.alone(&request, TRANSACTIONS, &ways[way]).map_err(told)?;
            if way == 0 {
                plain.push(seconds(&visit));
            } else {
                profiled.push(seconds(&visit));
                kept = Some(pid);
            }
        }
        if pair + 1 == PAIRS {
            let file = tool.output(place.path(), kept.unwrap_or_default())?;
            let profile = tool.read(&file)?;
            let run = Run {
                php: cell.runtime.clone(),
                version: php.version.clone(),
                profiler: format!("{} {}", tool.profiler.name(), tool.version),
                remark: tool.remark().map(str::to_owned),
                script: vec![cell.id.clone()],
                ended: "exit status: 0".into(),
                is_fine: true,
                overhead: summed_up(plain, profiled),
            };
            return Ok(ProfiledCell { cell: cell.id.clone(), profile, run, file, _place: place });
        }
    }
    bail!("{}: nothing was profiled", cell.id)
}

/// CPU seconds of the worker.
fn seconds(visit: &ClientVisit) -> f64 {
    (visit.client_user_ns + visit.client_system_ns) as f64 / 1e9
}

fn told(failure: Failure) -> anyhow::Error {
    match failure {
        Failure::Fault(fault) => anyhow::anyhow!("{}", fault.message),
        Failure::Interrupted => anyhow::anyhow!("interrupted"),
    }
}
