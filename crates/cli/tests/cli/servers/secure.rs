//! Over HTTPS: ready means an answer over TLS.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use weigh_rig::server::Instance;
use weigh_rig::server::{Certificate, Site};

use super::fixture::{Rig, server};

pub fn certificate(home: &Path) -> Certificate {
    certified(home).0
}

/// A certificate for this machine, and its public key as DER.
pub fn certified(home: &Path) -> (Certificate, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into(), "127.0.0.1".into()]).unwrap();
    let pem = made.signing_key.public_key_pem();
    let key = STANDARD.decode(pem.lines().filter(|line| !line.starts_with('-')).collect::<String>()).unwrap();
    let of = |name: &str, text: String| {
        fs::write(home.join(name), text).unwrap();
        home.join(name)
    };
    let certificate = Certificate {
        chain: of("chain.pem", made.cert.pem()),
        key: of("key.pem", made.signing_key.serialize_pem()),
    };
    (certificate, key)
}

fn over_tls(name: &str) {
    let rig = Rig::new();
    let Some(found) = server(name) else { return };
    if let Some(why) = &found.tls_missing {
        return super::fixture::skip(&format!("{name} over HTTPS: {why}"));
    }
    let site = Site { tls: Some(certificate(rig.home.path())), ..rig.site(None) };
    let instance = rig.start(&found, &site);
    assert!(instance.url("/lib.js").starts_with("https://127.0.0.1:"));
    assert!(instance.stop(), "{name} had to be killed");
    assert!(rig.left_over().is_empty());
}

/// Whether somebody listens on every address at a port, as the kernel's tables have it. To connect would not
/// tell: another test's server may have the same port on 127.0.0.1.
fn is_open_to_all(port: u16) -> bool {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).unwrap_or_default());
    let at_port = format!(":{port:04X}");
    let mut sockets = tables.iter().flat_map(|table| table.lines());
    sockets.any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, local, _, state, ..] = words[..] else { return false };
        let ip = local.strip_suffix(&at_port);
        state == "0A" && ip.is_some_and(|ip| ip.bytes().all(|digit| digit == b'0'))
    })
}

#[test]
fn every_server_listens_where_it_is_told_to() {
    for name in ["nginx", "apache", "lighttpd", "caddy", "php-builtin"] {
        let rig = Rig::new();
        let Some(found) = server(name) else { continue };
        let host = Ipv4Addr::new(127, 0, 0, 2);
        let instance = Instance::start_at(host, &found, &rig.site(None), &rig.place()).unwrap();
        let url = instance.url("/lib.js");
        assert_eq!(url, format!("http://127.0.0.2:{}/lib.js", instance.port()));
        assert!(!is_open_to_all(instance.port()), "{name} listens on every address");
        assert!(instance.stop(), "{name} had to be killed");
    }
}

#[test]
fn a_socket_that_is_open_to_all_is_seen() {
    let [open, own] =
        [Ipv4Addr::UNSPECIFIED, Ipv4Addr::LOCALHOST].map(|ip| TcpListener::bind((ip, 0)).unwrap());
    assert!(is_open_to_all(open.local_addr().unwrap().port()));
    assert!(!is_open_to_all(own.local_addr().unwrap().port()));
}

#[test]
fn nginx_serves_https() {
    over_tls("nginx");
}

#[test]
fn apache_serves_https() {
    over_tls("apache");
}

#[test]
fn lighttpd_serves_https() {
    over_tls("lighttpd");
}

#[test]
fn caddy_serves_https() {
    over_tls("caddy");
}

#[test]
fn php_has_no_https() {
    let rig = Rig::new();
    let Some(found) = server("php-builtin") else { return };
    let site = Site { tls: Some(certificate(rig.home.path())), ..rig.site(None) };
    let error = Instance::start(&found, &site, &rig.place()).unwrap_err().to_string();
    assert_eq!(error, "php-builtin cannot serve HTTPS: it has no HTTPS");
}
