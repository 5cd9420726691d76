//! Two profiles, function by function.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use weigh_model::profile::{Profile, Unit};

/// Two profiles, compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Name of the first.
    pub before: String,
    /// Name of the second.
    pub after: String,
    /// The unit of amounts.
    pub unit: Unit,
    /// The sums of all own costs.
    pub total: Pair,
    /// Every function of either, by its contribution to the difference of the totals, largest first.
    pub functions: Vec<Row>,
}

/// An amount in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// In the first.
    pub before: i64,
    /// In the second.
    pub after: i64,
    /// Second minus first.
    pub difference: i64,
    /// Second ÷ first; null if the first is not above zero.
    pub ratio: Option<f64>,
}

impl Pair {
    fn of(before: i64, after: i64) -> Pair {
        let ratio = (before > 0).then(|| after as f64 / before as f64);
        Pair { before, after, difference: after.saturating_sub(before), ratio }
    }
}

/// A function in both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// Its name; functions of the same name in several files are combined.
    pub name: String,
    /// Calls in the first; null if they were not counted, or the function is not in it.
    pub calls_before: Option<u64>,
    /// Calls in the second.
    pub calls_after: Option<u64>,
    /// Cost without callees.
    pub own: Pair,
    /// Cost with callees, counted once per stack.
    pub inclusive: Pair,
    /// Its share of the difference of the totals, where 1 is all; negative if it changed in the other direction. Null
    /// if the totals do not differ.
    pub contribution: Option<f64>,
}

#[derive(Clone, Copy, Default)]
struct Side {
    calls: Option<u64>,
    own: i64,
    inclusive: i64,
}

/// Compares two.
///
/// # Errors
/// Their amounts have different units.
pub fn compare(before: (&str, &Profile), after: (&str, &Profile)) -> Result<Comparison> {
    if before.1.unit != after.1.unit {
        let name = |unit: &Unit| match unit {
            Unit::Nanoseconds => "times".to_owned(),
            Unit::Samples => "samples".to_owned(),
            Unit::Event(name) => name.clone(),
        };
        bail!("{} and {} cannot be compared", name(&before.1.unit), name(&after.1.unit));
    }
    let mut rows: BTreeMap<&str, [Side; 2]> = BTreeMap::new();
    for (at, profile) in [before.1, after.1].into_iter().enumerate() {
        for function in &profile.functions {
            let side = &mut rows.entry(&function.name).or_default()[at];
            side.calls = match (side.calls, function.calls) {
                (Some(a), Some(b)) => Some(a.saturating_add(b)),
                (a, b) => a.or(b),
            };
            side.own = side.own.saturating_add(function.own.amount);
            side.inclusive = side.inclusive.saturating_add(function.inclusive.amount);
        }
    }
    let total = Pair::of(before.1.total.amount, after.1.total.amount);
    let row = |(name, [a, b]): (&str, [Side; 2])| {
        let own = Pair::of(a.own, b.own);
        Row {
            name: name.to_owned(),
            calls_before: a.calls,
            calls_after: b.calls,
            own,
            inclusive: Pair::of(a.inclusive, b.inclusive),
            contribution: (total.difference != 0).then(|| own.difference as f64 / total.difference as f64),
        }
    };
    let mut functions: Vec<Row> = rows.into_iter().map(row).collect();
    functions.sort_by_key(|row| std::cmp::Reverse(row.own.difference.unsigned_abs()));
    let unit = before.1.unit.clone();
    Ok(Comparison { before: before.0.into(), after: after.0.into(), unit, total, functions })
}
