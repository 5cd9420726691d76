//! The client against servers of a few lines, sound and hostile.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::*;

const CONTENT: &[u8] = b"a content that is sent as it is, or in part";

/// Answers every request with what `reply` makes of it, until the returned count is read for the last time.
fn serve(reply: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/lib.js", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n > 0) {
                head.push(byte[0]);
            }
            count.fetch_add(1, Ordering::Relaxed);
            // A client that has heard enough closes.
            let _ = stream.write_all(&reply(&String::from_utf8(head).unwrap()));
        }
    });
    (url, asked)
}

fn negotiate_with(reply: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Negotiation {
    let (url, _) = serve(reply);
    ask(&url, None, CONTENT, &Interrupt::new()).unwrap()
}

fn field<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    request.lines().find_map(|line| line.split_once(": ").filter(|(n, _)| *n == name)).map(|(_, value)| value)
}

/// A server of one variant that knows revalidation and ranges.
fn sound(request: &str) -> Vec<u8> {
    let head = |status: &str, more: &str| {
        format!(
            "HTTP/1.1 {status}\r\nETag: \"1\"\r\nVary: Accept-Encoding\r\nConnection: close\r\n{more}\r\n"
        )
        .into_bytes()
    };
    if field(request, "If-None-Match") == Some("\"1\"") {
        return head("304 Not Modified", "");
    }
    let range =
        field(request, "Range").filter(|_| field(request, "If-Range").is_none_or(|tag| tag == "\"1\""));
    let (status, from, body) = match range {
        Some("bytes=-50") | Some("bytes=0-99") => ("206 Partial Content", 0, CONTENT),
        _ => ("200 OK", 0, CONTENT),
    };
    let last = body.len() - 1;
    let more =
        format!("Content-Length: {}\r\nContent-Range: bytes {from}-{last}/{}\r\n", body.len(), CONTENT.len());
    let mut answer = head(status, &more);
    if !request.starts_with("HEAD") {
        answer.extend_from_slice(body);
    }
    answer
}

#[test]
fn a_sound_server_is_asked_for_everything_and_kept_word_for_word() {
    let told = negotiate_with(sound);
    assert_eq!(told.ended, None);
    let choices = told.exchanges.iter().filter(|e| e.ask.purpose == Purpose::Choose).count();
    assert_eq!(choices, 1 + matrix::ACCEPT.len() + matrix::BROWSERS.len());
    let of = |purpose| told.exchanges.iter().find(|e| e.ask.purpose == purpose).map(|e| &e.answer);
    let first = of(Purpose::Choose).unwrap();
    assert_eq!((first.status, first.body, first.etag.as_deref()), (200, Body::Content, Some("\"1\"")));
    assert_eq!((first.vary.as_deref(), first.bytes), (Some("Accept-Encoding"), CONTENT.len() as u64));
    assert_eq!(of(Purpose::Head).map(|a| (a.status, a.body, a.bytes)), Some((200, Body::None, 0)));
    assert_eq!(of(Purpose::Revalidate).map(|a| a.status), Some(304));
    assert_eq!(of(Purpose::Last).map(|a| (a.status, a.body)), Some((206, Body::Part)));
    assert_eq!(of(Purpose::Resume).map(|a| (a.status, a.body)), Some((206, Body::Part)));
    assert_eq!(of(Purpose::ResumeStale).map(|a| (a.status, a.body)), Some((200, Body::Content)));
    assert_eq!(of(Purpose::RevalidateOther), None, "there is no other");
}

#[test]
fn hostile_answers_end_in_faults_and_wrong_bodies() {
    let told_of = |reply: &'static [u8]| negotiate_with(move |_| reply.to_vec()).exchanges[0].answer.clone();
    for reply in [
        &b""[..],
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \x1b[2J\r\n\r\nother",
    ] {
        let answer = told_of(reply);
        assert_eq!((answer.status, answer.body), (0, Body::None), "{}", reply.escape_ascii());
        assert!(answer.fault.is_some());
    }
    let other = told_of(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: [2J\xff\r\n\r\nother");
    assert_eq!((other.body, other.etag.as_deref()), (Body::Wrong, Some("[2J?")));
    let bomb = told_of(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nother");
    assert!(bomb.body == Body::Wrong && bomb.fault.unwrap().contains("does not decode"));
    let error = told_of(b"HTTP/1.1 500 Oh\r\nContent-Length: 5\r\n\r\nother");
    assert_eq!((error.status, error.body), (500, Body::Message));
}

#[test]
fn a_body_without_end_is_not_read_to_it() {
    let (url, asked) = serve(|_| {
        let mut endless = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
        endless.resize(8 << 20, b'x');
        endless
    });
    let told = ask(&url, None, CONTENT, &Interrupt::new()).unwrap();
    assert!(told.exchanges[0].answer.fault.as_ref().unwrap().contains("much longer"));
    assert_eq!(asked.load(Ordering::Relaxed), told.exchanges.len(), "no variant, nothing more asked");
}

#[test]
fn only_this_machine_is_asked_and_only_for_what_is_not_too_much() {
    for url in [
        "http://192.0.2.1:80/",
        "http://localhost:80/",
        "https://[2001:db8::1]:443/",
        "ftp://127.0.0.1:80/",
        "",
    ] {
        let told = ask(url, None, CONTENT, &Interrupt::new()).unwrap();
        assert!(told.exchanges.is_empty() && told.ended.unwrap().contains("this machine"), "{url}");
    }
    let (url, asked) = serve(sound);
    let large = vec![0; LARGEST + 1];
    assert!(ask(&url, None, &large, &Interrupt::new()).unwrap().ended.unwrap().contains("16 MiB"));
    let interrupt = Interrupt::new();
    interrupt.set();
    assert_eq!(ask(&url, None, CONTENT, &interrupt), None);
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[test]
fn a_request_is_what_it_says() {
    let link = Link::to("http://127.0.0.1:8080/a.js?x=1", None).unwrap();
    let ask = NegotiationRequest {
        accept: Some("gzip;q=0".into()),
        browser: Some("MSIE 6".into()),
        range: Some("bytes=0-99".into()),
        if_range: Some("\"1".into()),
        ..NegotiationRequest::default()
    };
    let request = String::from_utf8(matrix::request(&ask, &link)).unwrap();
    assert_eq!(
        request,
        "GET /a.js?x=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1)\r\n\
         Connection: close\r\nAccept-Encoding: gzip;q=0\r\nRange: bytes=0-99\r\nIf-Range: \"1\r\n\r\n"
    );
    assert_eq!(sendable(b"\"1\r\nHost: evil"), "\"1\\r\\nHost: evil".replace('"', "\\\""));
}
