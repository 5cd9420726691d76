//! `weigh site --url --worker`: what PHP that lives on keeps from one request to the next.

use weigh_model::site::{Site, WorkerMode};

use crate::lab::{Lab, free_port, has};

/// A server in PHP whose variables live on: one page counts, one greets the visitor before, one keeps 2 KB of each request, one keeps nothing.
const SERVER: &str = include_str!("worker/server.php");

fn asked(lab: &Lab, port: u16, page: &str) -> (WorkerMode, String) {
    let url = format!("http://127.0.0.1:{port}{page}");
    let ran = lab.done(&["site", "--url", &url, "--worker", "--force", "--budget", "5m"]);
    let site = Site::parse(&lab.read("site.toml"), "site.toml").unwrap();
    (site.worker.unwrap_or_else(|| panic!("{}", ran.stderr)), ran.stdout)
}

#[test]
fn state_and_memory_that_php_keeps_are_found_and_nothing_else() {
    needs!(has("php8.2", "apt install php-cli"));
    let lab = Lab::new();
    lab.write("server.php", SERVER);
    let port = free_port();
    let _running = lab.serve("php8.2", &["server.php", &port.to_string()], &[port]);
    let told = |found: &WorkerMode| found.pages[0].keeps.clone();

    let (found, screen) = asked(&lab, port, "/counter");
    let counts = told(&found).unwrap_or_else(|| panic!("{found:#?}"));
    let (first, last) =
        counts.strip_prefix("line 2 counts requests: ").and_then(|two| two.split_once(", later ")).unwrap();
    // Two of the first visitor, then after 1, 10 and 1,000 of the other one.
    let [first, last] = [first, last].map(|number| number.parse::<u64>().unwrap());
    assert_eq!(last - first, 1_018, "{counts}");
    assert!(screen.contains("/counter keeps something of other requests: line 2 counts"), "{screen}");
    let (found, _) = asked(&lab, port, "/greeting");
    assert!(told(&found).unwrap().starts_with("it has what another visitor sent"), "{found:#?}");

    // PHP rounds 2,000 bytes and the head of a string up to 2,048.
    let (found, screen) = asked(&lab, port, "/memory");
    let [value, low, high] = found.bytes_per_request.unwrap();
    assert!((value / 2_048.0 - 1.0).abs() < 0.05 && low <= value && value <= high, "{found:#?}");
    assert!(told(&found).is_none() && screen.contains("Memory grows by"), "{screen}");
    let (found, screen) = asked(&lab, port, "/fine");
    assert_eq!((told(&found), found.doubled_after()), (None, None), "{found:#?}");
    assert!(found.requests > 3_000 && screen.contains("Memory does not grow"), "{screen}");

    let refused = lab.run(&[
        "site",
        "--url",
        "http://192.0.2.1/",
        "--worker",
        "--allow-remote",
        "192.0.2.1",
        "--force",
    ]);
    assert!(refused.code == 2, "{}", refused.stderr);
}
