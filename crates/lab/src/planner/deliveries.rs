//! The cells of a study's blocks of deliveries: every factor multiplied out, with a reason for each one left out.

mod stand;

use std::collections::HashMap;

use anyhow::{Context, Result, bail};

use crate::planner::build::{Ask, ContentSource, Gathered};
use crate::planner::forecast::{link_seconds, response_seconds};
use crate::planner::policy::affordable;
use crate::planner::ways::{Offer, WayRequest, offers};
use stand::{Stand, stands};
use weigh_model::cell::{Cell, NO_PHP};
use weigh_model::inventory::{Inventory, PoolEntry, ServerEntry};
use weigh_model::link::LinkSpec;
use weigh_model::plan::{Exclusion, Policy};
use weigh_model::setting::{Setting, SettingError};
use weigh_model::study::DeliveryBlock;
use weigh_model::study::client::NO_LINK;
use weigh_model::suggest::nearest_hint;

/// The word for all servers.
const EVERY_SERVER: &str = "*";
/// The word for every PHP.
const EVERY_PHP: &str = "php";

/// Bytes that slow clients take where buffers are deep: several times what the kernel holds for a connection.
const DEEP_BYTES: u64 = 20_000_000;

/// Gathers the cells of blocks.
pub(super) struct Deliveries<'a> {
    inventory: &'a Inventory,
    ask: &'a Ask,
    policy: &'a Policy,
    /// Where each cell stands, by id.
    seen: HashMap<String, usize>,
    pub(super) out: Gathered,
}

/// What the stands of a block say to a request for a way.
#[derive(Clone, Debug)]
enum Answer {
    /// None has the way.
    Nobody,
    /// Those that have it do not take its levels or options: why, first.
    Refused(String),
    /// One takes it at least, or would if it were here.
    Taken,
}

impl Answer {
    fn take(&mut self, refusal: Option<&SettingError>) {
        match (&self, refusal) {
            (_, None) => *self = Answer::Taken,
            (Answer::Nobody, Some(why)) => *self = Answer::Refused(why.to_string()),
            _ => {}
        }
    }
}

impl<'a> Deliveries<'a> {
    pub(super) fn new(inventory: &'a Inventory, ask: &'a Ask, policy: &'a Policy) -> Deliveries<'a> {
        Deliveries { inventory, ask, policy, seen: HashMap::new(), out: Gathered::default() }
    }

    pub(super) fn block(&mut self, block: &DeliveryBlock, contents: &mut ContentSource<'_>) -> Result<()> {
        let requests: Vec<WayRequest> =
            block.ways.iter().map(|w| WayRequest::parse(w)).collect::<Result<_, _>>()?;
        let (servers, pools, links) = (self.servers(block)?, self.pools(block)?, self.links(block)?);
        let mut answers = vec![Answer::Nobody; requests.len()];
        let narrow = self.inventory.no_network.is_none();
        let sizes: Vec<Option<u64>> = match (block.sizes.as_slice(), &block.slow) {
            (_, Some(_)) if !narrow => vec![Some(DEEP_BYTES)],
            ([], _) => vec![None],
            (sizes, _) => sizes.iter().map(|size| Some(*size)).collect(),
        };
        for (name, size) in block.content.iter().flat_map(|name| sizes.iter().map(move |s| (name, *s))) {
            for payload in contents(name, size)? {
                if size.is_some_and(|size| payload.bytes < size) {
                    let reason = format!("it has only {} bytes", payload.bytes);
                    self.exclude(payload.name, reason, None);
                    continue;
                }
                for stand in stands(block, &payload, &servers, &pools, narrow) {
                    for link in &links {
                        self.stand(Stand { link: *link, ..stand }, &requests, &mut answers)?;
                    }
                }
                if !self.out.payloads.iter().any(|p| p.name == payload.name) {
                    self.out.payloads.push(payload);
                }
            }
        }
        self.check_names(block, &requests, &answers, &servers)
    }

    fn servers(&mut self, block: &DeliveryBlock) -> Result<Vec<&'a ServerEntry>> {
        let inventory = self.inventory;
        let mut found: Vec<&ServerEntry> = Vec::new();
        for word in &block.servers {
            let named: Vec<_> =
                inventory.servers.iter().filter(|s| word == EVERY_SERVER || s.name == *word).collect();
            if named.is_empty() {
                let known = inventory.servers.iter().map(|s| s.name.as_str()).chain([EVERY_SERVER]);
                bail!("no server `{word}`{}", nearest_hint(word, known));
            }
            for server in named {
                match &server.missing {
                    Some(reason) => {
                        let cell = format!("{}/{}", block.content.join(","), server.name);
                        self.exclude(cell, reason.clone(), server.remedy.clone());
                    }
                    None if found.iter().any(|f| f.name == server.name) => {}
                    None => found.push(server),
                }
            }
        }
        Ok(found)
    }

