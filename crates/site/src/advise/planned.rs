//! The studies of a site, planned; and the file of the policy that follows from them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::study::{is_today, studies};
use crate::overrides::{self, ProvedPolicy, UserOverrides};
use weigh_model::plan::Plan;
use weigh_model::policy::Policy;
use weigh_model::site::Site;
use weigh_model::text::clean_path;
use weigh_os::regular;
use weigh_rig::server::Definition;
use weigh_rig::service::FolderDefinition;
use weigh_run::lab::{Home, Lab, Progress};
use weigh_run::planner::PlanOptions;
use weigh_run::planning::Planning;
use weigh_run::study::Study;
use weigh_run::subject::delivery::study::Served;

/// The file of a policy in its folder.
pub const POLICY: &str = "policy.toml";
/// The longest policy in bytes.
const LONGEST: u64 = 4 << 20;

/// Seconds that the studies of a site may take, where the user does not say.
pub const BUDGET: f64 = 300.0;

/// The studies that a site's decisions need. `file` is the site's.
///
/// # Errors
/// One line: what the site does not say.
pub fn studies_for(home: &Home, site: &Site, file: &Path, seconds: f64) -> Result<Vec<Study>> {
    let server = server_of(home, site)?;
    let written = studies(site, &crate::folder_of(file), server.as_ref(), seconds)?;
    if written.is_empty() && server.is_none() {
        let remedy = "look at the site again with its --server, --server-config or --url";
        bail!("{}: it does not say which web server sends the site; {remedy}", clean_path(file));
    }
    if written.is_empty() {
        bail!("{}: it has no sample file to measure; look at the site again: weigh site", clean_path(file));
    }
    Ok(written)
}

/// The definition of a site's web server.
///
/// # Errors
/// Nothing is known of the server that it names.
pub fn server_of(home: &Home, site: &Site) -> Result<Option<Definition>> {
    let Some(name) = &site.sources.server else { return Ok(None) };
    let known = Definition::load(&home.definitions)?.into_iter().find(|definition| definition.name == *name);
    known.map(Some).with_context(|| format!("sources.server: no server `{name}` is known"))
}

/// The plans of a site's studies, with the user's configuration where the site has it, and a policy beside it. What is here is looked
/// for once.
///
/// # Errors
/// One line: what of it cannot be planned here.
pub fn plans(
    lab: &Lab,
    site: &Site,
    policy: Option<&Policy>,
    mut studies: Vec<Study>,
    seed: u64,
    staging: &Path,
    progress: &mut dyn Progress,
) -> Result<Vec<Plan>> {
    studies.iter().try_for_each(|study| study.check().with_context(|| study.name.clone()))?;
    let is_sent = studies.iter().any(|study| !study.deliveries.is_empty());
    let config = site.sources.server_config.as_ref().filter(|_| is_sent).map(PathBuf::from);
    let proved = |policy: &Policy| Box::new(ProvedPolicy { policy: policy.clone(), site: site.clone() });
    let mut own = UserOverrides {
        server: site.sources.server.clone().filter(|_| config.is_some()),
        docroot: site.sources.docroot.as_ref().filter(|_| config.is_some()).map(PathBuf::from),
        site: site.sources.site.clone().filter(|_| config.is_some()),
        config,
        names_files: true,
        proved: policy.filter(|_| is_sent).map(proved),
        ..UserOverrides::default()
    };
    // Other PHPs are compared by cached values; responses come from the site's own, and so does every proof.
    let most = if policy.is_some() { 1 } else { usize::MAX };
    let php: Vec<PathBuf> = site.sources.php.iter().take(most).map(PathBuf::from).collect();
    let mut inventory = overrides::survey(lab, &studies, &php, &mut own, progress)?;
    inventory.pools.truncate(1);
    if own.read.as_ref().is_some_and(|own| own.read.config.hands_pages_on()) {
        for study in &mut studies {
            study.deliveries.retain(|block| block.subject != Served::Page);
        }
        progress.note(
            "pages are left out: the configuration hands them to another program than PHP, which is not asked",
        );
    }
    if let Some(file) = &site.sources.php_config {
        let lines = weigh_serverconf::php::read(Path::new(file)).context("sources.php_config")?.lines();
        inventory.pools.iter_mut().for_each(|pool| pool.plan.ini.extend(lines.iter().cloned()));
    }
    let options = PlanOptions { seed, ..PlanOptions::default() };
    let planning = &mut Planning { options: &options, inventory: &inventory, staging, progress };
    let mut plans = overrides::plan_each(lab, &studies, &own, planning)?;
    // A proof compares: all have the same rounds. For decisions the contents with the most requests and bytes have theirs first.
    for plan in &mut plans {
        // Links send as the site's servers do.
        plan.links.iter_mut().for_each(|link| link.paced = site.visitors.paced);
        plan.policy.even = policy.is_some();
        plan.policy.in_order = policy.is_none();
        for cell in plan.cells.iter_mut().filter(|_| policy.is_none()) {
            cell.keep |= is_today(site, cell);
        }
    }
    Ok(plans)
}

/// Reads a policy: its file, or the one in its folder.
///
/// # Errors
/// One line: the file, and what is wrong with it.
pub fn read_policy(file: &Path) -> Result<Policy> {
    let file = if file.is_dir() { file.join(POLICY) } else { file.to_owned() };
    let named = clean_path(&file);
    ensure!(file.exists(), "{named}: cannot be read; `weigh advise` writes one");
    let text =
        String::from_utf8(regular::read(&file, LONGEST)?).with_context(|| format!("{named}: no text"))?;
    Policy::parse(&text, &named)
}
