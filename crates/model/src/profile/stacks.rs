//! Merged call paths: a node for each path on which a function was reached, with its own cost.

use std::collections::HashMap;

use super::Cost;

/// The largest number of nodes; further costs are added to the parent node.
const MOST: usize = 200_000;
/// The deepest call path, for the same reason: nobody reads a higher flame graph.
const DEEPEST: u32 = 300;

/// A node: a function, reached on one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The parent node; none at the root.
    pub parent: Option<u32>,
    /// Index in the profile's functions.
    pub function: u32,
    /// Number of nodes above it.
    pub depth: u32,
    /// Its own cost, without child nodes.
    pub own: Cost,
    /// Number of calls; 0 where they were not counted.
    pub entered: u64,
}

/// All nodes. A parent comes before its children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stacks {
    nodes: Vec<Node>,
    below: HashMap<(Option<u32>, u32), u32>,
    /// Whether paths were cut because there were too many nodes or too deep ones.
    folded: bool,
    /// Whether the paths were estimated from the graph of callers and callees.
    guessed: bool,
}

impl Stacks {
    /// An empty set whose paths will be estimated from the graph of callers and callees.
    pub fn guessed() -> Stacks {
        Stacks { guessed: true, ..Stacks::default() }
    }

    /// Whether the paths were estimated from the graph of callers and callees.
    pub fn is_guessed(&self) -> bool {
        self.guessed
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Whether paths were cut because there were too many nodes or too deep ones; their costs were added to the parent
    /// node.
    pub fn is_folded(&self) -> bool {
        self.folded
    }

    /// The child node for a function; the parent itself if there is no room for more.
    pub fn below(&mut self, parent: Option<u32>, function: u32) -> u32 {
        if let Some(node) = self.below.get(&(parent, function)) {
            return *node;
        }
        let depth = parent.map_or(0, |p| self.nodes[p as usize].depth + 1);
        if let Some(parent) = parent.filter(|_| self.nodes.len() >= MOST || depth >= DEEPEST) {
            self.folded = true;
            return parent;
        }
        let node = self.nodes.len() as u32;
        self.nodes.push(Node { parent, function, depth, own: Cost::default(), entered: 0 });
        self.below.insert((parent, function), node);
        node
    }

    pub fn spend(&mut self, node: u32, own: Cost, entered: u64) {
        let node = &mut self.nodes[node as usize];
        node.own.add(own);
        node.entered = node.entered.saturating_add(entered);
    }

    /// The functions from the root to a node.
    pub fn path(&self, node: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = Some(node);
        while let Some(node) = at.and_then(|n| self.nodes.get(n as usize)) {
            path.push(node.function);
            at = node.parent;
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_deep_is_spent_above() {
        let mut stacks = Stacks::default();
        let mut node = None;
        for _ in 0..2 * DEEPEST {
            let below = stacks.below(node, 7);
            stacks.spend(below, Cost { amount: 1, memory: 0 }, 1);
            node = Some(below);
        }
        assert!(stacks.is_folded());
        assert_eq!(stacks.nodes().len(), DEEPEST as usize);
        let spent: i64 = stacks.nodes().iter().map(|n| n.own.amount).sum();
        assert_eq!(spent, i64::from(2 * DEEPEST));
        assert_eq!(stacks.path(2), [7, 7, 7]);
    }
}
