//! The machine a run was measured on: its fingerprint, queried and never typed.

use serde::{Deserialize, Serialize};

/// The fingerprint of a machine. A field that could not be queried is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Machine {
    /// Processor model.
    pub processor: Option<String>,
    /// Logical processors that this process may use.
    pub cores: u32,
    /// Kernel name and release.
    pub kernel: Option<String>,
    /// Distribution, as it names itself.
    pub system: Option<String>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
    /// Hypervisor or container, if one shows.
    pub virtualisation: Option<String>,
    /// Processors that a CPU cgroup grants, when it grants fewer than there are.
    pub cgroup_cores: Option<f64>,
    /// Load average over one minute at the start.
    pub load_average: Option<f64>,
}
