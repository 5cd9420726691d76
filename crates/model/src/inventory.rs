//! What can be measured here: runtimes, web servers and stores, each with what it says of itself.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::link::LinkSpec;
use crate::protocol::client::DriverDescription;
use crate::protocol::{CodecDescription, SerializerDescription};
use crate::way::{OwnConfig, WayDescription};

/// The name of the runtime that holds the native codecs.
pub const NATIVE: &str = "native";
/// A study's word for every PHP.
pub const PHP: &str = "php";

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
    pub pools: Vec<RuntimeEntry>,
    /// Stores, looked for when a study has clients.
    pub stores: Vec<StoreEntry>,
    /// The names of all stores that are defined, those that the user left out among them.
    pub known_stores: Vec<String>,
    /// The links that studies name, by the text that names them.
    pub links: BTreeMap<String, LinkSpec>,
    /// PHPs that can be their clients, each with every variant, likewise.
    pub clients: Vec<RuntimeEntry>,
    /// Why there is no network whose buffers are small; null: there is one, or nobody looked.
    pub no_network: Option<String>,
}

/// One runtime with what it says of itself: the native codecs, or a PHP by itself, behind a web server, or as a client of stores.
#[derive(Clone, Debug, Default)]
pub struct RuntimeEntry {
    /// `native`, `php8.2`, …; with a variant of a study, `php8.2+jit`.
    pub name: String,
    /// The PHP binary, or that of PHP-FPM; `None` for native.
    pub binary: Option<PathBuf>,
    /// Settings of PHP's ini that make the variant, `NAME=VALUE`.
    pub ini: Vec<String>,
    /// Its version as queried.
    pub version: String,
    /// Settings that change results, by name.
    pub facts: BTreeMap<String, String>,
    /// Every codec that it can encode with, available or not.
    pub codecs: Vec<CodecDescription>,
    /// Every serializer, likewise.
    pub serializers: Vec<SerializerDescription>,
    /// Every way of sending that it has behind a web server, likewise.
    pub ways: Vec<WayDescription>,
    /// Every driver of a store, likewise.
    pub drivers: Vec<DriverDescription>,
    /// Null: can be measured. Else why not.
    pub missing: Option<String>,
    /// What would mend it.
    pub remedy: Option<String>,
}

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

/// One store, there or not.
#[derive(Clone, Debug, Default)]
pub struct StoreEntry {
    /// `redis`, `memcached`, …
    pub name: String,
    /// One line.
    pub about: String,
    /// Its program.
    pub binary: Option<PathBuf>,
    /// Its version as queried; empty when it is not there, or has none.
    pub version: String,
    /// It is a part of PHP, or a folder: no link leads to it.
    pub within: bool,
    /// Others run it: its URL without a password.
    pub url: Option<String>,
    /// Null: can be measured. Else why not.
    pub missing: Option<String>,
    /// What would mend it.
    pub remedy: Option<String>,
}

/// What is known by a name, and may not be here.
pub trait Listed {
    /// Its name in studies.
    fn name(&self) -> &str;

    /// Why it is not here, and what would mend that; none: it is.
    fn lack(&self) -> Option<(&str, Option<&str>)>;
}

macro_rules! listed {
    ($($kind:ty),*) => {$(
        impl Listed for $kind {
            fn name(&self) -> &str {
                &self.name
            }

            fn lack(&self) -> Option<(&str, Option<&str>)> {
                self.missing.as_deref().map(|reason| (reason, self.remedy.as_deref()))
            }
        }
    )*};
}
listed!(
    RuntimeEntry,
    ServerEntry,
    StoreEntry,
    CodecDescription,
    SerializerDescription,
    DriverDescription,
    WayDescription
);

impl RuntimeEntry {
    /// Whether a study's word means it: `php` and a runtime's name mean it without a variant, `php+jit` with that one.
    pub fn is_meant_by(&self, word: &str) -> bool {
        let split = |name: &'_ str| {
            let (runtime, variant) = name.split_once('+').map_or((name, None), |(r, v)| (r, Some(v)));
            (runtime.to_owned(), variant.map(str::to_owned))
        };
        let ((wanted, variant), (own, own_variant)) = (split(word), split(&self.name));
        (wanted == own || wanted == PHP && own != NATIVE) && variant == own_variant
    }

    /// The codec of that name, available or not.
    pub fn codec(&self, name: &str) -> Option<&CodecDescription> {
        self.codecs.iter().find(|c| c.name == name)
    }

    /// The serializer of that name, available or not.
    pub fn serializer(&self, name: &str) -> Option<&SerializerDescription> {
        self.serializers.iter().find(|s| s.name == name)
    }
}
