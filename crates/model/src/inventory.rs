//! What can be measured here: runtimes, web servers and stores, each as it describes itself.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::link::LinkSpec;
use crate::plan::{Runtime, Server, Store};
use crate::protocol::client::DriverDescription;
use crate::protocol::{CodecDescription, SerializerDescription};
use crate::way::WayDescription;

/// The name of the runtime that holds the native codecs.
pub const NATIVE: &str = "native";
/// A study's word for every PHP.
pub const PHP: &str = "php";

/// Everything that can be measured here.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Inventory {
    /// Native first, then the PHPs in the order given or found.
    pub runtimes: Vec<RuntimeEntry>,
    /// PHP binaries that were named or found but cannot be used, each with the reason.
    pub refused: Vec<(PathBuf, String)>,
    /// Web servers, looked for when a study has deliveries.
    pub servers: Vec<ServerEntry>,
    /// PHPs that can run behind the web servers; looked for when a study has deliveries.
    pub pools: Vec<RuntimeEntry>,
    /// Stores, looked for when a study has clients.
    pub stores: Vec<StoreEntry>,
    /// The names of all defined stores, including those that the user excluded.
    pub known_stores: Vec<String>,
    /// The links that studies name, by the text that names them.
    pub links: BTreeMap<String, LinkSpec>,
    /// PHPs that can be clients of stores, with every variant; looked for when a study has clients.
    pub clients: Vec<RuntimeEntry>,
    /// Why there is no network with small buffers; null: there is one, or it was not looked for.
    pub no_network: Option<String>,
}

/// One runtime as it describes itself: the native codecs, or PHP on the command line, behind a web server, or as a
/// client of stores.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RuntimeEntry {
    /// As a plan has it; with a variant of a study, `php8.2+jit`. Its libraries follow from the cells.
    pub plan: Runtime,
    /// Every codec that it can encode with, available or not.
    pub codecs: Vec<CodecDescription>,
    /// Every serializer, available or not.
    pub serializers: Vec<SerializerDescription>,
    /// Every method of sending that PHP has behind a web server, available or not.
    pub ways: Vec<WayDescription>,
    /// Every driver of a store, available or not.
    pub drivers: Vec<DriverDescription>,
    /// Null: can be measured. Otherwise the reason why not.
    pub missing: Option<String>,
    /// How to make it available.
    pub remedy: Option<String>,
}

/// One web server, available or not.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ServerEntry {
    /// As a plan has it; without a version when it is not installed. Its libraries follow from the cells.
    pub plan: Server,
    /// It can send over TLS.
    pub tls: bool,
    /// It can pass requests to PHP.
    pub php: bool,
    /// Every method of sending, available or not.
    pub ways: Vec<WayDescription>,
    /// Null: can be measured. Otherwise the reason why not.
    pub missing: Option<String>,
    /// How to make it available.
    pub remedy: Option<String>,
}

/// One store, available or not.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StoreEntry {
    /// As a plan has it. Its drivers follow from the cells.
    pub plan: Store,
    /// One line that describes it.
    pub about: String,
    /// It is a part of PHP, or a folder, so that no link leads to it.
    pub within: bool,
    /// Null: can be measured. Otherwise the reason why not.
    pub missing: Option<String>,
    /// How to make it available.
    pub remedy: Option<String>,
}

/// Something with a name that may be unavailable.
pub trait Listed {
    fn name(&self) -> &str;

    /// Why it is unavailable, and how to make it available; none: it is available.
    fn lack(&self) -> Option<(&str, Option<&str>)>;
}

macro_rules! listed {
    ($($kind:ty: $($name:ident).+),*) => {$(
        impl Listed for $kind {
            fn name(&self) -> &str {
                &self.$($name).+
            }

            fn lack(&self) -> Option<(&str, Option<&str>)> {
                self.missing.as_deref().map(|reason| (reason, self.remedy.as_deref()))
            }
        }
    )*};
}
listed!(
    RuntimeEntry: plan.name,
    ServerEntry: plan.name,
    StoreEntry: plan.name,
    CodecDescription: name,
    SerializerDescription: name,
    DriverDescription: name,
    WayDescription: name
);

impl RuntimeEntry {
    /// Whether a name in a study means this runtime: `php` or a runtime's name without a variant, or `php+jit` with
    /// that variant.
    pub fn is_meant_by(&self, word: &str) -> bool {
        let split = |name: &'_ str| {
            let (runtime, variant) = name.split_once('+').map_or((name, None), |(r, v)| (r, Some(v)));
            (runtime.to_owned(), variant.map(str::to_owned))
        };
        let ((wanted, variant), (own, own_variant)) = (split(word), split(&self.plan.name));
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
