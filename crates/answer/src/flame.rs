//! Flame graphs for the page's program: the merged call paths of a profile, without what would be too narrow to see.
//! `web/src/data.ts` has the same types. The page draws them itself: no picture of another program is pasted in.

use std::collections::HashMap;

use serde::Serialize;
use weigh_model::profile::{Function, Profile, Unit};

use crate::text::{clean, shorten};

/// Paths of all profiles of a page at most.
pub const PATHS: usize = 3000;
/// The smallest share of the whole that is shown.
const LEAST: f64 = 0.001;
/// Columns of a function's name at most.
const NAME: usize = 120;

/// One profile as a flame graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flame {
    name: String,
    /// Where the figures are from, and what is special about them.
    about: String,
    /// `ns`, `samples`, or an event.
    unit: String,
    total: i64,
    /// Functions: the name, and whether it is of the script, of PHP, or a file.
    functions: Vec<(String, Kind)>,
    /// The place of the caller's path before it in this list, or -1; the place of the function; the cost with everything
    /// that it calls.
    paths: Vec<(i32, u32, i64)>,
    /// Paths that are left out because they are narrow; their cost is in those of their callers.
    left_out: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Own,
    Php,
    File,
}

impl Flame {
    /// Of a profile, with at most this many paths, the widest; none without costs. `about` says where it is from.
    pub fn of(name: &str, about: &str, profile: &Profile, most: usize) -> Option<Flame> {
        let nodes = profile.stacks.nodes();
        let mut costs: Vec<i64> = nodes.iter().map(|node| node.own.amount.max(0)).collect();
        // A parent comes before its children.
        for at in (0..nodes.len()).rev() {
            if let Some(parent) = nodes[at].parent {
                costs[parent as usize] = costs[parent as usize].saturating_add(costs[at]);
            }
        }
        let roots = (0..nodes.len()).filter(|at| nodes[*at].parent.is_none());
        let total = roots.fold(0_i64, |all, at| all.saturating_add(costs[at]));
        let mut widest: Vec<usize> = (0..nodes.len())
            .filter(|at| costs[*at] as f64 >= total as f64 * LEAST && costs[*at] > 0)
            .collect();
        // A caller is as wide as what it calls and stands before it, so that it is kept with it.
        widest.sort_by_key(|at| (std::cmp::Reverse(costs[*at]), *at));
        let left_out = costs.iter().filter(|cost| **cost > 0).count().saturating_sub(widest.len().min(most));
        widest.truncate(most);
        widest.sort_unstable();
        let (mut functions, mut known) = (Vec::new(), HashMap::new());
        let mut places: HashMap<u32, i32> = HashMap::new();
        let mut paths = Vec::new();
        for at in widest {
            let node = &nodes[at];
            let function = *known.entry(node.function).or_insert_with(|| {
                functions.push(named(&profile.functions[node.function as usize]));
                functions.len() as u32 - 1
            });
            let parent = node.parent.and_then(|parent| places.get(&parent)).copied().unwrap_or(-1);
            places.insert(at as u32, paths.len() as i32);
            paths.push((parent, function, costs[at]));
        }
        let mut parts = vec![clean(about)];
        parts.extend(profile.stacks.is_guessed().then(|| "call paths estimated from sums".to_owned()));
        parts.extend(profile.stacks.is_folded().then(|| "the deepest paths are left out".to_owned()));
        parts.retain(|part| !part.is_empty());
        (total > 0).then(|| Flame {
            name: shorten(&clean(name), NAME),
            about: parts.join("; "),
            unit: match &profile.unit {
                Unit::Nanoseconds => "ns".to_owned(),
                Unit::Samples => "samples".to_owned(),
                Unit::Event(event) => shorten(&clean(event), NAME),
            },
            total,
            functions,
            paths,
            left_out,
        })
    }
}

fn named(function: &Function) -> (String, Kind) {
    let name = shorten(&clean(&function.name), NAME);
    let name = if name.trim().is_empty() { "(no name)".to_owned() } else { name };
    (name, kind(function))
}

pub(crate) fn kind(function: &Function) -> Kind {
    let name = function.name.as_str();
    let starts = ["include", "require", "{main}", "eval", "/"];
    match name.starts_with("php::") || function.file.as_deref() == Some("php:internal") {
        true => Kind::Php,
        false if starts.iter().any(|start| name.starts_with(start)) => Kind::File,
        false => Kind::Own,
    }
}

#[cfg(test)]
mod tests {
    use crate::flame::*;
    use weigh_model::profile::stacks::Stacks;
    use weigh_model::profile::{Cost, Counting, Format, Inclusion, Recursion};

    const HOSTILE: &str = "</script><script>alert(1)</script>\u{202e}";

    fn profile(names: &[&str], stacks: Stacks) -> Profile {
        let function = |name: &&str| Function {
            name: (*name).to_owned(),
            file: None,
            calls: None,
            own: Cost::default(),
            inclusive: Cost::default(),
            recursion: Recursion::None,
        };
        Profile {
            format: Format::Collapsed,
            creator: None,
            command: None,
            unit: Unit::Samples,
            counting: Counting::Unknown,
            inclusion: Inclusion::Samples,
            has_memory: false,
            functions: names.iter().map(function).collect(),
            edges: Vec::new(),
            total: Cost::default(),
            roots: Cost::default(),
            stated: None,
            cut: None,
            stacks,
        }
    }

    fn cost(amount: i64) -> Cost {
        Cost { amount, memory: 0 }
    }

    #[test]
    fn a_caller_costs_what_it_calls_and_narrow_paths_are_left_out() {
        let mut stacks = Stacks::default();
        let main = stacks.below(None, 0);
        let work = stacks.below(Some(main), 1);
        let little = stacks.below(Some(main), 2);
        stacks.spend(main, cost(1000), 1);
        stacks.spend(work, cost(9000), 1);
        stacks.spend(little, cost(5), 1);
        let flame = Flame::of(HOSTILE, "", &profile(&["{main}", HOSTILE, "php::x"], stacks), PATHS).unwrap();
        assert_eq!((flame.total, flame.left_out), (10_005, 1));
        assert_eq!(flame.paths, [(-1, 0, 10_005), (0, 1, 9000)]);
        assert_eq!(flame.functions[0], ("{main}".to_owned(), Kind::File));
        assert!(!flame.functions[1].0.contains('\u{202e}') && flame.functions[1].1 == Kind::Own);
        assert_eq!(Flame::of("x", "", &profile(&[], Stacks::default()), PATHS), None);
    }

    #[test]
    fn a_page_stays_small_whatever_the_profile() {
        let mut stacks = Stacks::default();
        let main = stacks.below(None, 0);
        for function in 1..5000 {
            let below = stacks.below(Some(main), function);
            let deeper = stacks.below(Some(below), function);
            stacks.spend(deeper, cost(1 + i64::from(function % 7) * 900), 1);
        }
        let names: Vec<String> = (0..5000).map(|at| format!("{at}{}", "n".repeat(1000))).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let flame = Flame::of("x", "", &profile(&names, stacks), PATHS).unwrap();
        assert!(flame.paths.len() <= PATHS && flame.left_out > 0);
        assert!(flame.paths.iter().enumerate().all(|(at, path)| path.0 < at as i32));
        assert!(serde_json::to_string(&flame).unwrap().len() < 600_000);
    }
}
