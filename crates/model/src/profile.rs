//! A profile as everything downstream sees it: functions, who calls whom, merged call paths, and how each figure was found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub mod stacks;

use stacks::Stacks;

/// The largest number that is taken from a file, either way: larger ones are cut to it. Sums saturate.
pub const LARGEST: i64 = 1 << 53;

/// What was spent: in the profile's unit, and bytes of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// In the unit of the profile.
    pub amount: i64,
    /// Bytes that were allocated less those that were freed; 0 where the file says nothing of memory.
    pub memory: i64,
}

impl Cost {
    /// Adds another; what would not fit stays at the largest number.
    pub fn add(&mut self, other: Cost) {
        self.amount = self.amount.saturating_add(other.amount);
        self.memory = self.memory.saturating_add(other.memory);
    }

    /// Takes another away.
    pub fn subtract(&mut self, other: Cost) {
        self.amount = self.amount.saturating_sub(other.amount);
        self.memory = self.memory.saturating_sub(other.memory);
    }
}

/// What a profile's amounts are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "name", rename_all = "snake_case")]
pub enum Unit {
    /// Time in nanoseconds.
    Nanoseconds,
    /// Samples that a sampling profiler took.
    Samples,
    /// Another event of the file's, such as `Ir`.
    Event(String),
}

/// The form that a profile was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Xdebug's cachegrind file: a block a call.
    Xdebug,
    /// Any other cachegrind or callgrind file: costs summed up before they were written.
    Cachegrind,
    /// A stack and its weight a line.
    Collapsed,
    /// A speedscope JSON file.
    Speedscope,
    /// The output of `perf script`.
    PerfScript,
}

/// Where the numbers of calls come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// Blocks of the function: each is one call, so they are exact.
    Blocks,
    /// The `calls=` lines that lead to the function, and one for a function that nothing calls.
    CallLines,
    /// Nowhere: samples do not count calls.
    Unknown,
}

/// How inclusive costs were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Inclusion {
    /// From every call's place in the tree of calls: what runs below several calls of a function on one stack is counted
    /// once. Exact.
    Tree,
    /// From sampled stacks, each counting once for each function in it. Exact for the samples.
    Samples,
    /// From the graph of callers and callees: exact but for functions that call each other in a circle, where calls inside
    /// of the circle are left out and the inclusive cost is a lower bound.
    Graph,
}

/// How a function comes to be on a stack twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recursion {
    /// It is not.
    #[default]
    None,
    /// It calls itself.
    Direct,
    /// It is called by what it calls; it may call itself, too.
    Mutual,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// As in the file, not yet safe to print.
    pub name: String,
    /// The file it stands in, where that is known.
    pub file: Option<String>,
    /// Calls; none where nothing counted them.
    pub calls: Option<u64>,
    /// Without what it called.
    pub own: Cost,
    /// With what it called, counted once a stack.
    pub inclusive: Cost,
    /// Whether it is on a stack twice.
    pub recursion: Recursion,
}

/// Calls of one function by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Place of the caller among the functions.
    pub caller: u32,
    /// Place of the callee.
    pub callee: u32,
    /// Calls; none where nothing counted them.
    pub calls: Option<u64>,
    /// The callee's inclusive cost in them; 0 for calls of what is on the stack already.
    pub inclusive: Cost,
}

/// Where a file ends too early.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cut {
    /// Bytes that are whole; of a compressed file, after unpacking.
    pub byte: u64,
    /// The line after which nothing whole follows, from 1.
    pub line: u64,
    /// How it shows.
    pub why: String,
}

/// What a script or program spent where.
#[derive(Clone, Debug)]
pub struct Profile {
    /// What it was read from.
    pub format: Format,
    /// The program that wrote it.
    pub creator: Option<String>,
    /// What was profiled.
    pub command: Option<String>,
    /// What amounts are.
    pub unit: Unit,
    /// Whether there are figures of memory.
    pub has_memory: bool,
    /// Where calls come from.
    pub counting: Counting,
    /// Where inclusive costs come from.
    pub inclusion: Inclusion,
    /// The sum of all own costs.
    pub total: Cost,
    /// The sum of the inclusive costs of what nothing called. Each call is written in numbers that are rounded by
    /// themselves, so it differs a little from the total.
    pub roots: Cost,
    /// The total that the file itself states, where it does. Xdebug's is of the whole request: it holds what was spent outside
    /// of functions too.
    pub stated: Option<Cost>,
    /// Functions, in no order.
    pub functions: Vec<Function>,
    /// Who calls whom.
    pub edges: Vec<Edge>,
    /// Merged call paths.
    pub stacks: Stacks,
    /// Set where the file was cut short.
    pub cut: Option<Cut>,
}

impl Profile {
    /// How far the sum of own costs is from the total as it stands elsewhere, as a share of it: from the inclusive costs of
    /// what nothing called where there is a tree of calls, else from what the file states.
    pub fn departure(&self) -> Option<f64> {
        let other = match self.inclusion {
            Inclusion::Tree => self.roots.amount,
            _ => self.stated?.amount,
        };
        (other != 0).then(|| self.total.amount.abs_diff(other) as f64 / other.unsigned_abs() as f64)
    }

    /// What the file states beyond the sum of all functions: in Xdebug's, what was spent outside of them.
    pub fn outside(&self) -> Option<i64> {
        let stated = self.stated.filter(|_| self.format == Format::Xdebug)?;
        Some(stated.amount.saturating_sub(self.total.amount)).filter(|outside| *outside > 0)
    }

    /// A cost's share of the whole, 0 to 1.
    pub fn share(&self, amount: i64) -> f64 {
        if self.total.amount > 0 { amount as f64 / self.total.amount as f64 } else { 0.0 }
    }
}
