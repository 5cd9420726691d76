//! `weigh compare`, `weigh baseline` and gates: runs beside each other, their exit codes, their files.

use std::fs;

use crate::codec::text;
use crate::lab::{Lab, SMALL, has_php};
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
    let saved = lab.fine(&["baseline", "save", "main", "old"]);
    assert_eq!(saved.trim(), "weigh-runs/baselines/main");
    let listed = lab.told(&["baseline", "list", "--json"]);
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

    lab.fine(&["baseline", "remove", "main"]);
    assert!(lab.refused(&["compare", "--baseline", "main"]).contains("weigh baseline save main"));
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
        let ran = lab.run(&[&load[..], gates].concat());
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

#[test]
fn two_phps_are_measured_in_the_same_rounds() {
    needs!(has_php());
    let lab = Lab::new();
    let study = SMALL.replace("[\"native\"]", "[\"php\"]").replace("\"zstd:3\"", "\"gzdeflate:1\"");
    lab.write("small.toml", study.replace(", \"zlib:1|6\"", ""));
    let wrapper = lab.write("other-php", "#!/bin/sh\nexec php \"$@\"\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&wrapper, mode).unwrap();
    let pair = [
        "compare",
        "--paired",
        "small.toml",
        "--php",
        "php",
        "--php",
        "./other-php",
        "--for",
        "6s",
        "--json",
    ];
    let found = lab.told(&pair);
    assert_eq!(found["method"], "paired");
    let rows = found["rows"].as_array().unwrap();
    let tested =
        |metric: &str| rows.iter().filter(|r| r["metric"] == metric && !r["ratio"].is_null()).count();
    assert!(tested("encode") == 2 && tested("decode") == 2, "{found}");
    assert!(found["a"]["rounds"].as_u64().unwrap() > 5, "{found}");
    let line = lab.refused(&["compare", "--paired", "small.toml", "--php", "php"]);
    assert!(line.contains("--php php8.2 --php php8.4"), "{line}");
}
