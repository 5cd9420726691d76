//! Scripts under real profilers.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::{function, json};
use crate::lab::{Lab, has_php, wait_until};

/// A script whose calls are known: direct and mutual recursion, a generator, an exception, a callback, a destructor, and a
/// function that runs at the end.
const KNOWN: &str = include_str!("known.php");

/// Whether there is a PHP with this profiler; else says so, as [`has_php`] does.
pub(super) fn has(profiler: &str) -> bool {
    if !has_php() {
        return false;
    }
    let lab = Lab::new();
    lab.write("s.php", "<?php for ($i = 0; $i < 10000000; $i++) { $s = $i; }");
    let ran = lab.run(&["profile", "--pairs", "0", "--profiler", profiler, "--", "s.php"]);
    if ran.code == 2 && ran.stderr.contains("nothing to profile with") {
        assert!(std::env::var_os("WEIGH_STRICT").is_none(), "{}", ran.stderr);
        println!("skipped: {}", ran.stderr.lines().last().unwrap_or_default());
        return false;
    }
    // 3: excimer may abort PHP once its samples are written.
    assert!(matches!(ran.code, 0 | 3), "{}", ran.stderr);
    true
}

#[test]
fn a_known_script_is_counted_exactly() {
    needs!(has("xdebug"));
    let lab = Lab::new();
    lab.write("known.php", KNOWN);
    let ran = lab.done(&["profile", "--profiler", "xdebug", "--pairs", "2", "--json", "--", "known.php"]);
    assert!(ran.stderr.contains("the script's own words") && !ran.stdout.contains("the script's own words"));
    let profile = &json(&ran.stdout)["profiles"][0];
    for (name, calls, recursion) in [
        ("{main}", 1, "none"),
        ("fib", 465, "direct"),
        ("even", 11, "mutual"),
        ("odd", 10, "mutual"),
        ("leaf", 14, "none"),
        ("thrower", 1, "none"),
        ("at_end", 1, "none"),
        ("A->go", 50, "none"),
        ("A->__destruct", 1, "none"),
        ("{closure", 4, "none"),
        ("php::array_map", 2, "none"),
        ("php::str_repeat", 50, "none"),
        ("php::register_shutdown_function", 1, "none"),
    ] {
        let found = function(profile, name);
        assert_eq!(
            (found["calls"].as_u64(), found["recursion"].as_str()),
            (Some(calls), Some(recursion)),
            "{found}"
        );
    }
    let number = |value: &Value| value.as_i64().unwrap();
    let own: i64 = profile["functions"].as_array().unwrap().iter().map(|f| number(&f["own"])).sum();
    let total = number(&profile["total"]);
    assert_eq!(own, total);
    // Each cost is written in tens of nanoseconds, rounded by itself.
    let off = (number(&profile["roots"]) - total).abs();
    assert!(off * 1000 <= total, "Σ self {total}, roots {}", profile["roots"]);
    let near = |a: i64, b: i64, calls: i64| assert!((a - b).abs() <= 10 * calls, "{a} is not {b}");
    let fib = function(profile, "fib");
    near(number(&fib["inclusive"]), number(&fib["own"]), 465);
    let (even, odd) = (function(profile, "even"), function(profile, "odd"));
    near(number(&even["inclusive"]), number(&even["own"]) + number(&odd["own"]), 21);
    assert!(number(&odd["inclusive"]) < number(&even["inclusive"]), "even is called first");
    let calls: Vec<_> =
        fib["callers"].as_array().unwrap().iter().map(|c| c["calls"].as_u64().unwrap()).collect();
    assert_eq!(calls, [1, 464], "{fib}");
    let run = &profile["run"];
    assert!(run["profiler"].as_str().unwrap().starts_with("xdebug ") && run["is_fine"] == true, "{run}");
    assert!(run["overhead"]["ratio"].as_f64().unwrap() > 0.0, "{run}");
    assert_eq!(run["overhead"]["plain_seconds"].as_array().unwrap().len(), 2);
    assert_eq!(lab.left_over(), 0);
}

