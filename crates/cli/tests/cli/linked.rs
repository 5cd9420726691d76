//! Deliveries over a link, by the real program: what is sent arrives whole, and the records have the link.

use serde_json::Value;

use crate::lab::{Lab, deliveries, serves_php, study, wait_until};

fn whole_study() -> String {
    study(
        "linked",
        [100, 2, 2],
        &deliveries(
            "page",
            "corpus:page-zlib",
            "php",
            r#"transports = ["http", "https"]
links = ["-", "20mbit/10ms"]
ways = ["none", "gzencode:6"]
keep = true"#,
        ),
    )
}

#[test]
fn what_is_sent_over_a_link_arrives_and_has_the_link_beside_it() {
    needs!(serves_php());
    let lab = Lab::new();
    lab.write("linked.toml", whole_study());
    let ran = lab.run(&["run", "linked.toml", "--exhaustive", "--php", "php8.2", "--out", "run"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    crate::schema::keeps("plan", &lab.json("run/plan.json"));
    let digest = lab.json("run/plan.json")["payloads"][0]["sha256"].clone();
    let visits: Vec<Value> = lab.records("run").into_iter().filter(|r| r["type"] == "visit").collect();
    assert_eq!(visits.len(), 16, "2 transports, 2 places, 2 ways, 2 rounds");
    for visit in &visits {
        crate::schema::keeps("record", visit);
        let delivery = &visit["delivery"];
        assert_eq!(delivery["preflight"]["decoded_sha256"], digest, "{visit}");
        let checked = delivery["compared"].as_u64().unwrap() + delivery["decoded"].as_u64().unwrap();
        assert!(checked > 0 && delivery.get("faults").is_none(), "{visit}");
        let way = delivery["link"]["way"].as_str();
        let is_over_link = visit["cell"].as_str().unwrap().contains("@20mbit/10ms/");
        let made = ["netem", "tun", "rate", "proxy"];
        assert!(way.map_or(!is_over_link, |way| is_over_link && made.contains(&way)), "{visit}");
    }
    let report = lab.told(&["runs", "show", "run", "--format", "json"]);
    crate::schema::keeps("report", &report);
    let groups = report["groups"].as_array().unwrap();
    let linked: Vec<&Value> = groups.iter().filter(|group| group["key"].get("link").is_some()).collect();
    assert_eq!((groups.len(), linked.len()), (4, 2), "{groups:?}");
    let asked = report["links"].as_array().unwrap();
    assert!(!asked.is_empty() && asked.iter().all(|link| link["asked"]["rtt_ms"] == 10.0), "{asked:?}");
    let report = lab.fine(&["runs", "show", "run", "--format", "markdown"]);
    for part in ["The link 20mbit/10ms (", "Over 20mbit/10ms (20 Mbit/s, round trip 10", "over 20mbit/10ms"] {
        assert!(report.contains(part), "{part}: {report}");
    }
    let shown = lab.fine(&["run", "--dry-run", "linked.toml", "--php", "php8.2"]);
    assert!(shown.contains("https@20mbit/10ms"), "{shown}");
    wait_until("nothing is left", || lab.processes().is_empty());
    assert_eq!(lab.left_over(), 0);
}
