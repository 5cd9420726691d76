//! A web server's configuration of the user's: read, reduced, and tried in a private instance before anything is planned with it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use super::{ProvedPolicy, UserOverrides};
use crate::configuration;
use crate::configuration::own::on_top;
use crate::server_config::Configured;
use weigh_model::inventory::Inventory;
use weigh_model::setting::Setting;
use weigh_model::site::Site as SiteOfUser;
use weigh_model::text::clean_path;
use weigh_model::way::CONFIG;
use weigh_os::guard::LaunchContext;
use weigh_os::interrupt::Interrupt;
use weigh_os::network::privately;
use weigh_os::shelter::Shelter;
use weigh_os::user::OwnUser;
use weigh_rig::server::Site;
use weigh_rig::server::{Definition, Found, Instance, own};
use weigh_rig::service::{FolderDefinition, without_log};
use weigh_run::lab::{Home, Progress};
use weigh_run::study::Study;
use weigh_run::subject::delivery::look;
use weigh_serverconf::site::Wanted;
use weigh_serverconf::tree;

/// How long a server may take to answer for the first time: one that redirects every request never does.
const START: Duration = Duration::from_secs(10);

/// The studies of these names, or every one that can be measured with what is the user's own.
pub fn studies(home: &Home, names: &[String], own: &UserOverrides) -> Result<Vec<Study>> {
    if names.is_empty() && !own.urls.is_empty() {
        return Ok(vec![super::urls::study()?]);
    }
    if names.is_empty() {
        let all: Vec<Study> =
            home.definitions.study_names().iter().map(|n| home.study(n)).collect::<Result<_>>()?;
        let suited = all.into_iter().filter(|study| own.suits(study).is_ok());
        return Ok(suited.map(|study| own.of_stores(study)).collect());
    }
    let is_content = |name: &&String| Path::new(name).exists() && !name.ends_with(".toml");
    if let Some(path) = names.iter().find(is_content).filter(|_| !own.content.is_empty()) {
        bail!("{path}: not a study; give each path its flag: --content {path}");
    }
    let studies: Vec<Study> = names.iter().map(|n| home.study(n)).collect::<Result<_>>()?;
    studies.iter().try_for_each(|study| own.suits(study))?;
    Ok(studies.into_iter().map(|study| own.of_stores(study)).collect())
}

/// What the studies can be measured on, with a configuration of the user's among the ways of its server. Nothing is looked
/// for where only URLs are measured.
pub fn survey(
    home: &Home,
    studies: &[Study],
    php: &[PathBuf],
    own: &mut UserOverrides,
    progress: &mut dyn Progress,
) -> Result<Inventory> {
    if !own.urls.is_empty() {
        return Ok(home.native());
    }
    let mut configured = configure(home, own, progress)?;
    let advised = advised(home, own, configured.as_mut(), progress)?;
    let mut inventory = home.found(studies, php)?;
    super::stores::choose_stores(home, &mut inventory, own)?;
    if let Some(configured) = configured {
        let definition = &configured.found.definition;
        own.server = Some(definition.name.clone());
        inventory.servers.retain(|s| s.plan.name != definition.name);
        inventory.servers.push(look::entry(definition));
        own.read = Some(Box::new(configured));
    }
    if let Some(definition) = advised {
        inventory.servers.retain(|s| s.plan.name != definition.name);
        inventory.servers.push(look::entry(&definition));
    }
    Ok(inventory)
}

/// Adds a policy to the ways of its server: on top of the user's configuration, or else on that of the lab, which is given back.
fn advised(
    home: &Home,
    own: &UserOverrides,
    configured: Option<&mut Configured>,
    progress: &mut dyn Progress,
) -> Result<Option<Definition>> {
    let Some(ProvedPolicy { policy, site }) = own.proved.as_deref() else { return Ok(None) };
    if let Some(Configured { read, found }) = configured {
        let top = on_top(policy, site, found, read, None)?;
        let gone = top.clashes.iter().filter(|clash| !clash.stays);
        for clash in gone {
            progress.note(&format!("with the policy, {} goes: {}", clash.place, clash.directive));
        }
        let definitions = Definition::load(&home.definitions)?;
        let definition = definitions.iter().find(|d| d.name == found.definition.name).context("no server")?;
        *found = definition.with_own([&read.config, &top.config]).find();
        return Ok(None);
    }
    let definitions = Definition::load(&home.definitions)?;
    let Some(definition) = definitions.iter().find(|d| Some(&d.name) == policy.server.as_ref()) else {
        return Ok(None);
    };
    Ok(Some(definition.with_advised(&configuration::advised(policy, site, definition, None)?)))
}

