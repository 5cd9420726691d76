//! What deliveries stand on: PHP pools and server instances, started when they are needed first and kept for the next visit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::files::Files;
use crate::plan::Plan;
use crate::rig::fpm::{self, Mode, PoolSpec};
use crate::rig::guard::Place;
use crate::rig::runtime::PhpRuntime;
use crate::rig::server::site::Site;
use crate::rig::server::{Definition, Found, Instance};

/// Instances of servers that are kept at once.
const KEPT: usize = 16;
/// Workers of a pool.
pub const WORKERS: u32 = 8;
/// What a script may take: the slowest encoders of the largest pages want hundreds of megabytes.
const MEMORY: &str = "1G";

/// Pools and instances.
#[derive(Debug)]
pub struct Rigs {
    servers: Vec<Found>,
    logs: PathBuf,
    token: String,
    pools: Vec<(String, fpm::Pool)>,
    /// The last used first.
    instances: Vec<(String, Site, Instance)>,
}

impl Rigs {
    /// Nothing is started yet; what servers and pools say goes to `logs`.
    pub fn new(definitions: &[Definition], plan: &Plan, logs: &Path) -> Rigs {
        let is_used = |d: &&Definition| plan.servers.iter().any(|s| s.name == d.name);
        let servers = definitions.iter().filter(is_used).map(|d| {
            let planned = plan.servers.iter().find(|s| s.name == d.name);
            let own = planned.and_then(|s| s.own.as_ref()).map(|own| d.with_own(own));
            let d = own.as_ref().unwrap_or(d);
            planned.and_then(|s| s.binary.clone()).map_or_else(|| d.find(), |program| d.at(Some(program)))
        });
        Rigs {
            servers: servers.collect(),
            logs: logs.to_owned(),
            token: format!("{:032x}", rand::random::<u128>()),
            pools: Vec::new(),
            instances: Vec::new(),
        }
    }

    /// The servers as they are now.
    pub fn servers(&self) -> &[Found] {
        &self.servers
    }

    /// What downloads are authorised with.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The pool of a runtime of the plan.
    ///
    /// # Errors
    /// Why it does not start.
    pub fn pool(&mut self, plan: &Plan, runtime: &str, files: &Files) -> Result<&mut fpm::Pool> {
        let at = match self.pools.iter().position(|(name, _)| name == runtime) {
            Some(at) => at,
            None => {
                let planned = plan.runtimes.iter().find(|r| r.name == runtime);
                let binary = planned.and_then(|r| r.binary.as_deref());
                let php = PhpRuntime::of(binary.with_context(|| format!("the plan has no PHP {runtime}"))?)?;
                let mut spec = pool_spec(&php, WORKERS, files)?;
                spec.env.insert("WEIGH_TOKEN".into(), self.token.clone());
                let pool = fpm::Pool::start(&spec, &self.place(runtime))?;
                self.pools.push((runtime.to_owned(), pool));
                self.pools.len() - 1
            }
        };
        Ok(&mut self.pools[at].1)
    }

    /// The instance of a site, the one that was used for it before where it still runs.
    ///
    /// # Errors
    /// Why it does not start.
    pub fn instance(&mut self, server: &str, site: &Site) -> Result<&mut Instance> {
        let known = self.instances.iter().position(|(name, s, _)| name == server && s == site);
        let kept = known.map(|at| self.instances.remove(at));
        let kept = kept.and_then(|mut entry| entry.2.is_alive().then_some(entry));
        let entry = match kept {
            Some(entry) => entry,
            None => {
                // Room is made before, so that there are never more.
                self.instances.truncate(KEPT - 1);
                let found = self.servers.iter().find(|f| f.definition.name == server);
                let found = found.with_context(|| format!("no server {server}"))?;
                let instance = Instance::start(found, site, &self.place(server))?;
                (server.to_owned(), site.clone(), instance)
            }
        };
        self.instances.insert(0, entry);
        Ok(&mut self.instances[0].2)
    }

    /// Ends the instance of a site and the pool of a runtime, after something went wrong with them: the next visit has fresh ones.
    pub fn discard(&mut self, server: &str, site: &Site, runtime: &str) {
        self.instances.retain(|(name, s, _)| !(name == server && s == site));
        // Every instance that leads to the pool leads nowhere then.
        let socket = self.pools.iter().find(|(name, _)| name == runtime).map(|(_, pool)| pool.socket());
        self.pools.retain(|(name, _)| name != runtime);
        self.instances.retain(|(_, s, _)| socket.is_none() || s.fpm != socket);
    }

    /// Ends everything.
    pub fn end(&mut self) {
        self.instances.drain(..).for_each(|(_, _, instance)| {
            let _ = instance.stop();
        });
        self.pools.drain(..).for_each(|(_, pool)| {
            let _ = pool.stop();
        });
    }

    fn place(&self, name: &str) -> Place {
        Place::new(std::env::temp_dir(), self.logs.join(format!("{name}.log")))
    }
}

/// A pool whose scripts are the PHP side's. FFI is for preloaded code alone, as in a server that is run with care; the user's own
/// ini is in force otherwise.
///
/// # Errors
/// This PHP has no PHP-FPM.
pub fn pool_spec(php: &PhpRuntime, workers: u32, files: &Files) -> Result<PoolSpec> {
    let program = php.fpm.clone().with_context(|| format!("PHP {} has no PHP-FPM", php.version))?;
    let text = |path: &Path| path.display().to_string();
    let env = [("WEIGH_PHP_HOME", text(files.php_home())), ("WEIGH_CONTENTS", text(&files.contents()))];
    let spec = PoolSpec {
        program,
        version: php.version.clone(),
        workers,
        mode: Mode::Static,
        ini: BTreeMap::new(),
        env: env.map(|(name, value)| (name.to_owned(), value)).into_iter().collect(),
        cpus: Vec::new(),
    };
    let spec = spec
        .memory_limit(MEMORY)
        .output_buffering(0)
        .ini("opcache.enable", "1")
        .ini("zlib.output_compression", "0")
        .ini("ffi.enable", "preload");
    Ok(if preloads(&php.version) {
        spec.preload(&files.php_home().join("delivery").join("preload.php"))
    } else {
        spec
    })
}

/// Preloading is there from PHP 7.4 on.
fn preloads(version: &str) -> bool {
    let mut numbers = version.split('.').map_while(|n| n.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (7, 4)
}
