//! Loads from several nodes, by the engine for tests: what they send adds up to what one would, and what is lost is named.

use weigh_load::result::{Counts, LoadResult};
use weigh_stats::hist::Hist;

use super::{nothing_is_left, with_engine};
use crate::lab::{Lab, wait_until};
use crate::load::schema::document;
use crate::load::server::Server;

const PAGE: &str = "<!doctype html><title>Page</title><p>Some words, and then some more of them.</p>";

/// The result in a document.
pub(super) fn result(found: &serde_json::Value) -> LoadResult {
    serde_json::from_value(found["result"].clone()).unwrap()
}

pub(super) fn sum(result: &LoadResult, of: fn(&Counts) -> u64) -> u64 {
    result.classes.iter().map(|class| of(&class.counts)).sum()
}

/// The result is its agents' added: counts, rates, and every histogram bucket for bucket.
pub(super) fn adds_up(all: &LoadResult) {
    let counts: [fn(&Counts) -> u64; 6] =
        [|c| c.scheduled, |c| c.sent, |c| c.completed, |c| c.connections, |c| c.body_bytes, |c| c.compared];
    for of in counts {
        assert_eq!(sum(all, of), all.agents.iter().map(|agent| sum(&agent.result, of)).sum::<u64>());
    }
    for (index, class) in all.classes.iter().enumerate() {
        let hists: [fn(&weigh_load::result::Times) -> &Hist; 4] =
            [|t| &t.response, |t| &t.service, |t| &t.ttfb, |t| &t.connect];
        for of in hists {
            let mut added = Hist::default();
            let parts = all.agents.iter().filter_map(|agent| agent.result.classes.get(index));
            parts.for_each(|part| added.add(of(&part.times)));
            assert_eq!(&added, of(&class.times), "bucket for bucket");
        }
    }
    let slices: u64 = all.slices.iter().map(|slice| slice.completed).sum();
    assert_eq!(slices, sum(all, |c| c.completed));
    let cpu = |result: &LoadResult| result.client.user_seconds + result.client.system_seconds;
    let added: f64 = all.agents.iter().map(|agent| cpu(&agent.result)).sum();
    assert!((cpu(all) - added).abs() < 1e-9, "{} {added}", cpu(all));
}

#[test]
fn a_load_from_three_nodes_is_what_one_would_send() {
    let (Some(lab), server) = (with_engine(3, "own"), Server::of(PAGE)) else { return };
    let args =
        ["load", &server.url("/page"), "-n", "301", "-c", "7", "--on", "ray", "--json", "--out", "run"];
    let found = document(&lab.fine(&args));
    let all = result(&found);
    assert_eq!((sum(&all, |c| c.completed), sum(&all, |c| c.connections)), (301, 7));
    let each =
        |of: fn(&Counts) -> u64| all.agents.iter().map(|agent| sum(&agent.result, of)).collect::<Vec<_>>();
    assert_eq!((each(|c| c.completed), each(|c| c.connections)), (vec![101, 100, 100], vec![3, 2, 2]));
    assert_eq!(
        all.agents.iter().map(|agent| agent.node.as_str()).collect::<Vec<_>>(),
        ["node-1", "node-2", "node-3"]
    );
    adds_up(&all);
    let (skew, uncertainty) = all.skew().unwrap();
    println!(
        "three agents on this machine began within {:.2} ms (± {:.2} ms)",
        skew * 1e3,
        uncertainty * 1e3
    );
    assert!(skew.is_finite() && skew >= 0.0 && uncertainty > 0.0);
    let nice = weigh_load::sys::nice();
    assert!(all.agents.iter().all(|agent| agent.result.client.nice == nice), "the priority of this test");
    assert!(found["plan"].get("share").is_none(), "the plan is the whole one");
    let preflights = server.requests() - 301;
    assert!((3..=30).contains(&preflights), "{preflights} requests before the load");
    assert!(
        lab.read("run/slices.csv").lines().count() >= 2
            && lab.read("run/times.hlog").contains("all/response")
    );
    nothing_is_left(&lab);
}

#[test]
fn a_rate_is_divided_and_judged_as_one() {
    let (Some(lab), server) = (with_engine(3, "own"), Server::of(PAGE)) else { return };
    let url = server.url("/");
    let args = ["load", &url, "--rate", "200", "-d", "2s", "--on", "ray", "--nodes", "2", "--verbose"];
    let ran = lab.run(&[&args[..], &["--gate", "errors<5%", "--out", "run"]].concat());
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let all = result(&document(&lab.read("run/result.json")));
    let due: Vec<u64> = all.agents.iter().map(|agent| sum(&agent.result, |c| c.scheduled)).collect();
    assert_eq!((due, sum(&all, |c| c.scheduled)), (vec![200, 200], 400));
    adds_up(&all);
    for part in ["sent by", "2 nodes · started within", "node-1", "node-2"] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
}

