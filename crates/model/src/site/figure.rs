//! A figure with its source. A bare number in the file is one that the user gave.

use serde::{Deserialize, Serialize};

/// A figure, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(from = "Written")]
pub struct Figure {
    /// The figure; its unit is that of its key.
    pub value: f64,
    /// Where it comes from.
    pub from: From,
}

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum From {
    /// Counted in a log, a folder or a store.
    Counted,
    /// Measured here.
    Measured,
    /// Read from a configuration.
    Configured,
    /// Assumed from published figures: docs/REFERENCE.md has the sources.
    Assumed,
    /// Given by the user.
    Given,
}

/// Both forms that a file may have.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(untagged, expecting = "a number, or { value = 1.0, from = \"given\" }")]
enum Written {
    Bare(f64),
    Whole(Whole),
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Whole {
    value: f64,
    from: From,
}

impl std::convert::From<Written> for Figure {
    fn from(written: Written) -> Figure {
        match written {
            Written::Bare(value) => Figure { value, from: From::Given },
            Written::Whole(Whole { value, from }) => Figure { value, from },
        }
    }
}

impl Figure {
    pub fn counted(value: f64) -> Figure {
        Figure { value, from: From::Counted }
    }

    pub fn measured(value: f64) -> Figure {
        Figure { value, from: From::Measured }
    }

    pub fn assumed(value: f64) -> Figure {
        Figure { value, from: From::Assumed }
    }
}

impl From {
    /// `counted`.
    pub fn word(self) -> &'static str {
        match self {
            From::Counted => "counted",
            From::Measured => "measured",
            From::Configured => "configured",
            From::Assumed => "assumed",
            From::Given => "given",
        }
    }
}
