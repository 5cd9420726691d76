//! Many files in parts on the nodes of a cluster: what is lost is carried out again, and nobody sees it in the results.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{becomes, faults, nothing_is_left, with_engine};
use crate::codec::text;
use crate::lab::{Lab, WEIGH, has};
use crate::terminal::on_terminal;

const CODECS: &[&str] = &["--codecs", "zstd:3,zlib:6", "--budget", "20"];

/// A folder of 700 small files.
fn fill(lab: &Lab) {
    for number in 0..700 {
        let extension = ["css", "js", "html"][number % 3];
        lab.write(&format!("site/{number}.{extension}"), text(200 + 7 * number));
    }
}

fn sweep(lab: &Lab, out: &str, more: &[&str]) {
    lab.done(&[&["codec", "site", "--out", out], CODECS, more].concat());
}

/// Of each configuration, sizes and verification.
fn found(lab: &Lab, run: &str) -> BTreeMap<String, Value> {
    let of = |visit: Value| {
        serde_json::json!([
            visit["decoded_bytes"],
            visit["encoded_bytes"],
            visit["verified"],
            visit["independent"]
        ])
    };
    first(lab, run).into_iter().map(|(cell, visit)| (cell, of(visit))).collect()
}

/// The first visit to each configuration.
fn first(lab: &Lab, run: &str) -> BTreeMap<String, Value> {
    let visits = lab.records(run).into_iter().filter(|r| r["type"] == "visit" && r["round"] == 1);
    visits.map(|visit| (visit["cell"].as_str().unwrap().to_owned(), visit)).collect()
}

fn digests(lab: &Lab, run: &str) -> BTreeMap<String, Value> {
    first(lab, run).into_iter().map(|(cell, visit)| (cell, visit["sha256_encoded"].clone())).collect()
}

#[test]
fn a_sweep_finds_what_a_local_run_finds_and_so_it_does_when_workers_and_nodes_are_lost() {
    let Some(lab) = with_engine(3, "nothing") else { return };
    fill(&lab);
    sweep(&lab, "here", &[]);
    sweep(&lab, "there", &["--on", "ray"]);
    let parts = lab.json("there/plan.json")["payloads"][0]["parts"].as_array().unwrap().len();
    assert_eq!((parts, &lab.json("here/plan.json")["payloads"][0]["parts"]), (3, &Value::Null));
    assert_eq!(found(&lab, "there"), found(&lab, "here"));
    for (number, deed) in ["kill 4", "lose 5", "kill 1"].into_iter().enumerate() {
        becomes(&lab, 3, deed);
        let out = format!("lost-{number}");
        sweep(&lab, &out, &["--on", "ray"]);
        assert_eq!(found(&lab, &out), found(&lab, "here"), "{deed}");
        assert_eq!(digests(&lab, &out), digests(&lab, "there"), "{deed}");
        assert!(!lab.records(&out).iter().any(|record| record["type"] == "fault"), "{deed}");
    }
    nothing_is_left(&lab);
}

/// A visit to many files may take minutes.
#[test]
fn the_line_shows_which_part_of_a_visit_is_under_way() {
    needs!(has("script", "apt install bsdutils"));
    let Some(lab) = with_engine(1, "nothing") else { return };
    for number in 0..600 {
        lab.write(&format!("site/{number}.css"), text(1200 + 4 * number));
    }
    let line = format!("{WEIGH} codec site --on ray --codecs brotli:11 --budget 12s --out run");
    let screen = on_terminal(&lab, &line, &[]);
    assert!(screen.contains("/3 · about ") && screen.contains(" left · round 1 · 1/1 · site/"), "{screen}");
}

#[test]
fn a_lost_cluster_ends_a_sweep_that_goes_on_later() {
    let Some(lab) = with_engine(2, "end 5") else { return };
    fill(&lab);
    let ran = lab.run(&[&["codec", "site", "--out", "run", "--on", "ray"], CODECS].concat());
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("the cluster is lost: the engine ended: exit status: 7"), "{}", ran.stderr);
    becomes(&lab, 2, "nothing");
    lab.done(&["run", "--resume", "run", "--on", "ray"]);
    sweep(&lab, "here", &[]);
    assert_eq!(found(&lab, "run"), found(&lab, "here"));
    assert!(faults(&lab).is_empty());
    nothing_is_left(&lab);
}

#[test]
fn a_sample_says_how_exact_its_totals_are_here_and_on_nodes() {
    let Some(lab) = with_engine(2, "nothing") else { return };
    for number in 0..3000 {
        lab.write(&format!("site/{number}.css"), text(150 + number % 50));
    }
    let sampled = |out: &str, more: &[&str]| {
        sweep(&lab, out, &[&["--sample", "10%"], more].concat());
        let payload = lab.json(&format!("{out}/plan.json"))["payloads"][0].clone();
        let said = payload["origin"]["sampled"].as_str().unwrap().to_owned();
        assert!(said.contains("of 3,000 files by type and size (encoded total within"), "{said}");
        let visits = first(&lab, out);
        for visit in visits.values() {
            assert_eq!(visit["decoded_bytes"], (0..3000).map(|n| text(150 + n % 50).len()).sum::<usize>());
            assert!(visit["sample"]["error"].as_f64().unwrap() < 0.1, "{visit}");
            assert!(visit["sample"]["share"].as_f64().unwrap() < 0.9, "{visit}");
        }
        assert!(lab.fine(&["runs", "show", out, "--full"]).contains("by type and size"));
    };
    sampled("here", &[]);
    sampled("there", &["--on", "ray"]);
    assert_eq!(found(&lab, "there"), found(&lab, "here"));
    assert_eq!(digests(&lab, "there"), digests(&lab, "here"), "the same parts");
}

#[test]
fn what_a_sweep_cannot_have_is_refused() {
    let lab = Lab::new();
    lab.write("a.css", text(500));
    let says = |args: &[&str], said: &str| {
        let line = lab.refused(&[&["codec", "a.css"], args].concat());
        assert!(line.contains(said), "{line}");
    };
    says(&["--on", "ray"], "--on needs Ray, which is not installed; add --yes");
    says(&["--on", "ray", "--php", "php"], "--php is of this machine, and --on ray measures on others");
    says(&["--sample", "2"], "`2` is no share; write 1% or 0.01, at least 0.1%");
    says(&["--sample", "0%"], "`0%` is no share");
    says(&["--sample", "1%", "--exact"], "--exact");
    says(&["--list", "nowhere"], "nowhere: no such file");
}
