//! What can send here: web servers with their ways, and PHP pools with theirs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::way::{OwnConfig, WayDescription};

/// One web server, there or not.
#[derive(Clone, Debug, Default)]
pub struct ServerEntry {
    /// `nginx`, `apache`, …
    pub name: String,
    /// Its program.
    pub binary: Option<PathBuf>,
    /// Its version as queried; empty when it is not there.
    pub version: String,
    /// It can send over TLS.
    pub tls: bool,
    /// It can have PHP make responses.
    pub php: bool,
    /// Every way, available or not.
    pub ways: Vec<WayDescription>,
    /// Settings that change results, by name.
    pub facts: BTreeMap<String, String>,
    /// The user's configuration, where one is among its ways.
    pub own: Option<OwnConfig>,
    /// Null: can be measured. Else why not.
    pub missing: Option<String>,
    /// What would mend it.
    pub remedy: Option<String>,
}

/// One PHP that can stand behind a web server.
#[derive(Clone, Debug, Default)]
pub struct PoolEntry {
    /// The runtime's name: `php8.2`.
    pub name: String,
    /// The PHP-FPM binary.
    pub binary: Option<PathBuf>,
    /// Its version as queried.
    pub version: String,
    /// Every way, available or not.
    pub ways: Vec<WayDescription>,
    /// Settings that change results, by name.
    pub facts: BTreeMap<String, String>,
    /// Null: can be measured. Else why not.
    pub missing: Option<String>,
    /// What would mend it.
    pub remedy: Option<String>,
}
