//! What the graph of callers and callees tells where a file holds sums only: inclusive costs, who is part of a circle, and
//! call paths as they may have been.

use std::collections::HashMap;

use super::forward::Calls;
use weigh_model::profile::stacks::Stacks;
use weigh_model::profile::{Cost, Recursion};

/// Estimated paths that cost less than this share of the whole are not followed.
const LEAST: f64 = 0.0002;
/// Functions on an estimated path at most.
const DEEPEST: usize = 100;

pub struct Graph {
    pub inclusive: Vec<Cost>,
    pub recursion: Vec<Recursion>,
    /// Which circle (or function alone) each function is part of.
    circles: Vec<u32>,
    callees: Vec<Vec<(u32, Calls)>>,
}

impl Graph {
    /// Of functions' own costs and the pairs between them.
    ///
    /// What a function spent in calls inside of its circle is left out: the file does not say how much of it is in the costs
    /// of the calls around them already. For a function that calls itself alone nothing is lost by it.
    pub fn of(own: &[Cost], pairs: &HashMap<(u32, u32), Calls>) -> Graph {
        let mut callees = vec![Vec::new(); own.len()];
        for ((caller, callee), calls) in pairs {
            callees[*caller as usize].push((*callee, *calls));
        }
        callees.iter_mut().for_each(|list| list.sort_unstable_by_key(|(callee, _)| *callee));
        let (circles, sizes) = circles(&callees);
        let mut inclusive = own.to_vec();
        let mut recursion = vec![Recursion::None; own.len()];
        for (caller, list) in callees.iter().enumerate() {
            if sizes[circles[caller] as usize] > 1 {
                recursion[caller] = Recursion::Mutual;
            }
            for (callee, (_, cost)) in list {
                if *callee as usize == caller {
                    recursion[caller] = recursion[caller].max(Recursion::Direct);
                }
                if circles[*callee as usize] != circles[caller] {
                    inclusive[caller].add(*cost);
                }
            }
        }
        Graph { inclusive, recursion, circles, callees }
    }

    /// Whether a call stays inside of a circle.
    pub fn is_inside(&self, caller: u32, callee: u32) -> bool {
        self.circles[caller as usize] == self.circles[callee as usize]
    }

    /// Call paths, each callee's cost shared out among the ways to its caller.
    pub fn stacks(&self, own: &[Cost]) -> Stacks {
        let mut called = vec![false; own.len()];
        for (caller, list) in self.callees.iter().enumerate() {
            for (callee, _) in list {
                called[*callee as usize] |= !self.is_inside(caller as u32, *callee);
            }
        }
        let total: f64 = own.iter().map(|cost| cost.amount as f64).sum();
        let mut stacks = Stacks::guessed();
        for root in (0..own.len()).filter(|f| !called[*f]) {
            let node = stacks.below(None, root as u32);
            let mut work = vec![(node, root, 1.0, 1)];
            while let Some((node, function, share, depth)) = work.pop() {
                let mut here = own[function].amount as f64;
                for (callee, (_, cost)) in &self.callees[function] {
                    if self.is_inside(function as u32, *callee) {
                        continue;
                    }
                    let whole = self.inclusive[*callee as usize].amount as f64;
                    let part = cost.amount as f64;
                    if part * share < total * LEAST || depth >= DEEPEST || whole <= 0.0 {
                        here += part;
                        continue;
                    }
                    let below = stacks.below(Some(node), *callee);
                    work.push((below, *callee as usize, share * (part / whole).min(1.0), depth + 1));
                }
                let amount = (here * share).round() as i64;
                stacks.spend(node, Cost { amount, memory: 0 }, 0);
            }
        }
        stacks
    }
}

/// The strongly connected parts (Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1 (1972)), without
/// recursion of our own: the part of each function, and how many functions each part has.
fn circles(callees: &[Vec<(u32, Calls)>]) -> (Vec<u32>, Vec<u32>) {
    const NEW: u32 = u32::MAX;
    let count = callees.len();
    let (mut order, mut low) = (vec![NEW; count], vec![0u32; count]);
    let (mut part, mut sizes) = (vec![NEW; count], Vec::new());
    let (mut waiting, mut next) = (Vec::new(), 0u32);
    for start in 0..count {
        if order[start] != NEW {
            continue;
        }
        let mut path = vec![(start, 0usize)];
        while let Some((function, at)) = path.last_mut() {
            let function = *function;
            if *at == 0 {
                order[function] = next;
                low[function] = next;
                next += 1;
                waiting.push(function);
            }
            match callees[function].get(*at) {
                Some((callee, _)) => {
                    *at += 1;
                    let callee = *callee as usize;
                    if order[callee] == NEW {
                        path.push((callee, 0));
                    } else if part[callee] == NEW {
                        low[function] = low[function].min(order[callee]);
                    }
                }
                None => {
                    path.pop();
                    if let Some((caller, _)) = path.last() {
                        low[*caller] = low[*caller].min(low[function]);
                    }
                    if low[function] == order[function] {
                        let number = sizes.len() as u32;
                        let mut size = 0;
                        while let Some(member) = waiting.pop() {
                            part[member] = number;
                            size += 1;
                            if member == function {
                                break;
                            }
                        }
                        sizes.push(size);
                    }
                }
            }
        }
    }
    (part, sizes)
}
