//! Deliveries that are disturbed in the middle of a block: the cell has a fault with its cause and a remedy, what stood under it is
//! started afresh, the next cells go on, and nothing is left.

mod content;
mod full;
mod killed;

use std::path::Path;

use serde_json::Value;
use weigh_os::group::Group;

use crate::lab::{Lab, deliveries, study, wait_until};

/// A study of two ways that do as they should, and one of the test's.
fn block() -> String {
    deliveries(
        "page",
        "synthetic:rows-64k",
        "php",
        r#"ways = ["none", "gzencode:1", "odd"]
keep = true"#,
    )
}

fn whole_study() -> String {
    study("disturbed", [200, 2, 2], &block())
}

/// The way `odd`: `body` is what it does with `$delivery` and with `$request`, the number of its requests so far, from 1. The
/// first three are the preflight's.
fn odd(lab: &Lab, body: &str) {
    let way = format!(
        "<?php
use Weighbridge\\Delivery;
return array('kind' => 'plain', 'subjects' => array('page'), 'about' => 'odd', 'send' => function (Delivery $delivery) {{
    $home = '{home}';
    file_put_contents(\"$home/count\", '.', FILE_APPEND);
    clearstatcache();
    $request = filesize(\"$home/count\");
    {body}
    $delivery->sendPlain();
}});
",
        home = lab.work().display()
    );
    lab.write("defs/php/ways/odd.php", way);
}

/// In its sixth request it says which process it is, and waits.
const WAITS: &str = r#"
if ($request === 6) {
    file_put_contents("$home/pid", (string) getmypid());
    rename("$home/pid", "$home/here");
    while (!file_exists("$home/go")) {
        usleep(2000);
        clearstatcache();
    }
}"#;

const RUN: [&str; 8] = ["--defs", "defs", "run", "disturbed.toml", "--php", "php", "--out", "run"];

/// What became of a run.
struct DisturbedRun {
    lab: Lab,
    code: i32,
    records: Vec<Value>,
}

/// Runs the study to its end; nothing disturbs it but the way itself.
fn run(body: &str) -> DisturbedRun {
    let lab = Lab::new();
    lab.write("disturbed.toml", whole_study());
    odd(&lab, body);
    let code = lab.run(&RUN).code;
    DisturbedRun { code, records: lab.records("run"), lab }
}

/// Runs the study, and does something while the sixth request of the way is carried out: it is told all processes of the lab, and
/// the PHP process that has the request.
fn disturb(what: impl FnOnce(&[u32], u32)) -> DisturbedRun {
    let lab = Lab::new();
    lab.write("disturbed.toml", whole_study());
    odd(&lab, WAITS);
    let mut started = lab.start(&RUN);
    wait_until("the sixth request is there", || {
        assert!(started.0.try_wait().unwrap().is_none(), "it ended before");
        lab.path("here").is_file()
    });
    let worker = lab.read("here").parse().unwrap();
    what(&Group::below(started.0.id()).processes(), worker);
    lab.write("go", "");
    let code = started.0.wait().unwrap().code().unwrap();
    DisturbedRun { code, records: lab.records("run"), lab }
}

impl DisturbedRun {
    fn of_type(&self, kind: &str) -> Vec<&Value> {
        self.records.iter().filter(|r| r["type"] == kind).collect()
    }

    /// The only fault, which is the odd way's; the other ways were measured in both rounds, and nothing is left.
    fn fault(&self) -> &Value {
        let faults = self.of_type("fault");
        assert_eq!((self.code, faults.len()), (3, 1), "{faults:?}");
        assert!(faults[0]["cell"].as_str().unwrap().ends_with("/php/odd"), "{faults:?}");
        let fault = &faults[0]["fault"];
        let message = fault["message"].as_str().unwrap();
        assert!(!message.contains(char::is_control) && message.chars().count() < 2000, "{message}");
        assert!(fault["remedy"].is_string(), "{fault}");
        self.others_are_sound();
        fault
    }

    /// Kind and message of [`DisturbedRun::fault`].
    fn kind_and_message(&self) -> (&str, &str) {
        let fault = self.fault();
        (fault["kind"].as_str().unwrap(), fault["message"].as_str().unwrap())
    }

    fn others_are_sound(&self) {
        for way in ["none", "gzencode:1"] {
            let is_its = |r: &&&Value| r["cell"].as_str().unwrap().ends_with(&format!("/php/{way}"));
            let visits = self.of_type("visit");
            let visits: Vec<_> = visits.iter().filter(is_its).collect();
            assert_eq!(visits.len(), 2, "{way}: {visits:?}");
            assert!(visits.iter().all(|v| v["delivery"]["faults"].is_null()), "{way}: {visits:?}");
        }
        wait_until("nothing is left", || self.lab.processes().is_empty());
        assert_eq!(self.lab.left_over(), 0);
    }
}

fn send(signal: &str, processes: &[u32]) {
    assert!(!processes.is_empty(), "nobody to send {signal}");
    let ids = processes.iter().map(u32::to_string);
    assert!(std::process::Command::new("kill").args(["-s", signal]).args(ids).status().unwrap().success());
}

/// Those of the processes whose command line contains this.
fn named(processes: &[u32], part: &str) -> Vec<u32> {
    let line =
        |id: &u32| std::fs::read(Path::new("/proc").join(id.to_string()).join("cmdline")).unwrap_or_default();
    let spaced = |id: &u32| String::from_utf8_lossy(&line(id)).replace('\0', " ");
    processes.iter().copied().filter(|id| spaced(id).contains(part)).collect()
}
