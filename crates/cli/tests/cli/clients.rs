//! Clients of stores, end to end: private stores, a user's own, and stores that refuse, lie, close and die.

use serde_json::Value;
use weigh_os::group::Group;

use crate::lab::{Lab, Ran, has, has_php, study, wait_until};
use crate::peer::{Peer, Script};

/// A study of one block.
fn study_of(block: &str) -> String {
    study("clients", [100, 2, 2], &format!("[[clients]]\n{block}\n"))
}

const RUN: [&str; 7] = ["run", "clients.toml", "--exhaustive", "--php", "php", "--out", "run"];

fn run(lab: &Lab, block: &str, more: &[&str]) -> Ran {
    lab.write("clients.toml", study_of(block));
    lab.run(&[&RUN, more].concat())
}

fn of_type<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record["type"] == kind).collect()
}

/// The message of the only fault of a run, which ended with 3 and left nothing.
fn fault(lab: &Lab, ran: &Ran) -> String {
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let records = lab.records("run");
    let faults = of_type(&records, "fault");
    assert_eq!(faults.len(), 1, "{faults:?}");
    let message = faults[0]["fault"]["message"].as_str().unwrap();
    assert!(!message.contains(char::is_control) && message.len() < 2000, "{message}");
    nothing_is_left(lab);
    message.to_owned()
}

fn nothing_is_left(lab: &Lab) {
    wait_until("nothing is left", || lab.processes().is_empty());
    assert_eq!(lab.left_over(), 0);
}

const SMALL: &str = "stores = [\"redis\"]\ndrivers = [\"socket\"]\nruntimes = [\"php\"]\nvalues = [\"integer\"]\nworkers = [2]\ntransactions = 300";

