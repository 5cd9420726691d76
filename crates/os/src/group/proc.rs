//! What `/proc` tells of a process. One that has ended, or may not be looked at, reads `None`.

use std::fs;

use crate::regular;

/// The times and the parent of a process, from `/proc/PID/stat`; in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    pub parent: u32,
    user: u64,
    system: u64,
    ended_user: u64,
    ended_system: u64,
}

impl Stat {
    pub fn read(id: u32) -> Option<Stat> {
        Stat::parse(&regular::system(format!("/proc/{id}/stat")).ok()?)
    }

    /// The name in parentheses may hold anything; what follows the last one is numbers (proc(5)).
    fn parse(text: &str) -> Option<Stat> {
        let (_, rest) = text.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Stat {
            parent: u32::try_from(number(4)?).ok()?,
            user: number(14)?,
            system: number(15)?,
            ended_user: number(16)?,
            ended_system: number(17)?,
        })
    }

    /// The part of `cpu_ns` that was spent in user space.
    pub fn user_of(&self, cpu_ns: u64) -> u64 {
        let all = self.user + self.system;
        if all == 0 { 0 } else { (cpu_ns as f64 * (self.user as f64 / all as f64)) as u64 }
    }

    /// User and system time, in nanoseconds, of the children it has waited for.
    pub fn ended_ns(&self) -> (u64, u64) {
        let tick = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
        (self.ended_user * tick, self.ended_system * tick)
    }
}

/// Every process of the machine with its parent.
pub fn parents() -> Vec<(u32, u32)> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = entries.flatten().filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
    ids.filter_map(|id| Some((id, Stat::read(id)?.parent))).collect()
}

/// Voluntary and involuntary context switches of the threads that live.
pub fn switches(id: u32) -> (u64, u64) {
    let Ok(threads) = fs::read_dir(format!("/proc/{id}/task")) else { return (0, 0) };
    let status = threads.flatten().filter_map(|t| regular::system(t.path().join("status")).ok());
    status.fold((0, 0), |(voluntary, involuntary), text| {
        let of = |key| number(&text, key).unwrap_or(0);
        (voluntary + of("voluntary_ctxt_switches:"), involuntary + of("nonvoluntary_ctxt_switches:"))
    })
}

/// Bytes read from and written to disk.
pub fn disk_bytes(id: u32) -> Option<(u64, u64)> {
    let text = regular::system(format!("/proc/{id}/io")).ok()?;
    Some((number(&text, "read_bytes:")?, number(&text, "write_bytes:")?))
}

/// The share of memory in bytes that one process has (PSS); none when that may not be read.
pub fn pss_bytes(id: u32) -> Option<u64> {
    field(&format!("/proc/{id}/smaps_rollup"), "Pss:").map(|kib| kib * 1024)
}

/// Memory of a process, or of several together, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Its share: each page divided among those who map it (PSS).
    pub pss: u64,
    /// Pages that nobody else maps.
    pub private: u64,
    /// Pages without a file behind them, those shared with its parent since a fork among them; shared memory is not.
    pub anonymous: u64,
}

impl Memory {
    /// Reads one process; none when that may not be read.
    pub fn read(id: u32) -> Option<Memory> {
        Memory::parse(&regular::system(format!("/proc/{id}/smaps_rollup")).ok()?)
    }

    fn parse(text: &str) -> Option<Memory> {
        let bytes = |key| number(text, key).map(|kib| kib * 1024);
        let private = ["Private_Clean:", "Private_Dirty:", "Private_Hugetlb:"].into_iter().filter_map(bytes);
        Some(Memory { pss: bytes("Pss:")?, private: private.sum(), anonymous: bytes("Anonymous:")? })
    }

    #[must_use]
    pub fn plus(self, other: Memory) -> Memory {
        Memory {
            pss: self.pss + other.pss,
            private: self.private + other.private,
            anonymous: self.anonymous + other.anonymous,
        }
    }
}

/// The most memory in bytes that a process has had resident at once (`VmHWM`); a fork begins with what its parent had then.
pub fn peak_bytes(id: u32) -> Option<u64> {
    field(&format!("/proc/{id}/status"), "VmHWM:").map(|kib| kib * 1024)
}

/// The number that follows a key at the begin of a line of a file; sizes are in KiB there.
pub fn field(path: &str, key: &str) -> Option<u64> {
    number(&regular::system(path).ok()?, key)
}

/// The number that follows a key at the begin of a line.
fn number(text: &str, key: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(key))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_mislead() {
        let text = "42 (a) b (c) S 7 42 42 0 -1 4194560 1 2 3 4 30 10 5 6 20 0 1 0 9 9 9\n";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((stat.parent, stat.user, stat.system), (7, 30, 10));
        assert_eq!(stat.user_of(400), 300);
        assert_eq!(Stat::parse("42 (x"), None);
        assert_eq!(Stat::parse("42 (x) S 1 2"), None);
    }

    #[test]
    fn memory_is_told_in_three_ways() {
        let text = "00400000-7ffd rollup\nRss:  99 kB\nPss:  12 kB\nPss_Anon:  5 kB\nShared_Clean: 8 kB\nPrivate_Clean:  3 kB\n\
                    Private_Dirty: 4 kB\nAnonymous:  6 kB\nPrivate_Hugetlb:   2 kB\n";
        let memory = Memory::parse(text).unwrap();
        assert_eq!(memory, Memory { pss: 12 << 10, private: 9 << 10, anonymous: 6 << 10 });
        assert_eq!(memory.plus(memory).private, 18 << 10);
        assert_eq!(Memory::parse("Rss: 1 kB\n"), None);
        assert!(peak_bytes(std::process::id()).unwrap() > 1 << 20);
    }

    #[test]
    fn a_number_is_that_of_its_own_line() {
        let text = "nonvoluntary_ctxt_switches:\t5\nvoluntary_ctxt_switches:\t7\nPss:   12 kB\n";
        assert_eq!(number(text, "voluntary_ctxt_switches:"), Some(7));
        assert_eq!(number(text, "Pss:"), Some(12));
        assert_eq!(number(text, "Rss:"), None);
    }
}
