//! Runs on the nodes of a cluster, by an engine that speaks the protocol and has this machine for its nodes: what is lost, what goes on, and
//! what is not believed. With Ray itself: `ray`.

mod nodes;
mod ray;
mod sweep;

mod load;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use crate::lab::{Lab, Ran, SMALL, has, lines, wait_until};
use weigh_cluster::environment::Environment;

/// A lab whose environment for Ray is an engine with this many nodes that does this; none where there is no Python.
fn with_engine(nodes: u32, deed: &str) -> Option<Lab> {
    if !has("python3", "apt install python3") {
        return None;
    }
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    becomes(&lab, nodes, deed);
    Some(lab)
}

/// Changes what the engine does.
fn becomes(lab: &Lab, nodes: u32, deed: &str) {
    let engine = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/cluster/engine.py");
    python_is(lab, &format!("'{engine}' {nodes} {deed}"));
}

/// Makes the environment's Python one that does this, whatever it is asked to do.
fn python_is(lab: &Lab, args: &str) {
    let program = Environment::new(&lab.cache()).folder().join("bin/python");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::write(&program, format!("#!/bin/sh\nexec python3 {args}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
}

/// The engine, and every worker on its nodes, is gone, and so are temporary files: those of a killed worker with the next start.
fn nothing_is_left(lab: &Lab) {
    wait_until("everything is gone", || lab.processes().is_empty());
    lab.run(&["runs"]);
    assert_eq!(lab.left_over(), 0);
}

fn faults(lab: &Lab) -> Vec<String> {
    let faults = lab.records("run").into_iter().filter(|r| r["type"] == "fault");
    faults.map(|r| r["fault"]["message"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_run_on_a_node_is_like_any_other() {
    let Some(lab) = with_engine(2, "nothing") else { return };
    lab.done(&["run", "small.toml", "--on", "ray", "--out", "run"]);
    lab.done(&["run", "small.toml", "--out", "local"]);
    let (there, here) = (lab.json("run/plan.json"), lab.json("local/plan.json"));
    let runtime =
        |plan: &serde_json::Value| (plan["cells"].clone(), plan["runtimes"][0]["libraries"].clone());
    assert_eq!(runtime(&there), runtime(&here));
    let digests = |run| -> BTreeMap<String, String> {
        lab.visits(run).into_iter().map(|(cell, v)| (cell, v["sha256_encoded"].to_string())).collect()
    };
    assert_eq!(digests("run"), digests("local"), "the same findings");
    assert!(faults(&lab).is_empty() && !lab.path("run/payloads").exists());
    assert_eq!(lab.json("run/run.json")["machine"]["cores"], lab.json("local/run.json")["machine"]["cores"]);
    nothing_is_left(&lab);
}

#[test]
fn a_node_that_is_lost_in_mid_visit_is_the_fault_of_that_visit_alone() {
    let Some(lab) = with_engine(2, "lose 2") else { return };
    let ran = lab.run(&["run", "small.toml", "--on", "ray", "--out", "run"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(faults(&lab), ["node node-2 was lost: it has not answered for 15 s"]);
    assert_eq!(
        lab.visits("run").len(),
        3,
        "one of four configurations failed, and the other node measured the others"
    );
    nothing_is_left(&lab);
}

#[test]
fn without_another_node_the_rest_are_failures() {
    let Some(lab) = with_engine(1, "lose 2") else { return };
    let ran = lab.run(&["run", "small.toml", "--on", "ray", "--out", "run"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let faults = faults(&lab);
    assert_eq!(faults.len(), 4, "{faults:?}");
    assert!(faults.iter().all(|fault| fault.contains("node node-1 was lost")), "{faults:?}");
    nothing_is_left(&lab);
}

#[test]
fn a_lost_engine_ends_a_run_that_goes_on_later() {
    let Some(lab) = with_engine(2, "end 6") else { return };
    let ran = lab.run(&["run", "small.toml", "--exhaustive", "--on", "ray", "--out", "run"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("the cluster is lost: the engine ended: exit status: 7"), "{}", ran.stderr);
    assert!(ran.stderr.contains("weigh run --resume ") && ran.stderr.contains(" --on ray"), "{}", ran.stderr);
    let before = lines(&lab.path("run/records.ndjson"));
    assert_eq!(before, 5, "the visits before it");
    let line = lab.refused(&["run", "--resume", "run"]);
    assert!(line.contains("begun on a cluster; go on there: ") && line.contains("--on ray"), "{line}");
    becomes(&lab, 1, "nothing");
    lab.done(&["run", "--resume", "run", "--on", "ray"]);
    let mut visits: BTreeMap<(String, u64), u32> = BTreeMap::new();
    for visit in lab.records("run").iter().filter(|r| r["type"] == "visit") {
        *visits.entry((visit["cell"].to_string(), visit["round"].as_u64().unwrap())).or_default() += 1;
    }
    assert_eq!((visits.len(), visits.values().max()), (12, Some(&1)), "nothing is lost or measured twice");
    nothing_is_left(&lab);
}

#[test]
fn what_a_node_says_is_not_believed_beyond_its_visit() {
    for (deed, said) in [
        ("other-cell", "answered for another configuration"),
        ("not-json", "something other than an answer"),
        ("too-long", "an answer of over 67108864 bytes"),
    ] {
        let Some(lab) = with_engine(1, deed) else { return };
        let ran = lab.run(&["run", "small.toml", "--on", "ray", "--out", "run"]);
        assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
        let faults = faults(&lab);
        assert!(
            faults.len() == 4 && faults.iter().all(|f| f.contains(said) && f.contains("node-1")),
            "{faults:?}"
        );
        assert!(faults.iter().all(|f| !f.contains('\x1b')), "{faults:?}");
        nothing_is_left(&lab);
    }
}

#[test]
fn an_engine_that_talks_of_others_is_not_heard_and_one_that_talks_nonsense_ends() {
    let Some(lab) = with_engine(1, "strangers 2") else { return };
    lab.done(&["run", "small.toml", "--on", "ray", "--out", "run"]);
    becomes(&lab, 1, "no-message 2");
    let ran = lab.run(&["run", "small.toml", "--on", "ray", "--out", "other"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains("said what is no message") && ran.stderr.contains("Traceback"),
        "{}",
        ran.stderr
    );
    nothing_is_left(&lab);
}

#[test]
fn a_signal_or_a_kill_ends_all_of_it() {
    for signal in ["INT", "KILL"] {
        let Some(lab) = with_engine(2, "nothing") else { return };
        lab.write("long.toml", SMALL.replace("max_rounds = 3", "max_rounds = 4000"));
        let mut started = lab.start(&["run", "long.toml", "--exhaustive", "--on", "ray", "--out", "run"]);
        wait_until("some visits are recorded", || lines(&lab.path("run/records.ndjson")) > 5);
        started.signal(signal);
        let ended = started.0.wait().unwrap();
        wait_until("everything is gone", || lab.processes().is_empty());
        if signal == "INT" {
            assert_eq!(ended.code(), Some(1));
            assert!(lab.said().contains("interrupted; go on with: weigh run --resume"), "{}", lab.said());
            assert_eq!(lab.left_over(), 0);
        }
    }
}

/// A Ray whose agents are of no group or session of its own, as they may be.
const LINGERING: &str = r#"-c '
from weigh_ray.supervisor import split
split()
import subprocess, time
for _ in range(2):
    subprocess.Popen(["sh", "-c", "sleep 1000 & echo $! >> agents; wait"], start_new_session=True)
time.sleep(1000)
'"#;

#[test]
fn agents_of_ray_end_with_a_killed_lab() {
    let Some(lab) = with_engine(1, "nothing") else { return };
    python_is(&lab, &LINGERING.replace("agents;", &format!("{};", lab.path("agents").display())));
    let mut started = lab.start(&["run", "small.toml", "--on", "ray", "--out", "run"]);
    wait_until("it has agents", || {
        std::fs::read_to_string(lab.path("agents")).is_ok_and(|all| all.lines().count() == 2)
    });
    started.kill();
    wait_until("everything is gone", || lab.processes().is_empty());
}

#[test]
fn a_folder_whose_path_is_too_long_for_sockets_of_ray_is_refused() {
    let Some(lab) = with_engine(1, "nothing") else { return };
    let long = lab.tmp().join("a-long-name-of-a-folder");
    std::fs::create_dir(&long).unwrap();
    let mut run = lab.weigh(&["run", "small.toml", "--on", "ray", "--out", "run"]);
    let line = Ran::of(run.env("TMPDIR", long).output().unwrap()).refusal();
    assert!(
        line.contains("for temporary files is ") && line.ends_with("set TMPDIR to a shorter one"),
        "{line}"
    );
}

#[test]
fn what_cannot_be_measured_on_a_node_is_refused() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    let says = |args: &[&str], said: &str| {
        let line = lab.refused(&[&["run", "small.toml"], args].concat());
        assert!(line.contains(said), "{line}");
    };
    says(&["--on", "dask"], "`dask` is no cluster; write ray, or ray://HOST:PORT");
    says(&["--on", "ray"], "--on needs Ray, which is not installed; add --yes to install Ray 2.");
    says(
        &["--on", "ray", "--url", "http://127.0.0.1:1/"],
        "--url is of this machine, and --on ray measures on another",
    );
    says(&["--yes"], "--on");
    assert!(!lab.cache().join("engines").exists(), "nothing is made where nobody agreed");
}

#[test]
fn each_kind_of_machine_is_measured_and_the_cheapest_is_named() {
    let Some(lab) = with_engine(2, "kinds") else { return };
    lab.write("small.toml", SMALL.replace("max_rounds = 3", "max_rounds = 6"));
    let prices = ["--core-hour", "node-1=1000", "--core-hour", "node-2=0.001"];
    let run =
        ["run", "small.toml", "--exhaustive", "--each-machine", "--on", "ray", "--out", "runs", "--json"];
    let told = lab.told(&[&run[..], &prices].concat());
    let machines = told["machines"].as_array().unwrap();
    let kinds: Vec<&str> = machines.iter().map(|machine| machine["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["node-2", "node-1"], "a million times the price decides");
    let ratio = &told["machines"][1]["ratio"];
    assert!(ratio["claimed"] == true && ratio["value"].as_f64().unwrap() > 1000.0, "{ratio}");
    assert!(!told["configurations"].as_array().unwrap().is_empty());
    assert_eq!(lab.json("runs/node-1/run.json")["machine"]["kind"], "node-1");
    assert!(lab.path("runs/node-2/report/report.md").exists());
    nothing_is_left(&lab);

    // The same comparison of the runs, in every form, and by other names.
    let compare = ["compare", "--machines", "runs/node-2", "runs/node-1"];
    assert_eq!(lab.told(&[&compare[..], &prices, &["--json"]].concat()), told);
    let markdown = lab.fine(&[&compare[..], &prices, &["-f", "markdown"]].concat());
    assert!(markdown.contains("node-2 is the cheapest for this."), "{markdown}");
    lab.done(&[&compare[..], &prices, &["-f", "html", "--out", "machines.html"]].concat());
    assert!(lab.read("machines.html").contains("node-2 is the cheapest for this."));
    let bare = lab.fine(&["compare", "--machines", "a=runs/node-1", "b=runs/node-2"]);
    assert!(bare.contains("--core-hour a=PRICE") && bare.contains("--core-hour b=PRICE"), "{bare}");

    let line = lab.refused(&[&compare[..], &["--core-hour", "node-3=1"]].concat());
    assert!(line.contains("no such kind of machine"), "{line}");
    let line = lab.refused(&["compare", "--machines", "runs/node-1"]);
    assert!(line.contains("name the runs of two machines or more"), "{line}");
}

#[test]
fn machines_of_one_kind_and_prices_of_no_kind_are_refused_before_anything_is_measured() {
    let Some(lab) = with_engine(2, "nothing") else { return };
    let run = ["run", "small.toml", "--each-machine", "--on", "ray", "--out", "runs"];
    let refused = |args: &[&str]| Ran::of(lab.weigh(args).output().unwrap());
    let ran = refused(&run);
    assert!(
        ran.code == 2 && ran.stderr.contains("all nodes of the cluster are of one kind, k"),
        "{}",
        ran.stderr
    );
    becomes(&lab, 2, "kinds");
    let ran = refused(&[&run[..], &["--core-hour", "node-1=1"]].concat());
    assert!(ran.code == 2 && ran.stderr.contains("the price of node-2 is missing"), "{}", ran.stderr);
    assert_eq!(refused(&["run", "small.toml", "--each-machine"]).code, 2);
    assert!(!lab.path("runs").exists());
    nothing_is_left(&lab);
}

#[test]
fn a_run_goes_on_on_a_machine_of_its_kind() {
    let Some(lab) = with_engine(3, "end 6") else { return };
    assert_eq!(lab.run(&["run", "small.toml", "--exhaustive", "--on", "ray", "--out", "run"]).code, 1);
    let mut file = lab.json("run/run.json");
    assert_eq!(file["machine"]["kind"], "k");
    file["machine"]["kind"] = "node-9".into();
    lab.write("run/run.json", file.to_string());
    becomes(&lab, 3, "kinds");
    let ran = lab.run(&["run", "--resume", "run", "--on", "ray"]);
    assert!(ran.code == 2 && ran.stderr.contains("no node of the kind node-9"), "{}", ran.stderr);
    nothing_is_left(&lab);
}

#[test]
fn without_python_every_other_verb_works_and_nothing_of_ray_is_made() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    lab.write("empty/none", "");
    for args in [
        &["run", "--dry-run", "small.toml"][..],
        &["run", "small.toml", "--out", "run"],
        &["runs", "show", "run"],
        &["compare", "run", "run"],
        &["runs"],
        &["check"],
    ] {
        let ran = Ran::of(lab.weigh(args).env("PATH", lab.path("empty")).output().unwrap());
        assert_eq!(ran.code, 0, "{args:?}: {}{}", ran.stdout, ran.stderr);
    }
    assert!(!lab.cache().join("engines").exists());
}
