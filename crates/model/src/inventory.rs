//! What can be measured here: the runtimes, each with the codecs and serializers it described itself.

use std::collections::BTreeMap;
use std::path::PathBuf;

pub mod client;
pub mod delivery;

pub use client::{ClientEntry, StoreEntry};
pub use delivery::{PoolEntry, ServerEntry};

use crate::link::LinkSpec;
use crate::protocol::{CodecDescription, Description, SerializerDescription};

/// The name of the runtime that holds the native codecs.
pub const NATIVE: &str = "native";

/// One runtime with its own description of itself.
#[derive(Clone, Debug)]
pub struct RuntimeEntry {
    /// `native`, `php8.2`, …
    pub name: String,
    /// The PHP binary; `None` for native.
    pub binary: Option<PathBuf>,
    /// What its worker said.
    pub description: Description,
}

/// Everything that can be measured here.
#[derive(Clone, Debug, Default)]
pub struct Inventory {
    /// Native first, then the PHPs in the order given or found.
    pub runtimes: Vec<RuntimeEntry>,
    /// PHP binaries that were named or found and cannot be used: the binary and why.
    pub refused: Vec<(PathBuf, String)>,
    /// Web servers, looked for when a study has deliveries.
    pub servers: Vec<ServerEntry>,
    /// PHPs that can stand behind them, likewise.
    pub pools: Vec<PoolEntry>,
    /// Stores, looked for when a study has clients.
    pub stores: Vec<StoreEntry>,
    /// The names of all stores that are defined, those that the user left out among them.
    pub known_stores: Vec<String>,
    /// The links that studies name, by the text that names them.
    pub links: BTreeMap<String, LinkSpec>,
    /// PHPs that can be their clients, each with every variant, likewise.
    pub clients: Vec<ClientEntry>,
    /// Why there is no network whose buffers are small; null: there is one, or nobody looked.
    pub no_network: Option<String>,
}

impl Inventory {
    /// The runtimes a study's word stands for: `native`, `php` (all), or one name.
    pub fn select(&self, word: &str) -> Vec<&RuntimeEntry> {
        self.runtimes.iter().filter(|r| r.name == word || (word == "php" && r.name != NATIVE)).collect()
    }

    /// The names a study may use.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.runtimes.iter().map(|r| r.name.as_str()).collect();
        names.push("php");
        names
    }
}

impl RuntimeEntry {
    /// The codec of that name, available or not.
    pub fn codec(&self, name: &str) -> Option<&CodecDescription> {
        self.description.codecs.iter().find(|c| c.name == name)
    }

    /// The serializer of that name, available or not.
    pub fn serializer(&self, name: &str) -> Option<&SerializerDescription> {
        self.description.serializers.iter().find(|s| s.name == name)
    }

    /// Library and version of everything available, by name.
    pub fn libraries(&self) -> BTreeMap<String, String> {
        let codecs = self.description.codecs.iter().map(|c| (&c.name, &c.library));
        let serializers = self.description.serializers.iter().map(|s| (&s.name, &s.library));
        codecs.chain(serializers).filter_map(|(n, l)| l.clone().map(|l| (n.clone(), l))).collect()
    }
}
