//! Deliveries for real: files and private servers are put in place, the load generator asks, and the meters of server and PHP are
//! read right before and right after.
//!
//! It owns what it started until it is told to end. It refuses to judge what came back.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use weigh_load::fault::{HttpFault, HttpFaultKind};
use weigh_load::plan::LoadPlan;
use weigh_load::result::LoadResult;

use super::blame::Traces;
use super::files::{self, Files};
use super::meters::{IdleBaseline, IdleBaselines, Metered, Meters, measure_idle};
use super::rigs::{InstanceKey, NetworkPath, PoolKey, Rigs};
use super::visit::{DeliveryRequest, record};
use super::watch::{Reading, gauge};
use super::words::Words;
use super::{blame, block, deltas, fairness, negotiation, outside, url};
use crate::executor::{Executor, Failure, Version, VisitOrder};
use crate::loading;
use crate::subject::{Room, php_versions};
use weigh_model::cell::{Cell, Delivery, NO_PHP, Transport};
use weigh_model::payload::Origin;
use weigh_model::plan::Plan;
use weigh_model::protocol::{Fault, FaultKind};
use weigh_model::record::negotiation::Negotiation;
use weigh_model::record::{DeliveryVisit, VisitRecord};
use weigh_model::way::WayKind;
use weigh_os::group::Group;
use weigh_os::interrupt::Interrupt;
use weigh_rig::fpm;
use weigh_rig::server::{Certificate, Definition, Site, certificate};

/// Statuses that PHP's own scripts answer with when they fail, in one line; others are a server's.
const OF_PHP: [u16; 5] = [400, 403, 406, 500, 501];

const GONE: &str = "the load agent is gone";

/// What a block is asked of: taken once for each visit.
struct Standing<'a> {
    request: &'a DeliveryRequest<'a>,
    delivery: &'a Delivery,
    instance: InstanceKey,
    /// The pool of its PHP, where it has one.
    pool: PoolKey,
}

#[derive(Debug)]
pub struct DeliveryExecutor {
    room: Room,
    files: Files,
    rigs: Rigs,
    idle_baselines: IdleBaselines,
    certificate: Option<Certificate>,
    /// One for each network of readers.
    agents: BTreeMap<NetworkPath, loading::LoadAgent>,
    /// Names of servers' programs, by which one that others run here is known.
    programs: Vec<String>,
    /// What is said from the begin of a block on.
    words: Words,
    interrupt: Interrupt,
}

impl DeliveryExecutor {
    /// Nothing is started before the first visit.
    pub fn new(
        plan: &Plan,
        definitions: &[Definition],
        room: Room,
        interrupt: Interrupt,
    ) -> Result<DeliveryExecutor> {
        let rigs = Rigs::new(definitions, plan, &room.logs)?;
        let files = Files::new(rigs.ground.folder(), &room.php_home, rigs.ground.user)?.with_own(plan);
        let (agents, idle_baselines) = (BTreeMap::new(), IdleBaselines::default());
        let programs = definitions.iter().flat_map(|one| one.programs.iter().cloned()).collect();
        Ok(DeliveryExecutor {
            room,
            files,
            rigs,
            idle_baselines,
            certificate: None,
            agents,
            programs,
            words: Words::default(),
            interrupt,
        })
    }

    /// The site that a cell is served from, with its files and its pool in place.
    fn site(&mut self, request: &DeliveryRequest<'_>, delivery: &Delivery) -> Result<Site> {
        let docroot = self.files.prepare(request.cell, request.payload, request.blob)?;
        let fpm = match request.cell.runtime.as_str() {
            NO_PHP => None,
            _ => Some(self.rigs.pool(&PoolKey::of(request.cell), &self.files)?.socket()),
        };
        let is_offloaded = matches!(delivery.kind, WayKind::Offload | WayKind::Transparent);
        let tls = match delivery.transport {
            Transport::Http => None,
            Transport::Https => Some(self.certificate()?),
        };
        Ok(Site {
            docroot,
            fpm,
            upstream: None,
            way: delivery.site.clone(),
            offload: is_offloaded.then(|| self.files.contents()),
            tls,
            cpus: self.rigs.ground.cores.server.clone(),
        })
    }

    fn certificate(&mut self) -> Result<Certificate> {
        if let Some(made) = &self.certificate {
            return Ok(made.clone());
        }
        let made = certificate::make(self.rigs.ground.folder())?;
        if let Some(user) = self.rigs.ground.user {
            [&made.chain, &made.key]
                .into_iter()
                .try_for_each(|file| user.give(file))
                .context("the certificate")?;
        }
        Ok(self.certificate.insert(made).clone())
    }

