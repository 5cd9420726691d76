//! The cells of a study's blocks of deliveries: every factor multiplied out, with a reason for each one left out.

use anyhow::{Context, Result, bail};

use super::forecast::{link_seconds, response_seconds};
use super::study::DeliveryBlock;
use super::ways::{Offer, WayRequest, offers};
use crate::draft::{ContentSource, Draft, EVERY, unknown};
use crate::study::block::NO_LINK;
use weigh_model::cell::{Cell, Delivery, NO_PHP, Slow, Transport};
use weigh_model::inventory::{Inventory, Listed, PHP, RuntimeEntry, ServerEntry};
use weigh_model::link::LinkSpec;
use weigh_model::payload::Payload;
use weigh_model::setting::{Setting, SettingError};
use weigh_model::suggest::nearest_hint;

/// Bytes that slow clients take where buffers are deep: several times what the kernel holds for a connection.
const DEEP_BYTES: u64 = 20_000_000;

/// Where cells stand: one value for each factor of a block but the way.
#[derive(Clone, Copy)]
struct DeliveryFactors<'s> {
    block: &'s DeliveryBlock,
    payload: &'s Payload,
    server: &'s ServerEntry,
    pool: Option<&'s RuntimeEntry>,
    transport: Transport,
    connections: u32,
    /// Milliseconds between requests; none: each follows the one before.
    every_ms: Option<u32>,
    /// Slow clients, and whether there is a network whose buffers are small.
    slow: Option<(u32, bool)>,
    /// What responses go over; none: the machine's own loopback.
    link: Option<&'s LinkSpec>,
}

/// What the factors of a block say to a request for a way.
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

/// Takes the cells of a block in.
///
/// # Errors
/// A name that nothing answers to, a level or an option that a way does not take.
pub fn block(draft: &mut Draft<'_>, block: &DeliveryBlock, contents: &mut ContentSource<'_>) -> Result<()> {
    let requests: Vec<WayRequest> =
        block.ways.iter().map(|w| WayRequest::parse(w)).collect::<Result<_, _>>()?;
    let (servers, pools) = (servers(draft, block)?, pools(draft, block)?);
    let links = links(draft.inventory, block)?;
    let mut answers = vec![Answer::Nobody; requests.len()];
    let narrow = draft.inventory.no_network.is_none();
    let sizes: Vec<Option<u64>> = match (block.sizes.as_slice(), &block.slow) {
        (_, Some(_)) if !narrow => vec![Some(DEEP_BYTES)],
        ([], _) => vec![None],
        (sizes, _) => sizes.iter().map(|size| Some(*size)).collect(),
    };
    for (name, size) in block.content.iter().flat_map(|name| sizes.iter().map(move |s| (name, *s))) {
        for payload in contents(name, size)? {
            if size.is_some_and(|size| payload.size() < size) {
                let reason = format!("it has only {} bytes", payload.bytes);
                draft.exclude(payload.name, reason, None);
                continue;
            }
            for factors in list_factors(block, &payload, (&servers, &pools, &links), narrow) {
                cells_of(draft, factors, &requests, &mut answers)?;
            }
            draft.keep(payload);
        }
    }
    check_names(draft, block, &requests, &answers, &servers)
}

fn servers<'a>(draft: &mut Draft<'a>, block: &DeliveryBlock) -> Result<Vec<&'a ServerEntry>> {
    let all = &draft.inventory.servers;
    let is_meant = |server: &ServerEntry, word: &str| word == EVERY || server.plan.name == word;
    draft.select(&block.servers, all, is_meant, &block.content.join(","), |_, word| {
        unknown("server", word, all.iter().map(|s| s.plan.name.as_str()).chain([EVERY]))
    })
}

/// The PHPs of a block; none: no PHP takes part.
fn pools<'a>(draft: &mut Draft<'a>, block: &DeliveryBlock) -> Result<Vec<Option<&'a RuntimeEntry>>> {
    let all = &draft.inventory.pools;
    let place = format!("{}/*", block.content.join(","));
    let mut found = Vec::new();
    for word in &block.runtimes {
        if word == NO_PHP {
            found.push(None);
            continue;
        }
        let word = std::slice::from_ref(word);
        let named = draft.select(word, all, RuntimeEntry::is_meant_by, &place, |draft, word| {
            if word != PHP {
                let known = all.iter().map(|p| p.plan.name.as_str()).chain([PHP, NO_PHP]);
                bail!("no PHP `{word}` to stand behind a server{}", nearest_hint(word, known));
            }
            draft.exclude(format!("{place}/{word}"), "no PHP-FPM was found", Some("apt install php-fpm"));
            Ok(())
        })?;
        found.extend(named.into_iter().map(Some));
    }
    Ok(found)
}

