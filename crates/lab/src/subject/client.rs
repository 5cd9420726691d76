//! Clients of stores for real: a private store, or a user's, PHP workers that begin together, and the meters of both sides read right
//! before and right after.
//!
//! It owns the stores that it started until it is told to end; workers live for one block. It refuses to judge what came back: that is
//! the run's.

mod block;
mod crew;
mod stands;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::executor::{Failure, Standing, TransactRequest, Transactor};
use crate::interrupt::Interrupt;
use crate::rig::process::Invocation;
use crate::rig::process::WorkerSpec;
use crate::rig::runtime::{self, PhpRuntime};
use crate::rig::store::{StoreDefinition, StoreUrl};
use crew::Crew;
use stands::Stands;
use weigh_model::cell::Cell;
use weigh_model::client::{Client, Keys, ValueKind};
use weigh_model::plan::{Plan, Runtime};
use weigh_model::protocol::client::{Address, Encode, Prepare, ValueOf};
use weigh_model::protocol::{Fault, FaultKind};
use weigh_model::record::ClientVisit;

/// Seconds for connecting to a store, and for each of its answers.
const ANSWER: f64 = 10.0;

/// Where client cells may put things.
#[derive(Clone, Debug)]
pub struct Room {
    /// A folder for what stores and workers say.
    pub logs: PathBuf,
    /// The PHP side.
    pub php_home: PathBuf,
}

/// Carries out blocks of transactions.
#[derive(Debug)]
pub struct Tellers {
    plan: Plan,
    room: Room,
    stands: Stands,
    interrupt: Interrupt,
    last_id: u64,
}

impl Tellers {
    /// Nothing is started before the first visit. `urls` are the stores of the plan that others run.
    ///
    /// # Errors
    /// There is no folder for temporary files that can be written to.
    pub fn new(
        plan: &Plan,
        definitions: &[StoreDefinition],
        urls: Vec<StoreUrl>,
        room: Room,
        interrupt: Interrupt,
    ) -> Result<Tellers> {
        let stands = Stands::new(definitions, plan, urls, &room.logs)?;
        Ok(Tellers { plan: plan.clone(), room, stands, interrupt, last_id: 0 })
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// What every worker of a cell is told, but for its number.
    fn order(&mut self, request: &TransactRequest<'_>, client: &Client, address: Address) -> Prepare {
        let cell = request.cell;
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
                blob: of_file.then(|| request.blob.to_owned()),
                sha256: of_file.then(|| request.payload.sha256.clone()),
            },
            encode,
            keys: client.keys,
            prefix: self.stands.prefix().to_owned(),
            worker: 0,
            workers: client.workers,
            seed: request.seed,
            transactions: client.transactions,
            write_every: client.mix.write_every,
            rate: client.rate.map(|rate| rate / f64::from(client.workers)),
        }
    }

    fn spec(&self, runtime: &Runtime, client: &Client) -> Result<WorkerSpec> {
        let binary = runtime.binary.as_ref();
        let binary = binary.with_context(|| format!("the plan has no PHP {}", runtime.name))?;
        let ini: Vec<String> = runtime.ini.iter().cloned().chain(self.stands.ini(client)).collect();
        Ok(worker(&runtime.name, binary, &ini, &self.room.php_home, self.log(&runtime.name)))
    }

    fn log(&self, name: &str) -> PathBuf {
        self.room.logs.join(format!("{}.log", name.replace('/', "-")))
    }

    /// One block, with what else its workers are started with; also their process ids.
    fn block(
        &mut self,
        request: &TransactRequest<'_>,
        client: &Client,
        on: &Invocation,
    ) -> Result<(ClientVisit, Vec<u32>), Failure> {
        let cell = request.cell;
        let fault = |error: anyhow::Error| start(cell, &error);
        let runtime = self.plan.runtimes.iter().find(|r| r.name == cell.runtime).cloned();
        let runtime =
            runtime.with_context(|| format!("the plan has no runtime {}", cell.runtime)).map_err(fault)?;
        let mut spec = self.spec(&runtime, client).map_err(fault)?;
        let stand = self.stands.stand(client).map_err(fault)?;
        spec.network.clone_from(&stand.network);
        let spec = spec.under(on);
        let order = self.order(request, client, stand.address.clone());
        let deadline = Instant::now() + request.limit;
        let settled = Instant::now() + stand.settle;
        let (mut crew, prepared) =
            Crew::ready(&spec, (client.workers, &order), (settled, deadline), &self.interrupt)
                .map_err(|failure| self.tell(cell, failure))?;
        let before = stand.group.map(|group| group.usage());
        let done = crew.go(self.next_id()).map_err(|failure| self.tell(cell, failure))?;
        let store = stand.group.zip(before).map(|(group, before)| group.usage().since(&before));
        let mut visit =
            block::visit(&done, &prepared, store).map_err(|why| failed(cell, FaultKind::Garbage, &why))?;
        visit.link = stand.link.clone().map(Box::new);
        visit.server_pss = stand.group.and_then(|group| group.pss_bytes());
        for (worker, pss) in visit.workers.iter_mut().zip(crew.pss()) {
            worker.pss = pss;
        }
        let aborted = done.iter().find_map(|done| done.aborted.clone());
        let cleaned = if stand.is_others { crew.clean(self.next_id()).map(|_| ()) } else { Ok(()) };
        let ids = crew.ids();
        crew.end();
        // Where transactions fail, so does clearing up; what is said of the first is the cause.
        let outcome = aborted.map_or(cleaned, |why| Err(failed(cell, FaultKind::Response, &why)));
        outcome.map(|()| (visit, ids)).map_err(|failure| self.tell(cell, failure))
    }

    /// One block by one worker under a profiler, or plainly: what it came to, and the worker's process id. It is no visit: nothing of it
    /// is recorded.
    ///
    /// # Errors
    /// [`Failure`], as of a visit.
    pub fn alone(
        &mut self,
        request: &TransactRequest<'_>,
        transactions: u64,
        on: &Invocation,
    ) -> Result<(ClientVisit, u32), Failure> {
        let Some(client) = &request.cell.client else {
            return Err(start(request.cell, &anyhow::anyhow!("it is no client")));
        };
        let client =
            Client { workers: 1, transactions: transactions.min(client.transactions), ..client.clone() };
        let (visit, ids) = self.block(request, &client, on)?;
        Ok((visit, ids.first().copied().unwrap_or_default()))
    }

    /// A fault with its cause: how the store ended, when it did.
    fn tell(&mut self, cell: &Cell, failure: Failure) -> Failure {
        let Failure::Fault(fault) = failure else { return failure };
        let ended = cell.client.as_ref().and_then(|client| self.stands.ended(client));
        let (kind, message) = match ended {
            Some(how) => (FaultKind::Crash, format!("{how} ({})", fault.message)),
            None => (fault.kind, fault.message),
        };
        let message = if message.starts_with(&cell.id) { message } else { format!("{}: {message}", cell.id) };
        Failure::Fault(Fault { kind, message, remedy: fault.remedy })
    }
}

