//! `weigh compare`, `weigh compare --save` and gates: runs beside each other, their exit codes, their files.

use std::fs;

use crate::codec::text;
use crate::lab::{Lab, SMALL, deliveries, has, has_php, study};
use crate::load::server::{Server, response};

use crate::schema::keeps;

/// Two runs of a few codecs on a file.
fn measured() -> Lab {
    let lab = Lab::new();
    lab.write("page.html", text(30_000));
    for run in ["weigh-runs/old", "weigh-runs/new"] {
        let codecs = ["codec", "page.html", "--codecs", "lz4,zlib:1|9,zstd:1", "--budget", "4"];
        lab.fine(&[&codecs[..], &["--exhaustive", "--out", run]].concat());
    }
    lab
}

/// Makes every encode of a configuration cost this much more in a run's records.
fn slow_down(lab: &Lab, run: &str, configuration: &str, factor: f64) {
    let slower = |mut record: serde_json::Value| {
        if record["type"] == "visit" && record["cell"] == configuration {
            for ns in record["phases"]["encode"]["cpu_ns"].as_array_mut().unwrap() {
                *ns = (ns.as_f64().unwrap() * factor).into();
            }
        }
        let object = record.as_object_mut().unwrap();
        object.remove("crc");
        let line = serde_json::to_string(&record).unwrap();
        let start = &line[..line.len() - 1];
        format!("{start},\"crc\":\"{:08x}\"}}\n", crc32fast::hash(start.as_bytes()))
    };
    let records: String = lab.records(run).into_iter().map(slower).collect();
    lab.write(&format!("{run}/records.ndjson"), records);
}

#[test]
fn a_run_is_compared_with_a_baseline_and_what_got_worse_is_exit_code_4() {
    let lab = measured();
    let saved = lab.fine(&["compare", "--save", "main", "old"]);
    assert_eq!(saved.trim(), "weigh-runs/baselines/main");
    let listed = lab.told(&["compare", "--baselines", "--json"]);
    keeps("baselines", &listed);
    assert_eq!(
        (&listed["baselines"][0]["name"], &listed["baselines"][0]["configurations"]),
        (&"main".into(), &4.into())
    );
    // The baseline needs nothing of the run that it was made of.
    fs::remove_dir_all(lab.path("weigh-runs/old")).unwrap();

    let calm = lab.run(&["compare", "--baseline", "main", "--json"]);
    assert_eq!(calm.code, 0, "{}{}", calm.stdout, calm.stderr);
    keeps("comparison", &serde_json::from_str(&calm.stdout).unwrap());

    slow_down(&lab, "weigh-runs/new", "page.html/native/-/zlib:9", 3.0);
    let worse = lab.run(&["compare", "new", "--baseline", "main"]);
    assert_eq!(worse.code, 4, "{}{}", worse.stdout, worse.stderr);
    assert!(
        worse.stdout.contains("1 result is worse") && worse.stdout.contains("zlib:9"),
        "{}",
        worse.stdout
    );
    // Without a baseline or gate it is shown, and no reason to stop.
    assert_eq!(lab.run(&["compare", "weigh-runs/baselines/main", "new"]).code, 0);

    let markdown = lab.run(&["compare", "--baseline", "main", "-f", "markdown", "--out", "pr.md"]);
    assert_eq!((markdown.code, markdown.stdout.trim()), (4, "pr.md"));
    assert!(lab.read("pr.md").starts_with("### new against main") && lab.read("pr.md").contains("<details>"));

    lab.fine(&["compare", "--forget", "main"]);
    assert!(lab.refused(&["compare", "--baseline", "main"]).contains("weigh compare --save main"));
}

#[test]
fn gates_of_comparisons_have_three_outcomes_and_junit_xml() {
    let lab = measured();
    slow_down(&lab, "weigh-runs/new", "page.html/native/-/zlib:9", 3.0);
    lab.write("gates.toml", "[[gate]]\nmetric = \"encode\"\nno_worse_than = \"30%\"\nonly = \"*zlib:9\"\n");
    for (gates, code, failures, errors) in [
        (&["--gate", "stored-bytes<1%"][..], 0, 0, 0),
        (&["--gates", "gates.toml"], 4, 1, 0),
        (&["--gate", "encode<0.001%"], 4, 1, 3),
        (&["--gate", "decode<0.001%"], 5, 0, 4),
    ] {
        let ran = lab.run(&[&["compare", "old", "new", "--junit", "gates.xml"][..], gates].concat());
        assert_eq!(ran.code, code, "{gates:?}: {}{}", ran.stdout, ran.stderr);
        let read = junit_parser::from_reader(lab.read("gates.xml").as_bytes()).unwrap();
        let suite = &read.suites[0];
        assert_eq!((suite.failures, suite.errors), (failures, errors), "{gates:?}: {}", ran.stdout);
    }
}