    fn block(&mut self, standing: &Standing<'_>) -> Result<DeliveryVisit, Failure> {
        let (request, delivery, instance) = (standing.request, standing.delivery, &standing.instance);
        let cell = request.cell;
        let fault = |error: anyhow::Error| start_failed(cell, &error);
        let names = files::instances(request.payload).into_iter().map(|file| file.name);
        let paths: Vec<String> = names.map(|name| self.path(standing, &name)).collect();
        let urls = paths.iter().map(|path| self.rigs.url(instance, path)).collect::<Result<_>>();
        let urls = urls.map_err(fault)?;
        let light = self.rigs.url(instance, url::LIGHT).map_err(fault)?;
        let digests = match cell.asks_for_payload() {
            true => self.files.digests(request.payload, request.blob).map_err(fault)?,
            false => Vec::new(),
        };
        let baseline = self.measure_idle(standing)?;
        let server = self.rigs.instance(instance).map_err(fault)?.group();
        self.words = Words::begin([&cell.runtime, &delivery.server].map(|name| self.rigs.ground.log(name)));
        let authority = instance.site.tls.as_ref().map(|tls| tls.chain.as_path());
        let mut load = match &delivery.slow {
            Some(slow) => fairness::plan(request, slow, (urls, light), authority),
            None => block::plan(request, urls, authority),
        };
        if let Some(host) = self.files.own_host(cell) {
            load.requests
                .iter_mut()
                .for_each(|asked| asked.headers.insert(0, ("Host".into(), host.to_owned())));
        }
        let dictionaries = self.files.dictionaries(cell, request.payload, request.blob).map_err(fault)?;
        for (asked, dictionary) in load.requests.iter_mut().zip(dictionaries) {
            asked.headers.push(deltas::offer(&dictionary));
            asked.dictionary = dictionary.to_vec();
        }
        load.cpus = self.rigs.ground.cores.client.clone();
        self.start_agent(&instance.over).map_err(fault)?;
        let link = self.rigs.measured(&instance.over).map_err(fault)?;
        let warm = request.fresh.then(|| block::warm_up(&load, standing.pool.workers)).flatten();
        let before = warm.map(|warm| self.ask(request, &warm, &instance.over)).transpose()?;
        if let Some(before) = &before
            && self.rigs.ended(instance, &standing.pool).is_some()
        {
            // Nobody is left to be metered, and nothing is started in the place of what has to be told of.
            return Ok(block::unmetered(before.clone(), &load));
        }
        let pool = self.rigs.pool_of(&instance.site, &standing.pool, &self.files).map_err(fault)?;
        let agent = self.agents.get_mut(&instance.over).ok_or_else(|| fault(anyhow!(GONE)))?;
        let php = pool.as_ref().map(|pool| pool.group());
        let meters = meters(server, pool.as_deref(), delivery);
        let (outcome, metered, seen) = meters.over(|| agent.run(&load, &mut |_| {}));
        let result = read_outcome(&mut self.agents, request, &instance.over, outcome)?;
        if metered.server.processes == 0 || metered.php.is_some_and(|php| php.processes == 0) {
            let message = format!("{}: nobody is left to be metered", cell.id);
            return Err(Failure::Fault(Fault::of_delivery(FaultKind::Crash, message)));
        }
        let metered = Metered { idle: baseline, ..metered };
        let wrong = block::wrong(&result.preflights, &digests);
        let mut visit = match &delivery.slow {
            Some(slow) => fairness::visit(result, slow, metered, &seen),
            None => block::visit(result, &load, metered),
        };
        if let Some(before) = before {
            block::after(&mut visit, before, &load);
        }
        if request.fresh {
            block::remember(&mut visit, server, php);
        }
        visit.preflight = wrong.unwrap_or(visit.preflight);
        visit.workers = seen.workers();
        visit.link = link.map(Box::new);
        if let Some(pool) = pool
            && OF_PHP.contains(&visit.preflight.status)
        {
            explain(&mut visit, pool, &instance.site.docroot, &paths[0]);
        }
        Ok(visit)
    }

    /// The path of an instance of a content.
    fn path(&self, Standing { request, delivery, .. }: &Standing<'_>, name: &str) -> String {
        let own = self.files.own_path(request.cell, request.payload, name);
        own.unwrap_or_else(|| url::path(request.cell, delivery, name, self.rigs.token()))
    }

