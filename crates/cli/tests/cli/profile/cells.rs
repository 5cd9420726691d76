//! Cells of a run under a profiler: `weigh run --profile`.

use serde_json::Value;

use super::scripts::has;
use super::{function, json};
use crate::lab::{Lab, study};

/// A study of codecs, or of clients, in PHP.
fn study_of(block: &str) -> String {
    study("cells", [60, 1, 1], block)
}

const CODECS: &str = "[[cells]]\ncontent = [\"value:rows-16k\"]\nruntimes = [\"php\"]\nserializers = [\"serialize\"]\n\
                      codecs = [\"gzdeflate:1|6\", \"identity\"]\n";
const CLIENTS: &str = "[[clients]]\nstores = [\"files\"]\nruntimes = [\"php\"]\nvalues = [\"value:rows-1k\"]\ntransactions = 100\n\
                       workers = [1]\n";

/// Runs a study and profiles cells with these words; the profiles, by folder.
fn profiles(block: &str, words: &str) -> (Lab, Vec<(String, Value)>) {
    let lab = Lab::new();
    lab.write("cells.toml", study_of(block));
    lab.done(&["run", "cells.toml", "--exhaustive", "--php", "php", "--out", "run", "--profile", words]);
    assert_eq!(lab.left_over(), 0);
    let folder = lab.path("run/profiles");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let of = |name: String| {
        let document = json(&lab.read(&format!("run/profiles/{name}/profile.json")));
        (name, document)
    };
    let all = names.into_iter().map(of).collect();
    (lab, all)
}

#[test]
fn a_codec_is_profiled_apart_from_the_serializer_around_it() {
    needs!(has("xdebug"));
    let (lab, all) = profiles(CODECS, "gzdeflate");
    assert_eq!(all.len(), 2, "{all:?}");
    for (name, document) in &all {
        assert!(name.contains("gzdeflate"), "{name}");
        let profile = &document["profiles"][0];
        for called in ["php::serialize", "php::gzdeflate", "php::gzinflate", "php::unserialize"] {
            let calls = function(profile, called)["calls"].as_u64().unwrap();
            assert!(calls >= 100, "{called}: {calls}");
        }
        assert!(profile["run"]["overhead"]["ratio"].as_f64().unwrap() > 0.0, "{profile}");
    }
    // The run's page has them.
    if weigh_answer::page::is_built_in() {
        let page = lab.read("run/report/report.html");
        assert!(page.contains("\"flames\":[{\"name\":") && page.contains("[\"php::gzinflate\",\"php\"]"));
        assert!(page.len() < 2_000_000, "{} bytes", page.len());
    }
    // Nothing of it is recorded.
    let visits = lab.records("run").iter().filter(|record| record["type"] == "visit").count();
    assert_eq!(visits, 3);
}

#[test]
fn a_client_is_profiled_with_its_driver() {
    needs!(has("xdebug"));
    let (_, all) = profiles(CLIENTS, "FILES/");
    assert!(!all.is_empty());
    let functions = all[0].1["profiles"][0]["functions"].as_array().unwrap();
    let of_the_store = |f: &&Value| f["name"].as_str().unwrap().starts_with("Weighbridge\\Files\\Store->");
    assert!(functions.iter().any(|f| of_the_store(&f)), "{functions:?}");
}

#[test]
fn words_that_choose_nothing_are_refused_before_anything_is_measured() {
    needs!(has("xdebug"));
    let lab = Lab::new();
    lab.write("cells.toml", study_of(CODECS));
    let many = study_of(&CODECS.replace("gzdeflate:1|6", "gzdeflate:1..9\", \"gzencode:1..9"));
    lab.write("many.toml", many);
    let native = CODECS.replace("[\"php\"]\nserializers = [\"serialize\"]", "[\"native\"]");
    lab.write("native.toml", study_of(&native.replace("gzdeflate:1|6", "zlib:1")));
    for (file, words, expected) in [
        (
            "cells.toml",
            "brotli",
            "--profile brotli: no id of a configuration in PHP has these words; one is ",
        ),
        (
            "many.toml",
            "gz",
            "--profile gz: 18 ids have these words, and at most 16 configurations are profiled",
        ),
        ("native.toml", "zlib", "--profile zlib: no configuration is a client or a codec in PHP"),
    ] {
        let ran = lab.run(&["run", file, "--php", "php", "--out", "run", "--profile", words]);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        let line = ran.stderr.lines().last().unwrap();
        assert!(line.contains(expected), "{line}");
        assert!(!lab.path("run").exists());
    }
}
