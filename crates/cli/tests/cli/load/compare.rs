//! A/B, and the search for the knee.

use std::time::Duration;

use super::schema::document;
use super::server::{Server, response};
use crate::lab::{Lab, lines};

#[test]
fn two_sides_alternate_and_are_told_apart() {
    let lab = Lab::new();
    let a = Server::of("the same body on both sides");
    let b = Server::new(|_, _| {
        std::thread::sleep(Duration::from_millis(20));
        response("X-Padding: 0123456789\r\n", b"the same body on both sides")
    });
    let vs = b.url("/");
    let args = [
        "load",
        &a.url("/"),
        "--vs",
        &vs,
        "--blocks",
        "6",
        "--block-time",
        "200ms",
        "-c",
        "2",
        "--out",
        "run",
    ];
    let found = document(&lab.fine(&[&args[..], &["--json"]].concat()));
    assert_eq!((&found["kind"], &found["comparison"]["blocks"]), (&"comparison".into(), &6.into()));
    assert_eq!(lines(&lab.path("run/blocks.ndjson")), 12);
    let line = |name: &str| {
        let all = found["comparison"]["lines"].as_array().unwrap();
        all.iter().find(|l| l["quantity"] == name).unwrap()["ratio"].clone()
    };
    assert!(line("rate")["high"].as_f64().unwrap() < 1.0, "{}", line("rate"));
    assert!(line("ttfb-p50")["low"].as_f64().unwrap() > 1.0, "{}", line("ttfb-p50"));
    assert!(line("wire-bytes")["low"].as_f64().unwrap() > 1.0, "{}", line("wire-bytes"));
    // All blocks of a side together.
    let kept = lab.read("run/blocks.ndjson");
    let total: u64 = kept
        .lines()
        .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap())
        .filter(|block| block["plan"]["requests"][0]["url"] == vs.as_str())
        .map(|block| block["result"]["classes"][0]["counts"]["completed"].as_u64().unwrap())
        .sum();
    assert_eq!(found["b"]["figures"]["total"]["counts"]["completed"], total);
    let waits = pauses(&kept);
    assert_eq!(waits.iter().filter(|wait| **wait > 1.0).count(), 2, "once a side: {waits:?}");
}

#[test]
fn a_page_with_a_clock_is_looked_at_a_second_later_before_every_block() {
    let lab = Lab::new();
    let clock = || {
        Server::new(|_, _| {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
            response("", format!("<p>A page that tells the time: {}</p>", now.as_secs()).as_bytes())
        })
    };
    let (a, b) = (clock(), clock());
    let side = [a.url("/"), b.url("/")];
    lab.fine(&["load", &side[0], "--vs", &side[1], "--blocks", "2", "--block-time", "100ms", "--out", "run"]);
    let waits = pauses(&lab.read("run/blocks.ndjson"));
    assert!(waits.len() == 4 && waits.iter().all(|wait| *wait > 1.0), "{waits:?}");
}

/// How long each block waited before it looked whether responses change, in seconds.
fn pauses(blocks: &str) -> Vec<f64> {
    let plan = |line| serde_json::from_str::<serde_json::Value>(line).unwrap();
    blocks.lines().map(|line| plan(line)["plan"]["again_seconds"].as_f64().unwrap()).collect()
}

#[test]
fn sides_that_send_something_else_are_no_comparison() {
    let lab = Lab::new();
    let (a, b) = (Server::of("this"), Server::of("that"));
    let args =
        ["load", &a.url("/"), "--vs", &b.url("/"), "--blocks", "2", "--block-time", "100ms", "-c", "1"];
    let ran = lab.run(&args);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("A and B send different content"), "{}", ran.stdout);
}

#[test]
fn the_knee_of_a_slow_server_is_between_two_steps() {
    let lab = Lab::new();
    let server = Server::new(|_, _| {
        std::thread::sleep(Duration::from_millis(20));
        response("", b"slow")
    });
    // Two connections and 20 ms each: about 100 requests per second.
    let args = [
        "load",
        &server.url("/"),
        "--find-capacity",
        "p50=100ms",
        "-c",
        "2",
        "--block-time",
        "400ms",
        "-d",
        "40s",
        "--json",
    ];
    let found = document(&lab.fine(&args));
    let rate = |name: &str| found["capacity"][name].as_f64();
    let (held, over) = (rate("held"), rate("over"));
    // A busy machine may let the smallest rate fail: what holds is no more than the server can do, and something was too much.
    assert!(held.is_none_or(|r| r < 101.0) && over.is_some_and(|r| r > 10.0), "{held:?} {over:?}");
    assert!(held < over, "{held:?} {over:?}");
    assert!(found["capacity"]["steps"].as_array().unwrap().len() > 3);
}
