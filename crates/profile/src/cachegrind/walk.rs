//! The second way through a file of Xdebug's, from its end: the tree of calls.
//!
//! Xdebug writes a call's block when it returns, after the blocks of all it called, and names these in the order in which it
//! called them. Read from the end, every block stands before those it called, the last of them first: a stack of open calls
//! with the number of those that are still to come puts each in its place. Memory grows with the depth of calls, not with
//! their number, and what is on the stack is known at every call: that is what inclusive costs of recursion need.
//!
//! The names on both sides are compared by a checksum a call. Where they disagree the file is not of this kind.

use std::collections::HashMap;

use super::events::Events;
use super::line::{Kind, Line};
use super::table::Table;
use weigh_model::profile::stacks::Stacks;
use weigh_model::profile::{Cost, Recursion};

/// Calls within each other at most.
const DEEPEST: usize = 4_000_000;

/// What the tree tells of a function.
#[derive(Clone, Copy, Debug, Default)]
pub struct FunctionTotals {
    pub inclusive: Cost,
    /// How it comes to be on a stack twice.
    pub recursion: Recursion,
    /// Calls of it that are open.
    active: u32,
}

/// A call whose callees are still to come.
#[derive(Debug)]
struct Open {
    function: u32,
    node: u32,
    left: u64,
    /// Checksums of the callees that its block names, and of those that came.
    named: u64,
    came: u64,
}

/// The block that is being read, from its end.
#[derive(Debug, Default)]
struct Block {
    /// The cost line that was met last: a call's, when a `calls=` line is next.
    held: Option<Cost>,
    own: Cost,
    below: Cost,
    callees: u64,
    named: u64,
}

#[derive(Debug)]
pub struct Walk<'a> {
    table: &'a Table,
    events: &'a Events,
    block: Block,
    open: Vec<Open>,
    pub seen: Vec<FunctionTotals>,
    /// Calls, and inclusive cost of those callees that were not on the stack already.
    pub pairs: HashMap<(u32, u32), (u64, Cost)>,
    pub stacks: Stacks,
    /// Inclusive cost of what nothing called.
    pub roots: Cost,
}

impl<'a> Walk<'a> {
    /// Of a file whose names are known.
    pub fn new(table: &'a Table, events: &'a Events) -> Walk<'a> {
        Walk {
            table,
            events,
            block: Block::default(),
            open: Vec::new(),
            seen: vec![FunctionTotals::default(); table.len()],
            pairs: HashMap::new(),
            stacks: Stacks::default(),
            roots: Cost::default(),
        }
    }

    /// Takes the line before the one that was taken last. None: this is not a tree of calls.
    pub fn line(&mut self, line: &[u8]) -> Option<()> {
        match Line::of(line) {
            Line::Costs(text) => {
                let cost = self.events.line(text)?;
                if let Some(own) = self.block.held.replace(cost) {
                    self.block.own.add(own);
                }
            }
            Line::Calls(_) => {
                let cost = self.block.held.take()?;
                self.block.below.add(cost);
                self.block.callees += 1;
            }
            Line::There(Kind::Function, name) => {
                self.block.named = mixed(self.block.named, self.table.found(name)?);
            }
            Line::Here(Kind::Function, name) => {
                let mut block = std::mem::take(&mut self.block);
                if let Some(own) = block.held.take() {
                    block.own.add(own);
                }
                self.call(self.table.found(name)?, block)?;
            }
            _ => {}
        }
        Some(())
    }

    /// A call, at the moment at which it began.
    fn call(&mut self, function: u32, block: Block) -> Option<()> {
        self.close()?;
        let mut inclusive = block.own;
        inclusive.add(block.below);
        let parent = self.open.last_mut().map(|open| {
            open.left -= 1;
            open.came = mixed(open.came, function);
            (open.function, open.node)
        });
        let on_stack = self.seen[function as usize].active > 0;
        let counted = if on_stack { Cost::default() } else { inclusive };
        match parent {
            Some((caller, _)) => {
                let pair = self.pairs.entry((caller, function)).or_default();
                pair.0 += 1;
                pair.1.add(counted);
            }
            None => self.roots.add(inclusive),
        }
        let seen = &mut self.seen[function as usize];
        seen.inclusive.add(counted);
        if on_stack {
            let is_direct = parent.is_some_and(|(caller, _)| caller == function);
            let kind = if is_direct { Recursion::Direct } else { Recursion::Mutual };
            seen.recursion = seen.recursion.max(kind);
        }
        seen.active += 1;
        let node = self.stacks.below(parent.map(|(_, node)| node), function);
        self.stacks.spend(node, block.own, 1);
        self.open.push(Open { function, node, left: block.callees, named: block.named, came: 0 });
        (self.open.len() <= DEEPEST).then_some(())
    }

    /// Closes calls whose callees have all come.
    fn close(&mut self) -> Option<()> {
        while let Some(open) = self.open.pop_if(|open| open.left == 0) {
            if open.named != open.came {
                return None;
            }
            self.seen[open.function as usize].active -= 1;
        }
        Some(())
    }

    /// The beginning of the file. None: this is not a tree of calls.
    pub fn end(&mut self) -> Option<()> {
        self.close()?;
        self.open.is_empty().then_some(())
    }
}

/// A checksum that depends on the order.
fn mixed(sum: u64, function: u32) -> u64 {
    (sum ^ u64::from(function).wrapping_add(1)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)
}