    fn pools(&mut self, block: &DeliveryBlock) -> Result<Vec<Option<&'a PoolEntry>>> {
        let inventory = self.inventory;
        let mut found: Vec<Option<&PoolEntry>> = Vec::new();
        for word in &block.runtimes {
            if word == NO_PHP {
                found.push(None);
                continue;
            }
            let named: Vec<_> =
                inventory.pools.iter().filter(|p| word == EVERY_PHP || p.name == *word).collect();
            let place = format!("{}/*/{word}", block.content.join(","));
            if named.is_empty() && word == EVERY_PHP {
                let remedy = Some("apt install php-fpm".to_owned());
                self.exclude(place, "no PHP-FPM was found".into(), remedy);
            } else if named.is_empty() {
                let known = inventory.pools.iter().map(|p| p.name.as_str()).chain([EVERY_PHP, NO_PHP]);
                bail!("no PHP `{word}` to stand behind a server{}", nearest_hint(word, known));
            }
            for pool in named {
                match &pool.missing {
                    Some(reason) => {
                        let cell = format!("{}/*/{}", block.content.join(","), pool.name);
                        self.exclude(cell, reason.clone(), pool.remedy.clone());
                    }
                    None => found.push(Some(pool)),
                }
            }
        }
        Ok(found)
    }

    /// The links of a block; none: the machine's own loopback.
    fn links(&self, block: &DeliveryBlock) -> Result<Vec<Option<&'a LinkSpec>>> {
        let known = &self.inventory.links;
        let link = |text: &String| match text.as_str() {
            NO_LINK => Ok(None),
            text => {
                known.get(text).map(Some).with_context(|| format!("the link `{text}` was not looked for"))
            }
        };
        block.links.iter().map(link).collect()
    }

    /// The cells of a stand. A way that this server does not have is some other server's; so is a level.
    fn stand(&mut self, stand: Stand<'_>, requests: &[WayRequest], answers: &mut [Answer]) -> Result<()> {
        let offers = offers(stand.server, stand.pool, stand.block.subject.subject());
        let lack = stand.lack();
        if let Some(reason) = &lack {
            self.exclude(stand.place(), reason.clone(), None);
        }
        for (request, answer) in requests.iter().zip(answers) {
            let Some(offer) = request.choose(&offers) else { continue };
            let any = stand.id(offer, &Setting::bare(&offer.way.name));
            let settings = request.request.expand(&offer.way, &self.ask.levels);
            answer.take(settings.as_ref().err());
            if lack.is_some() {
                continue;
            }
            match (settings, &offer.way.missing) {
                (Err(refusal), _) => self.exclude(any, refusal.to_string(), None),
                (_, Some(reason)) => self.exclude(any, reason.clone(), offer.way.remedy.clone()),
                (Ok(settings), None) => {
                    settings.into_iter().try_for_each(|setting| self.cell(stand, offer, setting))?;
                }
            }
        }
        Ok(())
    }

    fn cell(&mut self, stand: Stand<'_>, offer: &Offer, setting: Setting) -> Result<()> {
        let (id, delivery) = (stand.id(offer, &setting), stand.delivery(offer, &setting));
        let bytes = stand.payload.bytes;
        let over = stand.link.map_or(0.0, |link| link_seconds(link, bytes));
        let made = response_seconds(&offer.way, setting.level, bytes, stand.pool.is_some());
        let expected_seconds = made + over;
        if let Err(exclusion) = affordable(&id, expected_seconds, self.policy, "response") {
            self.out.exclusions.push(exclusion);
            return Ok(());
        }
        if let Some(&at) = self.seen.get(&id) {
            let cell = &mut self.out.cells[at];
            if cell.delivery.as_ref().is_some_and(|d| d.accept != delivery.accept) {
                bail!("two blocks send another Accept-Encoding for the cell {id}; make two studies");
            }
            cell.keep |= stand.block.keep;
            if let Some(known) = &mut cell.delivery {
                known.negotiation |= delivery.negotiation;
            }
            return Ok(());
        }
        self.seen.insert(id.clone(), self.out.cells.len());
        self.out.cells.push(Cell {
            id,
            subject: stand.block.subject.subject(),
            payload: stand.payload.name.clone(),
            runtime: stand.runtime().to_owned(),
            serializer: None,
            setting,
            keep: stand.block.keep,
            expected_seconds,
            delivery: Some(delivery),
            client: None,
        });
        Ok(())
    }

    /// A way that no server of the block has is a typing error when nobody knows it, else left out with a reason.
    fn check_names(
        &mut self,
        block: &DeliveryBlock,
        requests: &[WayRequest],
        answers: &[Answer],
        servers: &[&ServerEntry],
    ) -> Result<()> {
        let of_servers = self.inventory.servers.iter().flat_map(|s| &s.ways);
        let of_pools = self.inventory.pools.iter().flat_map(|p| &p.ways);
        let mut known: Vec<&str> = of_servers.chain(of_pools).map(|w| w.name.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        // Where a server or a PHP of the block is not here, nobody can tell which names it would know.
        let nobody_missing = self.inventory.servers.iter().all(|s| s.missing.is_none())
            && self.inventory.pools.iter().all(|p| p.missing.is_none());
        for (request, answer) in requests.iter().zip(answers) {
            match answer {
                Answer::Taken => continue,
                Answer::Refused(why) => bail!("{why}"),
                Answer::Nobody => {}
            }
            let name = &request.request.name;
            if nobody_missing && !known.contains(&name.as_str()) {
                bail!("no way `{name}`{}", nearest_hint(name, known));
            }
            let names: Vec<_> = servers.iter().map(|s| s.name.as_str()).collect();
            if !names.is_empty() {
                let cell = format!("{}/*/{name}", block.content.join(","));
                let served = block.subject.subject().name();
                let reason = format!("no way `{name}` for a {served} on {}", names.join(", "));
                self.exclude(cell, reason, None);
            }
        }
        Ok(())
    }

    fn exclude(&mut self, cell: String, reason: String, remedy: Option<String>) {
        self.out.exclusions.push(Exclusion { cell, reason, remedy });
    }
}

#[cfg(test)]
mod tests;
