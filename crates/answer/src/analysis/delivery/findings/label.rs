//! Names of ways and places in sentences.

use crate::analysis::delivery::findings::{Candidate, Evidence};
use crate::analysis::delivery::model::DeliveryGroup;
use crate::analysis::findings::label;
use weigh_model::cell::{Delivery, NO_PHP, Transport};
use weigh_model::payload::Origin;
use weigh_model::units;
use weigh_model::way::By;

pub(super) use label::{bytes_beside, number, range, ratio, share};

/// `gzencode 6`.
pub(super) fn name(of: &Candidate) -> String {
    label::setting(of.setting())
}

/// `gzencode 6 in PHP`, `gzip 6 in nginx`.
pub(super) fn way(of: &Candidate) -> String {
    format!("{} {}", name(of), hand(of.delivery))
}

/// `in PHP`, `in nginx`.
pub(super) fn hand(delivery: &Delivery) -> String {
    match delivery.by {
        By::Php => "in PHP".to_string(),
        By::Server => format!("in {}", delivery.server),
    }
}

/// Ways of one name by one hand, levels drawn together: `zstd 3 to 10 in PHP`.
pub(super) fn levels(family: &[Candidate]) -> String {
    let Some(first) = family.first() else { return String::new() };
    let levels: Vec<i32> = family.iter().filter_map(Candidate::level).collect();
    let name = &first.setting().codec;
    let levels = if levels.is_empty() { String::new() } else { format!(" {}", label::levels(&levels)) };
    format!("{name}{levels} {}", hand(first.delivery))
}

/// `page-path from nginx`, with what the plan has several of: `page-path from nginx (php8.2, https, 10 connections)`; content
/// that is not real is called so.
pub(super) fn place(evidence: &Evidence, group: &DeliveryGroup) -> String {
    let several = |differ: &dyn Fn(&DeliveryGroup) -> bool| evidence.groups.iter().any(differ);
    let mut notes: Vec<String> = Vec::new();
    if group.runtime != NO_PHP && several(&|g| g.runtime != group.runtime && g.runtime != NO_PHP) {
        notes.push(group.runtime.clone());
    }
    if several(&|g| g.transport != group.transport) {
        notes.push(group.transport.name().to_owned());
    }
    if several(&|g| g.connections != group.connections) {
        notes.push(units::count(group.connections as usize, "connection", "connections"));
    }
    notes.extend(group.link.as_ref().map(|link| format!("over {}", link.asked.name)));
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    format!("{} from {}{notes}", content(evidence, &group.payload), group.server)
}

/// A payload's name; content that is not real is called so.
pub(super) fn content(evidence: &Evidence, name: &str) -> String {
    let payload = evidence.plan.payloads.iter().find(|p| p.name == name);
    let is_synthetic = payload.is_some_and(|p| matches!(p.origin, Origin::Synthetic { .. }));
    format!("{name}{}", if is_synthetic { " (synthetic)" } else { "" })
}

/// `nginx`, `nginx over https`, `nginx over https with 10 connections over cable`.
pub(super) fn stand(server: &str, transport: Transport, connections: u32, link: Option<&str>) -> String {
    let transport = match transport {
        Transport::Http => String::new(),
        Transport::Https => " over https".to_string(),
    };
    let link = link.map_or(String::new(), |link| format!(" over {link}"));
    match connections {
        1 => format!("{server}{transport}{link}"),
        n => format!("{server}{transport} with {n} connections{link}"),
    }
}

/// A time in seconds.
pub(super) fn seconds(seconds: f64) -> String {
    units::ns(seconds * 1e9)
}
