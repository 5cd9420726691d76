//! From a study to a plan: every block's factors multiplied out, with a reason for each cell left out.

use std::collections::HashSet;

use anyhow::{Result, bail};

use super::used;
use crate::planner::clients::Clients;
use crate::planner::deliveries::Deliveries;
use crate::planner::forecast::one_pass_seconds;
use crate::planner::names::{self, BYTES};
use crate::planner::policy::{affordable, policy};
use weigh_model::cell::{Cell, Subject};
use weigh_model::inventory::{Inventory, NATIVE, RuntimeEntry};
use weigh_model::payload::Payload;
use weigh_model::plan::{Exclusion, Plan, Policy};
use weigh_model::protocol::CodecDescription;
use weigh_model::setting::{LevelRequest, Request, Setting};
use weigh_model::study::{CellBlock, Study};
use weigh_model::suggest::nearest_hint;

/// What the user asked for beside the study.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The quick form.
    pub quick: bool,
    /// Seed of every random choice.
    pub seed: u64,
    /// Another budget than the study's, in seconds.
    pub budget_seconds: Option<f64>,
    /// Measure everything to the last round.
    pub exhaustive: bool,
    /// Levels where a request says nothing of them.
    pub levels: LevelRequest,
}

impl Default for Ask {
    fn default() -> Self {
        Ask {
            quick: false,
            seed: 1,
            budget_seconds: None,
            exhaustive: false,
            levels: LevelRequest::Representative,
        }
    }
}

/// Gives the payloads a content name stands for: for codecs cut into items of the given size when one is given, for deliveries
/// cut off after as many bytes.
pub type ContentSource<'a> = dyn FnMut(&str, Option<u64>) -> Result<Vec<Payload>> + 'a;

/// Builds the plan of a study. Measures nothing.
///
/// # Errors
/// A name that nothing answers to (content, runtime, serializer, codec, set), a level or an option that a codec
/// does not take. What exists but cannot run here is an [`Exclusion`], not an error.
pub fn build(
    study: &Study,
    ask: &Ask,
    inventory: &Inventory,
    contents: &mut ContentSource<'_>,
) -> Result<Plan> {
    let policy = policy(study, ask);
    let (is_delivery, is_client) = (!study.deliveries.is_empty(), study.is_client());
    let gathered = if is_client {
        let blocks = if ask.quick { study.quick_clients() } else { study.clients.clone() };
        let mut clients = Clients::new(inventory, ask, &policy);
        blocks.iter().try_for_each(|block| clients.block(block, contents))?;
        clients.out
    } else if is_delivery {
        let blocks = if ask.quick { study.quick_deliveries() } else { study.deliveries.clone() };
        let mut deliveries = Deliveries::new(inventory, ask, &policy);
        blocks.iter().try_for_each(|block| deliveries.block(block, contents))?;
        deliveries.out
    } else {
        let blocks = if ask.quick { study.quick_cells() } else { study.cells.clone() };
        let mut builder =
            Builder { inventory, ask, policy: &policy, seen: HashSet::new(), out: Gathered::default() };
        blocks.iter().try_for_each(|block| builder.block(block, contents))?;
        builder.out
    };
    let Gathered { payloads, cells, mut exclusions } = gathered;
    let mut once = HashSet::new();
    exclusions.retain(|e| once.insert((e.cell.clone(), e.reason.clone())));
    let of_cells = match (is_client, is_delivery) {
        (true, _) => used::clients,
        (_, true) => used::pools,
        _ => used::runtimes,
    };
    let runtimes = of_cells(&cells, inventory);
    let (servers, stores) = (used::servers(&cells, inventory), used::stores(&cells, inventory));
    let links = used::links(&cells, inventory);
    Ok(Plan {
        study: study.text(),
        seed: ask.seed,
        policy,
        payloads,
        runtimes,
        servers,
        stores,
        links,
        cells,
        exclusions,
    })
}

/// What blocks come to.
#[derive(Default)]
pub(super) struct Gathered {
    pub payloads: Vec<Payload>,
    pub cells: Vec<Cell>,
    pub exclusions: Vec<Exclusion>,
}

struct Builder<'a> {
    inventory: &'a Inventory,
    ask: &'a Ask,
    policy: &'a Policy,
    seen: HashSet<String>,
    out: Gathered,
}

