//! What can send here: each server is looked for, and each PHP-FPM is started once and describes its ways.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use serde::Deserialize;

use super::files::Files;
use super::rigs::{Opcache, PoolKey, pool_spec};
use weigh_content::defs::Definitions;
use weigh_model::inventory::{Inventory, RuntimeEntry, ServerEntry};
use weigh_model::plan::{Runtime, Server};
use weigh_model::text::clean_bytes;
use weigh_model::way::WayDescription;
use weigh_os::guard::LaunchContext;
use weigh_os::shelter::Shelter;
use weigh_os::user::OwnUser;
use weigh_rig::fpm::Pool;
use weigh_rig::runtime::PhpRuntime;
use weigh_rig::server::definition::{Definition, Php};
use weigh_rig::service::FolderDefinition;

/// What `describe.php` says.
#[derive(Debug, Deserialize)]
struct Description {
    version: String,
    #[serde(default)]
    facts: BTreeMap<String, String>,
    ways: Vec<WayDescription>,
}

/// Every server that is known, found or not.
pub fn servers(definitions: &Definitions) -> Result<Vec<ServerEntry>> {
    Ok(Definition::load(definitions)?.iter().map(entry).collect())
}

/// A server with its ways, found or not.
pub fn entry(definition: &Definition) -> ServerEntry {
    let found = definition.find();
    ServerEntry {
        plan: Server {
            name: definition.name.clone(),
            binary: found.program,
            version: found.version.unwrap_or_default(),
            own: definition.mine.clone(),
            advised: definition.advised.clone(),
            ..Server::default()
        },
        tls: found.tls_missing.is_none(),
        php: definition.php == Php::Fpm,
        ways: found.ways,
        missing: found.missing,
        remedy: found.remedy,
    }
}

/// What each PHP of an inventory can have sent, or the reason why nothing.
pub fn pools(inventory: &Inventory, php_home: &Path) -> Vec<RuntimeEntry> {
    let entry = |runtime: &RuntimeEntry| {
        let mut entry = RuntimeEntry {
            plan: Runtime { facts: BTreeMap::new(), ..runtime.plan.clone() },
            ..RuntimeEntry::default()
        };
        match described(runtime.plan.binary.as_ref()?, php_home) {
            Ok(said) => (entry.ways, entry.plan.facts) = (said.ways, said.facts),
            Err(lack) => (entry.missing, entry.remedy) = (Some(format!("{:#}", lack.why)), lack.remedy),
        }
        Some(entry)
    };
    inventory.runtimes.iter().filter_map(entry).collect()
}

/// Why a PHP sends nothing, and what would fix it.
struct Lack {
    why: anyhow::Error,
    remedy: Option<String>,
}

impl From<anyhow::Error> for Lack {
    fn from(why: anyhow::Error) -> Lack {
        Lack { why, remedy: None }
    }
}

fn described(binary: &Path, php_home: &Path) -> Result<Description, Lack> {
    let php = PhpRuntime::of(binary)?;
    if php.fpm.is_none() {
        let why = anyhow!("PHP {} has no PHP-FPM", php.version);
        return Err(Lack { why, remedy: Some(php.fpm_remedy()) });
    }
    Ok(describe(&php, php_home)?)
}

/// Starts a pool of one worker and asks it.
fn describe(php: &PhpRuntime, php_home: &Path) -> Result<Description> {
    let binary = php.fpm_binary();
    let user = OwnUser::for_programs(binary.as_deref().into_iter()).ok().flatten();
    let room = Shelter::of(user).context("no temporary folder")?;
    let mut files = Files::new(room.path(), php_home, user)?;
    let script = files.scripts()?.join("describe.php");
    let place = LaunchContext::new(room.path(), room.path().join("log")).of(user);
    let key = PoolKey { runtime: String::new(), workers: 1, opcache: Opcache::Preloaded };
    let pool = Pool::start(&pool_spec(php, &key, &files)?, &place)?;
    let said = pool.ask(&script, "")?;
    let description: Description = serde_json::from_slice(&said).map_err(|error| {
        let line = clean_bytes(said.split(|b| *b == b'\n').next().unwrap_or_default());
        let begin: String = line.chars().take(200).collect();
        anyhow!("PHP {} does not describe its methods ({error}) but says: {begin}", php.version)
    })?;
    pool.stop();
    ensure!(description.version == php.version, "PHP {} answers as {}", php.version, description.version);
    Ok(description)
}