    /// What the server and the pool of a cell use without load; they are watched first where that is not known.
    fn measure_idle(
        &mut self,
        Standing { request, delivery, instance, pool }: &Standing<'_>,
    ) -> Result<IdleBaseline, Failure> {
        let fault = |error: anyhow::Error| start_failed(request.cell, &error);
        let key = instance.site.fpm.is_some().then(|| (pool.clone(), is_watched(delivery)));
        if let Some(known) = self.idle_baselines.known(&instance.server, key.as_ref()) {
            return Ok(known);
        }
        let server = self.rigs.instance(instance).map_err(fault)?.group();
        let pool = self.rigs.pool_of(&instance.site, pool, &self.files).map_err(fault)?;
        let meters = meters(server, pool.as_deref(), delivery);
        let baseline = self.idle_baselines.measure(&instance.server, key.as_ref(), meters, &self.interrupt);
        baseline.ok_or(Failure::Interrupted)
    }

    /// Makes sure that there is a generator where readers are.
    fn start_agent(&mut self, over: &NetworkPath) -> Result<()> {
        if !self.agents.contains_key(over) {
            let log = self.room.logs.join("load.log");
            let made = loading::LoadAgent::start_in(self.rigs.near(over)?, &log, self.interrupt.clone());
            self.agents.insert(over.clone(), made.context("the load agent")?);
        }
        Ok(())
    }

    /// Lets a load agent carry out a load, outside of the meters.
    fn ask(
        &mut self,
        request: &DeliveryRequest<'_>,
        load: &LoadPlan,
        over: &NetworkPath,
    ) -> Result<LoadResult, Failure> {
        let agent = self.agents.get_mut(over).ok_or_else(|| start_failed(request.cell, &anyhow!(GONE)))?;
        let outcome = agent.run(load, &mut |_| {});
        read_outcome(&mut self.agents, request, over, outcome)
    }

    /// One block of requests to a server that others run: nothing of it is started or ended. If it runs here, it is metered, without what
    /// it does for others meanwhile.
    fn outside(&mut self, request: &DeliveryRequest<'_>, url: &str) -> Result<DeliveryVisit, Failure> {
        let load = block::plan(request, vec![url.to_owned()], None);
        self.start_agent(&NetworkPath::Outside).map_err(|error| start_failed(request.cell, &error))?;
        let Some(meters) = outside::meters(url, &self.programs) else {
            return Ok(block::unmetered(self.ask(request, &load, &NetworkPath::Outside)?, &load));
        };
        // Right before each block: others may ask it, too.
        let baseline = measure_idle(meters, &self.interrupt).ok_or(Failure::Interrupted)?;
        let (result, metered, _) = meters.over(|| self.ask(request, &load, &NetworkPath::Outside));
        Ok(block::visit(result?, &load, Metered { idle: baseline, ..metered }))
    }

    /// The next cell shall not find workers that still send to clients who have gone.
    fn settle(&mut self, pool_key: &PoolKey) -> Result<()> {
        if !fairness::settles(self.rigs.pool(pool_key, &self.files)?) {
            self.rigs.discard_pool(pool_key);
        }
        Ok(())
    }

    /// Asks the instance that has just been measured; none when that is not to be, or the user wants the run to end.
    fn negotiate(&mut self, standing: &Standing<'_>) -> Option<Negotiation> {
        let (request, instance) = (standing.request, &standing.instance);
        let first = files::instances(request.payload).into_iter().next()?;
        let path = self.path(standing, &first.name);
        let content = first.read(request.blob).ok()?;
        let url = self.rigs.instance(instance).ok()?.url(&path);
        let host = self.files.own_host(request.cell);
        let ask = || negotiation::ask(&url, host, &content, &self.interrupt);
        match self.rigs.near(&instance.over).ok()? {
            Some(network) => network.within(ask).ok()?,
            None => ask(),
        }
    }

