//! Loads after they ended: compared with each other and with a baseline, listed with runs, shown over time, removed.

use std::time::Duration;

use serde_json::Value;

use super::server::{Server, response};
use crate::lab::Lab;
use crate::schema::keeps;

const PAGE: &str = "<!doctype html><title>Page</title><p>Some words, and then some more of them.</p>";

/// A load of ten slices that is kept under a name; its exit code.
fn load(lab: &Lab, url: &str, name: &str, more: &[&str]) -> i32 {
    let out = format!("weigh-runs/{name}");
    let args = ["load", url, "-d", "2s", "--slice", "0.2s", "--seed", "1", "--out", &out, "-q"];
    lab.run(&[&args[..], if more.is_empty() { &["-c", "2"] } else { more }].concat()).code
}

fn slow() -> Server {
    Server::new(|_, _| {
        std::thread::sleep(Duration::from_millis(20));
        response("", PAGE.as_bytes())
    })
}

fn row<'v>(comparison: &'v Value, metric: &str) -> &'v Value {
    comparison["rows"].as_array().unwrap().iter().find(|row| row["metric"] == metric).unwrap()
}

#[test]
fn a_load_is_compared_with_a_baseline_and_gates_judge_it() {
    let (lab, fast, slow) = (Lab::new(), Server::of(PAGE), slow());
    assert_eq!(load(&lab, &fast.url("/"), "before", &[]), 0);
    assert_eq!(lab.fine(&["compare", "--save", "main"]).trim(), "weigh-runs/baselines/main");
    let listed = lab.told(&["compare", "--baselines", "--json"]);
    assert_eq!(
        (&listed["baselines"][0]["study"], &listed["baselines"][0]["configurations"]),
        (&"load".into(), &1.into())
    );
    assert_eq!(load(&lab, &slow.url("/"), "after", &[]), 0);
    let worse = lab.run(&["compare", "--baseline", "main", "--json"]);
    assert_eq!(worse.code, 4, "{}{}", worse.stdout, worse.stderr);
    let found: Value = serde_json::from_str(&worse.stdout).unwrap();
    keeps("comparison", &found);
    for metric in ["rate", "p50"] {
        assert_eq!(row(&found, metric)["verdict"], "worse", "{metric}: {found}");
    }
    // No failure on either side, and the same bytes.
    for metric in ["errors", "body-bytes"] {
        assert_eq!(row(&found, metric)["verdict"], "same", "{metric}: {found}");
    }
    assert!(found["changes"].as_array().unwrap().iter().any(|change| change["what"] == "requests"));
    for (gate, code) in
        [("p50<10%", 4), ("p99<10s", 0), ("errors<10%", 0), ("p50<0.0001%", 4), ("rate>100000", 4)]
    {
        let ran = lab.run(&["compare", "before", "after", "--gate", gate, "--junit", "gates.xml"]);
        assert_eq!(ran.code, code, "{gate}: {}{}", ran.stdout, ran.stderr);
        let read = junit_parser::from_reader(lab.read("gates.xml").as_bytes()).unwrap();
        assert_eq!(read.suites[0].failures, u64::from(code == 4), "{gate}");
    }
    // What few requests take is known too little on a busy machine.
    let rare = lab.run(&["compare", "before", "after", "--gate", "p99.9<0.0001%"]);
    assert!([4, 5].contains(&rare.code), "{}{}", rare.stdout, rare.stderr);
    let markdown = lab.run(&["compare", "before", "after", "-f", "markdown"]);
    assert!(markdown.stdout.starts_with("### after against before"), "{}", markdown.stdout);
    assert!(lab.fine(&["compare", "before", "after", "-f", "html"]).contains("<!doctype html>"));
}

#[test]
fn failures_are_a_difference_and_another_load_is_not_comparable() {
    let lab = Lab::new();
    let calm = Server::of("the page!");
    let broken = Server::new(|_, count| {
        response("", if count > 20 && count % 2 == 1 { b"not this!" } else { b"the page!" })
    });
    assert_eq!(load(&lab, &calm.url("/"), "calm", &[]), 0);
    assert_eq!(load(&lab, &broken.url("/"), "broken", &[]), 3);
    let found = lab.told(&["compare", "calm", "broken", "--json"]);
    let errors = row(&found, "errors");
    assert_eq!((&errors["verdict"], &errors["a"]), (&"worse".into(), &0.0.into()), "{found}");
    assert!(errors["b"].as_f64().unwrap() > 0.0, "{errors}");

    assert_eq!(load(&lab, &calm.url("/"), "wider", &["-c", "3"]), 0);
    let line = lab.refused(&["compare", "calm", "wider"]);
    assert!(
        line.contains("another arrival model (closed, 2 connections before") && line.contains("--force"),
        "{line}"
    );
    let forced = lab.run(&["compare", "calm", "wider", "--force"]);
    assert!(forced.code == 0 && forced.stderr.contains("not comparable"), "{}", forced.stderr);

    lab.fine(&[
        "load",
        &calm.url("/"),
        "--vs",
        &calm.url("/"),
        "--blocks",
        "2",
        "--block-time",
        "0.2s",
        "--out",
        "weigh-runs/pair",
        "-q",
    ]);
    assert!(lab.refused(&["compare", "calm", "pair"]).contains("compare single loads"));
    let whole = lab.read("weigh-runs/broken/result.json");
    lab.write("weigh-runs/broken/result.json", &whole[..whole.len() / 2]);
    assert!(lab.refused(&["compare", "calm", "broken"]).contains("result.json: damaged"));
}

#[test]
fn loads_are_listed_with_runs_shown_over_time_exported_and_removed() {
    let (lab, server) = (Lab::new(), Server::of(PAGE));
    let names = ["one", "two"];
    for name in names {
        assert_eq!(load(&lab, &server.url("/page?a=b"), name, &[]), 0);
    }
    let listing = lab.told(&["runs", "--json"]);
    keeps("runs", &listing);
    let runs = listing["runs"].as_array().unwrap();
    let all: Vec<_> =
        runs.iter().map(|run| (run["name"].as_str().unwrap(), &run["study"], &run["state"])).collect();
    let is = |name| (name, Value::from("load"), Value::from("complete"));
    let expected = [is("two"), is("one")];
    assert!(
        all.iter().zip(&expected).all(|(a, b)| (a.0, a.1, a.2) == (b.0, &b.1, &b.2)) && all.len() == 2,
        "{listing}"
    );
    assert!(lab.fine(&["runs", "trend"]).contains("99% of responses took no longer"));
    let trend = lab.told(&["runs", "trend", "p99", "--study", "load", "--json"]);
    keeps("trend", &trend);
    let text = trend.to_string();
    assert!(
        text.contains("/page?a=b closed*2") && text.contains("\"one\"") && text.contains("\"two\""),
        "{text}"
    );
    assert!(lab.fine(&["runs", "export", "all.csv"]).contains("values"));

    let old = lab.read("weigh-runs/one/result.json").replacen("\"started\": \"20", "\"started\": \"19", 1);
    lab.write("weigh-runs/one/result.json", old);
    let removed = lab.fine(&["runs", "prune", "--older-than", "30d", "--yes"]);
    assert!(removed.contains("removed 1 run") && !lab.path("weigh-runs/one").exists(), "{removed}");
    assert_eq!(lab.told(&["runs", "--json"])["runs"].as_array().unwrap().len(), 1);
}
