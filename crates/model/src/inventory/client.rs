//! What client cells stand on: stores, and PHPs with their drivers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::protocol::client::DriverDescription;
use crate::protocol::{CodecDescription, SerializerDescription};

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

/// One PHP that can be a client, in one variant.
#[derive(Clone, Debug, Default)]
pub struct ClientEntry {
    /// `php8.2`, `php8.2+jit`.
    pub name: String,
    /// The runtime's name without the variant.
    pub runtime: String,
    /// The variant's name; none without.
    pub variant: Option<String>,
    /// The PHP binary.
    pub binary: Option<PathBuf>,
    /// Settings of PHP's ini, `NAME=VALUE`.
    pub ini: Vec<String>,
    /// Its version as queried.
    pub version: String,
    /// Every driver, available or not.
    pub drivers: Vec<DriverDescription>,
    /// The codecs that its workers can encode with.
    pub codecs: Vec<CodecDescription>,
    /// The serializers.
    pub serializers: Vec<SerializerDescription>,
    /// Settings that change results, by name.
    pub facts: BTreeMap<String, String>,
    /// Null: can be measured. Else why not.
    pub missing: Option<String>,
    /// What would mend it.
    pub remedy: Option<String>,
}

impl ClientEntry {
    /// Whether a study's word means it: `php` and a runtime's name mean it without a variant, `php+jit` with that one.
    pub fn is_meant_by(&self, word: &str) -> bool {
        let (runtime, variant) = word.split_once('+').map_or((word, None), |(r, v)| (r, Some(v)));
        (runtime == "php" || runtime == self.runtime) && variant == self.variant.as_deref()
    }

    /// The serializer of that name.
    pub fn serializer(&self, name: &str) -> Option<&SerializerDescription> {
        self.serializers.iter().find(|s| s.name == name)
    }
}
