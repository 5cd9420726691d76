//! Groups: rows that compete, their Pareto front, and the cost of each compared with the marked ones.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rows that are equal in the factors that their subject groups by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// Their common values, by factor; a factor without a value is left out.
    pub key: BTreeMap<String, String>,
    /// Ids of its cells, in the plan's order.
    pub cells: Vec<String>,
    /// Ids of the cells on the front, by bytes, descending (least time first).
    pub front: Vec<String>,
    /// Cells that the others are compared with, by name: `reference`, `gzip`.
    pub marks: BTreeMap<String, String>,
}

impl Group {
    /// The common value of a factor; empty without a value.
    pub fn factor(&self, name: &str) -> &str {
        self.key.get(name).map_or("", String::as_str)
    }

    pub fn payload(&self) -> &str {
        self.factor("payload")
    }

    pub fn runtime(&self) -> &str {
        self.factor("runtime")
    }

    /// The id of a marked cell.
    pub fn mark(&self, name: &str) -> Option<&str> {
        self.marks.get(name).map(String::as_str)
    }

    /// The id of the cell that the others are compared with.
    pub fn reference(&self) -> Option<&str> {
        self.mark("reference")
    }

    /// A cell is among its own.
    pub fn has(&self, id: &str) -> bool {
        self.cells.iter().any(|cell| cell == id)
    }
}