    /// One block, and what is asked for after it.
    fn deliver(&mut self, request: &DeliveryRequest<'_>) -> Result<DeliveryVisit, Failure> {
        let cell = request.cell;
        let Some(delivery) = &cell.delivery else {
            return Err(Failure::fault(FaultKind::Parameter, format!("{}: it is no delivery", cell.id)));
        };
        if self.interrupt.is_set() {
            return Err(Failure::Interrupted);
        }
        if let Origin::Url { url } = &request.payload.origin {
            return self.outside(request, url);
        }
        let pool = PoolKey::of(cell);
        if request.fresh {
            // What others have left in it is not this way's.
            self.rigs.discard_pool(&pool);
        }
        let site = self.site(request, delivery).map_err(|e| start_failed(cell, &e))?;
        let instance = InstanceKey { server: delivery.server.clone(), site, over: NetworkPath::of(delivery) };
        if request.fresh {
            self.rigs.discard_instance(&instance);
        }
        self.words = Words::default();
        let standing = Standing { request, delivery, instance, pool };
        let mut result = self.block(&standing);
        let Standing { instance, pool, .. } = &standing;
        let ended = self.rigs.ended(instance, pool);
        if let Ok(visit) = &mut result
            && ended.is_none()
            && blame::is_sound(cell, visit, request.payload)
        {
            if request.negotiate && instance.over == NetworkPath::Loopback {
                visit.negotiation = self.negotiate(&standing).map(Box::new);
            }
            if delivery.slow.is_some() {
                self.settle(pool).map_err(|e| start_failed(cell, &e))?;
            }
            return result;
        }
        let said = self.words.said();
        // By now it is known, too, that something has just been killed.
        let ended = ended.or_else(|| self.rigs.ended(instance, pool));
        // Whatever state it is in, the next cell shall not have it.
        self.rigs.discard(instance, pool);
        blame::tell(result, cell, request.payload, &Traces { ended, said })
    }
}

impl Executor for DeliveryExecutor {
    fn remark(&self) -> Option<&str> {
        self.rigs.ground.remark.as_deref()
    }

    fn versions(&mut self, plan: &Plan, _live: &[usize]) -> Vec<Version> {
        let servers = self
            .rigs
            .servers()
            .iter()
            .filter_map(|found| Some(Version::of(&found.definition.name, found.version.clone()?)));
        servers.chain(php_versions(plan)).collect()
    }

    fn visit(&mut self, order: &VisitOrder<'_>) -> Result<VisitRecord, Failure> {
        self.deliver(&DeliveryRequest::of(order)).map(|visit| record(visit, order))
    }

    fn end(&mut self) {
        std::mem::take(&mut self.agents).into_values().for_each(loading::LoadAgent::end);
        self.rigs.end();
    }
}

/// The result of a load, or why there is none.
fn read_outcome(
    agents: &mut BTreeMap<NetworkPath, loading::LoadAgent>,
    request: &DeliveryRequest<'_>,
    over: &NetworkPath,
    outcome: Result<loading::BlockOutcome, loading::Failure>,
) -> Result<LoadResult, Failure> {
    if let Err(loading::Failure::Broken(_)) = outcome {
        // It is of no further use: the next visit has a new one.
        agents.remove(over);
    }
    let outcome = outcome.map_err(|failure| blame::refused(request.cell, request.payload, &failure))?;
    if outcome.interrupted { Err(Failure::Interrupted) } else { Ok(outcome.result) }
}

/// Whether a pool's workers are watched during a block: each reading costs the pool CPU time, and while a link takes its time, they would come
/// to more than the responses do.
fn is_watched(delivery: &Delivery) -> bool {
    delivery.link.is_none()
}

/// The meters of a server and its pool.
fn meters(
    server: Group,
    pool: Option<&fpm::Pool>,
    delivery: &Delivery,
) -> Meters<impl FnMut() -> Option<Reading> + Send + use<>> {
    let watched = pool.filter(|_| is_watched(delivery));
    let gauge = watched.and_then(|pool| gauge(pool, delivery.slow.is_some()));
    Meters { server, php: pool.map(|pool| pool.group()), gauge }
}

/// Why there is nothing to ask.
fn start_failed(cell: &Cell, error: &anyhow::Error) -> Failure {
    Failure::Fault(Fault::of_delivery(FaultKind::Start, format!("{}: {error:#}", cell.id)))
}

/// Puts what PHP has to say about a refusal beside the status: its scripts say it in one line.
fn explain(visit: &mut DeliveryVisit, pool: &fpm::Pool, docroot: &Path, path: &str) {
    let (script, query) = path.split_once('?').unwrap_or((path, ""));
    let script = docroot.join(script.trim_start_matches('/'));
    let said = pool.ask(&script, query).unwrap_or_default();
    if let Some(line) = blame::line_of_php(&said) {
        let message = format!("status {}: {line}", visit.preflight.status);
        visit.preflight.fault = Some(HttpFault::new(HttpFaultKind::Status, message));
    }
}
