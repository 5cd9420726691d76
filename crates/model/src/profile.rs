//! A profile in the form that later steps use: functions, calls between them, merged call paths, and how each figure
//! was found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub mod stacks;

use stacks::Stacks;

/// Numbers of a file are clamped to this, positive or negative. Sums saturate.
pub const LARGEST: i64 = 1 << 53;

/// A cost: an amount in the profile's unit, and bytes of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// In the unit of the profile.
    pub amount: i64,
    /// Bytes allocated minus bytes freed; 0 where the file has no memory figures.
    pub memory: i64,
}

impl Cost {
    /// Adds another cost; the sum saturates.
    pub fn add(&mut self, other: Cost) {
        self.amount = self.amount.saturating_add(other.amount);
        self.memory = self.memory.saturating_add(other.memory);
    }

    pub fn subtract(&mut self, other: Cost) {
        self.amount = self.amount.saturating_sub(other.amount);
        self.memory = self.memory.saturating_sub(other.memory);
    }
}

/// The unit of a profile's amounts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "name", rename_all = "snake_case")]
pub enum Unit {
    /// Time in nanoseconds.
    Nanoseconds,
    /// Samples of a sampling profiler.
    Samples,
    /// Another event that the file names, such as `Ir`.
    Event(String),
}

/// The file format of the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Xdebug's cachegrind file: one block per call.
    Xdebug,
    /// Any other cachegrind or callgrind file: costs were summed before they were written.
    Cachegrind,
    /// One stack with its weight per line.
    Collapsed,
}

/// How calls were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// From blocks of the function: each block is one call, so the number is exact.
    Blocks,
    /// From the `calls=` lines that lead to the function; one call for a function that nothing calls.
    CallLines,
    /// Not counted: samples do not count calls.
    Unknown,
}

/// How inclusive costs were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Inclusion {
    /// From the tree of calls: what runs below several calls of a function on one stack is counted once. Exact.
    Tree,
    /// From sampled stacks; each sample counts once for each function in it. Exact for the samples.
    Samples,
    /// From the graph of callers and callees. Exact except for functions that call each other in a cycle: calls inside
    /// the cycle are left out, and the inclusive cost is a lower bound.
    Graph,
}

/// Whether and how a function is on a stack more than once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recursion {
    /// It is on no stack twice.
    #[default]
    None,
    /// It calls itself.
    Direct,
    /// One of its callees calls it; it may also call itself.
    Mutual,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name as in the file, not yet safe to print.
    pub name: String,
    /// The source file, if known.
    pub file: Option<String>,
    /// Calls; none if they were not counted.
    pub calls: Option<u64>,
    pub own: Cost,
    /// Cost with callees, counted once per stack.
    pub inclusive: Cost,
    /// Whether it is on a stack more than once.
    pub recursion: Recursion,
}

/// Calls of one function by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Index of the caller in the list of functions.
    pub caller: u32,
    /// Index of the callee in the list of functions.
    pub callee: u32,
    /// Calls; none if they were not counted.
    pub calls: Option<u64>,
    /// The callee's inclusive cost in these calls; 0 for a function that is already on the stack.
    pub inclusive: Cost,
}

/// Where a truncated file ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cut {
    /// Complete bytes; of a compressed file, after decompression.
    pub byte: u64,
    /// The last complete line, from 1.
    pub line: u64,
    /// What shows that the file is truncated.
    pub why: String,
}

/// The costs of a script or program by function and call path.
#[derive(Clone, Debug)]
pub struct Profile {
    pub format: Format,
    /// The program that wrote it.
    pub creator: Option<String>,
    /// The command that was profiled.
    pub command: Option<String>,
    pub unit: Unit,
    /// Whether there are memory figures.
    pub has_memory: bool,
    pub counting: Counting,
    /// How inclusive costs were found.
    pub inclusion: Inclusion,
    /// The sum of all own costs.
    pub total: Cost,
    /// The sum of the inclusive costs of functions that nothing called. Files round each call on its own, so this
    /// differs a little from the total.
    pub roots: Cost,
    /// The total that the file itself states, if any. Xdebug's total covers the whole request, with costs outside
    /// functions.
    pub stated: Option<Cost>,
    /// Functions, in no particular order.
    pub functions: Vec<Function>,
    /// Calls between functions.
    pub edges: Vec<Edge>,
    pub stacks: Stacks,
    /// Set if the file was truncated.
    pub cut: Option<Cut>,
}

impl Profile {
    /// The stated total minus the sum of all functions: with Xdebug, the cost outside functions.
    pub fn outside(&self) -> Option<i64> {
        let stated = self.stated.filter(|_| self.format == Format::Xdebug)?;
        Some(stated.amount.saturating_sub(self.total.amount)).filter(|outside| *outside > 0)
    }

    /// A cost's share of the whole, 0 to 1.
    pub fn share(&self, amount: i64) -> f64 {
        if self.total.amount > 0 { amount as f64 / self.total.amount as f64 } else { 0.0 }
    }
}
