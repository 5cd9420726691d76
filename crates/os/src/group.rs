//! The meter of a group of processes: everything below a guard, which is one server or one PHP-FPM pool; or a process that others run,
//! with everything below it.
//!
//! CPU time is read from each process's own clock, in nanoseconds, where `/proc` tells ticks of 10 ms. What processes that have
//! ended used is known only from those who waited for them, in ticks: [`Usage::ended_ns`] says how much of the whole that is.

mod proc;

use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use proc::Stat;
pub use proc::{Memory, field, parents, peak_bytes, pss_bytes as pss_of};

/// All processes below one, with that one or without.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    root: u32,
    with_root: bool,
}

/// What a group has used since it was started; differences of two readings are what matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Usage {
    /// CPU time of all, in nanoseconds.
    pub cpu_ns: u64,
    /// Of it in user space; split in the proportion of `/proc`'s ticks, exact to a tick a process.
    pub user_ns: u64,
    /// Of it in the kernel.
    pub system_ns: u64,
    /// Of it by processes that have ended: known to a tick each.
    pub ended_ns: u64,
    /// Context switches by waiting, of the threads that live.
    pub voluntary: u64,
    /// Context switches by being preempted, of the threads that live.
    pub involuntary: u64,
    /// Bytes read from disk by the processes that live; null when that may not be read.
    pub read_bytes: Option<u64>,
    /// Bytes written to disk by the processes that live, such as spooled responses; null when that may not be read.
    pub write_bytes: Option<u64>,
    /// Processes that live.
    pub processes: u32,
}

impl Group {
    /// The group of everything below this process.
    pub fn below(root: u32) -> Group {
        Group { root, with_root: false }
    }

    /// The group of this process and everything below it.
    pub fn of(root: u32) -> Group {
        Group { root, with_root: true }
    }

    /// The ids of its processes, in no order.
    pub fn processes(&self) -> Vec<u32> {
        let all: Vec<(u32, u32)> = parents();
        let mut found = Vec::new();
        let mut above = vec![self.root];
        while let Some(parent) = above.pop() {
            let below = all.iter().filter(|(_, p)| *p == parent).map(|(id, _)| *id);
            let from = found.len();
            found.extend(below);
            above.extend_from_slice(&found[from..]);
        }
        if self.with_root && all.iter().any(|(id, _)| *id == self.root) {
            found.push(self.root);
        }
        found
    }

    /// What it has used. A process that ends while it is read may be missed until the next reading.
    pub fn usage(&self) -> Usage {
        let mut sum = Usage { read_bytes: Some(0), write_bytes: Some(0), ..Usage::default() };
        // A member's own account has those that it waited for.
        if let Some(guard) = Stat::read(self.root).filter(|_| !self.with_root) {
            sum.add_ended(&guard);
        }
        for id in self.processes() {
            sum.add(id);
        }
        sum
    }

    /// Its share of memory in bytes, each page divided among those who map it (PSS); none when that may not be read.
    pub fn pss_bytes(&self) -> Option<u64> {
        let known = self.processes().into_iter().filter_map(proc::pss_bytes);
        known.fold(None, |sum, bytes| Some(sum.unwrap_or(0) + bytes))
    }

    /// Its memory; none when that may not be read.
    pub fn memory(&self) -> Option<Memory> {
        self.processes().into_iter().filter_map(Memory::read).reduce(Memory::plus)
    }

    /// Those of its processes that another one of it has started: the workers of a master.
    pub fn workers(&self) -> Vec<u32> {
        let (all, members) = (parents(), self.processes());
        let is_worker = |id: &u32| all.iter().any(|(known, parent)| known == id && members.contains(parent));
        members.iter().copied().filter(is_worker).collect()
    }

    /// Kills every process of it.
    pub fn kill(&self) {
        for id in self.processes() {
            let pid = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw);
            if let Some(pid) = pid {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

impl Usage {
    /// What was used since an earlier reading.
    pub fn since(&self, earlier: &Usage) -> Usage {
        let option = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        let cpu_ns = self.cpu_ns.saturating_sub(earlier.cpu_ns);
        // The split of each reading is a share of all until then, so one part alone may seem to shrink.
        let user_ns = self.user_ns.saturating_sub(earlier.user_ns).min(cpu_ns);
        Usage {
            cpu_ns,
            user_ns,
            system_ns: cpu_ns - user_ns,
            ended_ns: self.ended_ns.saturating_sub(earlier.ended_ns),
            voluntary: self.voluntary.saturating_sub(earlier.voluntary),
            involuntary: self.involuntary.saturating_sub(earlier.involuntary),
            read_bytes: option(self.read_bytes, earlier.read_bytes),
            write_bytes: option(self.write_bytes, earlier.write_bytes),
            processes: self.processes,
        }
    }

    fn add(&mut self, id: u32) {
        let (Some(stat), Some(cpu)) = (Stat::read(id), cpu_ns(id)) else { return };
        self.cpu_ns += cpu;
        let user = stat.user_of(cpu);
        self.user_ns += user;
        self.system_ns += cpu - user;
        self.add_ended(&stat);
        let (voluntary, involuntary) = proc::switches(id);
        self.voluntary += voluntary;
        self.involuntary += involuntary;
        let disk = proc::disk_bytes(id);
        self.read_bytes = self.read_bytes.zip(disk).map(|(sum, (read, _))| sum + read);
        self.write_bytes = self.write_bytes.zip(disk).map(|(sum, (_, written))| sum + written);
        self.processes += 1;
    }

    /// The children that this process has waited for, with all theirs.
    fn add_ended(&mut self, stat: &Stat) {
        let (user, system) = stat.ended_ns();
        self.user_ns += user;
        self.system_ns += system;
        self.cpu_ns += user + system;
        self.ended_ns += user + system;
    }
}

/// The CPU time of a process with all its threads, from its own clock.
fn cpu_ns(id: u32) -> Option<u64> {
    let clock = nix::time::clock_getcpuclockid(Pid::from_raw(i32::try_from(id).ok()?)).ok()?;
    let time = nix::time::clock_gettime(clock).ok()?;
    Some(u64::try_from(time.tv_sec()).ok()? * 1_000_000_000 + u64::try_from(time.tv_nsec()).ok()?)
}

#[cfg(test)]
mod tests;
