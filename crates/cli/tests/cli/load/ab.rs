//! `ab`'s own flags.

use super::server::Server;
use crate::lab::Lab;

#[test]
fn ab_s_flags_send_what_ab_would() {
    let (lab, server) = (Lab::new(), Server::of("a body"));
    let line = format!("-n 30 -c 3 -k -H 'X-A: b c' -C k=v {}", server.url("/x"));
    let ran = lab.done(&["load", "--ab-args", &line]);
    assert!(ran.stdout.contains("30 complete"), "{}", ran.stdout);
    assert!(ran.stderr.contains("real ab uses HTTP/1.0"), "{}", ran.stderr);
    assert!(ran.stderr.contains("same as: weigh load "), "{}", ran.stderr);
    let head = server.heads().pop().unwrap();
    assert!(head.starts_with("GET /x HTTP/1.1\r\n"), "{head}");
    for part in ["X-A: b c", "Cookie: k=v", "User-Agent: ApacheBench/2.3", "Accept: */*"] {
        assert!(head.contains(part), "{part}: {head}");
    }
    assert!(!head.contains("Accept-Encoding"), "{head}");
}

#[test]
fn after_two_dashes_without_quotes_and_as_ab_speaks() {
    let (lab, server) = (Lab::new(), Server::of("a body"));
    let url = server.url("/");
    let ran = lab.done(&["load", "--http", "1.0", "--ab-args", "--", "-n", "12", "-c", "2", "-k", &url]);
    assert!(!ran.stderr.contains("real ab uses"), "{}", ran.stderr);
    let line = format!("-n 4 {url}");
    let ran = lab.run(&["load", "--ab-args", &line, "--json"]);
    assert!(ran.code == 2 && ran.stderr.contains("--json comes after --ab-args"), "{}", ran.stderr);
    assert_eq!(lab.run(&["load", "--ab-args", "-n", "4", &url]).code, 0);
    let heads = server.heads();
    let head = &heads[0];
    assert!(head.starts_with("GET / HTTP/1.0\r\n") && head.contains("Connection: Keep-Alive"), "{head}");
}

#[test]
fn without_k_each_request_has_its_connection() {
    let (lab, server) = (Lab::new(), Server::of("a body"));
    lab.fine(&["load", "--ab-args", &format!("-n 20 -c 2 {}", server.url("/"))]);
    assert!(server.connections() >= 20, "{}", server.connections());
}

#[test]
fn a_body_and_what_cannot_be_mapped() {
    let (lab, server) = (Lab::new(), Server::of("a body"));
    lab.write("body.json", "{\"a\":1}");
    lab.fine(&["load", "--ab-args", &format!("-n 4 -p body.json -T application/json {}", server.url("/"))]);
    let head = server.heads().pop().unwrap();
    assert!(head.starts_with("POST ") && head.contains("Content-Type: application/json"), "{head}");
    assert!(head.ends_with("{\"a\":1}"), "{head}");
    for (line, said) in [
        ("-n 1 -X proxy:80 http://127.0.0.1/", "proxies"),
        ("-n 1 'x", "quotes"),
        ("-n 5 -c 10 http://127.0.0.1/", "less than"),
        ("-n x http://127.0.0.1/", "whole number"),
    ] {
        let ran = lab.run(&["load", "--ab-args", line]);
        let last = ran.stderr.lines().last().unwrap_or_default();
        assert!(ran.code == 2 && ran.stdout.is_empty(), "{line}: {}", ran.stdout);
        assert!(last.starts_with("weigh: ") && last.contains(said), "{line}: {last}");
    }
}
