//! Pools: their status while they are busy, their queue, their settings, and what a start that fails says.

use std::os::unix::fs::PermissionsExt;

use weigh_os::group::peak_bytes;
use weigh_os::guard::LaunchContext;
use weigh_os::shelter::Shelter;
use weigh_os::user::OwnUser;
use weigh_rig::fpm::{FoundFpm, Mode, Pool, PoolSpec};

use super::client::get;
use super::fixture::{Rig, php_fpm, server};
use crate::lab::{WEIGH, wait_until};

#[test]
fn the_status_and_the_queue_are_told_while_every_worker_is_busy() {
    let rig = Rig::new();
    let (Some(found), Some(pool)) = (server("nginx"), rig.pool(2)) else { return };
    // A pool answers from its first worker on.
    wait_until("both workers are there", || {
        let status = pool.status().unwrap();
        (status.active, status.idle, status.processes) == (0, 2, 2)
    });
    let instance = rig.start(&found, &rig.site(Some(&pool)));
    let seen = rig.docroot().join("seen");
    let slow = instance.url(&format!("/page.php?until={}", seen.display()));
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let slow = slow.clone();
            std::thread::spawn(move || get(&slow, "identity").status)
        })
        .collect();
    wait_until("both workers are busy", || pool.status().unwrap().active == 2);
    if pool.listen_queue().is_some() {
        wait_until("two wait", || pool.listen_queue() == Some(2));
    }
    std::fs::write(&seen, "").unwrap();
    for client in clients {
        assert_eq!(client.join().unwrap(), 200);
    }
    wait_until("both are idle", || pool.status().unwrap().idle == 2);
    assert!(pool.status().unwrap().accepted >= 4);
}

#[test]
fn settings_reach_the_scripts() {
    let rig = Rig::new();
    let (Some(found), Some(fpm)) = (server("nginx"), php_fpm()) else { return };
    let spec = PoolSpec { mode: Mode::Dynamic, ..PoolSpec::new(&fpm, 3) };
    let mut spec = spec.ini("memory_limit", "20M").ini("output_buffering", "8192").ini("opcache.enable", "0");
    spec.env.insert("WEIGH_TEST".into(), "a value".into());
    let script = "<?php foreach (['memory_limit', 'output_buffering', 'opcache.enable'] as $n) { echo ini_get($n), ' '; } echo getenv('WEIGH_TEST');";
    std::fs::write(rig.docroot().join("ini.php"), script).unwrap();
    let pool = Pool::start(&spec, &rig.place()).unwrap();
    let instance = rig.start(&found, &rig.site(Some(&pool)));
    assert_eq!(get(&instance.url("/ini.php"), "identity").body(), b"20M 8192 0 a value");
    assert!(pool.config()["fpm.conf"].contains("pm = dynamic"));
}

#[test]
fn a_script_of_a_lab_of_roots_owns_nothing_else() {
    let Some(fpm) = php_fpm() else { return };
    let Some(user) = OwnUser::of_lab(WEIGH.as_ref()) else {
        println!(
            "skipped: no other user is available here: this is no root, or one that cannot change users"
        );
        return;
    };
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), "root's own").unwrap();
    let room = Shelter::of(Some(user)).unwrap();
    // The folder of all is root's; a script may write where it was given one.
    let own = room.path().join("own");
    std::fs::create_dir(&own).unwrap();
    let script = own.join("who.php");
    let code = "<?php $made = __DIR__ . '/made'; file_put_contents($made, 'x');
        echo json_encode([posix_getuid(), posix_getgid(), fileowner($made), @file_get_contents($_GET['file']), @scandir('/root'),
            file_get_contents('/proc/self/status')]);";
    std::fs::write(&script, code).unwrap();
    user.give(&own).unwrap();
    let place = LaunchContext::new(room.path(), room.path().join("log")).of(Some(user));
    let pool =
        Pool::start(&PoolSpec::new(&fpm, 1), &LaunchContext { launcher: WEIGH.into(), ..place }).unwrap();
    let said = pool.ask(&script, &format!("file={}", secret.path().display())).unwrap();
    let said: serde_json::Value = serde_json::from_slice(&said).unwrap();
    let number = user.uid();
    assert_eq!([&said[0], &said[1], &said[2]], [number, number, number], "{said}");
    assert_eq!((&said[3], &said[4]), (&false.into(), &false.into()), "{said}");
    let status = said[5].as_str().unwrap();
    for line in ["CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "NoNewPrivs:\t1", "Groups:\t \n"] {
        assert!(status.contains(line), "{line}: {status}");
    }
}