#[test]
fn a_node_that_is_lost_in_mid_load_is_named_and_the_rest_stays() {
    let (Some(lab), server) = (with_engine(3, "lose-load 2"), Server::of(PAGE)) else { return };
    let args = ["load", &server.url("/"), "-c", "3", "-d", "3s", "--on", "ray", "--out", "run"];
    let ran = lab.run(&args);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "LOST-NODE: the agent on node node-3 ended: node node-3 was lost: it has not answered for 15 s; what it sent is missing";
    assert!(words.contains(said) && words.contains("1 of them lost"), "{words}");
    let all = result(&document(&lab.read("run/result.json")));
    assert!(all.agents[2].lost.is_some() && all.agents[2].result.classes.is_empty());
    assert!(all.seconds > 2.0 && all.agents[..2].iter().all(|agent| sum(&agent.result, |c| c.completed) > 0));
    adds_up(&all);
    nothing_is_left(&lab);
}

#[test]
fn comparisons_and_searches_go_on_from_many_nodes() {
    let (Some(lab), server) = (with_engine(2, "own"), Server::of(PAGE)) else { return };
    let (a, b) = (server.url("/a"), server.url("/b"));
    let options = ["-c", "2", "--block-time", "300ms", "--blocks", "2", "--on", "ray", "--json"];
    let found = document(&lab.fine(&[&["load", &a, "--vs", &b][..], &options].concat()));
    for side in ["a", "b"] {
        let all = result(&found[side]);
        assert_eq!(all.agents.len(), 2);
        adds_up(&all);
    }
    let options = ["-d", "9s", "--block-time", "300ms", "--on", "ray", "--json"];
    let ran = lab.run(&[&["load", &a, "--find-capacity", "p90=900ms"][..], &options].concat());
    assert!([0, 4].contains(&ran.code), "{}{}", ran.stdout, ran.stderr);
    let found = document(&ran.stdout);
    assert_eq!(result(&found["closed"]).agents.len(), 2);
    assert!(!found["capacity"]["steps"].as_array().unwrap().is_empty());
    nothing_is_left(&lab);
}

#[test]
fn a_comparison_ends_with_the_node_that_it_lost() {
    let (Some(lab), server) = (with_engine(2, "lose-load 3"), Server::of(PAGE)) else { return };
    let (a, b) = (server.url("/a"), server.url("/b"));
    let options = ["-c", "2", "--block-time", "1200ms", "--on", "ray", "--out", "run"];
    let ran = lab.run(&[&["load", &a, "--vs", &b][..], &options].concat());
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains("node node-2 was lost") && ran.stderr.contains("the blocks so far are in"),
        "{}",
        ran.stderr
    );
    assert!(lab.path("run/blocks.ndjson").exists());
    nothing_is_left(&lab);
}

#[test]
fn the_user_ends_a_load_on_all_nodes() {
    let (Some(lab), server) = (with_engine(3, "own"), Server::of(PAGE)) else { return };
    let url = server.url("/");
    let mut started = lab.start(&["load", &url, "-c", "3", "-d", "100s", "--on", "ray", "--out", "run"]);
    wait_until("the load has begun", || server.requests() > 100);
    started.signal("INT");
    assert_eq!(started.0.wait().unwrap().code(), Some(1));
    let all = result(&document(&lab.read("run/result.json")));
    assert_eq!(all.agents.len(), 3);
    adds_up(&all);
    nothing_is_left(&lab);
}

#[test]
fn what_nodes_cannot_send_is_refused() {
    let Some(lab) = with_engine(3, "nothing") else { return };
    let server = Server::of(PAGE);
    let url = server.url("/");
    let says = |args: &[&str], said: &str| {
        let line = lab.refused(&[&["load"], args].concat());
        assert!(line.contains(said), "{line}");
    };
    says(
        &[&url, "--on", "ray"],
        "127.0.0.1 is this machine itself, which is not what node node-2 would reach by it; give the server's address",
    );
    says(&[&url, "--on", "ray", "--nodes", "5"], "5 nodes needed, but the cluster has 3");
    says(&[&url, "--on", "ray", "-c", "2"], "2 connections are less than 3 nodes");
    says(&[&url, "--nodes", "2"], "--on");
    says(&["--calibrate", "--on", "ray"], "--on");
    let alone = Lab::new();
    let line = alone.refused(&["load", &url, "--on", "ray"]);
    assert!(line.contains("--on needs Ray, which is not installed; add --yes"), "{line}");
    assert_eq!(server.requests(), 0, "nothing was sent");
    nothing_is_left(&lab);
}

#[test]
fn a_node_that_cannot_reach_the_server_is_named() {
    let Some(lab) = with_engine(2, "own") else { return };
    let line = lab.refused(&["load", "http://127.0.0.1:9/", "-c", "2", "--on", "ray"]);
    assert!(line.contains("node node-") && line.contains("connect"), "{line}");
    nothing_is_left(&lab);
}