impl Transactor for Tellers {
    fn versions(&mut self, plan: &Plan) -> Vec<Standing> {
        let stores = self.stands.versions();
        let php = plan.runtimes.iter().filter_map(|runtime| {
            let php = PhpRuntime::of(runtime.binary.as_ref()?).ok()?;
            Some(Standing { name: runtime.name.clone(), version: php.version })
        });
        stores.into_iter().chain(php).collect()
    }

    fn transact(&mut self, request: &TransactRequest<'_>) -> Result<ClientVisit, Failure> {
        let cell = request.cell;
        let Some(client) = &cell.client else {
            return Err(failed(cell, FaultKind::Parameter, "it is no client"));
        };
        if self.interrupt.is_set() {
            return Err(Failure::Interrupted);
        }
        let result = self.block(request, client, &Invocation::default()).map(|(visit, _)| visit);
        // What new keys hold would fill the store; and whatever state it is in after a fault, the next cell shall not have it.
        if result.is_err() || client.keys == Keys::New {
            self.stands.discard(client);
        }
        result
    }

    fn end(&mut self) {
        self.stands.end();
    }
}

/// How to start a client worker on a PHP.
pub fn worker(
    name: &str,
    binary: &std::path::Path,
    ini: &[String],
    php_home: &std::path::Path,
    log: PathBuf,
) -> WorkerSpec {
    let mut command = runtime::command(binary).into_iter();
    let program = command.next().unwrap_or_else(|| binary.into());
    let ini = ini.iter().flat_map(|setting| ["-d".into(), setting.into()]);
    let arguments = command.chain(ini).chain(runtime::worker_arguments(&php_home.join("client.php")));
    WorkerSpec::program(name, program, arguments.collect(), log)
}

/// Why there is nobody to speak with.
fn start(cell: &Cell, error: &anyhow::Error) -> Failure {
    failed(cell, FaultKind::Start, &format!("{error:#}"))
}

fn failed(cell: &Cell, kind: FaultKind, why: &str) -> Failure {
    Failure::Fault(Fault { kind, message: format!("{}: {why}", cell.id), remedy: None })
}
