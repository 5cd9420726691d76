//! Nothing outlives the lab: not even a lab that is killed with SIGKILL.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use weigh_os::group::Group;

use super::fixture::{Rig, server};
use crate::lab::wait_until;

/// Names the folder that a second copy of this test, which plays the lab, works in.
const LAB: &str = "WEIGH_TEST_LAB";

/// Not a test of its own: the lab that is killed. It starts a server with a pool, says so, and waits.
#[test]
fn lab_that_waits() {
    let Some(place) = std::env::var_os(LAB) else { return };
    let rig = Rig::new();
    let place = weigh_os::guard::LaunchContext { root: place.into(), ..rig.place() };
    let found = server(&std::env::var("WEIGH_TEST_SERVER").unwrap()).unwrap();
    let spec = weigh_rig::fpm::PoolSpec::new(&super::fixture::php_fpm().unwrap(), 2);
    let pool = weigh_rig::fpm::Pool::start(&spec, &place).unwrap();
    let _instance = weigh_rig::server::Instance::start(&found, &rig.site(Some(&pool)), &place).unwrap();
    println!("\nstanding {}", rig.home.path().display());
    std::thread::sleep(std::time::Duration::from_secs(600));
}

fn lab(place: &std::path::Path, name: &str) -> (Child, std::path::PathBuf) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "servers::orphans::lab_that_waits", "--nocapture", "--test-threads=1"]);
    command.env(LAB, place).env("WEIGH_TEST_SERVER", name);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let standing = lines.into_iter().find_map(|l| l.strip_prefix("standing ").map(Into::into));
    (child, standing.expect("the lab did not start"))
}

fn killed(name: &str) {
    let rig = Rig::new();
    if server(name).is_none() || super::fixture::php_fpm().is_none() {
        return;
    }
    let place = rig.home.path().join("run");
    for _ in 0..3 {
        let (mut child, home) = lab(&place, name);
        let everything = Group::below(child.id()).processes();
        assert!(everything.len() >= 7, "two guards, two masters, workers: {everything:?}");
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 2);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(rig.left_over().is_empty(), "{:?}", rig.left_over());
        let gone = |id: &u32| {
            let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            status.is_empty() || status.contains(") Z ")
        };
        wait_until("every process is gone", || everything.iter().all(gone));
        std::fs::remove_dir_all(home).unwrap();
    }
}

#[test]
fn a_killed_lab_leaves_no_nginx() {
    killed("nginx");
}

#[test]
fn a_killed_lab_leaves_no_apache() {
    killed("apache");
}

#[test]
fn a_lab_that_is_killed_at_any_moment_of_a_start_leaves_no_process() {
    let rig = Rig::new();
    if server("apache").is_none() || super::fixture::php_fpm().is_none() {
        return;
    }
    let place = rig.home.path().join("run");
    for wait in 0..12 {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "servers::orphans::lab_that_waits", "--test-threads=1"]);
        command.env(LAB, &place).env("WEIGH_TEST_SERVER", "apache").env("TMPDIR", rig.home.path());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(25 * wait));
        child.kill().unwrap();
        child.wait().unwrap();
        let mark = place.display().to_string();
        let named = |id: &str| {
            let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(&mark)
        };
        wait_until("every process is gone", || {
            let all = std::fs::read_dir("/proc").unwrap().flatten();
            !all.into_iter().any(|e| e.file_name().to_str().is_some_and(named))
        });
    }
    println!(
        "directories left by kills while they were made: {}",
        std::fs::read_dir(&place).unwrap().count()
    );
}
