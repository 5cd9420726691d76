//! Where the cells of a block of deliveries stand.

use crate::planner::ways::Offer;
use weigh_model::cell::{Cell, Delivery, NO_PHP, Slow, Transport};
use weigh_model::inventory::{PoolEntry, ServerEntry};
use weigh_model::link::LinkSpec;
use weigh_model::payload::Payload;
use weigh_model::setting::Setting;
use weigh_model::study::DeliveryBlock;

/// Where cells stand: one value for each factor of a block but the way.
#[derive(Clone, Copy)]
pub(super) struct Stand<'s> {
    pub block: &'s DeliveryBlock,
    pub payload: &'s Payload,
    pub server: &'s ServerEntry,
    pub pool: Option<&'s PoolEntry>,
    pub transport: Transport,
    pub connections: u32,
    /// What responses go over; none: the machine's own loopback.
    pub link: Option<&'s LinkSpec>,
    /// Slow clients, and whether there is a network whose buffers are small.
    pub slow: Option<(u32, bool)>,
}

impl Stand<'_> {
    pub fn runtime(&self) -> &str {
        self.pool.map_or(NO_PHP, |pool| &pool.name)
    }

    pub fn delivery(&self, offer: &Offer, setting: &Setting) -> Delivery {
        Delivery {
            server: self.server.name.clone(),
            transport: self.transport,
            by: offer.by,
            kind: offer.way.kind,
            negotiation: self.block.negotiation && self.link.is_none(),
            accept: self.block.accept.clone().unwrap_or_else(|| offer.accept(setting)),
            connections: self.connections,
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
    pub fn lack(&self) -> Option<String> {
        let name = &self.server.name;
        if self.transport == Transport::Https && !self.server.tls {
            return Some(format!("{name} does not send over TLS here"));
        }
        if self.slow.is_some() && self.pool.is_none() {
            return Some("light requests beside slow clients take a PHP".into());
        }
        (self.pool.is_some() && !self.server.php).then(|| format!("{name} has no PHP-FPM behind it"))
    }

    /// The stand as the begin of an id.
    pub fn place(&self) -> String {
        let transport = self.transport.name();
        format!("{}/{}/{}/{transport}", self.payload.name, self.server.name, self.runtime())
    }

    pub fn id(&self, offer: &Offer, setting: &Setting) -> String {
        Cell::make_delivery_id(&self.payload.name, self.runtime(), setting, &self.delivery(offer, setting))
    }
}

/// Every combination of a block's factors but the way and the link, on one payload. `narrow`: there is a network whose buffers are small.
pub(super) fn stands<'s>(
    block: &'s DeliveryBlock,
    payload: &'s Payload,
    servers: &'s [&'s ServerEntry],
    pools: &'s [Option<&'s PoolEntry>],
    narrow: bool,
) -> impl Iterator<Item = Stand<'s>> {
    let slow: Vec<Option<(u32, bool)>> = match &block.slow {
        Some(slow) => slow.clients.iter().map(|clients| Some((*clients, narrow))).collect(),
        None => vec![None],
    };
    let places = servers.iter().flat_map(move |server| pools.iter().map(move |pool| (*server, *pool)));
    places.flat_map(move |(server, pool)| {
        let slow = slow.clone();
        block.transports.iter().flat_map(move |&transport| {
            let slow = slow.clone();
            block.connections.iter().flat_map(move |&connections| {
                let link = None;
                let stand =
                    move |slow| Stand { block, payload, server, pool, transport, connections, link, slow };
                slow.clone().into_iter().map(stand)
            })
        })
    })
}
