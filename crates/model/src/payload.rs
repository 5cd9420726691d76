//! A payload: one input, as a blob of bytes cut into items that are encoded one by one.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where a payload's bytes came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Origin {
    /// Pinned by digest in the corpus.
    Corpus {
        /// Its identifier in `corpus.toml`.
        id: String,
        /// Its licence, SPDX where there is an identifier.
        licence: String,
        /// Where a package registry has it, `npm:name@version:path`.
        source: String,
        /// Set when the content is real but not the pinned bytes: why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unpinned: Option<String>,
    },
    /// The user's own file or folder.
    User {
        /// The path as given.
        path: PathBuf,
        /// Set when only stated blocks of it are measured: which.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sampled: Option<String>,
    },
    /// What a URL sent when the run was planned.
    Url {
        /// The URL.
        url: String,
    },
    /// Made by the workers themselves: its blob is its name.
    #[default]
    Made,
    /// Small, generated, and labelled so in every table.
    Synthetic {
        /// What the generator imitates.
        imitates: String,
    },
}

/// One input of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Payload {
    /// Unique in its plan: `tree-2.4m`, `index.html`, `css/`.
    pub name: String,
    /// What kind of content it is: `html`, `js`, `css`, `json`, `php-value` …
    pub kind: String,
    /// The bytes of all items, one after the other. Relative paths are relative to the run directory.
    pub blob: PathBuf,
    /// SHA-256 of the blob, hexadecimal.
    pub sha256: String,
    /// Length of the blob in bytes.
    pub bytes: u64,
    /// Lengths in bytes of the items, in order; they add up to `bytes`. Each item is encoded on its own.
    pub items: Vec<u64>,
    /// `Some("serialize")`: the blob is one PHP value in that form, so that cells with a serializer apply.
    pub value: Option<String>,
    /// Where it came from.
    pub origin: Origin,
}
