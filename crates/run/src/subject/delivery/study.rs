//! A study's blocks of deliveries: contents that web servers send, in ways.

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

pub use super::slow::SlowClients;
use crate::study::block::{Block, NO_LINK, Quick, no_link, quick_factors};
use weigh_model::cell::{Subject, Transport};

/// Connections of a block at most.
const MOST_CONNECTIONS: u32 = 1024;
/// Milliseconds between requests at most.
const MOST_MS: u32 = 1000;

/// Every combination of these factors is a cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeliveryBlock {
    /// What the block is for.
    #[serde(default)]
    pub about: String,
    pub subject: Served,
    /// Contents by name: `corpus:page-path`, `set:pages`.
    pub content: Vec<String>,
    /// This many bytes cut out of each content, up to 256 KB at several places that are sent in turn: a ladder of sizes. Absent: whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<u64>,
    /// Web servers by name; `*` is every server that is here.
    pub servers: Vec<String>,
    /// `php` (every PHP of the run) or one runtime's name; `-` for files that no PHP takes part in.
    pub runtimes: Vec<String>,
    /// What responses travel over. Absent: `http`.
    #[serde(default = "plain", skip_serializing_if = "is_plain")]
    pub transports: Vec<Transport>,
    /// Ways, as the planner of deliveries reads them.
    pub ways: Vec<String>,
    /// The Accept-Encoding that is sent. Absent: what the way can send, and for one that sends no coding, what browsers ask for.
    pub accept: Option<String>,
    /// Connections, each with one request at a time. Absent: one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub connections: Vec<u32>,
    /// Ask once for each server and way what it answers to a matrix of Accept-Encoding values, to revalidation and ranges.
    #[serde(default)]
    pub negotiation: bool,
    /// Milliseconds between requests on average, at random times; 0: each follows the one before. Absent: 0.
    #[serde(default = "in_turn", skip_serializing_if = "is_in_turn")]
    pub every_ms: Vec<u32>,
    /// Measure every cell to the end, because its own figures are shown.
    #[serde(default)]
    pub keep: bool,
    /// Links between readers and server, by name or as `100mbit/20ms`; `-` is none. Absent: none.
    #[serde(default = "no_link", skip_serializing_if = "is_no_link")]
    pub links: Vec<String>,
    /// Slow clients take the content, while others ask for a light page. Absent: there are none.
    pub slow: Option<SlowClients>,
    /// What the quick form does with this block; absent: the same as the whole study.
    pub quick: Option<Quick<QuickDeliveryFactors>>,
}

/// What a block of deliveries sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Served {
    /// A page that a PHP script makes.
    Page,
    Asset,
    /// A file that PHP hands out, or has the server hand out.
    Download,
}

impl Served {
    pub fn subject(self) -> Subject {
        match self {
            Served::Page => Subject::PAGE,
            Served::Asset => Subject::ASSET,
            Served::Download => Subject::DOWNLOAD,
        }
    }
}

fn plain() -> Vec<Transport> {
    vec![Transport::Http]
}

fn in_turn() -> Vec<u32> {
    vec![0]
}

fn one() -> Vec<u32> {
    vec![1]
}

fn is_plain(transports: &[Transport]) -> bool {
    transports == plain()
}

fn is_in_turn(every_ms: &[u32]) -> bool {
    every_ms == in_turn()
}

fn is_one(connections: &[u32]) -> bool {
    connections == one()
}

fn is_no_link(links: &[String]) -> bool {
    links == no_link()
}

quick_factors!(QuickDeliveryFactors of DeliveryBlock with links: content: Vec<String>, sizes: Vec<u64>, servers: Vec<String>, runtimes: Vec<String>,
transports: Vec<Transport>, ways: Vec<String>, connections: Vec<u32>, every_ms: Vec<u32>, links: Vec<String>;
slow_clients: Vec<u32> => |block: &mut DeliveryBlock, clients| {
    if let Some(slow) = &mut block.slow {
        slow.clients = clients;
    }
});

impl DeliveryBlock {
    /// These factors, with everything else as it is where nothing is said.
    pub fn new(
        about: &str,
        subject: Served,
        content: Vec<String>,
        servers: Vec<String>,
        runtimes: Vec<String>,
        ways: Vec<String>,
    ) -> DeliveryBlock {
        DeliveryBlock {
            about: about.to_owned(),
            subject,
            content,
            sizes: Vec::new(),
            servers,
            runtimes,
            transports: plain(),
            ways,
            accept: None,
            connections: one(),
            negotiation: false,
            every_ms: in_turn(),
            keep: false,
            links: no_link(),
            slow: None,
            quick: None,
        }
    }

    /// Makes sure that the block has something of everything, in its quick form too.
    ///
    /// # Errors
    /// One line that names the key.
    pub fn check(&self) -> Result<()> {
        for block in [Some(self.clone()), self.quick_form()].into_iter().flatten() {
            let factors = [
                (block.content.is_empty(), "content"),
                (block.servers.is_empty(), "servers"),
                (block.runtimes.is_empty(), "runtimes"),
                (block.transports.is_empty(), "transports"),
                (block.ways.is_empty(), "ways"),
                (block.connections.is_empty(), "connections"),
                (block.every_ms.is_empty(), "every_ms"),
                (block.links.is_empty(), "links"),
            ];
            if let Some((_, key)) = factors.iter().find(|(empty, _)| *empty) {
                bail!("a block of deliveries needs at least one value in `{key}`");
            }
            if let Some(n) = block.connections.iter().find(|n| !(1..=MOST_CONNECTIONS).contains(*n)) {
                bail!("connections = {n}: give 1 to {MOST_CONNECTIONS}");
            }
            if let Some(ms) = block.every_ms.iter().find(|ms| **ms > MOST_MS) {
                bail!("every_ms = {ms}: give 0 to {MOST_MS}");
            }
            if block.sizes.contains(&0) {
                bail!("sizes = 0: give bytes above zero");
            }
            if let Some(slow) = &block.slow {
                slow.check()?;
                if block.subject != Served::Download
                    || block.connections != one()
                    || block.every_ms != in_turn()
                {
                    bail!("slow clients take downloads, each over a connection of its own");
                }
            }
            let over_links = block.links.iter().any(|link| link != NO_LINK);
            if over_links && block.slow.is_some() {
                bail!("slow clients and `links` exclude each other: a slow client is a network by itself");
            }
            if over_links && block.negotiation && !block.links.iter().any(|link| link == NO_LINK) {
                bail!("`negotiation` is asked for without a link: add \"{NO_LINK}\" to `links`");
            }
            if block.accept.as_ref().is_some_and(|a| a.contains(|c: char| c.is_control())) {
                bail!("accept holds a control character");
            }
        }
        Ok(())
    }
}
