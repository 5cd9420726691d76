//! A run that ends early: by the user, and by a kill.

use super::schema::document;
use super::server::Server;
use crate::lab::{Lab, Started, wait_until};

/// A run of an hour that has begun.
fn begun(lab: &Lab, server: &Server) -> Started {
    let started = lab.start(&["load", &server.url("/"), "-d", "1h", "-c", "2", "--out", "run"]);
    wait_until("the load has begun", || server.requests() > 200);
    started
}

#[test]
fn an_interrupt_ends_the_block_and_keeps_its_figures() {
    let (lab, server) = (Lab::new(), Server::of("a body"));
    let mut started = begun(&lab, &server);
    started.signal("INT");
    assert_eq!(started.0.wait().unwrap().code(), Some(1));
    let found = document(&lab.read("run/result.json"));
    assert!(found["figures"]["total"]["counts"]["completed"].as_u64().unwrap() > 0);
    let codes: Vec<_> = found["caveats"].as_array().unwrap().iter().map(|c| c["code"].clone()).collect();
    assert!(codes.contains(&"interrupted".into()), "{codes:?}");
    wait_until("nothing is left", || lab.processes().is_empty());
}

#[test]
fn the_agent_dies_with_the_program() {
    let (lab, server) = (Lab::new(), Server::of("a body"));
    let mut started = begun(&lab, &server);
    started.kill();
    let sent = || server.requests();
    wait_until("the agent is gone", || {
        let before = sent();
        std::thread::sleep(std::time::Duration::from_millis(100));
        sent() == before
    });
    // The plan was kept before anything was sent.
    assert_eq!(lab.json("run/plan.json")["length"]["seconds"], 3600.0);
}
