//! The meter of a group against PHP pages that burn a known CPU time.

use std::time::{Duration, Instant};

use weigh_os::group::Usage;
use weigh_os::idle::Idle;

use super::client::get;
use super::fixture::{Rig, server};
use crate::lab::wait_until;

/// What processes that end are known to.
const TICK_NS: u64 = 10_000_000;

#[test]
fn php_and_the_server_are_metered_apart_and_php_within_three_percent() {
    let rig = Rig::new();
    let (Some(found), Some(pool)) = (server("nginx"), rig.pool(2)) else { return };
    let instance = rig.start(&found, &rig.site(Some(&pool)));
    get(&instance.url("/page.php?burn=1000"), "identity");
    let before = (pool.group().usage(), instance.group().usage());
    let mut burnt = 0;
    for _ in 0..4 {
        let answer = get(&instance.url("/page.php?burn=250000"), "identity");
        burnt += std::str::from_utf8(answer.body()).unwrap().parse::<u64>().unwrap() * 1000;
    }
    let php = pool.group().usage().since(&before.0);
    let server = instance.group().usage().since(&before.1);
    let off = (php.cpu_ns as f64 / burnt as f64 - 1.0) * 100.0;
    println!("burnt {burnt} ns, metered {} ns ({off:+.2}%), server {} ns", php.cpu_ns, server.cpu_ns);
    assert!(off.abs() < 3.0, "{off:+.2}% off");
    assert!(server.cpu_ns > 0 && server.cpu_ns < burnt / 20, "{server:?}");
    assert_eq!(php.user_ns + php.system_ns, php.cpu_ns);
    assert!(php.processes >= 3, "a master and two workers, and one for the status: {php:?}");
    assert!(pool.group().pss_bytes().unwrap() > 1 << 20);
    assert!(php.voluntary > 0);
}

#[test]
fn a_question_for_the_status_costs_little() {
    let rig = Rig::new();
    let Some(pool) = rig.pool(2) else { return };
    pool.status().unwrap();
    let before = pool.group().usage();
    for _ in 0..200 {
        pool.status().unwrap();
    }
    let cost = pool.group().usage().since(&before);
    println!("a question costs the pool {} ns", cost.cpu_ns / 200);
    assert!(cost.cpu_ns / 200 < 2_000_000, "{cost:?}");
}

#[test]
fn what_an_ended_worker_used_is_not_lost() {
    let rig = Rig::new();
    let (Some(found), Some(pool)) = (server("nginx"), rig.pool(1)) else { return };
    let instance = rig.start(&found, &rig.site(Some(&pool)));
    let before = pool.group().usage();
    get(&instance.url("/page.php?burn=300000"), "identity");
    let worker = pool.group().processes().into_iter().max_by_key(|id| cpu_ticks(*id)).unwrap();
    assert!(
        std::process::Command::new("kill").args(["-KILL", &worker.to_string()]).status().unwrap().success()
    );
    wait_until("its master has waited for it", || !pool.group().processes().contains(&worker));
    let used = pool.group().usage().since(&before);
    assert!(used.cpu_ns > 280_000_000 && used.ended_ns > 280_000_000, "{used:?}");
}

/// Groups of a server and a pool that stand ready and are asked nothing, over a second of wall time.
fn second(groups: [weigh_os::group::Group; 2]) -> [Idle; 2] {
    let read = || groups.map(|group| group.usage());
    let (before, begun) = (read(), Instant::now());
    std::thread::sleep(Duration::from_secs(1));
    let (seconds, after) = (begun.elapsed().as_secs_f64(), read());
    [0, 1].map(|at| Idle { cpu_ns: after[at].since(&before[at]).cpu_ns, seconds })
}

#[test]
fn an_idle_server_with_a_pool_reads_nothing() {
    let rig = Rig::new();
    for name in ["nginx", "apache", "lighttpd"] {
        let (Some(found), Some(pool)) = (server(name), rig.pool(4)) else { continue };
        let instance = rig.start(&found, &rig.site(Some(&pool)));
        get(&instance.url("/page.php"), "identity");
        let groups = [instance.group(), pool.group()];
        let (idle, again) = (second(groups), second(groups));
        for ((who, idle), again) in ["server", "PHP"].into_iter().zip(idle).zip(again) {
            let usage = Usage { cpu_ns: again.cpu_ns, ..Usage::default() };
            let net = idle.taken_off(&usage, again.seconds);
            println!(
                "{name}, {who}: {} ns, then {} ns: {} ns are left",
                idle.cpu_ns, again.cpu_ns, net.cpu_ns
            );
            assert!(net.cpu_ns < TICK_NS, "{name}, {who}: {net:?}");
        }
    }
}

fn cpu_ticks(id: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().and_then(|r| r.split(' ').nth(11)?.parse().ok()).unwrap_or(0)
}

#[test]
fn a_server_runs_on_the_processors_that_it_is_given() {
    let rig = Rig::new();
    let Some(found) = server("nginx") else { return };
    let site = weigh_rig::server::Site { cpus: vec![0], ..rig.site(None) };
    let instance = rig.start(&found, &site);
    for id in instance.group().processes() {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        assert!(status.contains("Cpus_allowed_list:\t0\n"), "{status}");
    }
}
