//! A study of deliveries by the real program, with nginx and PHP-FPM where they are here.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::lab::{Lab, deliveries, serves_php, study};

fn whole_study() -> String {
    let blocks = [
        ("page", "php", "ways = [\"none\", \"gzencode:6\", \"server/gzip:6\"]"),
        (
            "asset",
            "-",
            "transports = [\"http\", \"https\"]\nways = [\"plain\", \"gzip_static\"]\nnegotiation = true",
        ),
        ("download", "php", "ways = [\"readfile\", \"x-accel-redirect\"]\nconnections = [2]"),
    ];
    let block = |(subject, runtime, more)| {
        deliveries(subject, "corpus:page-zlib", runtime, &format!("{more}\nkeep = true"))
    };
    study("delivered", [60, 2, 2], &blocks.map(block).concat())
}

/// The last visit to each cell, by what follows the payload in its id.
fn visits(lab: &Lab, run: &str) -> BTreeMap<String, Value> {
    lab.visits(run).into_iter().map(|(cell, v)| (cell.split_once('/').unwrap().1.to_owned(), v)).collect()
}

#[test]
fn what_is_sent_is_measured_by_whom_it_costs() {
    needs!(serves_php());
    let lab = Lab::new();
    lab.write("delivered.toml", whole_study());
    let planned = lab.told(&["run", "--dry-run", "delivered.toml", "--json", "--php", "php"]);
    crate::schema::keeps("plan", &planned);
    let ran = lab.done(&["run", "delivered.toml", "--php", "php", "--out", "run", "--json"]);
    lab.records("run").iter().for_each(|record| crate::schema::keeps("record", record));
    let visits = visits(&lab, "run");
    assert_eq!(visits.len(), planned["cells"].as_array().unwrap().len(), "{:?}", visits.keys());
    let name = planned["runtimes"][0]["name"].as_str().unwrap();
    let cell = |way: &str| &visits[&format!("nginx/{way}").replace("PHP", name)];
    let cost = |way: &str, whose: &str| {
        let delivery = &cell(way)["delivery"];
        delivery[whose].as_f64().unwrap() / delivery["requests"].as_f64().unwrap()
    };
    let bytes = |way: &str| cell(way)["encoded_bytes"].as_u64().unwrap();
    let page = planned["payloads"][0]["bytes"].as_u64().unwrap();
    assert_eq!(bytes("PHP/http/php/none"), page);
    assert!(bytes("PHP/http/php/gzencode:6") < page / 2);
    // The work is the same, by whoever it is done.
    assert!(cost("PHP/http/php/gzencode:6", "php_cpu_ns") > 2.0 * cost("PHP/http/php/none", "php_cpu_ns"));
    assert!(
        cost("PHP/http/server/gzip:6", "server_cpu_ns") > 2.0 * cost("PHP/http/php/none", "server_cpu_ns")
    );
    assert_eq!(bytes("-/http/server/gzip_static"), bytes("-/https/server/gzip_static"));
    assert_eq!(cell("-/http/server/gzip_static")["delivery"]["preflight"]["content_encoding"], "gzip");
    assert!(cell("-/http/server/plain")["delivery"]["php_cpu_ns"].is_null());
    assert_eq!(bytes("PHP/http*2/php/x-accel-redirect"), page);
    let report = serde_json::from_str(&ran.stdout).unwrap();
    split(&lab, &report);
    negotiated(&lab, &report);
    assert_eq!(lab.left_over(), 0, "{:?}", lab.processes());
}

#[test]
fn a_content_that_is_cut_is_sent_from_several_places_in_turn() {
    needs!(serves_php());
    let lab = Lab::new();
    let blocks = [
        ("page", "php", "ways = [\"none\", \"gzencode:6\"]"),
        ("asset", "-", "ways = [\"gzip:6\", \"gzip_static\"]"),
        ("download", "php", "ways = [\"readfile\", \"x-accel-redirect\"]\nconnections = [2]"),
    ];
    let block = |(subject, runtime, more)| {
        deliveries(subject, "corpus:page-zlib", runtime, &format!("{more}\nsizes = [3000]\nkeep = true"))
    };
    lab.write("cut.toml", study("cut", [60, 1, 1], &blocks.map(block).concat()));
    lab.done(&["run", "cut.toml", "--php", "php", "--out", "run"]);
    let visits = visits(&lab, "run");
    assert_eq!(visits.len(), 6, "{:?}", visits.keys());
    for (cell, visit) in &visits {
        let delivery = &visit["delivery"];
        let count = |name: &str| delivery[name].as_u64().unwrap();
        let requests = count("requests");
        assert!(requests % 24 == 0 && count("metered") == requests + 24, "{cell}: {delivery}");
        assert_eq!(count("decoded_bytes"), requests * 3000, "{cell}");
        let first = requests * delivery["preflight"]["body_bytes"].as_u64().unwrap();
        let is_coded = cell.contains("gz");
        assert_eq!(count("body_bytes") != first, is_coded, "{cell}: each is encoded for itself");
    }
    let plan = lab.json("run/plan.json");
    let size = &plan["payloads"][0];
    assert_eq!((&size["family"], size["bytes"].as_u64()), (&Value::Bool(true), Some(72_000)));
}

