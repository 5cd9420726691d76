//! The user's own in a study: content and document roots in place of the study's, a server's configuration beside its ways, and
//! URLs that are only measured.
//!
//! It owns how a study changes for them. How they are read, served and measured is the business of those who do that for all.

mod asked;
mod chosen;
mod config;
pub use config::{configuration_of, read_configuration, studies, survey};
pub use pairs::{Paired, Two};
mod content;
pub mod pairs;
mod samples;
mod stores;
mod urls;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::server_config::Configured;
use weigh_content::user::Wanted;
use weigh_model::plan::Plan;
use weigh_model::policy::Policy;
use weigh_model::site::Site;
use weigh_model::way::CONFIG;
use weigh_run::lab::Lab;
use weigh_run::planning::Planning;
use weigh_run::study::Study;
use weigh_run::study::block::Quick;
use weigh_run::subject::delivery::study::{DeliveryBlock, Served};

/// What a user brings beside the names of studies.
#[derive(Clone, Debug, Default)]
pub struct UserOverrides {
    /// Files and folders in place of the study's content.
    pub content: Vec<PathBuf>,
    /// A document root: some of its assets, by type and size, in place of the study's. Copies are served, nothing is written to it.
    pub docroot: Option<PathBuf>,
    /// The files of the document root to take, by their paths below it, if they are there; none: some of them stand for all.
    pub like: Vec<PathBuf>,
    /// The study names files of the document root itself; else some of them take the place of its content
    pub names_files: bool,
    /// A policy that is one of the server's ways, on top of the configuration if there is one
    pub proved: Option<Box<ProvedPolicy>>,
    /// A web server's configuration, in a private instance beside the study's ways on that server.
    pub config: Option<PathBuf>,
    /// The server that the configuration is for. [`survey`] finds it where the user does not say.
    pub server: Option<String>,
    /// The site to measure, by its name, where the configuration has several and the document root does not tell.
    pub site: Option<String>,
    /// URLs to measure from outside: nothing is started.
    pub urls: Vec<String>,
    /// A page by its URL, measured beside the study.
    pub page: Option<String>,
    /// Hosts that are not this machine and may be asked.
    pub allow_remote: Vec<String>,
    /// Stores to measure: names, or URLs of running ones.
    pub stores: Vec<String>,
    /// The configuration as it was read, by [`survey`].
    pub read: Option<Box<Configured>>,
}

/// A policy that is measured beside what the site does today.
#[derive(Clone, Debug)]
pub struct ProvedPolicy {
    pub policy: Policy,
    pub site: Site,
}

impl UserOverrides {
    /// Makes sure that the study can be measured with it.
    ///
    /// # Errors
    /// One line: which flag says nothing to this study.
    pub fn suits(&self, study: &Study) -> Result<()> {
        let name = &study.name;
        if !self.stores.is_empty() && study.clients.is_empty() {
            bail!("--store: {name} measures no stores; use it with cache-client or cache-levels");
        }
        let has_files = !study.cells.is_empty() || !study.deliveries.is_empty();
        if !self.content.is_empty() && (!self.stores.is_empty() || !has_files) {
            bail!(
                "--content: {name} stores values of its own; give your files to cache-levels without --store, or to weigh codec"
            );
        }
        let sends_files = study.deliveries.iter().any(|block| block.subject != Served::Page);
        let flag = if !self.urls.is_empty() {
            "--url"
        } else if self.page.is_some() {
            "--page"
        } else if self.config.is_some() {
            "--server-config"
        } else if self.docroot.is_some() {
            "--docroot"
        } else {
            return Ok(());
        };
        if study.deliveries.is_empty() {
            bail!(
                "{flag}: {name} measures codecs, not web servers; use it with page-output, static-assets or downloads"
            );
        }
        if self.docroot.is_some() && !sends_files {
            bail!(
                "--docroot: {name} sends pages that PHP makes, no files of a document root; give it a page with --content"
            );
        }
        Ok(())
    }
}

/// As [`Lab::plan`], with what is the user's own in the study. [`survey`] comes before.
pub fn plan(lab: &Lab, study: &Study, own: &UserOverrides, planning: &mut Planning<'_>) -> Result<Plan> {
    if !own.urls.is_empty() {
        return urls::plan(study, own, planning);
    }
    let study = match own.server.as_deref().filter(|_| own.config.is_some()) {
        Some(server) => configured(study, server),
        None => study.clone(),
    };
    let mut plan = match (&own.docroot, own.content.is_empty()) {
        (None, true) => lab.plan(&study, planning),
        _ if own.names_files => lab.plan(&study, planning),
        (None, false) if study.deliveries.is_empty() => {
            let study = Study { published: None, ..study };
            let content: Vec<Wanted> = own.content.iter().map(Wanted::path).collect();
            lab.plan_paths(&study, &content, planning)
        }
        _ => content::plan_content(lab, &study, own, planning),
    }?;
    if let Some(Configured { read, found }) = own.read.as_deref() {
        let notes = samples::take(&mut plan, own, read, found)?;
        notes.iter().for_each(|note| planning.progress.note(note));
        asked::ask_samples(lab, &mut plan, found, read, planning.progress)?;
        if let Some(ProvedPolicy { policy, site }) = own.proved.as_deref() {
            samples::take_on_top(&mut plan, &found.definition, policy, site);
        }
    }
    if let Some(url) = &own.page {
        urls::add_page(&mut plan, url, own, planning)?;
    }
    Ok(plan)
}

/// As [`plan`] of each study, with its content in a folder of its own below the one for staging.
pub fn plan_each(
    lab: &Lab,
    studies: &[Study],
    own: &UserOverrides,
    planning: &mut Planning<'_>,
) -> Result<Vec<Plan>> {
    let Planning { options, inventory, staging, progress } = planning;
    let plan_one = |(number, study): (usize, &Study)| {
        let folder = staging.join(number.to_string());
        std::fs::create_dir(&folder).context("no temporary folder for the content")?;
        let planning = &mut Planning { options, inventory, staging: &folder, progress: &mut **progress };
        plan(lab, study, own, planning)
    };
    studies.iter().enumerate().map(plan_one).collect()
}

/// The study on one server alone, with the user's configuration among the ways of every block. What was published of another
/// server is left out.
fn configured(study: &Study, server: &str) -> Study {
    let mut study = study.clone();
    let way = format!("server/{CONFIG}");
    for block in &mut study.deliveries {
        block.servers = vec![server.to_owned()];
        if !block.ways.contains(&way) {
            block.ways.push(way.clone());
        }
        if let Some(Quick::Other(factors)) = &mut block.quick {
            factors.servers = None;
            factors.ways.iter_mut().for_each(|ways| ways.push(way.clone()));
        }
    }
    study.published = study.published.filter(|table| table.cells.split('/').next() == Some(server));
    study
}

/// The block with these contents, of the sizes that it has.
fn with_content(block: &DeliveryBlock, content: Vec<String>) -> DeliveryBlock {
    let mut block = block.clone();
    block.content = content;
    if let Some(Quick::Other(factors)) = &mut block.quick {
        factors.content = None;
    }
    block
}

#[cfg(test)]
mod tests;
