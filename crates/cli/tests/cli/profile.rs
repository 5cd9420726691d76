//! `weigh profile`: files of profilers, and scripts under real ones.

mod cells;
mod scripts;

use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::lab::Lab;

/// A file as Xdebug writes it; `times` scales what `work` spends itself.
pub fn cachegrind(times: u64) -> String {
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
    let again = json(&lab.fine(&["profile", "out/cachegrind.out.1.stacks", "--json"]));
    assert_eq!(function(&again["profiles"][0], "work")["inclusive"], 9_000);
    let line = lab.refused(&args);
    assert!(line.contains("there are files in it already"), "{line}");
}

#[test]
fn a_folder_is_shown_again_in_the_formats_of_runs() {
    let lab = Lab::new();
    lab.write("cachegrind.out.1", cachegrind(1));
    let printed = lab.fine(&["profile", "cachegrind.out.1", "--out", "out"]);
    assert_eq!(lab.fine(&["runs", "show", "out"]), printed);
    assert_eq!(lab.fine(&["runs", "show", "out", "--json"]), lab.read("out/profile.json"));
    assert!(lab.fine(&["runs", "show", "out", "-f", "markdown"]).contains("php::strlen"));
    let line = lab.refused(&["runs", "show", "out", "-f", "svg", "--out", "shown"]);
    assert!(line.contains("a profile has no charts"), "{line}");
    if weigh_answer::page::is_built_in() {
        lab.fine(&["runs", "show", "out", "-f", "html", "--out", "shown"]);
        let page = lab.read("shown/report.html");
        let flame = page.split("\"flames\":[").nth(1).unwrap();
        assert!(
            flame.contains("[\"work\",\"own\"]") && flame.contains("[\"php::strlen\",\"php\"]"),
            "{flame:.400}"
        );
    }
    lab.write("out/profile.json", "{\"schema\": 1}");
    let line = lab.refused(&["runs", "show", "out"]);
    assert!(line.contains("no profile of weigh, or damaged"), "{line}");
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
    assert_eq!(ran.code, 3, "{}", ran.stderr);
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
    assert_eq!(ran.code, 3, "{}", ran.stderr);
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
        (&["."], "it is a folder"),
        (&["page.html"], "not a known format: cachegrind"),
        (&["empty"], "it is empty"),
        (&["wrong"], "line 4: it is neither a name, nor costs"),
        (&["bytes"], "not a known format"),
    ] {
        let line = lab.refused(&[&["profile"], args].concat());
        assert!(line.contains(said), "{args:?}: {line}");
    }
}
