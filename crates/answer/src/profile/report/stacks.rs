//! The call paths as collapsed stacks: one line per path, with its own cost.

use crate::text::clean;
use weigh_model::profile::Profile;

pub fn text(profile: &Profile) -> String {
    let name = |function: &u32| clean(&profile.functions[*function as usize].name).replace(';', ",");
    let nodes = profile.stacks.nodes().iter().enumerate();
    // A profiler's rounding may leave a path with a negative cost.
    let lines = nodes.filter(|(_, node)| node.own.amount > 0).map(|(at, node)| {
        let path: Vec<String> = profile.stacks.path(at as u32).iter().map(name).collect();
        format!("{} {}\n", path.join(";"), node.own.amount)
    });
    lines.collect()
}
