//! One block: what is counted, what is checked, what is shown.

use super::schema::document;
use super::server::{Server, response};
use crate::lab::Lab;

/// A body that is long enough for a byte to be flipped in its middle.
const PAGE: &str = "<!doctype html><title>Page</title><p>Some words, and then some more of them.</p>";

#[test]
fn every_request_is_counted_once_and_compared() {
    let (lab, server) = (Lab::new(), Server::of(PAGE));
    let printed = lab.fine(&["load", &server.url("/page"), "-n", "500", "-c", "4", "--json"]);
    let found = document(&printed);
    let counts = &found["figures"]["total"]["counts"];
    let body = 500 * PAGE.len() as u64;
    for (name, expected) in [
        ("scheduled", 500),
        ("sent", 500),
        ("completed", 500),
        ("compared", 500),
        ("body_bytes", body),
        ("decoded_bytes", body),
        ("faulted", 0),
        ("dropped", 0),
        ("non_2xx", 0),
    ] {
        assert_eq!(counts[name], expected, "{name}: {counts}");
    }
    // Fewer, where one thread of the client has been quick before the other opened its own.
    assert!((1..=4).contains(&counts["connections"].as_u64().unwrap()), "{counts}");
    let looked = found["result"]["preflights"][0].clone();
    assert_eq!((&looked["status"], &looked["body_bytes"]), (&200.into(), &PAGE.len().into()));
    // Nothing beside the load and its preflight was sent.
    let preflight = server.requests() - 500;
    assert!((1..=10).contains(&preflight), "{preflight} requests before the load");
    assert_eq!(found["figures"]["total"]["service"]["count"], 500);
    let slices = found["result"]["slices"].as_array().unwrap();
    assert_eq!(slices.iter().map(|s| s["completed"].as_u64().unwrap()).sum::<u64>(), 500);
}

#[test]
fn what_is_sent_is_what_was_asked_for() {
    let (lab, server) = (Lab::new(), Server::of(PAGE));
    let url = server.url("/form?a=b");
    lab.fine(&["load", &url, "-n", "10", "-c", "2", "-H", "X-One: 1", "--body", "k=v", "--range", "0-9"]);
    let heads = server.heads();
    for head in &heads {
        assert!(head.starts_with("POST /form?a=b HTTP/1.1\r\n") && head.ends_with("\r\n\r\nk=v"), "{head}");
        for line in
            ["X-One: 1", "Range: bytes=0-9", "Accept-Encoding: gzip, deflate, br, zstd", "Content-Length: 3"]
        {
            assert!(head.contains(&format!("{line}\r\n")), "{line}: {head}");
        }
    }
    lab.fine(&["load", &url, "-n", "1", "-c", "1", "--accept-encoding", "none", "-X", "HEAD", "--discard"]);
    let head = server.heads().pop().unwrap();
    assert!(head.starts_with("HEAD ") && !head.contains("Accept-Encoding"), "{head}");
}

#[test]
fn one_flipped_byte_is_a_fault_that_is_shown() {
    let lab = Lab::new();
    let server = Server::new(|_, number| {
        let mut body = PAGE.as_bytes().to_vec();
        if number == 100 {
            body[40] ^= 1;
        }
        response("", &body)
    });
    let url = server.url("/");
    let ran = lab.run(&["load", &url, "-n", "300", "-c", "1", "--out", "run"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let found = document(&lab.read("run/result.json"));
    let counts = &found["figures"]["total"]["counts"];
    assert_eq!((&counts["completed"], &counts["faulted"]), (&299.into(), &1.into()));
    let fault = &found["result"]["faults"][0]["example"]["difference"];
    assert_eq!(fault["offset"], 40, "{fault}");
    let shown = format!("at byte 40: expected {}", fault["expected"].as_str().unwrap());
    assert!(ran.stdout.contains("1 × mismatch") && ran.stdout.contains("FAULTS"), "{}", ran.stdout);
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&shown), "{shown}: {words}");
}

#[test]
fn the_default_report_says_what_ab_says_and_verbose_more() {
    let (lab, server) = (Lab::new(), Server::of(PAGE));
    let text = lab.fine(&["load", &server.url("/page"), "-n", "60", "-c", "3"]);
    for part in [
        "/page",
        "Accept-Encoding: gzip, deflate, br, zstd",
        "HTTP/1.1 200 · text/html · identity, 80 bytes · Content-Length",
        "every byte of every body",
        "60 complete · 0 failed",
        // Fewer than three, where one thread of the client has been quick before the other opened its own.
        " opened",
        "60 compared byte for byte",
        "connect",
        "waiting",
        "service",
        "of CPU per request",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let full = lab.fine(&["load", &server.url("/page"), "-n", "60", "-c", "3", "--verbose"]);
    assert!(
        full.contains("Responses within") && full.contains("\n99.9 ") && full.contains("… heads"),
        "{full}"
    );
    for columns in ["60", "80", "200"] {
        let args = ["load", &server.url("/page"), "-n", "60", "-c", "3", "--verbose"];
        let output = lab.weigh(&args).env("COLUMNS", columns).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let most = columns.parse().unwrap();
        for line in text.lines() {
            assert!(console::measure_text_width(line) <= most, "at {columns}: {line}");
        }
    }
}

#[test]
fn an_open_model_keeps_its_schedule() {
    let (lab, server) = (Lab::new(), Server::of(PAGE));
    let printed = lab.fine(&["load", &server.url("/"), "--rate", "100", "-d", "1", "--json"]);
    let found = document(&printed);
    assert_eq!(found["figures"]["total"]["counts"]["scheduled"], 100);
    assert_eq!(found["figures"]["total"]["counts"]["completed"], 100);
    assert_eq!(found["plan"]["streams"][0]["arrival"], "constant:100");
}

#[test]
fn classes_of_a_request_file_are_reported_apart() {
    let (lab, server) = (Lab::new(), Server::of(PAGE));
    lab.write(
        "mix.toml",
        "[[request]]\nurl = \"/light\"\nclass = \"light\"\nweight = 3\n[[request]]\nurl = \"/heavy\"\nclass = \"heavy\"\n",
    );
    let args = ["load", "--requests-file", "mix.toml", "--base", &server.url("/"), "-n", "200", "-c", "2"];
    let found = document(&lab.fine(&[&args[..], &["--json"]].concat()));
    let classes = found["figures"]["classes"].as_array().unwrap();
    let count = |i: usize| classes[i]["counts"]["completed"].as_u64().unwrap();
    assert_eq!((classes[0]["name"].as_str(), classes[1]["name"].as_str()), (Some("light"), Some("heavy")));
    assert!(count(0) + count(1) == 200 && count(0) > count(1), "{} and {}", count(0), count(1));
    let text = lab.fine(&args);
    assert!(text.contains("Classes") && text.contains("light") && text.contains("heavy"), "{text}");
}

#[test]
fn an_error_page_is_measured_and_said_to_be_one() {
    let lab = Lab::new();
    let server = Server::new(|_, _| b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy".to_vec());
    let ran = lab.done(&["load", &server.url("/x"), "-n", "20", "-c", "2"]);
    assert!(ran.stdout.contains("STATUS: /x returns 503"), "{}", ran.stdout);
    assert!(ran.stdout.contains("20 complete with a status other than 2xx"), "{}", ran.stdout);
}
