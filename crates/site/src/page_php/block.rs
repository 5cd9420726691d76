//! One PHP with the site's application, while it runs: asked for blocks of requests of a page, and metered.

use std::thread::Scope;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use weigh_load::target::Location;
use weigh_model::text::clean;
use weigh_os::group::Group;
use weigh_os::interrupt::Interrupt;
use weigh_rig::http::{KeptConnection, Reply};

use crate::error_page;
use crate::pages::ACCEPT;
use crate::private::{MeteredPool, Private};
use crate::side::Side;

/// Says which version it is, whether OPcache is on, and which extensions there are.
const ABOUT: &str = "<?php header('Content-Type: text/plain');
echo PHP_VERSION, \"\\n\", function_exists('opcache_get_status') && opcache_get_status(false) ? \"on\\n\" : \"off\\n\", implode(\"\\n\", get_loaded_extensions());";
/// How long work behind a response is waited for, and how often its end is looked for.
const BEHIND: u32 = 50;
const GLANCE: Duration = Duration::from_millis(1);
/// How long what PHP logs takes to be written.
const LOGGED: Duration = Duration::from_millis(20);
/// What PHP-FPM writes before a message of PHP's.
const MESSAGE: &str = "PHP message: ";
/// What PHP's own messages begin with.
const OWN: &str = "PHP ";
/// Bytes of a body that are compared.
const LONGEST: usize = 8 << 20;

/// What PHP says of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// Empty: it does not say.
    pub version: String,
    /// Whether OPcache is on; none: it does not say.
    pub opcache: Option<bool>,
    pub extensions: Vec<String>,
}

impl About {
    fn of(said: Option<&[u8]>) -> About {
        let text = String::from_utf8_lossy(said.unwrap_or_default()).into_owned();
        let mut lines = text.lines();
        let version = clean(lines.next().unwrap_or_default());
        let opcache = lines.next().map(|line| line == "on");
        let known = |line: &str| line.to_lowercase().replace("zend opcache", "opcache");
        About { version, opcache, extensions: lines.map(known).collect() }
    }

    /// Extensions of this one that another is without.
    pub fn without(&self, other: &About) -> Vec<&str> {
        let is_missing = |name: &&String| !other.extensions.is_empty() && !other.extensions.contains(name);
        self.extensions.iter().filter(is_missing).map(String::as_str).collect()
    }
}

/// Requests of one page, one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    pub page: usize,
    pub requests: u32,
    /// Whether the last answer and the log are of interest.
    pub is_read: bool,
    /// Requests per second, at random times; none: one right after the other.
    pub per_second: Option<f64>,
    /// Whether no content coding is accepted.
    pub is_plain: bool,
}

/// What requests of one page took, each in the mean.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// CPU time of PHP, wall time, and CPU time of the server in milliseconds.
    pub took: [f64; 3],
    /// Why one was not answered with a page; none: all were.
    pub problem: Option<String>,
    /// The last body without its content coding, where it is of interest.
    pub body: Vec<u8>,
    /// The first message that PHP logged, where that is of interest.
    pub logged: Option<String>,
}

/// A PHP that runs.
pub type PhpSide<'s> = Side<'s, Order, Block, About>;

/// Begins to start one, on these processors; none: on all.
pub fn start<'s>(
    scope: &'s Scope<'s, '_>,
    private: &'s Private,
    (pages, cpus): (&'s [Location], &'s [u32]),
    interrupt: &'s Interrupt,
) -> PhpSide<'s> {
    Side::start(scope, move |orders| {
        private.with_pool(interrupt, (ABOUT, cpus), move |asker, mut pool| {
            let mut kept = KeptConnection::new(asker.peer);
            let meters = pool.meters(asker)?;
            orders.each(|order: Order| {
                let done = block(&mut kept, &pages[order.page], order, (&mut pool, meters));
                let failed =
                    |error| Block { problem: Some(clean(&format!("{error:#}"))), ..Block::default() };
                done.unwrap_or_else(failed)
            });
            Ok(About::of(pool.said.as_deref()))
        })
    })
}

fn block(
    kept: &mut KeptConnection<'_>,
    page: &Location,
    order: Order,
    (pool, [php, server]): (&mut MeteredPool, [Group; 2]),
) -> Result<Block> {
    let before = [php, server].map(|group| group.usage().cpu_ns);
    let accept = if order.is_plain { "identity" } else { ACCEPT };
    let (mut wall, mut last) = (Duration::ZERO, None);
    for _ in 0..order.requests {
        if let Some(per_second) = order.per_second {
            std::thread::sleep(Duration::from_secs_f64(-rand::random::<f64>().max(1e-9).ln() / per_second));
        }
        let reply = kept.get(page, accept).map_err(|fault| anyhow!(fault.message))?;
        wall += reply.took;
        let is_page = reply.status == 200;
        last = Some(reply);
        if !is_page {
            break;
        }
    }
    let reply = last.context("nothing was asked")?;
    let cpu = settled(php).saturating_sub(before[0]);
    let of_server = server.usage().cpu_ns.saturating_sub(before[1]);
    let each = 1e3 / f64::from(order.requests);
    let took = [cpu as f64 / 1e9 * each, wall.as_secs_f64() * each, of_server as f64 / 1e9 * each];
    let mut block = Block { took, problem: status(&reply), ..Block::default() };
    if order.is_read || block.problem.is_some() {
        std::thread::sleep(LOGGED);
        let lines = pool.log.as_mut().map(|log| log.take()).unwrap_or_default();
        block.logged = message(&lines);
        block.body = reply.decoded()?;
        block.problem = block.problem.or_else(|| error_page::sign(&block.body, is_html(&reply)));
        block.body.truncate(LONGEST);
    }
    Ok(block)
}

/// What the group has used once it uses nothing more: scripts may go on behind their response.
fn settled(group: Group) -> u64 {
    let mut known = group.usage().cpu_ns;
    for _ in 0..BEHIND {
        std::thread::sleep(GLANCE);
        let now = group.usage().cpu_ns;
        if now == known {
            break;
        }
        known = now;
    }
    known
}

/// The status of an answer that is no page.
fn status(reply: &Reply) -> Option<String> {
    let leads_to = reply.shown_field("location").map(|to| format!(", it leads to {to}"));
    (reply.status != 200).then(|| format!("status {}{}", reply.status, leads_to.unwrap_or_default()))
}

fn is_html(reply: &Reply) -> bool {
    reply.field("content-type").is_none_or(|value| value.starts_with(b"text/html"))
}

/// The first message of PHP's, one that ends its script before others.
fn message(lines: &[String]) -> Option<String> {
    let of_line = |line: &'_ String| line.split_once(MESSAGE).map(|(_, text)| text.to_owned());
    // Another server than PHP-FPM writes messages as they are.
    let own = |line: &'_ String| line.starts_with(OWN).then(|| line.clone());
    let messages = || lines.iter().filter_map(|line| of_line(line).or_else(|| own(line)));
    let is_fatal = |text: &String| text.contains("Fatal error") || text.contains("Parse error");
    let first = messages().find(is_fatal).or_else(|| messages().next())?;
    Some(first.split_whitespace().collect::<Vec<_>>().join(" "))
}