/// Idle time is measured once for the server and once for the pool and taken off each visit, and what is left is divided into user space and kernel.
fn split(lab: &Lab, report: &Value) {
    let visits: Vec<Value> = lab.records("run").into_iter().filter(|r| r["type"] == "visit").collect();
    let mut rates = BTreeMap::new();
    for visit in &visits {
        let delivery = &visit["delivery"];
        let idle = &delivery["idle"];
        for part in ["server", "php"] {
            let Some(cpu) = delivery[format!("{part}_cpu_ns")].as_f64() else {
                assert!(idle[format!("{part}_per_second")].is_null(), "{idle}");
                continue;
            };
            let user = delivery[format!("{part}_user_ns")].as_f64().unwrap();
            let (rate, taken) = (&idle[format!("{part}_per_second")], &idle[format!("{part}_taken_ns")]);
            assert!(user <= cpu && taken.is_u64(), "{part}: {delivery}");
            rates.insert((part, rate.to_string()), visit["cell"].to_string());
        }
    }
    assert_eq!(rates.len(), 2, "one rate of the server and one of the pool: {rates:?}");
    let row = report["rows"].as_array().unwrap().iter().find(|row| row["cell"]["runtime"] != "-").unwrap();
    for part in ["server", "php"] {
        let value = |id: &str| row["values"][format!("{part}-{id}")]["value"].as_f64().unwrap();
        let sum = value("user-cpu") + value("kernel-cpu");
        assert!((sum / value("cpu") - 1.0).abs() < 1e-9, "{part}: {row}");
    }
}

/// Plain and pre-encoded, over HTTP and TLS, were asked once each, and every form of the report has it.
fn negotiated(lab: &Lab, report: &Value) {
    crate::schema::keeps("report", report);
    let asked = lab.records("run").into_iter().filter(|r| r["delivery"]["negotiation"].is_object());
    let mut asked: Vec<String> = asked.map(|r| r["cell"].as_str().unwrap().to_owned()).collect();
    asked.sort();
    assert_eq!(asked.len(), 4, "{asked:?}");
    asked.dedup();
    assert_eq!(asked.len(), 4, "once a run, not once a round");
    let told = report["exhibits"]["negotiations"].as_array().unwrap();
    assert_eq!(told.len(), 4);
    for one in told.iter().filter(|one| one["way"] == "server/gzip_static") {
        let codings: Vec<_> = one["variants"].as_array().unwrap().iter().map(|v| &v["coding"]).collect();
        assert_eq!(codings, ["identity", "gzip"], "{}", one["cell"]);
    }
    let rows: usize = told.iter().map(|one| one["exchanges"].as_array().unwrap().len()).sum();
    assert_eq!(lab.read("run/report/negotiation.csv").lines().count(), rows + 1);
    assert!(lab.read("run/report/report.md").contains("## Which variant is sent to whom"));
}

