//! Clients of stores for real: a private store, or a user's, PHP workers that begin together, and the meters of both sides read right
//! before and right after.
//!
//! It owns the stores that it started until it is told to end; workers live for one block. It refuses to judge what
//! came back.

mod block;
pub mod look;
mod plan;
mod store_instances;
pub mod study;
mod visit;
mod worker_group;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};

use super::{Planned, Room, Subject, Surroundings, php_versions};
use crate::draft::{ContentSource, Draft};
use crate::executor::{Executor, Failure, Version, VisitOrder};
use crate::lab::{Home, Stager};
use crate::state::History;
use crate::study::block::in_form;
use crate::study::{Blocks, Study};
use store_instances::StoreInstances;
use weigh_answer::report::shape::Shape;
use weigh_answer::subject::client;
use weigh_model::cell::Cell;
use weigh_model::client::{Client, Keys, ValueKind};
use weigh_model::inventory::{Inventory, RuntimeEntry};
use weigh_model::payload::Payload;
use weigh_model::plan::{Plan, Runtime};
use weigh_model::protocol::client::{Address, Encode, Prepare, ValueOf};
use weigh_model::protocol::{Fault, FaultKind};
use weigh_model::record::{ClientVisit, VisitRecord};
use weigh_os::interrupt::Interrupt;
use weigh_os::process::{Invocation, WorkerSpec};
use weigh_rig::runtime;
use weigh_rig::service::FolderDefinition;
use weigh_rig::store::{StoreDefinition, StoreUrl};
use worker_group::WorkerGroup;

/// Seconds for connecting to a store, and for each of its answers.
const ANSWER: f64 = 10.0;

/// Transactions of a block under a profiler at most: each call of a function is written down.
const TRANSACTIONS_ALONE: u64 = 2000;
/// What a transaction with a store costs beside its bytes, in seconds.
const TRANSACTION_SECONDS: f64 = 0.00004;
/// Bytes per second that go to a store and through a codec, roughly.
const STORED: (f64, f64) = (500e6, 60e6);
/// What a visit to a client costs beside its block: workers, connections, the warm-up, now and then the start of a store.
const CLIENT_SECONDS: f64 = 0.35;

pub struct Clients;

impl Planned for Clients {
    fn blocks(&self) -> Blocks {
        Blocks::Clients
    }

    fn look(&self, home: &Home, inventory: &mut Inventory, studies: &[&Study]) -> Result<()> {
        look::stores(home, inventory, studies)
    }

    fn runtimes<'i>(&self, inventory: &'i Inventory) -> &'i [RuntimeEntry] {
        &inventory.clients
    }

    fn stage(&self, stager: &mut Stager<'_>, name: &str, bytes: Option<u64>) -> Result<Vec<Payload>> {
        if plan::is_made(name) { Ok(vec![stager.made(name)?]) } else { stager.families(name, bytes) }
    }

    fn plan(&self, study: &Study, draft: &mut Draft<'_>, contents: &mut ContentSource<'_>) -> Result<()> {
        let blocks = in_form(&study.clients, draft.options.quick);
        blocks.iter().try_for_each(|block| plan::block(draft, block, contents))
    }

    fn columns(&self) -> &'static [&'static str] {
        &["content", "client", "PHP", "cells", "work"]
    }

    fn overview(&self, cell: &Cell, _bytes: u64) -> (Vec<String>, String) {
        let Some(client) = &cell.client else { return (vec![cell.payload.clone()], String::new()) };
        let work = if client.encoded { cell.setting.codec.clone() } else { client.work() };
        (vec![cell.payload.clone(), client.place(), cell.runtime.clone()], work)
    }
}

impl Subject for Clients {
    fn shape(&self) -> &'static Shape {
        &client::SHAPE
    }

    fn visit_seconds(&self, cell: &Cell, _past: &History, pass: f64) -> f64 {
        cell.client.as_ref().map_or(pass, |client| block_seconds(pass, client))
    }

    /// What a client costs is shown, and none beats another.
    fn do_the_same(&self, _plan: &Plan, _a: &Cell, _b: &Cell) -> bool {
        false
    }

    fn is_profiled(&self, _cell: &Cell) -> bool {
        true
    }

    fn has_counterparts(&self, _plan: &Plan) -> bool {
        true
    }

    fn judge(&self, cell: &Cell, _payload: &Payload, visit: &VisitRecord) -> Result<(), Fault> {
        visit.client.as_deref().map_or(Ok(()), |visit| visit::judge(cell, visit))
    }

    fn executor(&self, plan: &Plan, around: &Surroundings<'_>) -> Result<Box<dyn Executor>> {
        let definitions = StoreDefinition::load(&around.home.definitions)?;
        let urls = store_urls(plan, around.stores, &definitions)?;
        Ok(Box::new(ClientExecutor::new(plan, &definitions, urls, around.room()?, around.interrupt.clone())?))
    }
}

