//! What deliveries stand on: PHP pools and server instances, started when they are needed first and kept for the next visit.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

use super::files::Files;
use crate::subject::ground::Ground;
use weigh_model::cell::{Cell, Delivery};
use weigh_model::link::Measured;
use weigh_model::plan::{Plan, Runtime};
use weigh_model::setting::Setting;
use weigh_os::network::Network;
use weigh_rig::fpm::{self, Mode, PoolSpec};
use weigh_rig::runtime::PhpRuntime;
use weigh_rig::server::{Definition, Found, Instance, Site};

/// Instances of servers that are kept at once.
const KEPT: usize = 16;
const WORKERS: u32 = 8;
/// What a script may take: the slowest encoders of the largest pages want hundreds of megabytes.
const MEMORY: &str = "1G";
/// The option of PHP's ways that asks for a pool with or without opcode cache.
const OPCACHE: &str = "opcache";

#[derive(Debug)]
pub struct Rigs {
    servers: Vec<Found>,
    /// Those of the plan.
    runtimes: Vec<Runtime>,
    token: String,
    pools: Vec<(PoolKey, fpm::Pool)>,
    instances: Vec<(InstanceKey, Instance)>,
    /// Made when the first server is to stand in it.
    narrow: Option<Network>,
    /// The same, for servers that nothing lies before; none if none is available.
    private: Option<Option<Network>>,
    /// After all that stands on it.
    pub ground: Ground,
}

/// What lies between readers and a server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetworkPath {
    /// A loopback as the machine's own, of a private network if one is available.
    Loopback,
    /// The machine's own network, and what it leads to: for servers of others.
    Outside,
    /// The loopback of a network whose buffers are small.
    Narrow,
    /// A link of the plan, by its name.
    Link(String),
}

impl NetworkPath {
    /// What a delivery goes over.
    pub fn of(delivery: &Delivery) -> NetworkPath {
        match (&delivery.link, &delivery.slow) {
            (Some(link), _) => NetworkPath::Link(link.clone()),
            (None, Some(slow)) if slow.narrow => NetworkPath::Narrow,
            _ => NetworkPath::Loopback,
        }
    }
}

/// Which pool: a runtime's, with this many workers and this opcode cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolKey {
    /// The runtime's name in the plan.
    pub runtime: String,
    pub workers: u32,
    /// Whether it keeps compiled code.
    pub opcache: Opcache,
}

/// What a pool keeps of the code that it compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opcache {
    /// All of it, and what is preloaded where PHP can do that.
    Preloaded,
    On,
    /// Nothing: each request compiles what it loads.
    Off,
}

impl Opcache {
    /// What a way of PHP's asks for by its option `opcache`.
    fn of(setting: &Setting) -> Opcache {
        match setting.options.get(OPCACHE).map(String::as_str) {
            Some("on") => Opcache::On,
            Some("off") => Opcache::Off,
            _ => Opcache::Preloaded,
        }
    }
}

impl PoolKey {
    /// The pool that a cell's responses come from.
    pub fn of(cell: &Cell) -> PoolKey {
        let slow = cell.delivery.as_ref().and_then(|delivery| delivery.slow.as_ref());
        let workers = slow.map_or(WORKERS, |slow| slow.workers);
        PoolKey { runtime: cell.runtime.clone(), workers, opcache: Opcache::of(&cell.setting) }
    }
}

/// Which instance: a server's with its site, and what leads to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceKey {
    pub server: String,
    pub site: Site,
    /// What its readers reach it over.
    pub over: NetworkPath,
}

impl Rigs {
    /// Nothing is started yet; what servers and pools say goes to `logs`.
    pub fn new(definitions: &[Definition], plan: &Plan, logs: &Path) -> Result<Rigs> {
        let is_used = |d: &&Definition| plan.servers.iter().any(|s| s.name == d.name);
        let servers = definitions.iter().filter(is_used).map(|d| {
            let planned = plan.servers.iter().find(|s| s.name == d.name);
            let d = &d.with_own(planned.into_iter().flat_map(|s| &s.own));
            let advised = planned.and_then(|s| s.advised.as_ref()).map(|advised| d.with_advised(advised));
            let d = advised.as_ref().unwrap_or(d);
            planned.and_then(|s| s.binary.clone()).map_or_else(|| d.find(), |program| d.at(Some(program)))
        });
        let servers: Vec<Found> = servers.collect();
        let programs = servers.iter().filter_map(|found| found.program.as_deref());
        let php = plan.runtimes.iter().filter_map(|runtime| runtime.binary.as_deref());
        let ground = Ground::new(plan, programs.chain(php), "servers and PHP-FPM", logs)?;
        Ok(Rigs {
            servers,
            runtimes: plan.runtimes.clone(),
            token: format!("{:032x}", rand::random::<u128>()),
            pools: Vec::new(),
            instances: Vec::new(),
            narrow: None,
            private: None,
            ground,
        })
    }

