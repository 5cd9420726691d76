//! What a lab that was killed has left: processes, private directories, unix sockets, network namespaces, mounts, network devices and drafts of files.

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
    mounts: BTreeSet<String>,
    devices: BTreeSet<String>,
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
    /// Other mounts.
    pub mounts: usize,
    /// Network devices of the machine's own network.
    pub devices: usize,
    /// Other files and folders that were to be renamed when they are whole, anywhere below the labs' folder.
    pub drafts: usize,
    /// Temporary folders of the lab's own, and drafts that one of them tells of.
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
        self.mounts += other.mounts;
        self.devices += other.devices;
        self.drafts += other.drafts;
        self.swept += other.swept;
    }
}

impl Watch {
    /// Over labs below a folder; the mounts and devices that are there now are nobody's here.
    pub fn over(home: &Path) -> Watch {
        Watch { home: home.to_owned(), mounts: mounts(), devices: devices() }
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
        let (namespaces, other): (Vec<String>, Vec<String>) =
            mounts().difference(&self.mounts).cloned().partition(|line| line.contains(" - nsfs "));
        Left {
            processes: self.processes(),
            directories: directories.len(),
            sockets: sockets.lines().filter(|line| line.contains(&*home)).count(),
            namespaces: namespaces.len(),
            mounts: other.len(),
            devices: devices().difference(&self.devices).count(),
            drafts: drafts(&self.home, |name| {
                name.starts_with(".tmp") || name.ends_with(".draft") || name.ends_with("-draft")
            }),
            swept: swept.len() + drafts(&self.home, is_swept),
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

/// Mounts, those of namespaces among them, which outlive every process that was in one.
fn mounts() -> BTreeSet<String> {
    fs::read_to_string("/proc/self/mountinfo").unwrap_or_default().lines().map(str::to_owned).collect()
}

fn devices() -> BTreeSet<String> {
    let names = fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// What is named as drafts are, below a folder, without the folder of temporary files, which is counted apart.
fn drafts(folder: &Path, is_one: impl Fn(&str) -> bool) -> usize {
    let entries = walkdir::WalkDir::new(folder)
        .min_depth(1)
        .into_iter()
        .filter_entry(|entry| entry.depth() != 1 || entry.file_name() != "tmp");
    entries.flatten().filter(|entry| is_one(&entry.file_name().to_string_lossy())).count()
}

/// Whether a folder of that name is one that the next start removes.
fn is_swept(name: &str) -> bool {
    let is_draft = name.starts_with('.') && name.ends_with(".partial");
    is_draft || [SWEPT, ".pruned-", ".sample-site-"].iter().any(|begin| name.starts_with(begin))
}
