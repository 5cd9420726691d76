//! Figures that others published, in columns of the publication's own.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use crate::cell::Cell;

/// A published table, with what is measured beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// What the table is, and its conditions.
    pub about: String,
    /// How sentences cite it, with the year or the versions: `mod_deflate against type-map, 2008`; empty: "the
    /// published table".
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cite: String,
    /// Conclusions of its author or readers, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reading: Vec<String>,
    /// The payload of the cells that are compared with it.
    pub payload: String,
    /// The part of their ids between payload and setting, with `{runtime}` for any PHP: `apache/{runtime}/http*10`, `{runtime}/serialize`.
    pub cells: String,
    /// In the order in which they are shown.
    pub columns: Vec<PublishedColumn>,
    /// In the published order.
    pub rows: Vec<PublishedRow>,
}

/// A column of published figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedColumn {
    /// Its heading with the unit: `requests/s`.
    pub name: String,
    /// The id of the metric that is compared with it.
    pub metric: String,
    /// Its unit in that of the metric: 1e6 of a column in ms, where the metric is in ns.
    #[serde(default = "one")]
    pub unit: f64,
}

fn one() -> f64 {
    1.0
}

/// A published row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// Its name as published.
    pub label: String,
    /// The end of the ids of the cells that are compared with it: `gzdeflate:6`, `php/gzencode:6`.
    pub setting: String,
    /// Its figures by the names of their columns.
    pub figures: BTreeMap<String, f64>,
}

impl Published {
    /// What is wrong with it, in one line.
    ///
    /// # Errors
    /// No column, a unit that is none, or a figure without a column.
    pub fn check(&self) -> Result<()> {
        if self.columns.is_empty()
            || self.columns.iter().any(|column| !(column.unit > 0.0 && column.unit.is_finite()))
        {
            bail!("published.columns needs at least one column, with a `unit` above zero");
        }
        let is_column = |name: &&String| self.columns.iter().any(|column| column.name == **name);
        match self.rows.iter().flat_map(|row| row.figures.keys()).find(|name| !is_column(name)) {
            Some(name) => bail!("published.rows: there is no column `{name}`"),
            None => Ok(()),
        }
    }

    /// Whether a cell is compared with a row.
    pub fn is_of(&self, row: &PublishedRow, cell: &Cell) -> bool {
        let cells = self.cells.replace("{runtime}", &cell.runtime);
        cell.payload == self.payload && cell.id == format!("{}/{cells}/{}", self.payload, row.setting)
    }
}