/// Expected seconds of wall time per transaction, of all workers together.
fn transaction_seconds(bytes: u64, client: &Client) -> f64 {
    let rate = if client.encoded { STORED.1 } else { STORED.0 };
    // Those that work at the same time share what processors there are.
    let closed = (TRANSACTION_SECONDS + bytes as f64 / rate) / f64::from(client.workers.min(2));
    client.rate.map_or(closed, |rate| closed.max(1.0 / rate))
}

/// Expected seconds of wall time of a visit to a client whose transactions take this many seconds each.
fn block_seconds(transaction_seconds: f64, client: &Client) -> f64 {
    transaction_seconds * (client.transactions * u64::from(client.workers)) as f64 + CLIENT_SECONDS
}

/// The stores of a plan that others run: as the user names them now, else as the plan does, which knows no password.
fn store_urls(plan: &Plan, stores: &[String], definitions: &[StoreDefinition]) -> Result<Vec<StoreUrl>> {
    let given = stores.iter().filter(|text| text.contains("://"));
    let given: Vec<StoreUrl> = given.map(|text| StoreUrl::parse(text, definitions)).collect::<Result<_>>()?;
    let named = plan.stores.iter().filter_map(|store| store.url.as_ref());
    named
        .map(|url| match given.iter().find(|g| g.to_string() == *url) {
            Some(given) => Ok(given.clone()),
            None => StoreUrl::parse(url, definitions),
        })
        .collect()
}

/// Carries out blocks of transactions.
#[derive(Debug)]
pub struct ClientExecutor {
    plan: Plan,
    room: Room,
    stores: StoreInstances,
    interrupt: Interrupt,
    last_id: u64,
}

