//! Two labs at once, in one place for temporary files: each talks to its own instances alone.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::lab::{Lab, deliveries, serves_php, study, wait_until};

fn study_of(way: &str) -> String {
    let ways = format!("ways = [\"{way}\", \"server/gzip:1\", \"server/gzip:6\"]\nkeep = true");
    study("side", [200, 3, 3], &deliveries("page", "synthetic:rows-64k", "php", &ways))
}

/// A way that writes down the token and the port of each request.
fn way(lab: &Lab, side: &str) {
    let noted = lab.path(&format!("{side}.seen"));
    let php = format!(
        "<?php
return array('kind' => 'plain', 'subjects' => array('page'), 'about' => 'takes notes', 'send' => function ($delivery) {{
    file_put_contents('{}', getenv('WEIGH_TOKEN') . ' ' . $_SERVER['SERVER_PORT'] . \"\\n\", FILE_APPEND);
    $delivery->sendPlain();
}});
",
        noted.display()
    );
    lab.write(&format!("{side}/php/ways/noted-{side}.php"), php);
    lab.write(&format!("{side}.toml"), study_of(&format!("noted-{side}")));
}

#[test]
fn two_labs_at_once_do_not_disturb_each_other() {
    needs!(serves_php());
    let lab = Lab::new();
    let sides = ["left", "right"];
    sides.iter().for_each(|side| way(&lab, side));
    let run = |side: &str| {
        let (study, out) = (format!("{side}.toml"), format!("{side}-run"));
        lab.start(&["--defs", side, "run", &study, "--php", "php", "--out", &out])
    };
    let mut started = sides.map(run);
    for one in &mut started {
        assert_eq!(one.0.wait().unwrap().code(), Some(0));
    }
    let mut words: BTreeSet<String> = BTreeSet::new();
    for side in sides {
        let records = lab.records(&format!("{side}-run"));
        assert!(records.iter().any(|r| r["type"] == "end"), "{side} is complete");
        let sound = |r: &&Value| r["type"] != "fault" && r["delivery"]["faults"].is_null();
        assert_eq!(records.iter().filter(sound).count(), records.len(), "{side}: {records:?}");
        let visits: Vec<&Value> = records.iter().filter(|r| r["type"] == "visit").collect();
        assert_eq!(visits.len(), 9, "{side}: three cells in three rounds");
        let noted = |v: &&&Value| v["cell"].as_str().unwrap().ends_with(&format!("/noted-{side}"));
        let sent = |v: &&Value| {
            let delivery = &v["delivery"];
            delivery["metered"].as_u64().unwrap() + delivery["warmed"].as_u64().unwrap_or(0)
        };
        let asked: u64 = visits.iter().filter(noted).map(sent).sum();
        let seen = lab.read(&format!("{side}.seen"));
        assert_eq!(
            seen.lines().count() as u64,
            asked,
            "{side}: every request came to its own PHP, and no other"
        );
        // The memory of each way is that of a fresh server, which has a port of its own.
        let own: BTreeSet<_> = seen.lines().flat_map(|line| line.split(' ').map(str::to_owned)).collect();
        let ports = own.iter().filter(|word| word.len() < 6).count();
        assert_eq!(own.len() - ports, 1, "{side}: one pool: {own:?}");
        assert!(words.is_disjoint(&own), "{side}: tokens and ports of its own: {words:?}, {own:?}");
        words.extend(own);
    }
    wait_until("nothing is left", || lab.processes().is_empty());
    assert_eq!(lab.left_over(), 0);
    let sockets = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    assert!(!sockets.contains(&lab.tmp().display().to_string()), "a socket is left");
}
