//! The same with Ray itself, on this machine. Its environment is made once, beside what tests build.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::load::{adds_up, result, sum};
use super::nodes::{HUB, Nodes};
use super::{faults, nothing_is_left};
use crate::lab::{Lab, Ran, SMALL, WEIGH, has, lines, wait_until};
use crate::load::schema::document;
use crate::load::server::{Server, response};
use weigh_cluster::environment::Environment;
use weigh_os::network::Network;

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

/// Whether there is time for clusters beside the one that is always started.
fn is_live() -> bool {
    let is_live = std::env::var_os("WEIGH_LIVE_CLUSTER").is_some();
    if !is_live {
        println!(
            "skipped: more than one cluster of Ray takes minutes; set WEIGH_LIVE_CLUSTER=1 to start them"
        );
    }
    is_live
}

#[test]
fn a_run_on_a_cluster_of_its_own_leaves_nothing() {
    if !is_live() {
        return;
    }
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
    if !is_live() {
        return;
    }
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
    if !is_live() {
        return;
    }
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

/// Nodes of these kinds in namespaces; none where that is not possible, which is said.
fn nodes(lab: &Lab, kinds: &[&str]) -> Option<Nodes> {
    let environment = Environment::new(Path::new(CACHE));
    if !environment.is_there() {
        // Whatever this comes to, the environment is there afterwards.
        with_ray(lab, &["load", "http://127.0.0.1:9/", "--on", "ray", "--yes", "-c", "1"])?;
    }
    match Network::private() {
        Ok(hub) => Some(Nodes::start(hub, &environment.folder().join("bin/python"), kinds).unwrap()),
        Err(why) => {
            assert!(std::env::var_os("WEIGH_STRICT").is_none(), "{why:#}");
            println!("skipped: no nodes in network namespaces here: {why:#}");
            None
        }
    }
}

/// The same command on a terminal of its own, whose screen is written to this file.
fn on_a_terminal(command: &Command, screen: &str) -> Command {
    let words: Vec<_> = [command.get_program()].into_iter().chain(command.get_args()).collect();
    let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
    let mut terminal = Command::new("script");
    terminal.args(["-q", "-e", "-f", "-c", &shell_words::join(words), screen]);
    terminal.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    terminal.current_dir(command.get_current_dir().unwrap()).stdin(Stdio::null()).stdout(Stdio::null());
    terminal
}

#[test]
fn three_nodes_load_one_server_together_and_one_of_them_is_killed() {
    let lab = Lab::new();
    let Some(mut nodes) = nodes(&lab, &["k", "k", "k"]) else { return };
    let server =
        Server::at(nodes.listener(), |_, _| response("", b"<p>Words, and then some more of them.</p>"));
    let url = server.url("/").replace("127.0.0.1", HUB);
    let on = nodes.on();
    let load = |args: &[&str]| {
        let mut command = Command::new(WEIGH);
        command.args(["load", &url, "--on", &on, "--allow-remote", HUB]).args(args).current_dir(lab.work());
        command.env("WEIGH_CACHE", CACHE).env("TMPDIR", lab.tmp()).envs(nodes.environment());
        command
    };

    let mut command = load(&["--rate", "300", "-d", "3s", "-c", "6", "--json", "--out", "run"]);
    let ran = nodes.hub.within(|| Ran::of(command.output().unwrap())).unwrap();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let all = result(&document(&ran.stdout));
    let mut names: Vec<&str> = all.agents.iter().map(|agent| agent.node.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["10.77.0.11", "10.77.0.12", "10.77.0.13"]);
    // A busy machine may leave the last ones unsent.
    assert_eq!((sum(&all, |c| c.scheduled), sum(&all, |c| c.completed + c.dropped)), (900, 900));
    assert!(sum(&all, |c| c.completed) > 800, "{all:?}");
    adds_up(&all);
    assert!(all.agents.iter().all(|agent| agent.result.client.nice == 0), "the usual priority");
    let (skew, uncertainty) = all.skew().unwrap();
    println!("three nodes began within {:.2} ms (± {:.2} ms)", skew * 1e3, uncertainty * 1e3);
    assert!(skew.is_finite() && skew >= 0.0 && uncertainty > 0.0);
    wait_until("the agents are gone", || nodes.busy().is_empty());

    let before = server.requests();
    let command = load(&["-d", "25s", "-c", "3", "--discard", "--think", "5ms", "--out", "short"]);
    let mut command = on_a_terminal(&command, "log");
    let mut child = nodes.hub.within(|| command.spawn()).unwrap().unwrap();
    wait_until("the load has begun", || server.requests() > before + 200);
    let killed = nodes.kill(2);
    let at = Instant::now();
    let named = format!("lost: {killed}");
    wait_until("the node is named while the load goes on", || lab.read("log").contains(&named));
    println!("the live line named the node {:.1} s after the kill", at.elapsed().as_secs_f64());
    assert_eq!(child.wait().unwrap().code(), Some(3), "{}", lab.read("log"));
    println!("it ended {:.1} s after the kill", at.elapsed().as_secs_f64());
    let all = result(&document(&lab.read("short/result.json")));
    let lost: Vec<_> = all.lost().collect();
    assert!(lost.len() == 1 && lost[0].0 == killed && lost[0].1.contains("was lost"), "{lost:?}");
    let others = all.agents.iter().filter(|agent| agent.lost.is_none());
    assert!(others.map(|agent| sum(&agent.result, |c| c.completed)).min() > Some(100));
    adds_up(&all);
    assert!(lab.read("log").contains("LOST-NODE"), "{}", lab.read("log"));
    assert_eq!(lab.processes(), Vec::<String>::new(), "with the program, Ray's own processes are gone");
    wait_until("the agents are gone", || nodes.busy().is_empty());
    drop(nodes);
    nothing_is_left(&lab);
}

#[test]
fn three_nodes_are_compared_and_killed_one_by_one() {
    if !is_live() {
        return;
    }
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    let long =
        SMALL.replace("max_rounds = 3", "max_rounds = 100000").replace("seconds = 200", "seconds = 600");
    lab.write("long.toml", long);
    let Some(mut nodes) = nodes(&lab, &["lead", "large", "large"]) else { return };
    let (on, environment) = (nodes.on(), nodes.environment());
    let weigh = |args: &[&str]| {
        let mut command = Command::new(WEIGH);
        command.arg("run").args(args).args(["--on", &on]).current_dir(lab.work()).stdin(Stdio::null());
        command.env("WEIGH_CACHE", CACHE).env("TMPDIR", lab.tmp()).envs(environment.clone());
        command
    };
    let mut each = weigh(&["small.toml", "--each-machine", "--out", "each"]);
    let ran = nodes.hub.within(|| Ran::of(each.output().unwrap())).unwrap();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    for kind in ["lead", "large"] {
        assert_eq!(lab.json(&format!("each/{kind}/run.json"))["machine"]["kind"], kind);
    }
    wait_until("the agents are gone", || nodes.busy().is_empty());

    let log = File::create(lab.path("log")).unwrap();
    let mut command = weigh(&["long.toml", "--exhaustive", "--out", "run"]);
    command.stdout(Stdio::null()).stderr(log);
    let mut child = nodes.hub.within(|| command.spawn()).unwrap().unwrap();
    let records = lab.path("run/records.ndjson");
    let recorded = || if records.exists() { lines(&records) } else { 0 };
    wait_until("some visits are recorded", || recorded() > 20);
    let busy = nodes.busy()[0];
    assert_ne!(busy, 0, "the node that leads the cluster is the last that is measured on");
    let (killed, at) = (nodes.kill(busy), Instant::now());
    wait_until("a failure is recorded", || lab.read("run/records.ndjson").contains("\"fault\""));
    println!("the failure was recorded {:.1} s after the kill", at.elapsed().as_secs_f64());
    let then = recorded();
    wait_until("the run goes on", || recorded() > then + 20);
    assert_eq!(nodes.busy().first(), Some(&(3 - busy)), "on the other node of its kind");

    let at = Instant::now();
    nodes.kill(0);
    assert_eq!(child.wait().unwrap().code(), Some(1), "{}", lab.read("log"));
    println!("the run ended {:.1} s after the head node was killed", at.elapsed().as_secs_f64());
    let said = lab.read("log");
    assert!(said.contains("the cluster is lost") && said.contains("weigh run --resume"), "{said}");
    let faults = faults(&lab);
    assert!(faults.len() == 1 && faults[0].contains(&killed) && faults[0].contains("was lost"), "{faults:?}");
    assert_eq!(lab.processes(), Vec::<String>::new(), "with the program, Ray's own processes are gone");
    wait_until("the agents are gone", || nodes.busy().is_empty());
    drop(nodes);
    nothing_is_left(&lab);
}
