//! What a lab that was killed has left: processes, private directories, unix sockets and network namespaces.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Folders of a lab's own that the next start removes.
const SWEPT: &str = "weigh-tmp-";

/// What may be left, of labs that work below one folder.
#[derive(Debug)]
pub struct Watch {
    home: PathBuf,
    namespaces: BTreeSet<String>,
}

/// What is left, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Labs, guards, workers, servers, pools.
    pub processes: usize,
    /// Directories of private instances.
    pub directories: usize,
    /// Unix sockets that somebody listens on or is connected to.
    pub sockets: usize,
    /// Network namespaces that are mounted.
    pub namespaces: usize,
    /// Temporary folders of the lab's own.
    pub swept: usize,
}

impl Left {
    /// Whether nothing is left but what the next start removes.
    pub fn is_nothing(&self) -> bool {
        Left { swept: 0, ..*self } == Left::default()
    }

    /// Adds what another kill left.
    pub fn add(&mut self, other: Left) {
        self.processes += other.processes;
        self.directories += other.directories;
        self.sockets += other.sockets;
        self.namespaces += other.namespaces;
        self.swept += other.swept;
    }
}

impl Watch {
    /// Over labs below a folder; what is there of namespaces now is nobody's here.
    pub fn over(home: &Path) -> Watch {
        Watch { home: home.to_owned(), namespaces: namespaces() }
    }

    /// Where its labs put what is temporary.
    pub fn tmp(&self) -> PathBuf {
        self.home.join("tmp")
    }

    /// What is left after `patience`, or earlier where nothing is.
    pub fn left_after(&self, patience: Duration) -> Left {
        let begun = Instant::now();
        loop {
            let left = self.left();
            if left.is_nothing() || begun.elapsed() > patience {
                return left;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn left(&self) -> Left {
        let entries = fs::read_dir(self.tmp()).into_iter().flatten().flatten();
        let (swept, directories): (Vec<_>, Vec<_>) =
            entries.partition(|entry| entry.file_name().to_string_lossy().starts_with(SWEPT));
        let home = self.home.to_string_lossy();
        let sockets = fs::read_to_string("/proc/net/unix").unwrap_or_default();
        Left {
            processes: self.processes(),
            directories: directories.len(),
            sockets: sockets.lines().filter(|line| line.contains(&*home)).count(),
            namespaces: namespaces().difference(&self.namespaces).count(),
            swept: swept.len(),
        }
    }

    /// Processes that know this folder from their command line or their environment, as every one of a lab here does; another
    /// folder's labs may run beside.
    fn processes(&self) -> usize {
        let home = self.home.to_string_lossy();
        let knows =
            |file: PathBuf| fs::read(file).is_ok_and(|text| String::from_utf8_lossy(&text).contains(&*home));
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten().map(|p| p.path());
        processes.filter(|p| knows(p.join("cmdline")) || knows(p.join("environ"))).count()
    }
}

/// Mounts of namespaces: what outlives every process that was in one.
fn namespaces() -> BTreeSet<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    mounts.lines().filter(|line| line.contains(" - nsfs ")).map(str::to_owned).collect()
}
