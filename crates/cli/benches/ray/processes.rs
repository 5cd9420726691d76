//! Processes that this one started, however far: their CPU time, and those that run.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use rustix::process::{WaitOptions, getpid, set_child_subreaper, wait};

/// Ticks of the kernel's times per second.
const TICKS: f64 = 100.0;

/// Whatever loses its parent becomes a child of this process, and so is counted.
pub fn adopt() -> Result<()> {
    set_child_subreaper(Some(getpid())).context("orphans cannot be adopted")
}

/// Waits for all that are left.
pub fn reap() {
    while let Ok(Some(_)) = wait(WaitOptions::empty()) {}
}

/// CPU time of the processes below this one, by process id and start; Ray's own do not wait for theirs, so the kernel adds nothing up.
#[derive(Debug, Default)]
pub struct Meter(BTreeMap<(i32, u64), u64>);

impl Meter {
    /// Takes what each has used by now; see proc(5), `utime`, `stime` and `starttime`.
    pub fn look(&mut self) {
        let own = getpid().as_raw_nonzero().get();
        for pid in all() {
            let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
            let field = |at: usize| fields.get(at).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
            if is_below(pid, own) {
                self.0.insert((pid, field(19)), field(11) + field(12));
            }
        }
    }

    /// CPU seconds in all.
    pub fn seconds(&self) -> f64 {
        self.0.values().sum::<u64>() as f64 / TICKS
    }
}

fn all() -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// A process below this one whose command line ends in these words.
pub fn find(words: &str) -> Option<i32> {
    let own = getpid().as_raw_nonzero().get();
    all().into_iter().find(|pid| {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default().replace('\0', " ");
        line.trim_end().ends_with(words) && !line.contains("--exec") && is_below(*pid, own)
    })
}

fn is_below(mut pid: i32, own: i32) -> bool {
    while pid > 1 {
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
        let rest = stat.rsplit(')').next().unwrap_or_default();
        pid = rest.split_whitespace().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
        if pid == own {
            return true;
        }
    }
    false
}