    /// The network of readers; none: the machine's own.
    pub fn near(&mut self, over: &NetworkPath) -> Result<Option<&Network>> {
        match over {
            NetworkPath::Loopback => Ok(self.private()),
            NetworkPath::Outside => Ok(None),
            NetworkPath::Narrow => self.narrow().map(Some),
            NetworkPath::Link(name) => self.ground.links.stand(name).map(|link| Some(link.near())),
        }
    }

    fn private(&mut self) -> Option<&Network> {
        self.private.get_or_insert_with(|| Network::private().ok()).as_ref()
    }

    fn narrow(&mut self) -> Result<&Network> {
        match &mut self.narrow {
            Some(network) => Ok(network),
            none => Ok(none.insert(Network::narrow()?)),
        }
    }

    /// The URL by which readers reach a path of an instance, which is started where it does not run.
    pub fn url(&mut self, instance_key: &InstanceKey, path: &str) -> Result<String> {
        let port = self.instance(instance_key)?.port();
        let reached = match &instance_key.over {
            NetworkPath::Link(name) => Some(self.ground.links.stand(name)?.reach(port)?),
            NetworkPath::Loopback | NetworkPath::Narrow | NetworkPath::Outside => None,
        };
        let instance = self.instance(instance_key)?;
        Ok(reached.map_or_else(|| instance.url(path), |address| instance.url_at(address, path)))
    }

