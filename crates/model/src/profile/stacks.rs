//! Merged call paths: a node for each way in which a function was reached, with what was spent there.

use std::collections::HashMap;

use super::Cost;

/// Nodes at most: what goes beyond is added to the node it would stand below.
const MOST: usize = 200_000;
/// Calls below each other at most, for the same end: nobody reads a higher flame graph.
const DEEPEST: u32 = 300;

/// A node: a function, reached in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The node that it stands below; none at the root.
    pub parent: Option<u32>,
    /// Place among the profile's functions.
    pub function: u32,
    /// Nodes above it.
    pub depth: u32,
    /// What was spent in it, without what stands below.
    pub own: Cost,
    /// Times it was entered, or 0 where nothing counted.
    pub entered: u64,
}

/// All of them. A parent stands before what is below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stacks {
    nodes: Vec<Node>,
    below: HashMap<(Option<u32>, u32), u32>,
    /// Whether paths were left out because there were too many or too deep ones.
    folded: bool,
    /// Whether they were guessed from the graph of callers and callees.
    guessed: bool,
}

impl Stacks {
    /// None yet; those that come are guessed from the graph of callers and callees.
    pub fn guessed() -> Stacks {
        Stacks { guessed: true, ..Stacks::default() }
    }

    /// Whether they are guessed from the graph of callers and callees.
    pub fn is_guessed(&self) -> bool {
        self.guessed
    }

    /// The nodes, parents first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Whether paths were left out because there were too many or too deep ones; what was spent in them stands above.
    pub fn is_folded(&self) -> bool {
        self.folded
    }

    /// The node of a function below another; the other itself where there is no room for more.
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

    /// Spends in a node.
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
