//! Slow clients beside light requests, by the real program.

use crate::lab::{Lab, serves_php};

const STUDY: &str = include_str!("slow.toml");

#[test]
fn who_sends_to_slow_clients_decides_what_light_requests_take() {
    needs!(serves_php());
    let lab = Lab::new();
    lab.write("slow.toml", STUDY);
    lab.done(&["run", "slow.toml", "--php", "php", "--out", "run", "--json"]);
    lab.records("run").iter().for_each(|record| crate::schema::keeps("record", record));
    let report = lab.told(&["runs", "show", "run", "--format", "json"]);
    crate::schema::keeps("report", &report);
    assert!(report["rows"].as_array().unwrap().is_empty(), "what a response costs is another question");
    let of = |way: &str| {
        let all = report["exhibits"]["fairness"].as_array().unwrap();
        all.iter().find(|one| one["cell"]["id"].as_str().unwrap().contains(way)).unwrap()
    };
    let (through, handed) = (of("readfile"), of("x-accel-redirect"));
    assert!(through["due"].as_u64().unwrap() > 300, "50 a second in two blocks: {through}");
    assert_eq!(handed["answered"], handed["due"], "{handed}");
    assert_eq!((&handed["outcome"], &handed["failed"]), (&"free".into(), &0.into()));
    assert!(through["slow_rate"].as_f64().unwrap() < 80_000.0, "{through}");
    let is_narrow = through["caveats"].as_array().unwrap().iter().all(|c| c["code"] != "deep-buffers");
    if is_narrow {
        assert_eq!(
            (&through["outcome"], through["busy"].as_f64()),
            (&"starved".into(), Some(2.0)),
            "{through}"
        );
        assert!(through["queue_max"].as_u64().unwrap() > 0, "{through}");
    } else {
        println!("skipped in part: no network namespace here");
    }
    let report = lab.fine(&["runs", "show", "run", "--full"]);
    assert!(report.contains("With slow clients") && report.contains(" free "), "{report}");
    assert_eq!(lab.left_over(), 0, "{:?}", lab.processes());
}