impl ClientExecutor {
    /// Nothing is started before the first visit. `urls` are the stores of the plan that others run.
    pub fn new(
        plan: &Plan,
        definitions: &[StoreDefinition],
        urls: Vec<StoreUrl>,
        room: Room,
        interrupt: Interrupt,
    ) -> Result<ClientExecutor> {
        let stores = StoreInstances::new(definitions, plan, urls, &room.logs)?;
        Ok(ClientExecutor { plan: plan.clone(), room, stores, interrupt, last_id: 0 })
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// What every worker of a cell is told, but for its number.
    fn prepare(&mut self, order: &VisitOrder<'_>, client: &Client, address: Address) -> Prepare {
        let cell = order.cell();
        let of_file = matches!(client.value, ValueKind::Text | ValueKind::Value);
        let encode = client.encoded.then(|| Encode {
            serializer: cell.serializer.clone(),
            codec: cell.setting.codec.clone(),
            level: cell.setting.level,
            options: cell.setting.options.clone(),
        });
        Prepare {
            id: self.next_id(),
            store: client.store.clone(),
            driver: client.driver.clone(),
            address,
            timeout: ANSWER,
            value: ValueOf {
                kind: client.value,
                blob: of_file.then(|| order.blob.to_owned()),
                sha256: of_file.then(|| order.payload.sha256.clone()),
                items: if of_file { order.payload.items.clone() } else { Vec::new() },
            },
            encode,
            keys: client.keys,
            prefix: self.stores.prefix().to_owned(),
            worker: 0,
            workers: client.workers,
            seed: order.plan.seed ^ (u64::from(order.round) << 32),
            transactions: client.transactions,
            write_every: client.mix.write_every,
            rate: client.rate.map(|rate| rate / f64::from(client.workers)),
        }
    }

    fn spec(&self, planned: &Runtime, client: &Client) -> Result<WorkerSpec> {
        let binary = planned.binary.as_ref();
        let binary = binary.with_context(|| format!("the plan has no PHP {}", planned.name))?;
        let ini: Vec<String> = planned.ini.iter().cloned().chain(self.stores.ini(client)).collect();
        let script = self.room.php_home.join("client.php");
        Ok(runtime::worker(&planned.name, binary, &ini, &script, self.log(&planned.name)))
    }

    fn log(&self, name: &str) -> PathBuf {
        self.room.logs.join(format!("{}.log", name.replace('/', "-")))
    }

    /// One block, with what else its workers are started with; also their process ids.
    fn block(
        &mut self,
        order: &VisitOrder<'_>,
        client: &Client,
        on: &Invocation,
    ) -> Result<(ClientVisit, Vec<u32>), Failure> {
        let cell = order.cell();
        let fault = |error: anyhow::Error| start_failed(cell, &error);
        let runtime = self.plan.runtimes.iter().find(|r| r.name == cell.runtime).cloned();
        let runtime =
            runtime.with_context(|| format!("the plan has no runtime {}", cell.runtime)).map_err(fault)?;
        let mut spec = self.spec(&runtime, client).map_err(fault)?;
        let handle = self.stores.handle(client).map_err(fault)?;
        spec.network.clone_from(&handle.network);
        let spec = spec.under(on);
        let prepare = self.prepare(order, client, handle.address.clone());
        let deadline = Instant::now() + order.limit;
        let settled = Instant::now() + handle.settle;
        let (mut group, prepared) =
            WorkerGroup::ready(&spec, (client.workers, &prepare), (settled, deadline), &self.interrupt)
                .map_err(|failure| self.tell(cell, failure))?;
        let before = handle.group.map(|group| group.usage());
        let done = group.go(self.next_id()).map_err(|failure| self.tell(cell, failure))?;
        let store = handle.group.zip(before).map(|(group, before)| group.usage().since(&before));
        let mut visit =
            block::visit(&done, &prepared, store).map_err(|why| failed(cell, FaultKind::Garbage, &why))?;
        visit.link = handle.link.clone().map(Box::new);
        visit.server_pss = handle.group.and_then(|group| group.pss_bytes());
        for (worker, pss) in visit.workers.iter_mut().zip(group.pss()) {
            worker.pss = pss;
        }
        let aborted = done.iter().find_map(|done| done.aborted.clone());
        let cleaned = if handle.is_others { group.clean(self.next_id()).map(|_| ()) } else { Ok(()) };
        let ids = group.ids();
        group.end();
        // Where transactions fail, so does clearing up; what is said of the first is the cause.
        let outcome = aborted.map_or(cleaned, |why| Err(failed(cell, FaultKind::Response, &why)));
        outcome.map(|()| (visit, ids)).map_err(|failure| self.tell(cell, failure))
    }

    /// A fault with its cause: how the store ended, when it did.
    fn tell(&mut self, cell: &Cell, failure: Failure) -> Failure {
        let Failure::Fault(fault) = failure else { return failure };
        let ended = cell.client.as_ref().and_then(|client| self.stores.ended(client));
        let (kind, message) = match ended {
            Some(how) => (FaultKind::Crash, format!("{how} ({})", fault.message)),
            None => (fault.kind, fault.message),
        };
        let message = if message.starts_with(&cell.id) { message } else { format!("{}: {message}", cell.id) };
        Failure::Fault(Fault { kind, message, remedy: fault.remedy })
    }
}

impl Executor for ClientExecutor {
    fn remark(&self) -> Option<&str> {
        self.stores.ground.remark.as_deref()
    }

    fn versions(&mut self, plan: &Plan, _live: &[usize]) -> Vec<Version> {
        self.stores.versions().into_iter().chain(php_versions(plan)).collect()
    }

    fn visit(&mut self, order: &VisitOrder<'_>) -> Result<VisitRecord, Failure> {
        let client = client_of(order.cell())?;
        if self.interrupt.is_set() {
            return Err(Failure::Interrupted);
        }
        let result = self.block(order, client, &Invocation::default());
        // What new keys hold would fill the store; and whatever state it is in after a fault, the next cell shall not have it.
        if result.is_err() || client.keys == Keys::New {
            self.stores.discard(client);
        }
        result.map(|(visit, _)| visit::record(visit, order))
    }

    fn alone(&mut self, order: &VisitOrder<'_>, on: &Invocation) -> Result<(f64, u32), Failure> {
        let client = client_of(order.cell())?;
        let transactions = TRANSACTIONS_ALONE.min(client.transactions);
        let client = Client { workers: 1, transactions, ..client.clone() };
        let (visit, ids) = self.block(order, &client, on)?;
        let seconds = (visit.client_user_ns + visit.client_system_ns) as f64 / 1e9;
        Ok((seconds, ids.first().copied().unwrap_or_default()))
    }

    fn end(&mut self) {
        self.stores.end();
    }
}

fn client_of(cell: &Cell) -> Result<&Client, Failure> {
    cell.client.as_ref().ok_or_else(|| failed(cell, FaultKind::Parameter, "it is no client"))
}

/// Why there is nothing to speak with.
fn start_failed(cell: &Cell, error: &anyhow::Error) -> Failure {
    failed(cell, FaultKind::Start, &format!("{error:#}"))
}

fn failed(cell: &Cell, kind: FaultKind, why: &str) -> Failure {
    Failure::fault(kind, format!("{}: {why}", cell.id))
}