/// The links of a block; none: the machine's own loopback.
fn links<'a>(inventory: &'a Inventory, block: &DeliveryBlock) -> Result<Vec<Option<&'a LinkSpec>>> {
    let known = |text: &str| {
        let link = inventory.links.get(text);
        link.with_context(|| format!("the link `{text}` was not looked for"))
    };
    block.links.iter().map(|text| (text != NO_LINK).then(|| known(text)).transpose()).collect()
}

/// Every combination of a block's factors but the way, on one payload. `narrow`: there is a network whose buffers are small.
fn list_factors<'s>(
    block: &'s DeliveryBlock,
    payload: &'s Payload,
    (servers, pools, links): (&[&'s ServerEntry], &[Option<&'s RuntimeEntry>], &[Option<&'s LinkSpec>]),
    narrow: bool,
) -> Vec<DeliveryFactors<'s>> {
    let slow: Vec<Option<(u32, bool)>> = match &block.slow {
        Some(slow) => slow.clients.iter().map(|clients| Some((*clients, narrow))).collect(),
        None => vec![None],
    };
    let mut found = Vec::new();
    for (&server, &pool) in servers.iter().flat_map(|server| pools.iter().map(move |pool| (server, pool))) {
        for &transport in &block.transports {
            for &connections in &block.connections {
                for &every_ms in &block.every_ms {
                    let every_ms = Some(every_ms).filter(|ms| *ms > 0);
                    let ends = slow.iter().flat_map(|slow| links.iter().map(move |link| (*slow, *link)));
                    found.extend(ends.map(|(slow, link)| DeliveryFactors {
                        block,
                        payload,
                        server,
                        pool,
                        transport,
                        connections,
                        every_ms,
                        slow,
                        link,
                    }));
                }
            }
        }
    }
    found
}

/// The cells of these factors. A way that this server does not have is some other server's; so is a level.
fn cells_of(
    draft: &mut Draft<'_>,
    factors: DeliveryFactors<'_>,
    requests: &[WayRequest],
    answers: &mut [Answer],
) -> Result<()> {
    let offers = offers(factors.server, factors.pool, factors.block.subject.subject());
    let lack = factors.lack();
    if let Some(reason) = &lack {
        draft.exclude(factors.id_prefix(), reason.as_str(), None);
    }
    for (request, answer) in requests.iter().zip(answers) {
        let Some(offer) = request.choose(&offers) else { continue };
        let any = || factors.id(offer, &Setting::bare(&offer.way.name));
        let settings = request.request.expand(&offer.way, &draft.options.levels);
        answer.take(settings.as_ref().err());
        if lack.is_some() {
            continue;
        }
        match settings {
            Err(refusal) => draft.exclude(any(), refusal.to_string(), None),
            Ok(settings) if draft.has(&offer.way, any) => {
                settings.into_iter().try_for_each(|setting| cell(draft, factors, offer, setting))?;
            }
            Ok(_) => {}
        }
    }
    Ok(())
}

fn cell(draft: &mut Draft<'_>, factors: DeliveryFactors<'_>, offer: &Offer, setting: Setting) -> Result<()> {
    let (bytes, delivery) = (factors.payload.size(), factors.delivery(offer, &setting));
    let instances = delivery.instances;
    let tls = delivery.transport == Transport::Https;
    let over = factors.link.map_or(0.0, |link| link_seconds(link, bytes, tls));
    let apart = f64::from(factors.every_ms.unwrap_or(0)) / 1e3;
    let expected_seconds =
        (response_seconds(&offer.way, setting.level, bytes, factors.pool.is_some()) + over).max(apart);
    let cell = Cell {
        id: factors.id(offer, &setting),
        subject: factors.block.subject.subject(),
        payload: factors.payload.name.clone(),
        runtime: factors.runtime().to_owned(),
        setting,
        keep: factors.block.keep,
        expected_seconds,
        delivery: Some(delivery.clone()),
        ..Cell::default()
    };
    let (pass, one) = match instances {
        1 => (expected_seconds, "response".to_owned()),
        many => (expected_seconds * f64::from(many), format!("response for each of {many} contents")),
    };
    if let Some(cell) = draft.add(cell, pass, &one)
        && let Some(known) = &mut cell.delivery
    {
        known.negotiation |= delivery.negotiation;
    }
    Ok(())
}

