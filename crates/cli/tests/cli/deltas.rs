//! Deltas of `weigh pack` as its users see them: which files have one, the configuration that sends them, and what is refused.

use std::fs;

use crate::lab::Lab;

#[test]
fn deltas_are_against_the_version_of_before_and_go_when_nobody_asks_for_them() {
    let lab = Lab::new();
    let script = |more: &str| {
        format!("{}{more}", (0..900).map(|at| format!("let v{at} = {at};\n")).collect::<String>())
    };
    let noise: String = (0..9000_u32).map(|at| format!("{:x}\n", at.wrapping_mul(2_654_435_761))).collect();
    lab.write("old/app.1a2b3c.js", script("old();\n"));
    lab.write("old/same.js", script("same();\n"));
    lab.write("old/other.css", noise);
    lab.write("www/app.4d5e6f.js", script("new();\n"));
    lab.write("www/same.js", script("same();\n"));
    lab.write("www/other.css", script("nothing in common"));
    lab.write("www/first.css", script("nowhere before"));
    lab.write("www/what?.css", script("no pattern can name it"));
    let deltas = || -> Vec<String> {
        let all = fs::read_dir(lab.path("www"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut all: Vec<String> =
            all.filter(|name| name.ends_with(".dcb") || name.ends_with(".dcz")).collect();
        all.sort();
        all
    };
    let packed = lab.done(&["pack", "www", "--against", "old", "--dictionary-config", "conf"]);
    assert!(packed.stdout.contains("conf/nginx/dictionary-maps.conf: in http { }"), "{}", packed.stdout);
    for said in [
        "(no delta: the last deployment has no version of it): first.css",
        "(no delta: its name has a question mark",
    ] {
        assert!(packed.stderr.contains(said), "{}", packed.stderr);
    }
    let [dcb, dcz] = &deltas()[..] else { panic!("{:?}", deltas()) };
    assert!(dcb.starts_with("app.4d5e6f.js.") && dcz.starts_with("app.4d5e6f.js."), "{dcb} {dcz}");
    assert!(fs::metadata(lab.path("www").join(dcz)).unwrap().len() < 120);
    let maps = lab.read("conf/nginx/dictionary-maps.conf");
    assert_eq!(
        maps.lines().filter(|line| line.trim().starts_with("\":")).count(),
        1,
        "one dictionary: {maps}"
    );
    lab.done(&["pack", "www", "--against", "old", "--check"]);
    // A configuration of this program's is replaced, another folder is not.
    lab.done(&["pack", "www", "--against", "old", "--dictionary-config", "conf"]);
    let line = lab.refused(&["pack", "www", "--against", "old", "--dictionary-config", "old"]);
    assert!(line.contains("old exists and is not of this program; name a new folder"), "{line}");
    let line = lab.refused(&["pack", "www", "--against", "nowhere"]);
    assert!(line.contains("nowhere: there is no such folder"), "{line}");
    let line = lab.refused(&["pack", "old", "--against", "old"]);
    assert!(line.contains("no file of the tree has another version there"), "{line}");
    let line = lab.refused(&["pack", "www", "--dictionary", "www/pages.dict"]);
    assert!(line.contains("www has 0 pages; a dictionary is trained on 8 or more"), "{line}");
    let line = lab.refused(&["pack", "www", "--dictionary", "old/pages.dict"]);
    assert!(line.contains("old/pages.dict is not below the packed folder"), "{line}");
    let line = lab.refused(&["pack", "www", "--check", "--dictionary", "www/pages.dict"]);
    assert!(line.contains("www/pages.dict: no such dictionary"), "{line}");
    assert!(!lab.path("www/pages.dict").exists());
    lab.done(&["pack", "www"]);
    assert_eq!(deltas(), [""; 0], "nobody asks for them");
    assert!(lab.path("www/app.4d5e6f.js.br").is_file());
}
