//! The document of `weigh profile --json`. The other formats are made from it, except for call paths.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use weigh_model::profile::{Cost, Counting, Cut, Format, Inclusion, Profile, Recursion, Unit};

/// The version of the format.
pub const SCHEMA: u32 = 1;

/// The whole document.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// The version of this format.
    pub schema: u32,
    /// The program's version.
    pub weigh: String,
    /// The profiles, in the order of the command line.
    pub profiles: Vec<ShownProfile>,
}

/// A profile.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Shown")]
pub struct ShownProfile {
    /// The file, or the PHP that ran the script.
    pub name: String,
    /// The file format.
    pub format: Format,
    /// The program that wrote it, if it is named.
    pub creator: Option<String>,
    /// The profiled command, if the file names it.
    pub command: Option<String>,
    /// The unit of every amount below.
    pub unit: Unit,
    /// How calls were counted.
    pub counting: Counting,
    /// How inclusive costs were found.
    pub inclusion: Inclusion,
    /// The sum of all own costs.
    pub total: i64,
    /// The same for memory; null without memory figures.
    pub total_memory_bytes: Option<i64>,
    /// The sum of inclusive costs of functions that nothing called: the same total, except for rounding in the file.
    pub roots: i64,
    /// The total that the file states, if any.
    pub stated: Option<i64>,
    /// Cost outside functions, if the file has it: startup, compilation, shutdown, and the profiler itself.
    pub outside: Option<i64>,
    /// Where the file is truncated; null if it is complete.
    pub cut: Option<Cut>,
    /// How the script was run; null for a file.
    pub run: Option<Run>,
    /// Functions, the largest own cost first.
    pub functions: Vec<Row>,
}

/// A function.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// The source file, if known.
    pub file: Option<String>,
    /// Calls; null if they were not counted.
    pub calls: Option<u64>,
    /// Cost without callees.
    pub own: i64,
    /// `own` as a share of the total, 0 to 1.
    pub share: f64,
    /// Cost with callees, counted once per stack.
    pub inclusive: i64,
    /// `inclusive` as a share of the total.
    pub inclusive_share: f64,
    /// Memory without callees; null without memory figures.
    pub own_memory_bytes: Option<i64>,
    /// Memory with callees.
    pub inclusive_memory_bytes: Option<i64>,
    /// Whether and how it is on a stack more than once.
    pub recursion: Recursion,
    /// Its callers.
    pub callers: Vec<Call>,
    /// Its callees.
    pub callees: Vec<Call>,
}

/// Calls between a function and another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Call {
    /// The other function.
    pub name: String,
    /// Calls; null if they were not counted.
    pub calls: Option<u64>,
    /// The callee's inclusive cost in these calls; 0 for a function that is already on the stack.
    pub inclusive: i64,
    /// The same for memory.
    pub inclusive_memory_bytes: Option<i64>,
}

/// How a script was run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// `php8.2`.
    pub php: String,
    /// `8.2.36`.
    pub version: String,
    /// The profiler, with its version.
    pub profiler: String,
    /// What this profiler does not see; null: nothing notable.
    pub remark: Option<String>,
    /// The script and its arguments.
    pub script: Vec<String>,
    /// How the profiled run ended: `exit status: 0`.
    pub ended: String,
    /// Whether the exit code was 0.
    pub is_fine: bool,
    /// The overhead of profiling; null if it was not measured.
    pub overhead: Option<Overhead>,
}

/// The overhead of profiling: CPU time of the whole process and its children, with PHP's startup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Overhead {
    /// CPU seconds of the plain run of each pair.
    pub plain_seconds: Vec<f64>,
    /// CPU seconds of the profiled run of each pair.
    pub profiled_seconds: Vec<f64>,
    /// Profiled ÷ plain, the median over pairs; null with fewer than two pairs.
    pub ratio: Option<f64>,
    /// Lower end of its 95% interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

impl Document {
    pub fn of(profiles: Vec<ShownProfile>) -> Document {
        Document { schema: SCHEMA, weigh: env!("CARGO_PKG_VERSION").into(), profiles }
    }
}

impl ShownProfile {
    pub fn of(name: &str, profile: &Profile, run: Option<Run>) -> ShownProfile {
        let memory = |cost: Cost| profile.has_memory.then_some(cost.memory);
        let mut rows: Vec<Row> = profile
            .functions
            .iter()
            .map(|function| Row {
                name: function.name.clone(),
                file: function.file.clone(),
                calls: function.calls,
                own: function.own.amount,
                share: profile.share(function.own.amount),
                inclusive: function.inclusive.amount,
                inclusive_share: profile.share(function.inclusive.amount),
                own_memory_bytes: memory(function.own),
                inclusive_memory_bytes: memory(function.inclusive),
                recursion: function.recursion,
                callers: Vec::new(),
                callees: Vec::new(),
            })
            .collect();
        for edge in &profile.edges {
            let (caller, callee) = (edge.caller as usize, edge.callee as usize);
            let call = |name: &str| Call {
                name: name.to_owned(),
                calls: edge.calls,
                inclusive: edge.inclusive.amount,
                inclusive_memory_bytes: memory(edge.inclusive),
            };
            let (of_callee, of_caller) =
                (call(&profile.functions[caller].name), call(&profile.functions[callee].name));
            rows[callee].callers.push(of_callee);
            rows[caller].callees.push(of_caller);
        }
        for row in &mut rows {
            for calls in [&mut row.callers, &mut row.callees] {
                calls.sort_by_key(|call| Reverse((call.inclusive, call.calls)));
            }
        }
        rows.sort_by(|a, b| b.own.cmp(&a.own).then_with(|| a.name.cmp(&b.name)));
        ShownProfile {
            name: name.to_owned(),
            format: profile.format,
            creator: profile.creator.clone(),
            command: profile.command.clone(),
            unit: profile.unit.clone(),
            counting: profile.counting,
            inclusion: profile.inclusion,
            total: profile.total.amount,
            total_memory_bytes: memory(profile.total),
            roots: profile.roots.amount,
            stated: profile.stated.map(|stated| stated.amount),
            outside: profile.outside(),
            cut: profile.cut.clone(),
            run,
            functions: rows,
        }
    }
}