#[test]
fn what_cannot_be_compared_is_refused_unless_forced() {
    let lab = measured();
    let file = lab.read("weigh-runs/old/run.json");
    let machine = lab.json("weigh-runs/old/run.json")["machine"]["cores"].to_string();
    lab.write("weigh-runs/old/run.json", file.replace(&format!("\"cores\": {machine}"), "\"cores\": 777"));
    let line = lab.refused(&["compare", "old", "new"]);
    assert!(line.contains("not comparable: another cores (777 before") && line.contains("--force"), "{line}");
    let forced = lab.run(&["compare", "old", "new", "--force"]);
    assert!(forced.code == 0 && forced.stderr.contains("not comparable"), "{}", forced.stderr);
    assert!(forced.stdout.contains("Not the same on both sides"), "{}", forced.stdout);
}

#[test]
fn a_study_has_gates_of_its_own() {
    let lab = Lab::new();
    let gate = |gates: &str| lab.write("small.toml", format!("{SMALL}{gates}"));
    let run = |code: i32, out: &str| {
        let ran = lab.run(&["run", "small.toml", "--out", out, "--junit", "gates.xml"]);
        assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
        ran.stdout
    };
    gate("[[gate]]\nmetric = \"stored-bytes\"\nat_most = \"1GB\"\n");
    assert!(run(0, "pass").contains("stored-bytes at most 1GB"));
    assert!(lab.read("gates.xml").contains("failures=\"0\""));
    gate("[[gate]]\nmetric = \"stored-bytes\"\nat_most = \"1\"\n");
    run(4, "fail");
    // Three rounds have no lower end, so that a limit below the value is not missed for certain.
    gate("[[gate]]\nmetric = \"encode\"\nat_most = \"1ns\"\n");
    run(5, "undecided");
    for (wrong, said) in [
        ("metric = \"encdoe\"\nat_most = \"1ms\"", "did you mean `encode`?"),
        ("metric = \"encode\"\nat_most = \"1KB\"", "write it with its unit, such as 50ms"),
        ("metric = \"encode\"", "one of no_worse_than, at_most and at_least"),
        ("metric = \"encode\"\nat_leest = \"1ms\"", "did you mean `at_least`?"),
    ] {
        gate(&format!("[[gate]]\n{wrong}\n"));
        let line = lab.refused(&["run", "small.toml"]);
        assert!(line.contains(said), "{line}");
    }
}

#[test]
fn gates_of_a_load_pass_fail_and_stay_undecided() {
    let lab = Lab::new();
    let broken =
        Server::new(|_, count| response("", if count % 20 == 19 { b"not this!" } else { b"the page!" }));
    let calm = Server::of("the page!");
    let run = |url: &str, time: &str, gates: &[&str], code: i32| {
        let load = ["load", url, "-d", time, "-c", "1", "--rate", "200", "--junit", "gates.xml", "-q"];
        // What a busy machine never sent is no answer: then once more.
        let mut runs = (0..10).map(|_| lab.run(&[&load[..], gates].concat()));
        let ran = runs.find(|ran| !ran.stdout.contains("never sent")).expect("a load that is sent");
        assert_eq!(ran.code, code, "{gates:?}: {}{}", ran.stdout, ran.stderr);
        let read = junit_parser::from_reader(lab.read("gates.xml").as_bytes()).unwrap();
        (read.suites[0].failures, read.suites[0].errors, ran.stdout)
    };
    let good =
        run(&calm.url("/"), "2s", &["--gate", "p50<10s", "--gate", "errors<5%", "--gate", "rate>1"], 0);
    assert_eq!((good.0, good.1), (0, 0), "{}", good.2);
    let bad = run(&calm.url("/"), "2s", &["--gate", "p99<1ns", "--gate", "rate>100000"], 4);
    assert_eq!((bad.0, bad.1), (2, 0), "{}", bad.2);
    // No failure in some hundred requests does not prove fewer than one in ten thousand.
    let open = run(&calm.url("/"), "2s", &["--gate", "errors<0.01%"], 5);
    assert!(open.1 == 1 && open.2.contains("undecided"), "{}", open.2);
    // Failures within a limit on them are no reason to stop; without one they are.
    run(&broken.url("/"), "2s", &["--gate", "errors<90%"], 0);
    run(&broken.url("/"), "2s", &["--gate", "p50<10s"], 3);
    run(&broken.url("/"), "2s", &["--gate", "errors<0.1%"], 4);
}

