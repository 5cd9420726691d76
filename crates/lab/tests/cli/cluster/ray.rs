//! The same with Ray itself, on this machine. Its environment is made once, beside what tests build.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::nothing_is_left;
use crate::lab::{Lab, Ran, SMALL, has};

/// Where the environment stays between tests.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/ray");

/// Runs `weigh` with Ray; none where it cannot be installed, which is said, and fails where nothing may be skipped.
fn with_ray(lab: &Lab, args: &[&str]) -> Option<Ran> {
    if !has("python3", "apt install python3-venv") {
        return None;
    }
    // The environment is made by whoever comes first.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = lab.weigh(args);
    command.env("WEIGH_CACHE", CACHE).env("RAY_AUTH_TOKEN", "0".repeat(64));
    let ran = Ran::of(command.output().unwrap());
    let why = ran
        .stderr
        .lines()
        .find(|line| line.contains("cannot be installed") || line.contains("cannot be made"));
    if let Some(why) = why {
        assert!(std::env::var_os("WEIGH_STRICT").is_none(), "{why}");
        println!("skipped: {why}");
        return None;
    }
    Some(ran)
}

#[test]
fn a_run_on_a_cluster_of_its_own_leaves_nothing() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    let Some(ran) = with_ray(&lab, &["run", "small.toml", "--on", "ray", "--yes", "--out", "run"]) else {
        return;
    };
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(lab.visits("run").len(), 4);
    assert!(Path::new(CACHE).join("engines").is_dir());
    nothing_is_left(&lab);
}

#[test]
fn a_cluster_that_is_not_there_is_one_line() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    // Nobody listens on a port that was just given back.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let on = format!("ray://127.0.0.1:{port}");
    let Some(ran) = with_ray(&lab, &["run", "small.toml", "--on", &on, "--yes", "--out", "run"]) else {
        return;
    };
    let line = ran.stderr.lines().last().unwrap_or_default();
    assert!(ran.code == 2 && line.starts_with(&format!("weigh: --on {on}: ")), "{}", ran.stderr);
    nothing_is_left(&lab);
}

#[test]
fn a_sweep_on_a_cluster_of_its_own_finds_what_a_local_run_finds() {
    let lab = Lab::new();
    for number in 0..300 {
        lab.write(&format!("site/{number}.css"), crate::codec::text(200 + number));
    }
    let args =
        ["codec", "site", "--codecs", "zstd:3", "--budget", "20", "--on", "ray", "--yes", "--out", "run"];
    let Some(ran) = with_ray(&lab, &args) else { return };
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    lab.done(&[&args[..6], &["--out", "here"]].concat());
    let sizes = |run: &str| -> Vec<serde_json::Value> {
        lab.visits(run).into_values().map(|visit| visit["encoded_bytes"].clone()).collect()
    };
    assert_eq!(sizes("run"), sizes("here"));
    assert_eq!(lab.json("run/plan.json")["payloads"][0]["parts"].as_array().unwrap().len(), 2);
    nothing_is_left(&lab);
}