    /// What the link of an instance was measured as; none without one.
    pub fn measured(&mut self, over: &NetworkPath) -> Result<Option<Measured>> {
        match over {
            NetworkPath::Loopback | NetworkPath::Narrow | NetworkPath::Outside => Ok(None),
            NetworkPath::Link(name) => {
                self.ground.links.stand(name).map(|link| Some(link.measured().clone()))
            }
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

    /// The pool behind an instance; none without PHP.
    pub fn pool_of(
        &mut self,
        site: &Site,
        pool_key: &PoolKey,
        files: &Files,
    ) -> Result<Option<&mut fpm::Pool>> {
        site.fpm.is_some().then(|| self.pool(pool_key, files)).transpose()
    }

    /// A pool of a runtime of the plan.
    pub fn pool(&mut self, pool_key: &PoolKey, files: &Files) -> Result<&mut fpm::Pool> {
        let known = self.pools.iter().position(|(known, _)| known == pool_key);
        let at = match known {
            Some(at) if self.pools[at].1.is_alive() => at,
            _ => {
                self.discard_pool(pool_key);
                let runtime = &pool_key.runtime;
                let planned = self.runtimes.iter().find(|r| r.name == *runtime);
                let binary = planned.and_then(|r| r.binary.as_deref());
                let php = PhpRuntime::of(binary.with_context(|| format!("the plan has no PHP {runtime}"))?)?;
                let mut spec = pool_spec(&php, pool_key, files)?;
                let own = planned.into_iter().flat_map(|r| &r.ini).filter_map(|line| line.split_once('='));
                // What a study compares is the study's.
                let own =
                    own.filter(|(name, _)| *name != "opcache.enable" || pool_key.opcache != Opcache::Off);
                spec.ini.extend(own.map(|(name, value)| (name.to_owned(), value.to_owned())));
                spec.env.insert("WEIGH_TOKEN".into(), self.token.clone());
                spec.cpus.clone_from(&self.ground.cores.php);
                let pool = fpm::Pool::start(&spec, &self.ground.place(runtime))?;
                self.pools.push((pool_key.clone(), pool));
                self.pools.len() - 1
            }
        };
        Ok(&mut self.pools[at].1)
    }

    /// The instance of a key, the one that was used for it before where it still runs.
    pub fn instance(&mut self, instance_key: &InstanceKey) -> Result<&mut Instance> {
        let known = self.instances.iter().position(|(s, _)| s == instance_key);
        let kept = known.map(|at| self.instances.remove(at));
        let kept = kept.and_then(|mut entry| entry.1.is_alive().then_some(entry));
        let entry = match kept {
            Some(entry) => entry,
            None => {
                // Room is made before, so that there are never more.
                self.instances.truncate(KEPT - 1);
                (instance_key.clone(), self.start(instance_key)?)
            }
        };
        self.instances.insert(0, entry);
        Ok(&mut self.instances[0].1)
    }

    fn start(&mut self, instance_key: &InstanceKey) -> Result<Instance> {
        let server = &instance_key.server;
        let found = self.servers.iter().find(|f| f.definition.name == *server);
        let found = found.with_context(|| format!("no server {server}"))?.clone();
        let place = self.ground.place(server);
        let start = || Instance::start(&found, &instance_key.site, &place);
        match &instance_key.over {
            NetworkPath::Outside => start(),
            NetworkPath::Loopback => match self.private() {
                Some(network) => network.within(start)?,
                None => start(),
            },
            NetworkPath::Narrow => self.narrow()?.within(start)?,
            NetworkPath::Link(name) => {
                let link = self.ground.links.stand(name)?;
                let host = link.far_address();
                link.far().within(|| Instance::start_at(host, &found, &instance_key.site, &place))?
            }
        }
    }

    /// Ends the instance of a key, so that the next one has no history.
    pub fn discard_instance(&mut self, instance_key: &InstanceKey) {
        self.instances.retain(|(s, _)| s != instance_key);
    }

    /// Ends the instance of a key and a pool, after something went wrong with them: the next visit has fresh ones.
    pub fn discard(&mut self, instance_key: &InstanceKey, pool_key: &PoolKey) {
        self.discard_instance(instance_key);
        self.discard_pool(pool_key);
    }

    /// Ends a pool, and every instance that leads to it: it leads nowhere then.
    pub fn discard_pool(&mut self, pool_key: &PoolKey) {
        let socket = self.pools.iter().find(|(known, _)| known == pool_key).map(|(_, pool)| pool.socket());
        self.pools.retain(|(known, _)| known != pool_key);
        self.instances.retain(|(s, _)| socket.is_none() || s.site.fpm != socket);
    }

    pub fn end(&mut self) {
        self.instances.drain(..).for_each(|(_, instance)| {
            let _ = instance.stop();
        });
        self.pools.drain(..).for_each(|(_, pool)| {
            let _ = pool.stop();
        });
        self.narrow = None;
        self.private = None;
        self.ground.links.end();
    }

    /// How the server of a key or a pool ended, where one did and nobody asked it to.
    pub fn ended(&mut self, instance_key: &InstanceKey, pool_key: &PoolKey) -> Option<String> {
        let instance = self.instances.iter_mut().find(|(s, _)| s == instance_key);
        let instance =
            instance.and_then(|(_, i)| (!i.is_alive()).then(|| i.how_it_ended().map(str::to_owned)));
        let pool = self.pools.iter_mut().find(|(known, _)| known == pool_key);
        let pool = pool.and_then(|(_, p)| (!p.is_alive()).then(|| p.how_it_ended().map(str::to_owned)));
        let tell = |who: &str, how: Option<Option<String>>| Some(format!("{who} ended: {}", how??));
        tell(&instance_key.server, instance)
            .or_else(|| tell(&format!("PHP-FPM of {}", pool_key.runtime), pool))
    }
}

/// A pool whose scripts are the PHP side's. FFI is for preloaded code alone, as in a server that is run with care; the user's own
/// ini is in force otherwise.
pub fn pool_spec(php: &PhpRuntime, pool_key: &PoolKey, files: &Files) -> Result<PoolSpec> {
    let program = php.fpm.clone().with_context(|| format!("PHP {} has no PHP-FPM", php.version))?;
    let text = |path: &Path| path.display().to_string();
    let env = [("WEIGH_PHP_HOME", text(files.php_home())), ("WEIGH_CONTENTS", text(&files.contents()))];
    let spec = PoolSpec {
        program,
        version: php.version.clone(),
        workers: pool_key.workers,
        mode: Mode::Static,
        ini: BTreeMap::new(),
        env: env.map(|(name, value)| (name.to_owned(), value)).into_iter().collect(),
        cpus: Vec::new(),
    };
    let spec = spec
        .ini("memory_limit", MEMORY)
        .ini("output_buffering", "0")
        .ini("opcache.enable", if pool_key.opcache == Opcache::Off { "0" } else { "1" })
        .ini("zlib.output_compression", "0")
        .ini("ffi.enable", "preload");
    Ok(if pool_key.opcache == Opcache::Preloaded && preloads(&php.version) {
        spec.ini("opcache.preload", &text(&files.php_home().join("delivery").join("preload.php")))
    } else {
        spec
    })
}

/// Preloading is there from PHP 7.4 on.
fn preloads(version: &str) -> bool {
    let mut numbers = version.split('.').map_while(|n| n.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (7, 4)
}
