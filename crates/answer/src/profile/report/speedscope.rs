//! The call paths as a speedscope file: one sample per path, weighted with its own cost.

use anyhow::Result;
use serde_json::json;

use crate::text::clean;
use weigh_model::profile::{Profile, Unit};

/// The file.
///
/// # Errors
/// It cannot be written as JSON.
pub fn json(name: &str, profile: &Profile) -> Result<Vec<u8>> {
    let frames: Vec<_> = profile
        .functions
        .iter()
        .map(|function| match &function.file {
            Some(file) => json!({ "name": clean(&function.name), "file": clean(file) }),
            None => json!({ "name": clean(&function.name) }),
        })
        .collect();
    let (mut samples, mut weights, mut total) = (Vec::new(), Vec::new(), 0i64);
    for (at, node) in profile.stacks.nodes().iter().enumerate() {
        // A profiler's rounding may leave a path with a negative cost.
        if node.own.amount > 0 {
            samples.push(profile.stacks.path(at as u32));
            weights.push(node.own.amount);
            total = total.saturating_add(node.own.amount);
        }
    }
    let unit = if profile.unit == Unit::Nanoseconds { "nanoseconds" } else { "none" };
    let name = clean(name);
    Ok(serde_json::to_vec(&json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": concat!("weigh ", env!("CARGO_PKG_VERSION")),
        "name": name,
        "activeProfileIndex": 0,
        "shared": { "frames": frames },
        "profiles": [{
            "type": "sampled", "name": format!("{name}: merged call paths"), "unit": unit,
            "startValue": 0, "endValue": total, "samples": samples, "weights": weights,
        }],
    }))?)
}
