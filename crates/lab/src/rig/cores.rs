//! Who runs on which processors: server, PHP and load generator apart, where there are enough. With fewer than three
//! processors nobody is pinned: they share all, and a run says so.

use rustix::thread::{CpuSet, sched_getaffinity};

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
    /// Shares out the processors that this process may use: none of it is pinned where there are fewer than three. The
    /// generator, which has one thread, gets one; of the others PHP gets the larger half, because it does most of the work.
    pub fn here() -> Cores {
        let allowed = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
        let numbers = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
        Cores::share(&numbers.filter_map(|cpu| u32::try_from(cpu).ok()).collect::<Vec<_>>())
    }

    fn share(cpus: &[u32]) -> Cores {
        let [rest @ .., client] = cpus else { return Cores::default() };
        if rest.len() < 2 {
            return Cores::default();
        }
        let (server, php) = rest.split_at(rest.len() / 2);
        Cores { server: server.to_vec(), php: php.to_vec(), client: vec![*client] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_processors_of_its_own_from_three_on() {
        assert_eq!(Cores::share(&[]), Cores::default());
        assert_eq!(Cores::share(&[0, 1]), Cores::default());
        let three = Cores::share(&[0, 2, 5]);
        assert_eq!((three.server, three.php, three.client), (vec![0], vec![2], vec![5]));
        let eight = Cores::share(&[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!((eight.server, eight.php, eight.client), (vec![0, 1, 2], vec![3, 4, 5, 6], vec![7]));
    }
}