#[test]
fn private_stores_are_measured_and_every_transaction_is_accounted_for() {
    needs!(has_php());
    let lab = Lab::new();
    let block = "stores = [\"*\"]\nruntimes = [\"php\"]\nvalues = [\"integer\", \"record:8\"]\nmixes = [\"9:1\", \"writes\"]\nworkers = [2]\ntransactions = 200";
    let ran = run(&lab, block, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let records = lab.records("run");
    let visits = of_type(&records, "visit");
    assert!(visits.iter().any(|v| v["cell"].as_str().unwrap().contains("files/files")), "{}", visits.len());
    for visit in visits {
        let client = &visit["client"];
        let count = |of: &str| client[of]["count"].as_u64().unwrap();
        assert_eq!(count("writes") + count("reads"), 400, "{visit}");
        if visit["cell"].as_str().unwrap().contains("/9:1/") {
            assert_eq!(count("writes"), 40, "{visit}");
        }
        assert_eq!(client["reads"]["hits"].as_u64().unwrap(), count("reads"), "{visit}");
        assert_eq!(
            (client["reads"]["wrong"].as_u64(), client["writes"]["failed"].as_u64()),
            (Some(0), Some(0))
        );
        let workers = client["workers"].as_array().unwrap();
        assert!(workers.iter().all(|w| w["memory"]["peak"].as_u64().unwrap() > 100_000), "{visit}");
    }
    nothing_is_left(&lab);
}

#[test]
fn a_store_of_the_users_loses_nothing_but_what_was_written() {
    needs!(has_php());
    let lab = Lab::new();
    let peer = Peer::start(&lab.work(), Script::default());
    let ran = run(&lab, SMALL, &["--store", &peer.url()]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(peer.notes().len() >= 1200, "{}", peer.notes().len());
    assert_eq!(peer.keys(), 0);
    assert!(lab.read("run/plan.json").contains(&peer.url()));
    // What listens is no program of a store's, so it has no meter, and nothing is summed up without it.
    let report = lab.json("run/report/report.json");
    let row = &report["rows"][0]["values"];
    assert!(row["client-cpu"].is_object() && row["cpu"].is_null() && row["store-cpu"].is_null(), "{row}");
}

#[test]
fn a_store_of_the_users_is_metered_where_its_process_may_be_read() {
    needs!(has_php(), has("redis-server", "apt install redis-server"));
    let lab = Lab::new();
    let socket = lab.path("own.sock");
    let mut redis = std::process::Command::new("redis-server")
        .args(["--port", "0", "--save", "", "--unixsocket"])
        .arg(&socket)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_until("it listens", || socket.exists());
    let ran = run(&lab, SMALL, &["--store", &format!("redis://{}", socket.display())]);
    let report = lab.json("run/report/report.json");
    redis.kill().unwrap();
    redis.wait().unwrap();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let row = &report["rows"][0]["values"];
    let value = |metric: &str| row[metric]["value"].as_f64().unwrap_or_else(|| panic!("{metric}: {row}"));
    assert!(value("store-cpu") > 0.0 && value("store-pss") > 0.0);
    assert!((value("cpu") - value("client-cpu") - value("store-cpu")).abs() < 1.0, "{row}");
}

#[test]
fn stores_that_do_not_do_as_they_should_are_faults_in_their_own_words() {
    needs!(has_php());
    let odd = [
        (Script { wrong_from: Some(700), ..Script::default() }, "reads gave another value than was written"),
        (
            Script { refusal: Some("NOAUTH Authentication required."), ..Script::default() },
            "NOAUTH Authentication required",
        ),
        (Script { close_from: Some(600), ..Script::default() }, "failures in a row"),
    ];
    for (script, part) in odd {
        let lab = Lab::new();
        let peer = Peer::start(&lab.work(), script);
        let message = fault(&lab, &run(&lab, SMALL, &["--store", &peer.url()]));
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn where_nobody_listens_the_place_is_named_and_the_password_is_not() {
    needs!(has_php());
    let lab = Lab::new();
    lab.write("clients.toml", study_of(SMALL));
    let line = lab.refused(&[&RUN[..], &["--store", "redis://me:geheim@127.0.0.1:1"]].concat());
    assert!(line.contains("127.0.0.1:1: no store accepts connections there"), "{line}");
    assert!(!line.contains("geheim") && !lab.path("run").exists(), "{line}");
}

#[test]
fn a_store_that_hangs_up_is_a_fault_and_its_password_is_in_no_file() {
    needs!(has_php());
    let lab = Lab::new();
    let store = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://me:geheim@{}", store.local_addr().unwrap());
    std::thread::spawn(move || store.incoming().for_each(drop));
    let message = fault(&lab, &run(&lab, SMALL, &["--store", &url]));
    assert!(message.contains("127.0.0.1"), "{message}");
    for file in ["run.json", "plan.json", "records.ndjson", "report/report.md"] {
        assert!(!lab.read(&format!("run/{file}")).contains("geheim"), "{file}");
    }
}

#[test]
fn stores_that_cannot_be_measured_are_refused_before_anything_starts() {
    needs!(has_php());
    let lab = Lab::new();
    lab.write("clients.toml", study_of(SMALL));
    for (store, part) in [
        ("redi", "did you mean `redis`?"),
        ("redis://192.0.2.1", "--allow-remote 192.0.2.1"),
        ("mongo://localhost", "no store has URLs of the scheme `mongo`"),
        ("aerospike://localhost:3000", "names no namespace"),
    ] {
        let line = lab.refused(&[&RUN[..], &["--store", store]].concat());
        assert!(line.contains(part), "{store}: {line}");
        assert!(!lab.path("run").exists());
    }
    let line = lab.refused(&["run", "text-assets", "--store", "redis"]);
    assert!(line.contains("text-assets measures no stores"), "{line}");
}

#[test]
fn a_private_store_that_is_killed_is_told_and_the_next_cell_has_another() {
    needs!(has("redis-server", "apt install redis-server"), has_php());
    let lab = Lab::new();
    let block = SMALL.replace("transactions = 300", "transactions = 60000\nmixes = [\"1:1\", \"writes\"]");
    lab.write("clients.toml", study_of(&block));
    let mut started = lab.start(&RUN);
    let stores = || {
        let processes = Group::below(started.0.id()).processes();
        processes.into_iter().filter(|id| name_of(*id) == "redis-server").collect::<Vec<_>>()
    };
    wait_until("a store is there and its workers are, too", || {
        let processes = Group::below(started.0.id()).processes();
        !stores().is_empty()
            && processes.iter().filter(|id| name_of(**id) == "php8.2" || name_of(**id) == "php").count() >= 2
    });
    let ids: Vec<String> = stores().iter().map(u32::to_string).collect();
    assert!(std::process::Command::new("kill").args(["-s", "KILL"]).args(ids).status().unwrap().success());
    let code = started.0.wait().unwrap().code().unwrap_or(-1);
    let message = fault(&lab, &Ran { code, stdout: String::new(), stderr: String::new() });
    assert!(message.contains("redis ended: ") && message.contains("SIGKILL"), "{message}");
    let records = lab.records("run");
    assert_eq!(of_type(&records, "visit").len(), 2, "the other cell has both of its rounds");
}

fn name_of(id: u32) -> String {
    std::fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default().trim().to_owned()
}
