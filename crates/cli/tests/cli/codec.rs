//! `weigh codec`: the user's own files and folders.

use serde_json::Value;

use crate::lab::Lab;

/// Text with some structure, the same each time.
pub fn text(bytes: usize) -> String {
    let mut seed = 7u32;
    let mut text = String::new();
    while text.len() < bytes {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.push_str(
            ["<li class=\"item\">", "alpha", " beta ", "</li>\n", "gamma"][(seed >> 24) as usize % 5],
        );
        text.push_str(&(seed >> 28).to_string());
    }
    text.truncate(bytes);
    text
}

/// The value of a metric in a row of a report.
pub fn value(row: &Value, metric: &str) -> f64 {
    row["values"][metric]["value"].as_f64().unwrap_or_else(|| panic!("no {metric}: {row}"))
}

/// The ids of a report's rows.
pub fn ids(report: &Value) -> Vec<&str> {
    let mut ids: Vec<&str> =
        report["rows"].as_array().unwrap().iter().map(|c| c["cell"]["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn a_file_gets_a_table_a_run_directory_and_a_report() {
    let lab = Lab::new();
    lab.write("page.html", text(60_000));
    let ran = lab.done(&["codec", "page.html", "--codecs", "identity,zlib:1|9,zstd:1", "--budget", "20"]);
    for word in
        ["page.html, native libraries", "zlib 9", "no compression", "For files, encoded once", "10 Mbit/s"]
    {
        assert!(ran.stdout.contains(word), "{word}: {}", ran.stdout);
    }
    let run = ran.stderr.lines().find_map(|l| l.strip_prefix("Report: ")).expect("it says where").trim();
    let run = run.strip_suffix("/report/report.md").unwrap();
    assert!(run.contains("weigh-runs/codec-"), "{run}");
    for file in [
        "run.json",
        "plan.json",
        "records.ndjson",
        "report/report.md",
        "report/report.json",
        "report/cells.csv",
    ] {
        assert!(lab.path(run).join(file).is_file(), "{file}");
    }
    assert_eq!(lab.left_over(), 0);
}

#[test]
fn figures_are_of_this_content() {
    let lab = Lab::new();
    let content = text(60_000);
    lab.write("page.html", &content);
    let found = lab.told(&["codec", "page.html", "--codecs", "identity,zlib:6", "--budget", "20", "--json"]);
    assert_eq!(ids(&found), ["page.html/native/-/identity", "page.html/native/-/zlib:6"]);
    for cell in found["rows"].as_array().unwrap() {
        assert_eq!(value(cell, "decoded-bytes") as usize, content.len());
        let encoded = value(cell, "encoded-bytes") as usize;
        match cell["cell"]["setting"]["codec"].as_str().unwrap() {
            "identity" => assert_eq!(encoded, content.len()),
            _ => assert!(encoded < content.len() / 2, "{encoded}"),
        }
        for phase in ["encode", "decode"] {
            let e = &cell["values"][phase];
            let [cpu, high] = ["value", "high"].map(|k| e[k].as_f64().unwrap());
            // Few rounds have no lower end.
            assert!(0.0 < cpu && cpu <= high && e["low"].as_f64().is_none_or(|low| low <= cpu), "{e}");
        }
        assert!(cell["facts"]["independent decoder"].is_string(), "an independent decoder agreed: {cell}");
    }
    assert_eq!(found["run"]["complete"], true);
    assert_eq!(found["payloads"][0]["origin"]["path"], "page.html");
}

#[test]
fn a_folder_is_one_content_of_many_items_and_links_are_left_out() {
    let lab = Lab::new();
    lab.write("site/a.css", text(9_000));
    lab.write("site/sub/b.js", text(7_000));
    lab.write("site/sub/empty", "");
    // A loop, a link out of the folder, and a pipe that would block who opens it.
    std::os::unix::fs::symlink("..", lab.path("site/sub/loop")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", lab.path("site/passwd")).unwrap();
    assert!(lab.command("mkfifo").arg("site/pipe").output().unwrap().status.success());
    let ran = lab.done(&["codec", "site", "--codecs", "lz4", "--budget", "20", "--json"]);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(found["payloads"][0]["items"], serde_json::json!([9_000, 7_000]));
    assert_eq!(ids(&found), ["site//native/-/lz4"]);
    assert!(ran.stderr.contains("left out 2 symbolic links"), "{}", ran.stderr);
    assert!(ran.stderr.contains("left out 1 named pipe, "), "{}", ran.stderr);
}

#[test]
fn several_paths_are_several_contents() {
    let lab = Lab::new();
    for name in ["a.css", "deep/a.css", "dir/x", "dir/y"] {
        lab.write(name, text(3_000));
    }
    let args = ["codec", "a.css", "deep/a.css", "dir", "--codecs", "lz4", "--budget", "20", "--json"];
    let found = lab.told(&args);
    assert_eq!(ids(&found), ["a.css/native/-/lz4", "a.css~2/native/-/lz4", "dir//native/-/lz4"]);
}

#[test]
fn settings_come_from_codecs_levels_and_sets() {
    let lab = Lab::new();
    lab.write("a.css", text(2_000));
    let measured = |flags: &[&str]| -> Vec<String> {
        let args: Vec<&str> =
            ["codec", "a.css", "--budget", "30", "--json"].iter().chain(flags).copied().collect();
        let found = lab.told(&args);
        ids(&found).iter().map(|id| id.rsplit('/').next().unwrap().to_owned()).collect()
    };
    assert_eq!(measured(&["--codecs", "zlib", "--levels", "1|9"]), ["zlib:1", "zlib:9"]);
    assert_eq!(measured(&["--codecs", "zstd", "--levels", "-2..-1"]), ["zstd:-1", "zstd:-2"]);
    assert_eq!(measured(&["--codecs", "zlib:3,lz4", "--levels", "default"]), ["lz4", "zlib:3"]);
    assert_eq!(
        measured(&["--codecs", "brotli:4,window=16|22"]),
        ["brotli:4,window=16", "brotli:4,window=22"]
    );
    let fast = measured(&["--sets", "fast", "--levels", "default"]);
    assert!(fast.contains(&"lz4".to_owned()) && fast.contains(&"snappy".to_owned()), "{fast:?}");
    assert!(!fast.iter().any(|s| s.starts_with("xz")), "{fast:?}");
}

#[test]
fn blocks_are_items() {
    let lab = Lab::new();
    lab.write("a.css", text(2_500));
    let args = ["codec", "a.css", "--codecs", "lz4", "--block", "1000", "--budget", "20", "--json"];
    let found = lab.told(&args);
    assert_eq!(found["payloads"][0]["items"], serde_json::json!([1000, 1000, 500]));
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_everything_is_measured_when_asked() {
    let lab = Lab::new();
    lab.write("a.css", text(2_500));
    let args = ["codec", "a.css", "--codecs", "zlib:1|6|9", "--exhaustive", "--seed", "9", "--json"];
    let (one, two) = (lab.told(&args), lab.told(&args));
    let facts = |found: &Value| -> Vec<(Value, Value, Value)> {
        let cells = found["rows"].as_array().unwrap().iter();
        cells
            .map(|c| {
                (c["cell"]["id"].clone(), c["values"]["encoded-bytes"]["value"].clone(), c["stop"].clone())
            })
            .collect()
    };
    assert_eq!(facts(&one), facts(&two));
    for cell in one["rows"].as_array().unwrap() {
        assert_eq!(cell["values"]["encode"]["rounds"], 30, "{cell}");
        assert_eq!(cell["stop"]["why"], "rounds", "{cell}");
    }
}

#[test]
fn what_the_budget_cannot_hold_is_left_out_and_says_so() {
    let lab = Lab::new();
    lab.write("a.css", text(3_000_000));
    let ran = lab.done(&["codec", "a.css", "--codecs", "zopfli:15,lz4", "--budget", "2"]);
    assert!(ran.stdout.contains("more than 35% of the budget of 2.00 s"), "{}", ran.stdout);
    assert!(ran.stdout.contains("or --exhaustive"), "{}", ran.stdout);
    let line = lab.refused(&["codec", "a.css", "--codecs", "zopfli:15", "--budget", "2"]);
    assert!(line.starts_with("nothing to measure: one call takes about"), "{line}");
}
