//! HTTP/1.1 over TLS of the engine, with a scripted server.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustls::{ServerConnection, StreamOwned};
use weigh_load::fault::HttpFaultKind;
use weigh_load::plan::{Check, LoadPlan, Protocol};

use crate::identity::Identity;
use crate::plans::{self, counts, noise, run};

type Secure = StreamOwned<ServerConnection, TcpStream>;

/// The response to the request of this number, over all connections, from 0; then whether the connection stays open.
type Script = Arc<dyn Fn(usize, &mut Secure) -> bool + Send + Sync>;

fn serve(identity: &Identity, script: Script) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (config, number) = (identity.config.clone(), Arc::new(AtomicUsize::new(0)));
    std::thread::spawn(move || {
        for tcp in listener.incoming() {
            let session = ServerConnection::new(config.clone()).unwrap();
            let tcp = tcp.unwrap();
            tcp.set_nodelay(true).unwrap();
            let secure = StreamOwned::new(session, tcp);
            let (script, number) = (script.clone(), number.clone());
            std::thread::spawn(move || talk(secure, &script, &number));
        }
    });
    format!("https://localhost:{port}/page")
}

/// Answers requests without bodies until the client or the script ends.
fn talk(mut secure: Secure, script: &Script, number: &AtomicUsize) {
    let mut received = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        while !received.ends_with(b"\r\n\r\n") {
            match secure.read(&mut buffer) {
                Ok(n) if n > 0 => received.extend_from_slice(&buffer[..n]),
                _ => return,
            }
        }
        received.clear();
        if !script(number.fetch_add(1, Ordering::Relaxed), &mut secure) {
            return;
        }
    }
}

fn whole(body: &[u8], fields: &str, secure: &mut Secure) {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{fields}\r\n", body.len());
    secure.write_all(head.as_bytes()).unwrap();
    // The client may be gone by now.
    let _ = secure.write_all(body);
}

fn close(secure: &mut Secure) {
    secure.conn.send_close_notify();
    let _ = secure.flush();
}

fn plan(identity: &Identity, url: &str, requests: u64) -> LoadPlan {
    LoadPlan { tls: identity.trusted(), ..plans::gets(Protocol::Http11, url, requests) }
}

fn refusal(plan: &LoadPlan) -> String {
    weigh_load::run(plan, &mut |_| {}, &AtomicBool::new(false)).unwrap_err().to_string()
}

#[test]
fn kept_connections_carry_many_requests() {
    let identity = Identity::new(&[b"http/1.1"]);
    let body = noise(20_000);
    let sent = body.clone();
    let url = serve(
        &identity,
        Arc::new(move |_, secure| {
            whole(&sent, "", secure);
            true
        }),
    );
    let result = run(&plan(&identity, &url, 1000));
    let counts = counts(&result);
    assert_eq!((counts.completed, counts.compared, counts.connections, counts.resumed), (1000, 1000, 2, 0));
    assert_eq!(result.classes[0].times.tls.count(), 2);
    // Bytes are those of HTTP, without those of TLS.
    assert_eq!(
        counts.wire_bytes,
        1000 * (20_000 + "HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n".len() as u64)
    );
}

#[test]
fn sessions_are_resumed_where_that_is_asked_for() {
    let identity = Identity::new(&[b"http/1.1"]);
    let script: Script = Arc::new(|_, secure| {
        whole(b"ok", "Connection: close\r\n", secure);
        close(secure);
        false
    });
    let mut plan = plan(&identity, &serve(&identity, script), 50);
    plan.streams[0].keepalive = false;
    plan.streams[0].connections = 1;
    let counted = counts(&run(&plan));
    assert_eq!((counted.completed, counted.connections, counted.resumed), (50, 50, 49));
    plan.tls.resumption = false;
    let counted = counts(&run(&plan));
    assert_eq!((counted.completed, counted.connections, counted.resumed), (50, 50, 0));
}

#[test]
fn large_bodies_come_whole_compared_or_discarded() {
    let identity = Identity::new(&[]);
    let body = noise(5 << 20);
    let script: Script = Arc::new(move |_, secure| {
        whole(&body, "", secure);
        true
    });
    let url = serve(&identity, script);
    for check in [Check::Verify { decode_every: 1, vary_by: Vec::new() }, Check::Discard] {
        let result = run(&LoadPlan { check, ..plan(&identity, &url, 12) });
        assert_eq!((counts(&result).completed, counts(&result).body_bytes), (12, 12 * (5 << 20)));
    }
}

#[test]
fn slow_readers_read_all_of_it() {
    let identity = Identity::new(&[]);
    let body = noise(300_000);
    let script: Script = Arc::new(move |_, secure| {
        whole(&body, "", secure);
        true
    });
    let mut plan = plan(&identity, &serve(&identity, script), 2);
    plan.streams[0].read_rate = Some(1 << 20);
    let result = run(&plan);
    assert_eq!((counts(&result).completed, counts(&result).compared), (2, 2));
}

#[test]
fn an_unknown_authority_is_a_fault_of_tls() {
    let (identity, other) = (Identity::new(&[]), Identity::new(&[]));
    let script: Script = Arc::new(|_, secure| {
        whole(b"ok", "", secure);
        true
    });
    let url = serve(&identity, script);
    let refused = refusal(&plan(&other, &url, 10));
    assert!(refused.contains("tls: localhost:") && refused.contains("is self-signed"), "{refused}");
    let mut insecure = plan(&other, &url, 10);
    insecure.tls.insecure = true;
    assert_eq!(counts(&run(&insecure)).completed, 10);
}

#[test]
fn garbage_in_place_of_tls_is_a_fault_of_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://127.0.0.1:{}/", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        for tcp in listener.incoming() {
            let mut tcp = tcp.unwrap();
            let _ = tcp.read(&mut [0; 1000]);
            let _ = tcp.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let refused = refusal(&plan(&Identity::new(&[]), &url, 10));
    assert!(refused.contains("tls: 127.0.0.1:") && refused.contains("corrupt message"), "{refused}");
}

#[test]
fn an_end_that_only_a_close_tells_needs_tlss_word_for_it() {
    let identity = Identity::new(&[]);
    let script: Script = Arc::new(|number, secure| {
        secure.write_all(b"HTTP/1.1 200 OK\r\n\r\nuntil the close").unwrap();
        if number != 10 {
            close(secure);
        }
        false
    });
    let result = run(&plan(&identity, &serve(&identity, script), 20));
    assert_eq!(counts(&result).completed, 19);
    let fault = &result.faults[0];
    assert_eq!((fault.kind, fault.count), (HttpFaultKind::Tls, 1));
    assert!(fault.example.message.contains("without TLS's close_notify"), "{}", fault.example.message);
}

#[test]
fn a_body_of_known_length_that_is_cut_is_truncated() {
    let identity = Identity::new(&[]);
    let script: Script = Arc::new(|number, secure| {
        if number == 10 {
            secure.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab").unwrap();
            return false;
        }
        whole(b"abcd", "", secure);
        true
    });
    let result = run(&plan(&identity, &serve(&identity, script), 20));
    let fault = &result.faults[0];
    assert_eq!((fault.kind, fault.count, counts(&result).completed), (HttpFaultKind::Truncated, 1, 19));
}

#[test]
fn a_missing_file_of_authorities_is_told_before_anything_is_sent() {
    let identity = Identity::new(&[]);
    let mut plan = plan(&identity, "https://127.0.0.1:1/", 10);
    plan.tls.authorities = Some("/no/such.pem".into());
    assert!(refusal(&plan).starts_with("/no/such.pem: the authorities cannot be read"));
}
