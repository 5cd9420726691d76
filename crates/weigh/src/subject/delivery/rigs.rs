//! What deliveries stand on: PHP pools and server instances, started when they are needed first and kept for the next visit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::files::Files;
use crate::cell::Cell;
use crate::plan::Plan;
use crate::rig::cores::Cores;
use crate::rig::fpm::{self, Mode, PoolSpec};
use crate::rig::guard::Place;
use crate::rig::network::Network;
use crate::rig::runtime::PhpRuntime;
use crate::rig::server::site::Site;
use crate::rig::server::{Definition, Found, Instance};

/// Instances of servers that are kept at once.
const KEPT: usize = 16;
/// Workers of a pool.
const WORKERS: u32 = 8;
/// What a script may take: the slowest encoders of the largest pages want hundreds of megabytes.
const MEMORY: &str = "1G";

/// Pools and instances.
#[derive(Debug)]
pub struct Rigs {
    servers: Vec<Found>,
    logs: PathBuf,
    token: String,
    pools: Vec<(Crew, fpm::Pool)>,
    /// The last used first.
    instances: Vec<(Spot, Instance)>,
    /// Made when the first server is to stand in it.
    network: Option<Network>,
    cores: Cores,
}

/// Which pool: a runtime's, with so many workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crew {
    /// The runtime's name in the plan.
    pub runtime: String,
    /// Workers.
    pub workers: u32,
}

impl Crew {
    /// The pool that a cell's responses come from.
    pub fn of(cell: &Cell) -> Crew {
        let slow = cell.delivery.as_ref().and_then(|delivery| delivery.slow.as_ref());
        Crew { runtime: cell.runtime.clone(), workers: slow.map_or(WORKERS, |slow| slow.workers) }
    }
}

/// Which instance: a server's with its site, on the machine's loopback or in a network of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The server's name.
    pub server: String,
    /// What it does.
    pub site: Site,
    /// In the network whose buffers are small.
    pub narrow: bool,
}

impl Rigs {
    /// Nothing is started yet; what servers and pools say goes to `logs`.
    pub fn new(definitions: &[Definition], plan: &Plan, logs: &Path) -> Rigs {
        let is_used = |d: &&Definition| plan.servers.iter().any(|s| s.name == d.name);
        let servers = definitions.iter().filter(is_used).map(|d| {
            let planned = plan.servers.iter().find(|s| s.name == d.name);
            planned.and_then(|s| s.binary.clone()).map_or_else(|| d.find(), |program| d.at(Some(program)))
        });
        Rigs {
            servers: servers.collect(),
            logs: logs.to_owned(),
            token: format!("{:032x}", rand::random::<u128>()),
            pools: Vec::new(),
            instances: Vec::new(),
            network: None,
            cores: Cores::here(),
        }
    }

    /// Who runs on which processors.
    pub fn cores(&self) -> &Cores {
        &self.cores
    }

    /// The network whose buffers are small.
    ///
    /// # Errors
    /// The privilege for one is missing.
    pub fn network(&mut self) -> Result<&Network> {
        match &mut self.network {
            Some(network) => Ok(network),
            none => Ok(none.insert(Network::narrow()?)),
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

    /// A pool of a runtime of the plan.
    ///
    /// # Errors
    /// Why it does not start.
    pub fn pool(&mut self, plan: &Plan, crew: &Crew, files: &Files) -> Result<&mut fpm::Pool> {
        let at = match self.pools.iter().position(|(known, _)| known == crew) {
            Some(at) => at,
            None => {
                let runtime = &crew.runtime;
                let planned = plan.runtimes.iter().find(|r| r.name == *runtime);
                let binary = planned.and_then(|r| r.binary.as_deref());
                let php = PhpRuntime::of(binary.with_context(|| format!("the plan has no PHP {runtime}"))?)?;
                let mut spec = pool_spec(&php, crew.workers, files)?;
                spec.env.insert("WEIGH_TOKEN".into(), self.token.clone());
                spec.cpus.clone_from(&self.cores.php);
                let pool = fpm::Pool::start(&spec, &self.place(runtime))?;
                self.pools.push((crew.clone(), pool));
                self.pools.len() - 1
            }
        };
        Ok(&mut self.pools[at].1)
    }

    /// The instance of a spot, the one that was used for it before where it still runs.
    ///
    /// # Errors
    /// Why it does not start.
    pub fn instance(&mut self, spot: &Spot) -> Result<&mut Instance> {
        let known = self.instances.iter().position(|(s, _)| s == spot);
        let kept = known.map(|at| self.instances.remove(at));
        let kept = kept.and_then(|mut entry| entry.1.is_alive().then_some(entry));
        let entry = match kept {
            Some(entry) => entry,
            None => {
                // Room is made before, so that there are never more.
                self.instances.truncate(KEPT - 1);
                (spot.clone(), self.start(spot)?)
            }
        };
        self.instances.insert(0, entry);
        Ok(&mut self.instances[0].1)
    }

    fn start(&mut self, spot: &Spot) -> Result<Instance> {
        if spot.narrow {
            self.network()?;
        }
        let server = &spot.server;
        let found = self.servers.iter().find(|f| f.definition.name == *server);
        let found = found.with_context(|| format!("no server {server}"))?;
        let place = self.place(server);
        let start = || Instance::start(found, &spot.site, &place);
        match self.network.as_ref().filter(|_| spot.narrow) {
            Some(network) => network.within(start)?,
            None => start(),
        }
    }

    /// Ends the instance of a spot and a pool, after something went wrong with them: the next visit has fresh ones.
    pub fn discard(&mut self, spot: &Spot, crew: &Crew) {
        self.instances.retain(|(s, _)| s != spot);
        self.discard_pool(crew);
    }

    /// Ends a pool, and every instance that leads to it: it leads nowhere then.
    pub fn discard_pool(&mut self, crew: &Crew) {
        let socket = self.pools.iter().find(|(known, _)| known == crew).map(|(_, pool)| pool.socket());
        self.pools.retain(|(known, _)| known != crew);
        self.instances.retain(|(s, _)| socket.is_none() || s.site.fpm != socket);
    }

    /// Ends everything.
    pub fn end(&mut self) {
        self.instances.drain(..).for_each(|(_, instance)| {
            let _ = instance.stop();
        });
        self.pools.drain(..).for_each(|(_, pool)| {
            let _ = pool.stop();
        });
        self.network = None;
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
