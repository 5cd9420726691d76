//! URLs and their addresses, and whether load may be sent there.

use weigh_load::target::{Location, Resolver, Scheme, Target, permit};

fn target(url: &str) -> Target {
    Resolver::default().target(url).unwrap()
}

#[test]
fn a_url_comes_apart() {
    let location = Location::parse("HTTPS://Bücher.Example:8443/a b?q=1#part").unwrap();
    assert_eq!(location.scheme, Scheme::Https);
    assert_eq!(location.host, "xn--bcher-kva.example");
    assert_eq!(location.port, 8443);
    assert_eq!(location.authority, "xn--bcher-kva.example:8443");
    assert_eq!(location.path, "/a%20b?q=1");
    let bare = Location::parse("http://example.org:80").unwrap();
    assert_eq!((bare.authority.as_str(), bare.port, bare.path.as_str()), ("example.org", 80, "/"));
}

#[test]
fn ipv6_has_brackets_in_the_authority_alone() {
    let v6 = target("http://[::1]:8080/x?y");
    assert_eq!(v6.location.host, "::1");
    assert_eq!(v6.location.authority, "[::1]:8080");
    assert_eq!(v6.addresses, ["[::1]:8080".parse().unwrap()]);
    assert!(v6.is_loopback());
}

#[test]
fn localhost_is_this_machine_without_a_resolver() {
    for url in ["http://localhost:81/", "http://shop.localhost:81/"] {
        let own = target(url);
        assert_eq!(own.addresses, ["127.0.0.1:81".parse().unwrap(), "[::1]:81".parse().unwrap()]);
        assert!(permit(&own, &[]).is_ok());
    }
}

#[test]
fn only_loopback_needs_no_permission() {
    for own in
        ["http://127.0.0.1/", "http://127.9.8.7:1/", "http://[::ffff:127.0.0.1]/", "http://2130706433/"]
    {
        assert!(permit(&target(own), &[]).is_ok(), "{own}");
    }
    for remote in
        ["http://192.0.2.7/", "http://[2001:db8::1]/", "http://0.0.0.0/", "http://[::ffff:192.0.2.7]/"]
    {
        let error = permit(&target(remote), &["192.0.2.70".into()]).unwrap_err().to_string();
        assert!(error.contains("only with --allow-remote ") && !error.contains('\n'), "{error}");
    }
    assert_eq!(
        permit(&target("http://192.0.2.7/"), &[]).unwrap_err().to_string(),
        "192.0.2.7 (192.0.2.7) is not this machine; load is sent there only with --allow-remote 192.0.2.7"
    );
}

#[test]
fn permission_is_for_the_host_that_is_spelled_out() {
    let remote = target("http://192.0.2.7/");
    assert!(permit(&remote, &["192.0.2.7".into()]).is_ok());
    assert!(permit(&remote, &["192.0.2".into(), "*".into(), "".into()]).is_err());
    let v6 = target("http://[2001:db8::1]/");
    assert!(permit(&v6, &["[2001:DB8:0::1]".into()]).is_ok());
    let mut mixed = target("http://localhost/");
    mixed.addresses.push("192.0.2.7:80".parse().unwrap());
    assert!(permit(&mixed, &[]).is_err(), "one address that is not loopback is enough");
    assert!(permit(&mixed, &["LOCALHOST".into()]).is_ok());
}

#[test]
fn what_cannot_be_asked_says_why() {
    for (url, wrong) in [
        ("localhost:8080/x", "localhost is not a scheme; write http://localhost:8080/x"),
        ("ftp://127.0.0.1/", "ftp is not supported"),
        ("file:///etc/passwd", "file is not supported"),
        ("/x", "not an absolute URL"),
        ("localhost", "did you mean http://localhost/?"),
        ("127.0.0.1:9/x", "did you mean http://127.0.0.1:9/x?"),
        ("", "not an absolute URL"),
        ("http://", "not a URL"),
        ("http://a b/", "not a URL"),
        ("http://127.0.0.1:0/", "port 0"),
        ("http://127.0.0.1:99999/", "not a URL"),
        ("http://host.invalid/", "host.invalid: this host has no address"),
    ] {
        let error = Resolver::default().target(url).unwrap_err().to_string();
        assert!(error.contains(wrong) && !error.contains('\n'), "{url}: {error}");
    }
    let secret = Location::parse("http://user:hunter2@127.0.0.1/").unwrap_err().to_string();
    assert!(secret.contains("Authorization") && !secret.contains("hunter2"), "{secret}");
    let long = format!("http://127.0.0.1/{}", "x".repeat(20_000));
    assert!(Location::parse(&long).unwrap_err().to_string().contains("longer than the limit for URLs"));
}

#[test]
fn a_run_asks_for_a_bounded_number_of_hosts() {
    let resolver = Resolver::default();
    for host in 0..256 {
        resolver.target(&format!("http://127.0.1.{host}/")).unwrap();
    }
    assert!(resolver.target("http://127.0.1.3/again").is_ok());
    assert!(resolver.target("http://127.0.2.1/").unwrap_err().to_string().contains("256 hosts"));
}
