use super::*;
use weigh_model::cell::Subject;
use weigh_model::payload::Payload;
use weigh_model::plan::Server;
use weigh_model::record::Record;
use weigh_model::setting::Setting;
use weigh_model::way::{By, WayKind};
use weigh_os::digest;
use weigh_run::planner::{PlanOptions, policy};
use weigh_run::study::Study;
use weigh_run::subject::delivery::fixture;

#[test]
fn a_complete_run_of_deliveries_has_nothing_left_to_measure() {
    let room = tempfile::tempdir().unwrap();
    let blob = room.path().join("blob");
    std::fs::write(&blob, "123456789").unwrap();
    let payload = Payload { blob, sha256: digest::sha256(b"123456789"), ..fixture::payload("a", "text") };
    let delivery = fixture::delivery(By::Server, WayKind::Plain, "identity");
    let setting = Setting::bare("identity");
    let study = Study::default();
    let plan = Plan {
        study: study.text(),
        seed: 1,
        policy: policy(&study, &PlanOptions::default()),
        payloads: vec![payload],
        runtimes: Vec::new(),
        servers: vec![Server { name: "nginx".into(), ..Server::default() }],
        stores: Vec::new(),
        links: Vec::new(),
        cells: vec![fixture::cell("a/identity", Subject::ASSET, setting, Some(delivery))],
        sides: Vec::new(),
        exclusions: Vec::new(),
    };
    let folder = room.path().join("run");
    let mut dir = RunDir::create(&folder, plan, Vec::new()).unwrap();
    dir.append(Record::End { at: 0, rounds: 1, seconds: 1.0 }).unwrap();
    dir.finish();
    drop(dir);
    assert!(!folder.join("scratch").exists());
    let lab = Lab::open(None).unwrap();
    let dir = RunDir::open(&folder).unwrap();
    let after = After { shown: OutputOptions { json: true, ..OutputOptions::default() }, ..After::default() };
    let ended = go_on(&lab, dir, &RunOptions::default(), &after).unwrap();
    assert_eq!(ended, Ended::Complete { failures: 0, gates: None });
    assert!(folder.join("report").is_dir());
}
