//! Who runs on which processors: server, PHP and load generator apart, where there are enough cores; processors that are threads of one core
//! are one. With fewer than three cores nobody is pinned: they share all, and a run says so.

use std::path::Path;

use rustix::thread::{CpuSet, sched_getaffinity};

use crate::regular;

/// Processors that each has for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cores {
    /// The web server's; empty: all.
    pub server: Vec<u32>,
    /// The PHP pool's; empty: all.
    pub php: Vec<u32>,
    /// The load generator's; empty: all.
    pub client: Vec<u32>,
}

impl Cores {
    /// Shares out the cores that this process may use: none of it is pinned where there are fewer than three. The
    /// generator, which has one thread, gets one; of the others PHP gets the larger half, because it does most of the work.
    pub fn here() -> Cores {
        Cores::share(&usable(Path::new("/")))
    }

    fn share(cores: &[Vec<u32>]) -> Cores {
        let [rest @ .., client] = cores else { return Cores::default() };
        if rest.len() < 2 {
            return Cores::default();
        }
        let (server, php) = rest.split_at(rest.len() / 2);
        Cores { server: server.concat(), php: php.concat(), client: client.clone() }
    }
}

/// The processors that this process may use, those of one core together, by the files of Linux below `root`.
pub fn usable(root: &Path) -> Vec<Vec<u32>> {
    let allowed = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    let numbers = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
    by_core(root, numbers.filter_map(|cpu| u32::try_from(cpu).ok()))
}

/// Processors by core; one without information is a core.
fn by_core(root: &Path, cpus: impl Iterator<Item = u32>) -> Vec<Vec<u32>> {
    let mut cores: Vec<(String, Vec<u32>)> = Vec::new();
    for cpu in cpus {
        let topology = root.join(format!("sys/devices/system/cpu/cpu{cpu}/topology"));
        // The second is the name before Linux 5.4.
        let told =
            ["core_cpus_list", "thread_siblings_list"].map(|name| regular::system(topology.join(name)));
        let core = told.into_iter().find_map(Result::ok).unwrap_or_else(|| cpu.to_string());
        match cores.iter_mut().find(|(known, _)| known.trim() == core.trim()) {
            Some((_, cpus)) => cpus.push(cpu),
            None => cores.push((core, vec![cpu])),
        }
    }
    cores.into_iter().map(|(_, cpus)| cpus).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_cores_of_its_own_from_three_on() {
        let root = tempfile::tempdir().unwrap();
        let share = |cpus: &[u32]| Cores::share(&by_core(root.path(), cpus.iter().copied()));
        assert_eq!(share(&[]), Cores::default());
        assert_eq!(share(&[0, 1]), Cores::default());
        let three = share(&[0, 2, 5]);
        assert_eq!((three.server, three.php, three.client), (vec![0], vec![2], vec![5]));
        let eight = share(&[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!((eight.server, eight.php, eight.client), (vec![0, 1, 2], vec![3, 4, 5, 6], vec![7]));
    }

    #[test]
    fn threads_of_one_core_are_not_given_to_two() {
        let root = tempfile::tempdir().unwrap();
        let lay = |cpu: u32, name: &str, siblings: &str| {
            let folder = root.path().join(format!("sys/devices/system/cpu/cpu{cpu}/topology"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(name), format!("{siblings}\n")).unwrap();
        };
        // As a kernel before 5.4 tells of half of them.
        (0..6).for_each(|cpu| {
            let name = if cpu % 3 == 0 { "thread_siblings_list" } else { "core_cpus_list" };
            lay(cpu, name, &format!("{},{}", cpu % 3, cpu % 3 + 3));
        });
        let share = |cpus: &[u32]| Cores::share(&by_core(root.path(), cpus.iter().copied()));
        let six = share(&[0, 1, 2, 3, 4, 5]);
        assert_eq!((six.server, six.php, six.client), (vec![0, 3], vec![1, 4], vec![2, 5]));
        assert_eq!(share(&[0, 1, 3, 4]), Cores::default(), "four processors of two cores");
    }
}
