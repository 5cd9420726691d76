//! `weigh profile`: files of profilers, and scripts under real ones.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::lab::{Lab, has_php};

/// A script whose calls are known: direct and mutual recursion, a generator, an exception, a callback, a destructor, and a
/// function that runs at the end.
const KNOWN: &str = r#"<?php
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
function even($n) { return $n == 0 ? true : odd($n - 1); }
function odd($n) { return $n == 0 ? false : even($n - 1); }
function leaf() { for ($s = 0, $i = 0; $i < 2000; $i++) { $s += $i; } return $s; }
function gen() { for ($i = 0; $i < 3; $i++) { yield leaf(); } }
function thrower() { leaf(); throw new Exception('x'); }
function at_end() { leaf(); }
class A { public $b; function go($n) { $this->b = str_repeat('b', 1000); return $n; } function __destruct() { leaf(); } }
register_shutdown_function('at_end');
fib(12);
even(20);
$a = new A();
for ($i = 0; $i < 50; $i++) { $a->go($i); }
array_map('leaf', array());
array_map(function ($x) { return leaf(); }, array(1, 2, 3, 4));
foreach (gen() as $x) { leaf(); }
try { thrower(); } catch (Exception $e) { leaf(); }
echo "the script's own words\n";
"#;

/// A file as Xdebug writes it; `times` scales what `work` spends itself.
fn cachegrind(times: u64) -> String {
    format!(
        "version: 1\ncreator: xdebug 3.2.0 (PHP 8.2.0)\ncmd: /x.php\npart: 1\npositions: line\n\n\
         events: Time_(10ns) Memory_(bytes)\n\nfl=(1) php:internal\nfn=(1) php::strlen\n3 300 -8\n\n\
         fl=(2) /x.php\nfn=(2) work\n2 {0} 1000\ncfl=(1)\ncfn=(1)\ncalls=1 0 0\n3 300 -8\n\n\
         fl=(2)\nfn=(3) {{main}}\n1 100 0\ncfl=(2)\ncfn=(2)\ncalls=1 0 0\n9 {1} 992\n\nsummary: {2} 0\n\n",
        600 * times,
        600 * times + 300,
        600 * times + 400
    )
}

/// Whether there is a PHP with this profiler; else says so, as [`has_php`] does.
fn has(profiler: &str) -> bool {
    if !has_php() {
        return false;
    }
    let lab = Lab::new();
    lab.write("s.php", "<?php for ($i = 0; $i < 2000000; $i++) { $s = $i; }");
    let ran = lab.run(&["profile", "--pairs", "0", "--profiler", profiler, "--", "s.php"]);
    if ran.code == 1 && ran.stderr.contains("nothing to profile with") {
        assert!(std::env::var_os("WEIGH_STRICT").is_none(), "{}", ran.stderr);
        println!("skipped: {}", ran.stderr.lines().last().unwrap_or_default());
        return false;
    }
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    true
}

fn json(text: &str) -> Value {
    let document: Value = serde_json::from_str(text).unwrap();
    crate::schema::keeps("profile", &document);
    document
}

fn function<'a>(profile: &'a Value, name: &str) -> &'a Value {
    let all = profile["functions"].as_array().unwrap();
    all.iter()
        .find(|f| f["name"].as_str().unwrap().starts_with(name))
        .unwrap_or_else(|| panic!("no {name}: {profile}"))
}