#[test]
fn a_fatal_error_of_a_page_can_be_shown() {
    let rig = Rig::new();
    let (Some(found), Some(pool)) = (server("nginx"), rig.pool(1)) else { return };
    let instance = rig.start(&found, &rig.site(Some(&pool)));
    assert_eq!(get(&instance.url("/page.php?fail=1"), "identity").status, 500);
    let said = || pool.last_words().is_some_and(|w| w.contains("no_such_function"));
    wait_until("the pool has said it", said);
}

#[test]
fn a_pool_that_does_not_start_says_why_in_its_own_words() {
    let rig = Rig::new();
    let Some(fpm) = php_fpm() else { return };
    let spec = PoolSpec::new(&fpm, 2)
        .ini("opcache.preload", &rig.home.path().join("absent.php").display().to_string());
    let error = format!("{:#}", Pool::start(&spec, &rig.place()).unwrap_err());
    assert!(error.contains("absent.php"), "{error}");
    assert!(!error.contains('\n'), "{error}");
    assert!(rig.left_over().is_empty());
}

#[test]
fn a_master_that_is_killed_is_known_to_be_dead_and_takes_its_workers_along() {
    let rig = Rig::new();
    let Some(mut pool) = rig.pool(2) else { return };
    assert!(pool.is_alive());
    let group = pool.group();
    let master = group.processes()[0].to_string();
    assert!(std::process::Command::new("kill").args(["-KILL", &master]).status().unwrap().success());
    wait_until("the death is known", || !pool.is_alive());
    assert!(pool.how_it_ended().unwrap().contains("SIGKILL"), "{:?}", pool.how_it_ended());
    wait_until("its workers are gone", || group.processes().is_empty());
    assert!(rig.left_over().is_empty());
}

#[test]
fn a_php_fpm_that_does_not_know_the_newest_options_starts_without_them() {
    let rig = Rig::new();
    let Some(fpm) = php_fpm() else { return };
    // As PHP 5.5 does: it shows its options, and what is not among them is refused with the same text and 64.
    let script = format!(
        "#!/bin/sh\n\
         usage() {{ echo 'Usage: php-fpm [-n] [-h] [-y <file>] [-D] [-F]'; echo '  -y, --fpm-config <file>'; \
         echo '  -F, --nodaemonize'; echo '  -R, --allow-to-run-as-root'; exit \"$1\"; }}\n\
         for word; do case \"$word\" in -h) usage 0;; -O|--force-stderr) usage 64;; esac; done\n\
         exec '{}' \"$@\"\n",
        fpm.binary.display()
    );
    let old = rig.home.path().join("php-fpm");
    std::fs::write(&old, script).unwrap();
    std::fs::set_permissions(&old, PermissionsExt::from_mode(0o755)).unwrap();
    let spec = PoolSpec::new(&FoundFpm { binary: old, version: "5.5.11".into() }, 1);
    let pool = Pool::start(&spec, &rig.place()).unwrap_or_else(|e| panic!("{e:#}"));
    assert_eq!(pool.status().unwrap().processes, 1);
}

/// Holds 64 MB in small pieces until the end of the request.
const HOARD: &str = "<?php $all = array(); for ($i = 0; $i < 400000; $i++) { $all[] = str_repeat(chr($i % 256), 160); } echo getmypid();";

#[test]
fn each_worker_tells_the_most_memory_that_it_has_had() {
    let rig = Rig::new();
    let Some(pool) = rig.pool(2) else { return };
    let script = rig.docroot().join("hoard.php");
    std::fs::write(&script, HOARD).unwrap();
    let said = String::from_utf8(pool.ask(&script, "").unwrap()).unwrap();
    let hoarder: u32 = said.parse().unwrap();
    let (workers, all) = (pool.group().workers(), pool.group().processes());
    assert!(workers.contains(&hoarder), "{hoarder} of {workers:?}");
    assert_eq!(workers.len() + 1, all.len(), "all but the master: {workers:?} of {all:?}");
    let (more, less): (Vec<u32>, Vec<u32>) =
        workers.iter().partition(|id| peak_bytes(**id).is_some_and(|bytes| bytes > 64 << 20));
    assert_eq!(more, [hoarder]);
    assert!(!less.is_empty());
    let memory = pool.group().memory().unwrap();
    assert!(memory.private > 0 && memory.anonymous > 0 && memory.pss >= memory.private, "{memory:?}");
}