impl DeliveryFactors<'_> {
    fn runtime(&self) -> &str {
        self.pool.map_or(NO_PHP, |pool| &pool.plan.name)
    }

    fn delivery(&self, offer: &Offer, setting: &Setting) -> Delivery {
        Delivery {
            server: self.server.plan.name.clone(),
            transport: self.transport,
            by: offer.by,
            kind: offer.way.kind,
            negotiation: self.block.negotiation && self.link.is_none(),
            accept: self.block.accept.clone().unwrap_or_else(|| offer.accept(setting)),
            connections: self.connections,
            every_ms: self.every_ms,
            instances: u32::try_from(self.payload.instances()).unwrap_or(u32::MAX),
            link: self.link.map(|link| link.name.clone()),
            slow: self.slow(),
            site: offer.site(setting),
        }
    }

    fn slow(&self) -> Option<Slow> {
        let (asked, (clients, narrow)) = self.block.slow.as_ref().zip(self.slow)?;
        Some(Slow {
            clients,
            read_rate: asked.read_rate,
            workers: asked.workers(),
            script_memory: asked.script_memory.unwrap_or(0),
            narrow,
        })
    }

    /// What server and PHP cannot do together, whatever the way.
    fn lack(&self) -> Option<String> {
        let name = &self.server.plan.name;
        if self.transport == Transport::Https && !self.server.tls {
            return Some(format!("{name} does not send over TLS here"));
        }
        if self.slow.is_some() && self.pool.is_none() {
            return Some("light requests beside slow clients take a PHP".into());
        }
        (self.pool.is_some() && !self.server.php).then(|| format!("{name} has no PHP-FPM behind it"))
    }

    /// What the ids of its cells begin with.
    fn id_prefix(&self) -> String {
        let transport = self.transport.name();
        format!("{}/{}/{}/{transport}", self.payload.name, self.server.plan.name, self.runtime())
    }

    /// The cell's id; an Accept-Encoding that is not the way's own is part of it.
    fn id(&self, offer: &Offer, setting: &Setting) -> String {
        let delivery = self.delivery(offer, setting);
        let id = Cell::make_delivery_id(&self.payload.name, self.runtime(), setting, &delivery);
        match delivery.accept == offer.accept(setting) {
            true => id,
            false => format!("{id} ({})", delivery.accept),
        }
    }
}

/// A way that no server of the block has is a typing error when nobody knows it, else left out with a reason.
fn check_names(
    draft: &mut Draft<'_>,
    block: &DeliveryBlock,
    requests: &[WayRequest],
    answers: &[Answer],
    servers: &[&ServerEntry],
) -> Result<()> {
    let Inventory { servers: all, pools, .. } = draft.inventory;
    let ways = all.iter().flat_map(|s| &s.ways).chain(pools.iter().flat_map(|p| &p.ways));
    let mut known: Vec<&str> = ways.map(|w| w.name.as_str()).collect();
    known.sort_unstable();
    known.dedup();
    // Where a server or a PHP of the block is not here, nobody can tell which names it would know.
    let nobody_missing = all.iter().all(|s| s.lack().is_none()) && pools.iter().all(|p| p.lack().is_none());
    for (request, answer) in requests.iter().zip(answers) {
        match answer {
            Answer::Taken => continue,
            Answer::Refused(why) => bail!("{why}"),
            Answer::Nobody => {}
        }
        let name = &request.request.name;
        if nobody_missing && !known.contains(&name.as_str()) {
            unknown("method", name, known.iter().copied())?;
        }
        let names: Vec<_> = servers.iter().map(|s| s.plan.name.as_str()).collect();
        if !names.is_empty() {
            let cell = format!("{}/*/{name}", block.content.join(","));
            let served = block.subject.subject();
            draft.exclude(
                cell,
                format!("no method `{name}` for a {} on {}", served.name(), names.join(", ")),
                None,
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