impl Builder<'_> {
    fn block(&mut self, block: &CellBlock, contents: &mut ContentSource<'_>) -> Result<()> {
        let requests: Vec<Request> =
            block.codecs.iter().map(|c| Request::parse(c)).collect::<Result<_, _>>()?;
        let runtimes = self.runtimes(block)?;
        // Where a runtime of the block is not here, nobody can tell which names it would know.
        if block.runtimes.iter().all(|word| !self.inventory.select(word).is_empty()) {
            names::check(block, &requests, &runtimes)?;
        }
        for name in &block.content {
            for payload in contents(name, block.block_bytes)? {
                for runtime in &runtimes {
                    for serializer in &block.serializers {
                        self.settings(block, &payload, runtime, serializer, &requests)?;
                    }
                }
                if !self.out.payloads.iter().any(|p| p.name == payload.name) {
                    self.out.payloads.push(payload);
                }
            }
        }
        Ok(())
    }

    fn runtimes(&mut self, block: &CellBlock) -> Result<Vec<RuntimeEntry>> {
        let mut found = Vec::new();
        for word in &block.runtimes {
            let selected = self.inventory.select(word);
            if selected.is_empty() && !self.inventory.names().contains(&word.as_str()) {
                bail!("no runtime `{word}`{}", nearest_hint(word, self.inventory.names()));
            }
            if selected.is_empty() {
                self.exclude(
                    format!("{}/{word}", block.content.join(",")),
                    "no PHP was found".into(),
                    Some("apt install php-cli, or name a binary with --php BINARY".into()),
                );
            }
            found.extend(selected.into_iter().cloned());
        }
        Ok(found)
    }

    fn settings(
        &mut self,
        block: &CellBlock,
        payload: &Payload,
        runtime: &RuntimeEntry,
        serializer: &str,
        requests: &[Request],
    ) -> Result<()> {
        let serializer = (serializer != BYTES).then_some(serializer);
        let place = Cell::make_id(&payload.name, &runtime.name, serializer, &Setting::bare("*"));
        if let Some(name) = serializer
            && let Some((reason, remedy)) = serializer_refused(name, payload, runtime)
        {
            self.exclude(place, reason, remedy);
            return Ok(());
        }
        for request in requests {
            for codec in self.codecs_of(request, runtime, &place) {
                if codec.takes_value && payload.value.is_none() {
                    self.exclude(
                        id_of(payload, runtime, None, &codec),
                        "takes a PHP value, not bytes".into(),
                        None,
                    );
                    continue;
                }
                // A marshaller serializes by itself: its cell has no serializer and is named once.
                let serializer = serializer.filter(|_| !codec.takes_value);
                for setting in request.expand(&codec, &self.ask.levels)? {
                    self.cell(block, payload, runtime, serializer, &codec, setting);
                }
            }
        }
        Ok(())
    }

    /// The available codecs that a request names on this runtime; the others become exclusions.
    fn codecs_of(&mut self, request: &Request, runtime: &RuntimeEntry, place: &str) -> Vec<CodecDescription> {
        let all = &runtime.description.codecs;
        let named: Vec<_> = match request.set() {
            Some("all") => all.iter().collect(),
            Some(set) => all.iter().filter(|c| c.sets.iter().any(|s| s == set)).collect(),
            None => all.iter().filter(|c| c.name == request.name).collect(),
        };
        if named.is_empty() && request.set().is_none() {
            let reason = format!("{} has no codec `{}`", runtime.name, request.name);
            self.exclude(place.replace('*', &request.name), reason, None);
        }
        let (missing, there): (Vec<_>, Vec<_>) = named.into_iter().partition(|c| c.missing.is_some());
        for codec in missing {
            let reason = codec.missing.clone().unwrap_or_default();
            self.exclude(place.replace('*', &codec.name), reason, codec.remedy.clone());
        }
        there.into_iter().cloned().collect()
    }

    fn cell(
        &mut self,
        block: &CellBlock,
        payload: &Payload,
        runtime: &RuntimeEntry,
        serializer: Option<&str>,
        codec: &CodecDescription,
        setting: Setting,
    ) {
        let id = Cell::make_id(&payload.name, &runtime.name, serializer, &setting);
        let expected_seconds = one_pass_seconds(codec, setting.level, payload.bytes);
        if let Err(exclusion) = affordable(&id, expected_seconds, self.policy, "call") {
            self.out.exclusions.push(exclusion);
            return;
        }
        if !self.seen.insert(id.clone()) {
            if let Some(cell) = self.out.cells.iter_mut().find(|c| c.id == id) {
                cell.keep |= block.keep;
            }
            return;
        }
        let subject = if runtime.name == NATIVE { Subject::Codec } else { Subject::PhpCodec };
        self.out.cells.push(Cell {
            id,
            subject,
            payload: payload.name.clone(),
            runtime: runtime.name.clone(),
            serializer: serializer.map(str::to_owned),
            setting,
            keep: block.keep,
            expected_seconds,
            delivery: None,
            client: None,
        });
    }

    fn exclude(&mut self, cell: String, reason: String, remedy: Option<String>) {
        self.out.exclusions.push(Exclusion { cell, reason, remedy });
    }
}

fn id_of(
    payload: &Payload,
    runtime: &RuntimeEntry,
    serializer: Option<&str>,
    codec: &CodecDescription,
) -> String {
    Cell::make_id(&payload.name, &runtime.name, serializer, &Setting::bare(&codec.name))
}

fn serializer_refused(
    name: &str,
    payload: &Payload,
    runtime: &RuntimeEntry,
) -> Option<(String, Option<String>)> {
    if runtime.name == NATIVE {
        return Some(("PHP values are serialized by PHP only".into(), None));
    }
    if payload.value.is_none() {
        return Some((format!("{} is not a PHP value", payload.name), None));
    }
    match runtime.serializer(name) {
        None => Some((format!("{} has no serializer `{name}`", runtime.name), None)),
        Some(s) => s.missing.clone().map(|reason| (reason, s.remedy.clone())),
    }
}