/// The server with the user's configuration, which it accepts.
fn configure(home: &Home, own: &UserOverrides, progress: &mut dyn Progress) -> Result<Option<Configured>> {
    let Some(file) = &own.config else { return Ok(None) };
    let wanted = Wanted { name: own.site.clone(), docroot: own.docroot.clone() };
    progress.doing(&format!("trying {}", clean_path(file)));
    let tried = Interrupt::during(|interrupt| {
        let tried = read_configuration(home, file, own.server.as_deref(), &wanted).and_then(|configured| {
            let tried = attempt(&configured.found, &configured.read.config.root, interrupt);
            tried.with_context(|| format!("--server-config {}", clean_path(file)))?;
            Ok(configured)
        });
        if interrupt.is_set() { Err(anyhow!("interrupted; nothing was measured")) } else { tried }
    });
    let configured = tried.context("signals cannot be caught")??;
    let notes = &configured.read.notes;
    notes.iter().for_each(|note| progress.note(&format!("{}: {note}", clean_path(file))));
    Ok(Some(configured))
}

/// Reads a configuration of the user's for the server that it is for, or that is named, as this machine has it.
///
/// # Errors
/// One line: the file and the part of it that cannot be read, or what is missing here.
pub fn read_configuration(
    home: &Home,
    file: &Path,
    server: Option<&str>,
    wanted: &Wanted,
) -> Result<Configured> {
    let named = || format!("--server-config {}", clean_path(file));
    let text = tree::text(file).map_err(|error| anyhow!("{}: {error:#}", named()))?;
    let definitions = Definition::load(&home.definitions)?;
    let definition = match server {
        Some(name) => own::named(&definitions, name)?,
        None => own::recognise(&definitions, file, &text)?,
    };
    let read = own::read(&present(definition)?, file, &text, wanted)?;
    let found = definition.with_own([&read.config]).find();
    Ok(Configured { read, found })
}

/// The configuration that a site names; none: it names none.
pub fn configuration_of(home: &Home, site: &SiteOfUser) -> Option<Result<Configured>> {
    let sources = &site.sources;
    let file = Path::new(sources.server_config.as_ref()?);
    let wanted = Wanted { name: sources.site.clone(), docroot: sources.docroot.as_ref().map(PathBuf::from) };
    Some(read_configuration(home, file, sources.server.as_deref(), &wanted))
}

/// The server as this machine has it; one that can have no configuration of the user's is refused where that is read.
fn present(definition: &Definition) -> Result<Found> {
    let found = definition.find();
    match found.missing.as_ref().filter(|_| definition.own.is_some()) {
        Some(missing) => {
            let remedy = found.remedy.as_ref().map_or(String::new(), |remedy| format!(": {remedy}"));
            bail!("{} cannot be started: {missing}{remedy}", definition.name)
        }
        None => Ok(found),
    }
}

/// Starts the server with the configuration over an empty folder: it checks it, starts, and answers.
fn attempt(found: &Found, root: &Path, interrupt: &Interrupt) -> Result<()> {
    let user = OwnUser::for_programs(found.program.as_deref().into_iter()).ok().flatten();
    let room = Shelter::of(user).context("no temporary folder")?;
    let docroot = room.path().join("docroot");
    let below = root.strip_prefix("/").unwrap_or(root);
    std::fs::create_dir_all(docroot.join(below)).context("no temporary folder")?;
    user.map_or(Ok(()), |user| user.share(&docroot)).context("no temporary folder")?;
    let site = Site { docroot, way: Some(Setting::bare(CONFIG)), ..Site::default() };
    let place = LaunchContext::new(room.path(), room.path().join("log")).of(user);
    let place = LaunchContext { limit: START, interrupt: interrupt.clone(), ..place };
    match privately(|| Instance::start(found, &site, &place).map(Instance::stop))? {
        Ok(_) => Ok(()),
        Err(error) => bail!("{}", without_log(&error)),
    }
}
