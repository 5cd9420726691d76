//! What a fetch is asked for, what it tells, and what comes of it.

use std::fmt;
use std::path::PathBuf;

use crate::client::Clients;

#[derive(Clone, Debug, Default)]
pub struct FetchOptions {
    pub clients: Clients,
    /// The PHP that makes values.
    pub php: Option<PathBuf>,
}

/// What is going on, for a line on a terminal (its `Display` is that line).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another run is fetching into the same cache.
    Waiting,
    /// So much is to be downloaded.
    Need {
        archives: usize,
        /// Their bytes in all.
        bytes: u64,
    },
    /// A download begins.
    Started {
        package: String,
        /// Its archive's length in bytes.
        bytes: u64,
    },
    /// A download is there and verified.
    Arrived {
        package: String,
        /// Its archive's length in bytes.
        bytes: u64,
    },
    Failed {
        package: String,
        why: String,
    },
    /// PHP values are being made.
    Making {
        /// How many, counting each form.
        values: usize,
    },
}

/// What became of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchOutcome {
    pub id: String,
    pub state: State,
}

/// The state of an entry after a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Ready,
    Fetched,
    /// Real content is there, but not the pinned bytes.
    Unpinned {
        why: String,
    },
    Failed {
        why: String,
        remedy: Option<String>,
    },
}

/// Why something did not come.
#[derive(Clone, Debug)]
pub(crate) struct Reason {
    pub why: String,
    pub remedy: Option<String>,
}

/// An archive in the cache.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    /// Set when it is not the pinned archive: why.
    pub superseded: Option<String>,
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mb = |bytes: &u64| *bytes as f64 / 1e6;
        match self {
            Progress::Waiting => f.write_str("waiting for another run that fetches into the same cache"),
            Progress::Need { archives, bytes } => {
                write!(f, "{archives} archives to download, {:.1} MB", mb(bytes))
            }
            Progress::Started { package, bytes } => write!(f, "fetching {package} ({:.1} MB)", mb(bytes)),
            Progress::Arrived { package, .. } => write!(f, "fetched and verified {package}"),
            Progress::Failed { package, why } => write!(f, "{package}: {why}"),
            Progress::Making { values } => write!(f, "making {values} PHP values"),
        }
    }
}