#[test]
fn a_script_has_a_pool_with_or_without_opcode_cache_in_the_group_of_the_files() {
    needs!(serves_php());
    let lab = Lab::new();
    let ways = "ways = [\"gzip_static\", \"minifier\", \"minifier,opcache=on\", \"minifier,opcache=off\"]\nkeep = true";
    let block = deliveries("asset", "corpus:page-zlib", "-", ways)
        .replace("runtimes = [\"-\"]", "runtimes = [\"-\", \"php\"]");
    lab.write("endpoint.toml", study("endpoint", [60, 2, 2], &block));
    let ran = lab.done(&["run", "endpoint.toml", "--php", "php", "--out", "run", "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    // The script looks at its PHP: it would have answered with an error.
    assert_eq!(visits(&lab, "run").len(), 4, "{}", ran.stderr);
    let groups = report["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 1, "{groups:?}");
    assert_eq!(groups[0]["cells"].as_array().unwrap().len(), 4);
    assert_eq!(lab.left_over(), 0, "{:?}", lab.processes());
}

#[test]
fn a_page_that_fails_shows_what_php_says() {
    needs!(serves_php());
    let lab = Lab::new();
    let way = "<?php return array('kind' => 'plain', 'subjects' => array('page'), 'about' => 'fails', \
               'send' => function ($delivery) { no_such_function(); });";
    lab.write("defs/php/ways/failing.php", way);
    let whole = whole_study();
    let (head, _) = whole.split_once("[[deliveries]]\nsubject = \"asset\"").unwrap();
    let study = head.replace("\"gzencode:6\", \"server/gzip:6\"", "\"failing\"");
    lab.write("failing.toml", study);
    let ran = lab.run(&["--defs", "defs", "run", "failing.toml", "--php", "php", "--out", "run"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let faults: Vec<Value> = lab.records("run").into_iter().filter(|r| r["type"] == "fault").collect();
    let message = faults[0]["fault"]["message"].as_str().unwrap();
    assert!(message.contains("status 500") && message.contains("no_such_function"), "{message}");
    assert_eq!((faults.len(), visits(&lab, "run").len()), (1, 1), "the other way goes on");
}

/// A way by which the first two workers take over 100 MB that they keep, in the cache of regular expressions: each leaves its mark in a folder.
fn hoarding(marks: &std::path::Path) -> String {
    format!(
        "<?php return array('kind' => 'plain', 'subjects' => array('page'), 'about' => 'hoards', 'send' => function ($delivery) {{
    $marks = '{}/hoarded-';
    if (count(glob($marks . '*')) < 2 && touch($marks . getmypid())) {{
        ini_set('pcre.jit', '0');
        for ($i = 0; $i < 4000; $i++) {{ preg_match('/' . str_repeat('x', 12000) . $i . '/', ''); }}
    }}
    $delivery->sendPlain();
}});
",
        marks.display()
    )
}

#[test]
fn a_light_way_after_one_of_100_mb_does_not_read_100_mb() {
    needs!(serves_php());
    let lab = Lab::new();
    lab.write("defs/php/ways/heavy.php", hoarding(&lab.work()));
    let block = deliveries("page", "synthetic:rows-4k", "php", "ways = [\"heavy\", \"none\"]\nkeep = true");
    lab.write("memory.toml", study("memory", [60, 2, 2], &block));
    // A seed by which the heavy one is the first.
    lab.done(&["--defs", "defs", "run", "memory.toml", "--php", "php", "--seed", "2", "--out", "run"]);
    let visits: Vec<Value> = lab.records("run").into_iter().filter(|r| r["type"] == "visit").collect();
    let is = |visit: &Value, way: &str| visit["cell"].as_str().unwrap().ends_with(way);
    let at = |way: &str| visits.iter().position(|visit| is(visit, way)).unwrap();
    assert!(at("/heavy") < at("/none"));
    let memory = |way: &str, what: &str| {
        let of_way = visits.iter().filter(|visit| is(visit, way));
        of_way.filter_map(|visit| visit["delivery"][what].as_u64()).max().unwrap()
    };
    assert!(memory("/none", "php_pss") < 100 << 20, "{} bytes", memory("/none", "php_pss"));
    assert!(memory("/none", "php_private") < 100 << 20, "{} bytes", memory("/none", "php_private"));
    // That of a worker while it had them all.
    let peak = |way: &str| {
        let peaks = visits
            .iter()
            .filter(|visit| is(visit, way))
            .filter_map(|v| v["delivery"]["worker_peaks"].as_array());
        peaks.flatten().filter_map(Value::as_u64).max().unwrap()
    };
    assert!(peak("/heavy") > 100 << 20 && peak("/none") < 100 << 20, "{}, {}", peak("/heavy"), peak("/none"));
}

#[test]
fn a_delta_goes_to_those_who_have_the_last_version_and_competes_with_nobody_else() {
    needs!(serves_php());
    let lab = Lab::new();
    let ways = "ways = [\"plain\", \"gzip_static\", \"delta,coding=dcz|dcb\"]\nkeep = true";
    let block = deliveries("asset", "corpus:lodash-4.17.21.min", "-", ways);
    lab.write("deltas.toml", study("deltas", [60, 2, 2], &block));
    let report = lab.told(&["run", "deltas.toml", "--out", "run", "--json"]);
    crate::schema::keeps("report", &report);
    let visits = visits(&lab, "run");
    let of = |way: &str| &visits[&format!("nginx/-/http/server/{way}")];
    let content = of("plain")["encoded_bytes"].as_u64().unwrap();
    for coding in ["dcz", "dcb"] {
        let visit = of(&format!("delta,coding={coding}"));
        assert_eq!(visit["delivery"]["preflight"]["content_encoding"], coding);
        assert!(visit["encoded_bytes"].as_u64().unwrap() < content / 20, "{visit}");
        // Each body was decoded against the last version, or is byte for byte one that was.
        assert_eq!(visit["decoded_bytes"].as_u64(), Some(content));
        let delivery = &visit["delivery"];
        assert!(delivery["compared"].as_u64() > Some(0) && delivery["faults"].is_null(), "{delivery}");
        assert_eq!(delivery["preflight"]["notes"].as_array().map_or(0, Vec::len), 0, "{delivery}");
    }
    let groups = report["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2, "{groups:?}");
    let returning = groups.iter().find(|group| group["key"]["visitor"] == "returning").unwrap();
    assert_eq!(returning["cells"].as_array().unwrap().len(), 2);
    let findings = report["findings"].as_array().unwrap();
    assert!(
        findings
            .iter()
            .any(|one| one["text"].as_str().unwrap().contains("visitors who have the last version"))
    );
}