/// Compares two sides of a study, for longer until each result has rounds enough for a verdict: a busy machine measures fewer in a
/// time, and of a round that was disturbed not every side is kept.
fn paired(lab: &Lab, words: &[&str]) -> serde_json::Value {
    let compare = |time: &&str| {
        let ran = lab.run(&[&["compare", "--paired"], words, &["--for", time, "--json"]].concat());
        let found: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        let rows = found["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_enough = ran.code == 0
            && ["a", "b"].iter().all(|side| found[side]["rounds"].as_u64() > Some(5))
            && rows.iter().all(|row| row["verdict"] != "untested");
        if !is_enough {
            println!("{words:?} for {time}: {}: {}{}", ran.code, ran.stdout, ran.stderr);
        }
        is_enough.then_some(found)
    };
    ["6s", "30s", "120s"].iter().find_map(compare).expect("six rounds in two minutes")
}

#[test]
fn two_phps_are_measured_in_the_same_rounds() {
    needs!(has_php());
    let lab = Lab::new();
    let study = SMALL.replace("[\"native\"]", "[\"php\"]").replace("\"zstd:3\"", "\"gzdeflate:1\"");
    lab.write("small.toml", study.replace(", \"zlib:1|6\"", ""));
    let wrapper = lab.write("other-php", "#!/bin/sh\nexec php \"$@\"\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&wrapper, mode).unwrap();
    let found = paired(&lab, &["small.toml", "--php", "php", "--php", "./other-php"]);
    assert_eq!(found["method"], "paired");
    let rows = found["rows"].as_array().unwrap();
    let tested =
        |metric: &str| rows.iter().filter(|r| r["metric"] == metric && !r["ratio"].is_null()).count();
    assert!(tested("encode") == 2 && tested("decode") == 2, "{found}");
    let names = [&found["a"]["name"], &found["b"]["name"]];
    assert_eq!(names, ["php", "other-php"]);
}

/// A codec of PHP under its own name that does its work this often.
fn codec(lab: &Lab, folder: &str, times: u32) {
    let php = format!(
        r#"<?php
use Weighbridge\Coder;
use Weighbridge\Extension;
return array('format' => 'deflate', 'sets' => array(), 'levels' => array('min' => 1, 'max' => 9, 'default' => 6, 'representative' => array(1)),
    'nominal' => array(array(1, 85.0), array(9, 9.0)),
    'bindings' => array('extension' => array('coder' => function ($params) {{
        $encode = function ($data) use ($params) {{
            for ($i = 0; $i < {times}; $i++) {{ $encoded = gzdeflate($data, $params->level); }}
            return $encoded;
        }};
        return new Coder($encode, function ($data) {{ return gzinflate($data); }});
    }}) + Extension::zlibBinding('gzdeflate', 'gzinflate')));
"#
    );
    lab.write(&format!("{folder}/php/codecs/mine.php"), php);
}

#[test]
fn two_folders_of_definitions_differ_by_what_their_codecs_do() {
    needs!(has_php());
    let lab = Lab::new();
    let study = SMALL.replace("[\"native\"]", "[\"php\"]");
    lab.write("small.toml", study.replace("\"identity\", \"zlib:1|6\", \"zstd:3\"", "\"mine:1\""));
    codec(&lab, "old", 1);
    codec(&lab, "slow", 4);
    codec(&lab, "same", 1);
    let pair = |a: &str, b: &str| {
        let found = paired(&lab, &["small.toml", "--defs", a, "--defs", b]);
        keeps("comparison", &found);
        assert_eq!((&found["a"]["name"], &found["b"]["name"]), (&a.into(), &b.into()));
        let rows = found["rows"].as_array().unwrap().clone();
        let row = rows.iter().find(|row| row["metric"] == "encode").expect("encode was measured").clone();
        (row, found)
    };
    let (slower, all) = pair("old", "slow");
    assert_eq!(slower["verdict"], "worse", "{all}");
    assert!((2.0..8.0).contains(&slower["ratio"]["value"].as_f64().unwrap()), "{slower}");
    assert!(slower["configuration"].as_str().unwrap().ends_with("/-/mine:1"), "{slower}");
    let (same, all) = pair("old", "same");
    assert!(same["verdict"] != "worse" && same["verdict"] != "better", "{all}");
    let sizes = all["rows"].as_array().unwrap().iter().filter(|row| row["metric"] == "stored-bytes");
    assert!(sizes.count() == 1 && all["changes"].as_array().unwrap().is_empty(), "{all}");
    // The run of both is a run like any other.
    assert!(lab.fine(&["runs", "show", "latest", "--full"]).contains("old:"));

    // What fails on a side is told, with the exit code of failures.
    lab.write(
        "broken/php/codecs/mine.php",
        lab.read("old/php/codecs/mine.php").replace("gzinflate($data)", "$data"),
    );
    let sides = ["compare", "--paired", "small.toml", "--defs", "old", "--defs", "broken", "--for"];
    let mut failing = ["2s", "30s"].iter().map(|time| lab.run(&[&sides[..], &[time]].concat()));
    let broken = failing.find(|ran| ran.code == 3).expect("it fails once it is measured");
    assert!(broken.stderr.contains("of broken failed: "), "{}", broken.stderr);
}

#[test]
fn two_configurations_of_a_server_and_two_document_roots_are_sides() {
    needs!(has("nginx", "apt install nginx-light"));
    let lab = Lab::new();
    let block = deliveries("asset", "corpus:lodash-4.17.21.min", "-", "ways = [\"server/gzip:6\"]");
    lab.write("assets.toml", study("assets", [20, 3, 1], &block));
    lab.write("public/app.js", text(40_000));
    lab.write("next/app.js", text(60_000));
    for (folder, gzip) in [("plain", "off"), ("gzip", "on")] {
        let types = "types { text/javascript js; } gzip_types text/javascript;";
        let server = "server { listen 80; root /srv/www; }";
        lab.write(
            &format!("{folder}/nginx.conf"),
            format!("events {{}}\nhttp {{ gzip {gzip}; {types}\n{server} }}\n"),
        );
    }
    let pair = |words: &[&str]| {
        let found = paired(&lab, &[&["assets.toml"], words].concat());
        let rows = found["rows"].as_array().unwrap().clone();
        let bytes = rows.into_iter().find(|row| row["metric"] == "body-bytes").expect("bytes were counted");
        (bytes, found)
    };
    let configs =
        ["--server-config", "plain/nginx.conf", "--server-config", "gzip/nginx.conf", "--docroot", "public"];
    let (bytes, found) = pair(&configs);
    assert_eq!((&bytes["verdict"], &found["b"]["name"]), (&"better".into(), &"gzip".into()), "{found}");
    assert_eq!(bytes["configuration"], "app.js/nginx/-/http/server/config", "the user's configuration alone");
    let (bytes, found) = pair(&["--docroot", "public", "--docroot", "next"]);
    assert_eq!(bytes["verdict"], "worse", "{found}");
    let change = &found["changes"][0];
    assert!(change["what"] == "content of app.js" && change["forbids"] == false, "{found}");
}

#[test]
fn two_urls_are_a_comparison_like_any_other() {
    let lab = Lab::new();
    let (a, b) = (Server::of("the page!"), Server::of("the page!"));
    let (a, b) = (a.url("/"), b.url("/"));
    let pair = ["compare", "--paired", &a, &b, "--for", "4s", "--junit", "gates.xml"];
    let run = |more: &[&str]| lab.run(&[&pair[..], more].concat());
    let kept = run(&["--gate", "p50<10s", "--gate", "body-bytes<1%", "--json", "--out", "pair.json"]);
    assert!([0, 5].contains(&kept.code), "{}{}", kept.stdout, kept.stderr);
    let found = lab.json("pair.json");
    keeps("comparison", &found);
    let outcome = |found: &serde_json::Value, gate: &str| {
        let gates = found["gates"].as_array().unwrap();
        gates.iter().find(|one| one["gate"].as_str().unwrap().starts_with(gate)).unwrap()["outcome"].clone()
    };
    assert_eq!((&found["method"], &found["subject"]), (&"paired".into(), &"load".into()));
    assert_eq!(outcome(&found, "p50 at most"), "pass", "{found}");
    let missed = run(&["--gate", "p50<1ns", "-f", "markdown"]);
    assert_eq!(missed.code, 4, "{}{}", missed.stdout, missed.stderr);
    assert!(missed.stdout.starts_with("### "), "{}", missed.stdout);
    let read = junit_parser::from_reader(lab.read("gates.xml").as_bytes()).unwrap();
    assert_eq!(read.suites[0].failures, 1);
    for (wrong, said) in [
        (&["--gate", "p51<5%"][..], "no metric `p51` of two loads"),
        (&["--php", "php"], "--php is about a study"),
        (&["--defs", "."], "--defs is about a study"),
    ] {
        let line = lab.refused(&[&pair[..], wrong].concat());
        assert!(line.contains(said), "{line}");
    }
}

#[test]
fn a_pair_without_two_sides_is_refused() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    for (wrong, said) in [
        (&[][..], "--paired needs two sides"),
        (&["--php", "php"], "--paired needs two sides"),
        (&["--php", "php", "--php", "php"], "php is on both sides"),
        (&["--defs", ".", "--defs", ".", "--defs", "."], "give it twice at most"),
        // Definitions do not change what is native.
        (&["--defs", ".", "--defs", "/"], "no configuration that both sides can run and differ in"),
        (&["--docroot", ".", "--docroot", "/", "--content", "small.toml"], "cannot be used with"),
    ] {
        let line = lab.refused(&[&["compare", "--paired", "small.toml", "--for", "1s"], wrong].concat());
        assert!(line.contains(said), "{line}");
    }
    let line = lab.refused(&["run", "small.toml", "--defs", ".", "--defs", "."]);
    assert!(line.contains("weigh compare --paired"), "{line}");
}