#[test]
fn a_known_script_is_counted_exactly() {
    if !has("xdebug") {
        return;
    }
    let lab = Lab::new();
    lab.write("known.php", KNOWN);
    let ran = lab.run(&["profile", "--profiler", "xdebug", "--pairs", "2", "--json", "--", "known.php"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
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
    if !has("xdebug") {
        return;
    }
    let lab = Lab::new();
    lab.write("fails.php", "<?php function f() { exit((int) $GLOBALS['argv'][2]); } f();");
    let ran = lab.run(&["profile", "--pairs", "0", "--", "fails.php", "--code", "3"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
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
    if !has("xdebug") {
        return;
    }
    let lab = Lab::new();
    lab.write("endless.php", "<?php function f() { return 1; } while (true) { f(); }");
    let ran = lab.run(&["profile", "--limit", "2", "--", "endless.php"]);
    // How much Xdebug had written by then is its own affair: blocks without a caller, or nothing.
    match ran.code {
        2 => assert!(
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
fn samples_of_excimer_show_where_time_went() {
    if !has("excimer") {
        return;
    }
    let lab = Lab::new();
    // A line a function: excimer knows frames by their lines.
    let busy = "<?php function busy($s) { $end = microtime(true) + $s; while (microtime(true) < $end) {} }\n\
                function outer() { busy(0.4); }\nouter();\nbusy(0.1);\n";
    lab.write("busy.php", busy);
    let text = lab.fine(&["profile", "--profiler", "excimer", "--pairs", "0", "--json", "--", "busy.php"]);
    let profile = &json(&text)["profiles"][0];
    assert_eq!((&profile["unit"]["kind"], &profile["counting"]), (&"samples".into(), &"unknown".into()));
    let (busy, outer) = (function(profile, "busy"), function(profile, "outer"));
    assert!(busy["inclusive"].as_i64() > outer["inclusive"].as_i64() && busy["calls"].is_null(), "{profile}");
    assert!(busy["share"].as_f64().unwrap() > 0.9, "{busy}");
}

#[test]
fn a_profiler_that_is_not_there_is_named_with_what_brings_it() {
    if !has_php() {
        return;
    }
    let lab = Lab::new();
    lab.write("s.php", "<?php echo 1;");
    let bare = lab.write("bare", "#!/bin/sh\nexec php -n -d extension_dir=/nonexistent \"$@\"\n");
    std::fs::set_permissions(&bare, std::fs::Permissions::from_mode(0o755)).unwrap();
    let line = lab.refused(&["profile", "--php", "./bare", "--profiler", "xdebug", "--", "s.php"]);
    assert!(line.contains("nothing to profile with: xdebug: php"), "{line}");
    assert!(line.contains("does not have it; apt install php-xdebug"), "{line}");
    let line = lab.refused(&["profile", "--", "none.php"]);
    assert_eq!(line, "none.php: there is no such script");
    let line = lab.refused(&["profile", "--php", "no-such-php", "--", "s.php"]);
    assert!(line.contains("--php no-such-php: no such program"), "{line}");
}

#[test]
fn two_phps_are_compared_on_a_script() {
    if !has("xdebug") {
        return;
    }
    let lab = Lab::new();
    lab.write("known.php", KNOWN);
    let other = lab.write("other", "#!/bin/sh\nexec php -d precision=10 \"$@\"\n");
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).unwrap();
    let args = ["profile", "--php", "php", "--php", "./other", "--pairs", "0", "--json", "--", "known.php"];
    let document = json(&lab.fine(&args));
    assert_eq!(document["profiles"].as_array().unwrap().len(), 2);
    let comparison = &document["comparison"];
    let fib = function(comparison, "fib");
    assert_eq!((&fib["calls_before"], &fib["calls_after"]), (&465.into(), &465.into()));
    assert_ne!(comparison["before"], comparison["after"]);
}

#[test]
fn a_file_is_a_table_a_function_and_a_folder_of_every_form() {
    let lab = Lab::new();
    lab.write("cachegrind.out.1", cachegrind(1));
    let text = lab.fine(&["profile", "cachegrind.out.1"]);
    for part in ["cachegrind.out.1", "xdebug 3.2.0", "10.0 µs in 3 functions, 3 calls", "work", "php::strlen"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = lab.fine(&["profile", "cachegrind.out.1", "--function", "work"]);
    assert!(text.contains("1 call · 6.00 µs (60%) self · 9.00 µs (90%) inclusive"), "{text}");
    let args = ["profile", "cachegrind.out.1", "--json", "--out", "out"];
    let printed = lab.fine(&args);
    assert_eq!(printed, lab.read("out/profile.json"));
    let profile = &json(&printed)["profiles"][0];
    assert_eq!(function(profile, "{main}")["inclusive"], 10_000);
    assert_eq!(function(profile, "php::strlen")["own_memory_bytes"], -8);
    assert!(lab.read("out/cachegrind.out.1.flame.svg").contains("php::strlen"));
    assert_eq!(std::fs::metadata(lab.path("out")).unwrap().permissions().mode() & 0o777, 0o700);
    let again = json(&lab.fine(&["profile", "out/cachegrind.out.1.speedscope.json", "--json"]));
    assert_eq!(function(&again["profiles"][0], "work")["inclusive"], 9_000);
    let line = lab.refused(&args);
    assert!(line.contains("there are files in it already"), "{line}");
}

#[test]
fn a_compressed_file_is_read_like_a_plain_one() {
    let lab = Lab::new();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(cachegrind(1).as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    lab.write("a.gz", &packed);
    lab.write("short.gz", &packed[..packed.len() - 20]);
    let profile = &json(&lab.fine(&["profile", "a.gz", "--json"]))["profiles"][0];
    assert_eq!((&profile["total"], &profile["cut"]), (&10_000.into(), &Value::Null));
    let ran = lab.run(&["profile", "short.gz"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stdout.contains("CUT SHORT: it cannot be unpacked to its end"), "{}", ran.stdout);
    assert_eq!(lab.left_over(), 0);
}

#[test]
fn a_file_cut_short_shows_what_is_whole_and_says_where() {
    let lab = Lab::new();
    let text = cachegrind(1);
    let end = text.find("calls=1 0 0\n9").unwrap() + 5;
    lab.write("short", &text[..end]);
    let ran = lab.run(&["profile", "short"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("CUT SHORT: it ends within a line; what is whole, up to byte"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("9.00 µs in 2 functions, 2 calls"), "{}", ran.stdout);
}

#[test]
fn what_is_no_profile_is_one_line() {
    let lab = Lab::new();
    lab.write("page.html", "<html>\n<body>\n");
    lab.write("empty", "");
    lab.write("wrong", "events: Ir\nfn=a\n1 1\nnonsense\n");
    lab.write("bytes", [0u8, 255, 10, 27, 7].repeat(100));
    for (args, said) in [
        (&["none"][..], "none: cannot be read as a profile: No such file"),
        (&["."], "it is no file"),
        (&["page.html"], "it is none of those that are known: cachegrind"),
        (&["empty"], "it is empty"),
        (&["wrong"], "line 4: it is neither a name, nor costs"),
        (&["bytes"], "it is none of those"),
        (&["--compare", "wrong"], "--compare takes two files, before and after; there are 1"),
    ] {
        let line = lab.refused(&[&["profile"], args].concat());
        assert!(line.contains(said), "{args:?}: {line}");
    }
}

#[test]
fn two_files_are_compared_function_by_function() {
    let lab = Lab::new();
    lab.write("before", cachegrind(1));
    lab.write("after", cachegrind(3));
    let text = lab.fine(&["profile", "--compare", "before", "after"]);
    assert!(text.contains("10.0 µs → 22.0 µs: 2.20×"), "{text}");
    let comparison =
        json(&lab.fine(&["profile", "--compare", "before", "after", "--json"]))["comparison"].take();
    let first = &comparison["functions"][0];
    assert_eq!((&first["name"], &first["own"]["difference"]), (&"work".into(), &12_000.into()));
    assert_eq!((&first["own"]["ratio"], &first["contribution"]), (&3.0.into(), &1.0.into()));
    lab.write("stacks", "a;b 3\na;c;b 4\n");
    let line = lab.refused(&["profile", "--compare", "before", "stacks"]);
    assert_eq!(line, "times and samples cannot be compared");
}