#[test]
fn a_script_that_fails_is_told_and_shown() {
    needs!(has("xdebug"));
    let lab = Lab::new();
    lab.write("fails.php", "<?php function f() { exit((int) $GLOBALS['argv'][2]); } f();");
    let ran = lab.run(&["profile", "--pairs", "0", "--", "fails.php", "--code", "3"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    for part in [
        "FAILED: the script did not end well: exit status: 3",
        "fails.php with 2 arguments",
        "{main}",
        "not measured",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
}

#[test]
fn a_script_without_end_is_ended() {
    needs!(has("xdebug"));
    let lab = Lab::new();
    lab.write("endless.php", "<?php function f() { return 1; } while (true) { f(); }");
    let ran = lab.run(&["profile", "--limit", "2", "--", "endless.php"]);
    // How much Xdebug had written by then is its own affair: blocks without a caller, or nothing.
    match ran.code {
        3 => assert!(
            ran.stdout.contains("CUT SHORT") && ran.stdout.contains("ended after 2 s"),
            "{}",
            ran.stdout
        ),
        code => assert!(code == 1 && ran.stderr.contains("ended after 2 s, the limit"), "{}", ran.stderr),
    }
    assert_eq!(lab.left_over(), 0);
    assert_eq!(lab.processes(), Vec::<String>::new());
}

#[test]
fn what_a_script_left_running_ends_with_it() {
    needs!(has("xdebug"));
    let lab = Lab::new();
    // One in the script's group, one in a session of its own.
    lab.write("forks.php", "<?php foreach (['', 'setsid '] as $as) { exec(\"{$as}sleep 4321 >/dev/null 2>&1 & echo \\$!\", $ids); }\
        file_put_contents('ids', implode(' ', $ids));");
    let ran = lab.run(&["profile", "--pairs", "0", "--", "forks.php"]);
    let ids = lab.read("ids");
    assert_eq!(ids.split(' ').count(), 2, "{ids}");
    for id in ids.split(' ') {
        assert!(!std::path::Path::new("/proc").join(id).exists(), "{id} runs on: {}", ran.stderr);
    }
}

/// A PHP whose profile takes long to read: it writes many megabytes of one itself, and answers as PHP otherwise.
const LONG: &str = include_str!("long.sh");

#[test]
fn a_signal_ends_the_reading_of_a_profile() {
    needs!(has("xdebug"));
    let lab = Lab::new();
    lab.write("s.php", "<?php echo 1;");
    let long = lab.write("long", LONG);
    std::fs::set_permissions(&long, std::fs::Permissions::from_mode(0o755)).unwrap();
    let args = ["profile", "--php", "./long", "--profiler", "xdebug", "--pairs", "0", "--", "s.php"];
    let mut started = lab.start(&args);
    let files = format!("/proc/{}/fd", started.0.id());
    wait_until("the profile is being read", || {
        let files = std::fs::read_dir(&files).into_iter().flatten().flatten();
        let mut names = files.flat_map(|file| std::fs::read_link(file.path()));
        names.any(|name| name.to_string_lossy().contains("cachegrind.out."))
    });
    started.signal("TERM");
    let status = started.0.wait().unwrap();
    assert_eq!((status.code(), lab.said().lines().last()), (Some(1), Some("weigh: interrupted")), "{status}");
    assert_eq!(lab.left_over(), 0);
}

#[test]
fn samples_of_excimer_show_where_time_went() {
    needs!(has("excimer"));
    let lab = Lab::new();
    // A line a function: excimer knows frames by their lines.
    let busy = "<?php function busy($s) { $end = microtime(true) + $s; while (microtime(true) < $end) {} }\n\
                function outer() { busy(0.4); }\nouter();\nbusy(0.1);\n";
    lab.write("busy.php", busy);
    // excimer 1.0.4 aborts PHP at its end now and then, after its samples were written: that is told, and no more.
    let ran = lab.run(&["profile", "--profiler", "excimer", "--pairs", "0", "--json", "--", "busy.php"]);
    let profile = &json(&ran.stdout)["profiles"][0];
    let ended = profile["run"]["ended"].as_str().unwrap();
    assert!(ran.code == 0 || (ran.code == 3 && ended.starts_with("signal")), "{}: {ended}", ran.code);
    assert_eq!((&profile["unit"]["kind"], &profile["counting"]), (&"samples".into(), &"unknown".into()));
    let (busy, outer) = (function(profile, "busy"), function(profile, "outer"));
    assert!(busy["inclusive"].as_i64() > outer["inclusive"].as_i64() && busy["calls"].is_null(), "{profile}");
    assert!(busy["share"].as_f64().unwrap() > 0.9, "{busy}");
}

#[test]
fn a_profiler_that_is_not_there_is_named_with_what_brings_it() {
    needs!(has_php());
    let lab = Lab::new();
    lab.write("s.php", "<?php echo 1;");
    let bare = lab.write("bare", "#!/bin/sh\nexec php -n -d extension_dir=/nonexistent \"$@\"\n");
    std::fs::set_permissions(&bare, std::fs::Permissions::from_mode(0o755)).unwrap();
    let line = lab.refused(&["profile", "--php", "./bare", "--profiler", "xdebug", "--", "s.php"]);
    assert!(line.contains("nothing to profile with: xdebug: php"), "{line}");
    assert!(line.contains("does not have it; apt install php-xdebug"), "{line}");
    let line = lab.refused(&["profile", "--", "none.php"]);
    assert_eq!(line, "none.php: no such script");
    let line = lab.refused(&["profile", "--php", "no-such-php", "--", "s.php"]);
    assert!(line.contains("--php no-such-php: no such program"), "{line}");
}

#[test]
fn a_script_is_profiled_in_two_phps() {
    needs!(has("xdebug"));
    let lab = Lab::new();
    lab.write("known.php", KNOWN);
    let other = lab.write("other", "#!/bin/sh\nexec php -d precision=10 \"$@\"\n");
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).unwrap();
    let args = ["profile", "--php", "php", "--php", "./other", "--pairs", "0", "--json", "--", "known.php"];
    let document = json(&lab.fine(&args));
    let [one, two] = document["profiles"].as_array().unwrap().as_slice() else { panic!("{document}") };
    assert_eq!([one, two].map(|of| function(of, "fib")["calls"].as_u64()), [Some(465); 2]);
    assert_ne!(one["name"], two["name"]);
}
