//! Features of the machine: the second address family, and local ports.

use std::net::TcpListener;
use std::process::Command;

use weigh_load::fault::HttpFaultKind;

use super::load::{REQUESTS, counts, kinds, load, plan, verify};
use crate::server::{Server, Step, response};

/// Set if this binary runs again in a network of its own.
const INSIDE: &str = "WEIGH_FEW_PORTS";

fn answers(_: u64) -> Vec<Step> {
    vec![Step::Send(response("", b"hello"))]
}

/// Reports why a test does nothing here; fails if no test may be skipped.
fn skip(why: &str) {
    eprintln!("left out: {why}");
    assert!(std::env::var_os("WEIGH_STRICT").is_none(), "{why}");
}

#[test]
fn ipv6_is_an_address_like_any_other() {
    let Ok(listener) = TcpListener::bind("[::1]:0") else { return skip("no IPv6 on the loopback device") };
    let server = Server::on(listener, answers);
    let result = load(&plan(server.address, verify())).expect("a good preflight");
    assert_eq!(counts(&result).compared, REQUESTS, "{:?}", result.faults);
}

#[test]
fn no_local_port_left_is_said_in_these_words() {
    if std::env::var_os(INSIDE).is_some() {
        return with_five_ports();
    }
    let own = std::env::current_exe().expect("a path");
    let script = r#"ip link set lo up && echo "40000 40004" > /proc/sys/net/ipv4/ip_local_port_range && exec "$0" "$@""#;
    let name = "bad_servers::machine::no_local_port_left_is_said_in_these_words";
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "sh", "-c", script])
        .arg(own)
        .args(["--exact", name, "--nocapture"])
        .env(INSIDE, "1")
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => return skip(&format!("no unshare to make a network with few ports: {error}")),
    };
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    if !said.contains("running 1 test") {
        return skip(&format!("no network of its own is to be had: {said}"));
    }
    assert!(output.status.success(), "{said}");
}

/// More connections than local ports: the available ones do the rest.
fn with_five_ports() {
    let listener = TcpListener::bind("127.0.0.1:80").expect("a port outside of the range");
    let server = Server::on(listener, answers);
    let mut plan = plan(server.address, verify());
    plan.streams[0].connections = 8;
    plan.length.requests = Some(2000);
    let result = load(&plan).expect("a good preflight");
    let [(HttpFaultKind::PortsExhausted, count)] = kinds(&result)[..] else { panic!("{:?}", result.faults) };
    assert_eq!(counts(&result).completed, 2000 - count);
    // Each failure delays the next connection, but no request that has one.
    assert!(count < 200, "{count}");
    let message = &result.faults[0].example.message;
    assert!(message.contains("every local port for it is in use or in TIME_WAIT"), "{message}");
}
