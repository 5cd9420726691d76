//! The same at the rate of the site's busiest hour: CPU time per request is higher than on a busy server.

use weigh_model::site::Site;
use weigh_model::way::WayKind;

use super::PAGE_WAYS;
use weigh_rig::server::{Definition, WayRow};
use weigh_run::subject::delivery::study::{DeliveryBlock, Served};

/// Milliseconds between requests that are measured at the site's rate: the fewest, and the most, after which caches are nearly as cold as they get.
const EVERY_MS: [f64; 2] = [1.0, 100.0];

/// The same at the rate of the site's busiest hour, for the first file, as it is and as it is encoded for each response: what a rate adds to others lies
/// between them. Of downloads, every method.
pub(super) fn at_rate(site: &Site, server: &Definition, block: &DeliveryBlock) -> Option<DeliveryBlock> {
    if block.accept.is_some() {
        return None;
    }
    let encoded = |way: &&String| {
        let name = way.rsplit('/').next().unwrap_or(way).split(':').next().unwrap_or(way);
        let is_filter = |own: &WayRow| own.name == name && own.kind == WayKind::OnTheFly;
        PAGE_WAYS.contains(&way.as_str()) && *way != PAGE_WAYS[0] || server.ways.iter().any(is_filter)
    };
    // Of several levels, the last one.
    let last = |way: &String| match way.split_once(':') {
        Some((name, levels)) => format!("{name}:{}", levels.rsplit('|').next().unwrap_or(levels)),
        None => way.clone(),
    };
    let ways = match block.subject {
        Served::Download => block.ways.clone(),
        _ => {
            let plain =
                block.ways.iter().find(|way| ["plain", PAGE_WAYS[0]].contains(&way.as_str())).cloned();
            plain.into_iter().chain(block.ways.iter().find(encoded).map(last)).collect()
        }
    };
    let peak = site.visitors.peak.map_or(0.0, |peak| peak.value);
    let every_ms = vec![(1e3 / peak).clamp(EVERY_MS[0], EVERY_MS[1]).round() as u32];
    let about = format!("{} at the site's rate", block.about);
    let content = block.content.iter().take(1).cloned().collect();
    Some(DeliveryBlock { about, content, ways, every_ms, keep: true, ..block.clone() })
}
