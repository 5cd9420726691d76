//! Runs that others made are read, but what their plans name is not carried out unasked.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Result, bail};

use super::Home;
use super::discover::path;
use crate::dir::{PLAN, StoredRun};
use crate::seal;
use weigh_model::plan::Plan;
use weigh_model::text::{clean, clean_path};
use weigh_os::programs::first_of;
use weigh_rig::runtime::{on_path, prefixes};
use weigh_rig::server::Definition;
use weigh_rig::service::FolderDefinition;
use weigh_rig::store::StoreDefinition;

impl Home {
    /// Makes sure that what a run names may be started: it was begun here, or starts nothing but what this machine would find by itself.
    ///
    /// # Errors
    /// One line: what else it starts, and what to do.
    pub fn refuse_foreign(&self, run: &StoredRun) -> Result<()> {
        let digest = run.file.digests.get(PLAN).map_or("", String::as_str);
        if seal::fits(&run.path, digest) {
            return Ok(());
        }
        if let Some(what) = self.foreign_part(&run.plan)? {
            let shown = clean_path(&run.path);
            bail!(
                "{shown}: this run was not begun here by this user, and would start {what}; if you trust who made it: weigh run --resume {shown} --trust"
            );
        }
        Ok(())
    }

    /// What a plan would have carried out that this machine would not find by itself.
    fn foreign_part(&self, plan: &Plan) -> Result<Option<String>> {
        let (servers, stores) =
            (Definition::load(&self.definitions)?, StoreDefinition::load(&self.definitions)?);
        let programs = servers.iter().map(|one| &one.programs).chain(stores.iter().map(|one| &one.programs));
        let php = prefixes(&self.runtimes()).into_iter().map(|(root, prefix)| root.join(prefix.cli));
        let found = programs.filter_map(|names| first_of(names)).chain(on_path(&path())).chain(php);
        let found: BTreeSet<PathBuf> = found.filter_map(|program| program.canonicalize().ok()).collect();
        let named = plan.runtimes.iter().map(|one| &one.binary);
        let named = named
            .chain(plan.servers.iter().map(|one| &one.binary))
            .chain(plan.stores.iter().map(|one| &one.binary));
        let is_found = |program: &&PathBuf| program.canonicalize().is_ok_and(|real| found.contains(&real));
        if let Some(other) = named.flatten().find(|program| !is_found(program)) {
            return Ok(Some(clean_path(other)));
        }
        let known: Vec<&String> = stores.iter().flat_map(|store| &store.ini).collect();
        let mut settings = plan.runtimes.iter().flat_map(|runtime| &runtime.ini);
        if let Some(setting) = settings.find(|setting| !known.contains(setting)) {
            return Ok(Some(format!("PHP with {}", clean(setting))));
        }
        // A server's configuration can load any code.
        let configured =
            plan.servers.iter().find(|server| !server.own.is_empty() || server.advised.is_some());
        let sides = plan.sides.iter().find_map(|side| side.defs.as_ref());
        let configured =
            configured.map(|server| format!("{} with a configuration of its own", clean(&server.name)));
        Ok(configured
            .or_else(|| sides.map(|folder| format!("what the definitions in {} say", clean_path(folder)))))
    }
}
