//! A profile out of stacks that were sampled: each stack costs what it weighs, once for each function in it.

use std::collections::HashMap;

use anyhow::{Result, bail};

use super::names::Names;
use weigh_model::profile::stacks::Stacks;
use weigh_model::profile::{
    Cost, Counting, Cut, Edge, Format, Function, Inclusion, LARGEST, Profile, Recursion, Unit,
};

/// Names, and pairs of them, at most.
const MOST: usize = 2_000_000;
/// Frames of a stack at most; those beyond, which are the innermost, are left out.
const DEEPEST: usize = 20_000;

#[derive(Debug, Default)]
pub struct Sampled {
    names: Names,
    own: Vec<i64>,
    inclusive: Vec<i64>,
    recursion: Vec<Recursion>,
    pairs: HashMap<(u32, u32), i64>,
    stacks: Stacks,
    /// The stack that a function was met on last, by function.
    met: Vec<u64>,
    count: u64,
}

impl Sampled {
    /// The number of a frame's name.
    pub fn frame(&mut self, name: &[u8]) -> Result<u32> {
        let number = self.names.number(name);
        if self.names.len() > MOST || self.pairs.len() > MOST {
            bail!("more than {MOST} names or pairs of them: this is no profile that can be read");
        }
        let count = self.names.len();
        self.own.resize(count, 0);
        self.inclusive.resize(count, 0);
        self.recursion.resize(count, Recursion::None);
        self.met.resize(count, 0);
        Ok(number)
    }

    /// Adds a stack, its root first.
    pub fn add(&mut self, frames: &[u32], weight: i64) {
        let weight = weight.clamp(0, LARGEST);
        let frames = &frames[..frames.len().min(DEEPEST)];
        let Some(last) = frames.last() else { return };
        self.count += 1;
        let mut node = None;
        for (at, frame) in frames.iter().enumerate() {
            let (function, caller) = (*frame as usize, at.checked_sub(1).map(|before| frames[before]));
            let is_new = self.met[function] != self.count;
            self.met[function] = self.count;
            if is_new {
                self.inclusive[function] = self.inclusive[function].saturating_add(weight);
            } else {
                let kind = if caller == Some(*frame) { Recursion::Direct } else { Recursion::Mutual };
                self.recursion[function] = self.recursion[function].max(kind);
            }
            if let Some(caller) = caller {
                let pair = self.pairs.entry((caller, *frame)).or_default();
                *pair = pair.saturating_add(if is_new { weight } else { 0 });
            }
            node = Some(self.stacks.below(node, *frame));
        }
        self.own[*last as usize] = self.own[*last as usize].saturating_add(weight);
        if let Some(node) = node {
            self.stacks.spend(node, cost(weight), 0);
        }
    }

    pub fn profile(self, format: Format, unit: Unit, cut: Option<Cut>) -> Result<Profile> {
        if self.count == 0 {
            bail!("there is no stack in it");
        }
        let mut total = Cost::default();
        self.own.iter().for_each(|own| total.add(cost(*own)));
        let functions = (0..self.own.len()).map(|at| Function {
            name: self.names.name(at as u32).to_owned(),
            file: None,
            calls: None,
            own: cost(self.own[at]),
            inclusive: cost(self.inclusive[at]),
            recursion: self.recursion[at],
        });
        let functions = functions.collect();
        let edges = self.pairs.into_iter();
        let edge = |((caller, callee), weight)| Edge { caller, callee, calls: None, inclusive: cost(weight) };
        let mut edges: Vec<Edge> = edges.map(edge).collect();
        edges.sort_unstable_by_key(|edge| (edge.caller, edge.callee));
        Ok(Profile {
            format,
            creator: None,
            command: None,
            unit,
            has_memory: false,
            counting: Counting::Unknown,
            inclusion: Inclusion::Samples,
            total,
            roots: total,
            stated: None,
            functions,
            edges,
            stacks: self.stacks,
            cut,
        })
    }
}

fn cost(amount: i64) -> Cost {
    Cost { amount, memory: 0 }
}
