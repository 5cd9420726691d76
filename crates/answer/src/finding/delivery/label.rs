//! Names of methods and places in sentences.

use weigh_model::cell::{Delivery, NO_PHP, Transport};
use weigh_model::units;
use weigh_model::way::{By, WayKind};

use crate::finding::delivery::sent::Sent;
use crate::group::Group;
use crate::label;
use crate::metric::delivery::Endpoint;
use crate::names::per_second;
use crate::report::finding::Evidence;

pub(crate) use label::{
    bytes_beside, change, changes, content, on_runtime, owned, range, ratio, runtime, seconds, setting,
    shares, some,
};

/// `gzencode 6`, `X-Sendfile`, `uncompressed`.
pub(crate) fn name(of: &Sent) -> String {
    match (of.setting().codec.as_str(), of.delivery.kind) {
        ("none" | "plain", WayKind::Plain) if of.is_plain_setting() => "uncompressed".to_owned(),
        (codec, _) => setting(of.setting()).replacen(codec, owned(codec), 1),
    }
}

/// `gzencode 6 in PHP`, `gzip 6 in nginx`.
pub(crate) fn way(of: &Sent) -> String {
    format!("{} {}", name(of), hand(of.delivery))
}

/// The server as its owner writes it.
pub(crate) fn server<'a>(of: &Sent<'a>) -> &'a str {
    owned(&of.delivery.server)
}

/// `in PHP`, `in nginx`.
fn hand(delivery: &Delivery) -> String {
    match delivery.by {
        By::Php => "in PHP".to_string(),
        By::Server => format!("in {}", owned(&delivery.server)),
    }
}

/// Methods of one name by one hand, levels drawn together: `zstd 3 to 10 in PHP`.
pub(crate) fn levels(family: &[Sent]) -> String {
    let Some(first) = family.first() else { return String::new() };
    let levels: Vec<i32> = family.iter().filter_map(Sent::level).collect();
    let name = &first.setting().codec;
    let levels = if levels.is_empty() { String::new() } else { format!(" {}", label::levels(&levels)) };
    format!("{name}{levels} {}", hand(first.delivery))
}

/// `page-path from nginx`, with what the plan has several of: `page-path from nginx (PHP 8.2, https, 10 connections)`; content
/// that is not real is called so.
pub(crate) fn describe_group(evidence: &Evidence, group: &Group) -> String {
    let differs = |factor: &str| {
        evidence.report.groups.iter().any(|other| other.factor(factor) != group.factor(factor))
    };
    let mut notes: Vec<String> = Vec::new();
    let is_other = |other: &Group| other.runtime() != group.runtime() && other.runtime() != NO_PHP;
    if group.runtime() != NO_PHP && evidence.report.groups.iter().any(is_other) {
        notes.push(runtime(group.runtime()));
    }
    if differs("transport") {
        notes.push(group.factor("transport").to_owned());
    }
    if differs("connections") {
        let connections = group.factor("connections").parse().unwrap_or(0);
        notes.push(units::count(connections, "connection", "connections"));
    }
    if let Ok(ms) = group.factor("every_ms").parse() {
        notes.push(format!("{} requests/s", per_second(ms)));
    }
    if !group.factor("link").is_empty() {
        notes.push(format!("over {}", group.factor("link")));
    }
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    format!("{} from {}{notes}", content(evidence, group.payload()), owned(group.factor("server")))
}

/// `nginx`, `nginx over HTTPS`, `nginx over HTTPS with 10 connections over cable`.
pub(crate) fn endpoint(Endpoint { server, transport, connections, every_ms, link }: &Endpoint) -> String {
    let transport = match transport {
        Transport::Http => "",
        Transport::Https => " over HTTPS",
    };
    let link = link.as_ref().map_or(String::new(), |link| format!(" over {link}"));
    let server = owned(server);
    let rate = every_ms.map_or(String::new(), |ms| format!(" at {} requests/s", per_second(ms)));
    match connections {
        1 => format!("{server}{transport}{rate}{link}"),
        n => format!("{server}{transport} with {n} connections{rate}{link}"),
    }
}
