//! Bad arguments: one clear line each, and nothing sent.

use super::server::Server;
use crate::lab::Lab;

#[test]
fn a_slip_is_one_line_that_says_what_to_do() {
    let (lab, server) = (Lab::new(), Server::of("a body"));
    let url = server.url("/");
    for (args, said) in [
        (&["-c", "0"][..], "whole number above zero"),
        (&["-c", "-5"], "whole number above zero"),
        (&["-n", "0"], "whole number above zero"),
        (&["-n", "-1"], "whole number above zero"),
        (&["-d", "0"], "above zero"),
        (&["-d", "-3"], "above zero"),
        (&["--rate", "0"], "above zero"),
        (&["--rate", "-2"], "above zero"),
        (&["--rate", "nan"], "above zero"),
        (&["--rate", "5", "--poisson", "5"], "cannot be used with"),
        (&["--ramp", "5"], "ramp"),
        (&["--steps", "5,0"], "steps"),
        (&["--arrival", "burst"], "no model"),
        (&["-n", "5", "-c", "10"], "-n 5 is less than -c 10"),
        (&["-c", "4000000"], "open files"),
        (&["--threads", "5", "-c", "2"], "more than the 2 connections"),
        (&["--http", "3"], "1.0, 1.1, 2"),
        (&["--streams", "4"], "--http 2"),
        (&["-H", "nonsense"], "Name: value"),
        (&["-H", "A: b\r\nC: d"], "control character"),
        (&["--range", "x"], "--range x"),
        (&["--body-file", "nowhere"], "nowhere"),
        (&["--ca", "nowhere"], "nowhere"),
        (&["--read-rate", "0"], "50KB/s"),
        (&["--discard", "--decode-every", "2"], "cannot be used with"),
        (&["--blocks", "3"], "--vs"),
        (&["--vs", "http://127.0.0.1:1/", "-n", "3"], "--block-time"),
        (&["--vs", "http://192.0.2.1/"], "--allow-remote 192.0.2.1"),
        (&["--find-capacity", "50ms"], "p99=50ms"),
        (&["--find-capacity", "p99=50ms", "-n", "3"], "-d bounds"),
        (&["--find-capacity", "p99=50ms", "--rate", "3"], "cannot be used with"),
        (&["--find-capacity", "p99=50ms", "--arrival", "closed"], "poisson"),
        (&["--requests", "x"], "whole number"),
    ] {
        let line = lab.refused(&[&["load", &url], args].concat());
        assert!(line.contains(said), "{args:?}: {line}");
    }
    assert_eq!(server.requests(), 0);
    assert!(!lab.path("weigh-runs").exists(), "a refusal leaves no run behind");
}

#[test]
fn places_that_cannot_or_may_not_be_loaded() {
    let lab = Lab::new();
    for (url, said) in [
        ("http://192.0.2.1/", "--allow-remote 192.0.2.1"),
        ("http://[2001:db8::1]:81/", "--allow-remote 2001:db8::1"),
        ("ftp://127.0.0.1/", "http"),
        ("127.0.0.1:80/x", "http://"),
        ("http://", "URL"),
        ("http://me:secret@127.0.0.1/", "Authorization"),
        ("http://nowhere.invalid/", "nowhere.invalid"),
    ] {
        let line = lab.refused(&["load", url, "-n", "1", "-c", "1"]);
        assert!(line.contains(said), "{url}: {line}");
    }
    // The wrong host was spelled out.
    let line =
        lab.refused(&["load", "http://192.0.2.1/", "--allow-remote", "192.0.2.2", "-n", "1", "-c", "1"]);
    assert!(line.contains("192.0.2.1"), "{line}");
    assert!(lab.refused(&["load"]).contains("<URL>"));
}

#[test]
fn a_server_that_is_not_there_is_one_line_and_no_run() {
    let lab = Lab::new();
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let line = lab.refused(&["load", &format!("http://127.0.0.1:{port}/"), "-n", "10", "-c", "1"]);
    assert!(line.contains("connect-refused"), "{line}");
    assert!(!lab.path("weigh-runs").exists());
}
