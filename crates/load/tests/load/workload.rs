//! Request files and lists of URLs, and the resulting requests and streams.

use std::path::Path;

use proptest::prelude::*;
use weigh_load::workload::{Defaults, Workload, of_urls, parse, read};

const BASE: &str = "http://127.0.0.1:8080/shop/";

fn defaults() -> Defaults {
    Defaults {
        base: Some(BASE.into()),
        headers: vec![("Accept".into(), "*/*".into())],
        ..Defaults::default()
    }
}

fn toml(text: &str) -> Workload {
    parse(text, Path::new("mix.toml"), &defaults()).unwrap()
}

fn wrong(name: &str, text: &str) -> String {
    let error = parse(text, Path::new(name), &defaults()).unwrap_err().to_string();
    assert!(!error.contains(char::is_control) && error.starts_with(name), "{error:?}");
    error
}

#[test]
fn a_request_file_with_everything() {
    let mix = toml(
        r#"
        [[request]]
        url = "cart?a=1#top"
        method = "POST"
        headers = { X-Second = "2", Accept = "text/html", Cookie = ["a=1", "b=2"] }
        body = "sku=7"
        weight = 2.5
        class = "light"

        [[request]]
        url = "/big.iso"
        name = "download"
        stream = "slow"

        [stream.slow]
        rate = 2
        connections = 30
        keepalive = false
        read-rate = "50KB/s"
        abandon-after = "1MB"
        receive-buffer = 4096
        range = "0-1048575"
        "#,
    );
    let [cart, download] = &mix.requests[..] else { panic!("{:?}", mix.requests) };
    assert_eq!((cart.url.as_str(), cart.method.as_str()), ("http://127.0.0.1:8080/shop/cart?a=1", "POST"));
    assert_eq!((cart.name.as_str(), cart.class.as_str()), ("POST /shop/cart?a=1", "light"));
    let headers = [("X-Second", "2"), ("Accept", "text/html"), ("Cookie", "a=1"), ("Cookie", "b=2")];
    assert_eq!(cart.headers, headers.map(|(n, v)| (n.to_string(), v.to_string())), "as written, not sorted");
    assert_eq!((cart.body.as_slice(), cart.weight, cart.stream), (b"sku=7".as_slice(), 2.5, 0));

    assert_eq!(download.url, "http://127.0.0.1:8080/big.iso");
    assert_eq!((download.name.as_str(), download.class.as_str(), download.stream), ("download", "slow", 1));
    let ranged = [("Range", "bytes=0-1048575"), ("Accept", "*/*")];
    assert_eq!(download.headers, ranged.map(|(n, v)| (n.to_string(), v.to_string())));

    assert_eq!(mix.streams[0], Defaults::default().stream);
    let slow = &mix.streams[1];
    assert_eq!((slow.name.as_str(), slow.arrival.as_str(), slow.connections), ("slow", "constant:2", 30));
    assert_eq!((slow.keepalive, slow.read_rate), (false, Some(50_000)));
    assert_eq!((slow.abandon_after, slow.receive_buffer), (Some(1_000_000), Some(4096)));
}

#[test]
fn a_stream_does_not_take_the_arrival_of_the_shared_one() {
    let mut rated = defaults();
    rated.stream.arrival = "constant:1000".into();
    rated.stream.keepalive = false;
    let text = "[[request]]\nurl='a'\nstream='s'\n[stream.s]\nconnections=1\n";
    let only = parse(text, Path::new("a.toml"), &rated).unwrap();
    assert_eq!(only.streams.len(), 1, "a stream without requests is none of the plan's");
    assert_eq!((only.streams[0].arrival.as_str(), only.streams[0].keepalive), ("closed", false));
    assert_eq!(only.requests[0].stream, 0);
}

#[test]
fn a_stream_may_ramp_over_the_run() {
    let text = "[[request]]\nurl='a'\nstream='s'\n[stream.s]\nconnections=1\narrival='ramp:1..9'\n";
    assert!(
        wrong("a.toml", text)
            .starts_with("a.toml, line 4: stream \"s\": arrival \"ramp:1..9\": the length is unknown")
    );
    let timed = Defaults { seconds: Some(10.0), ..defaults() };
    assert_eq!(parse(text, Path::new("a.toml"), &timed).unwrap().streams[0].arrival, "ramp:1..9");
}

#[test]
fn a_list_of_urls() {
    let text = "\u{feff}# light pages\nhttp://localhost/a#part 3\n\n  /b 0.5 # often\r\n/b\n";
    let list = parse(text, Path::new("urls.txt"), &defaults()).unwrap();
    let seen: Vec<_> = list.requests.iter().map(|r| (r.url.as_str(), r.name.as_str(), r.weight)).collect();
    assert_eq!(
        seen,
        [
            ("http://localhost/a", "/a", 3.0),
            ("http://127.0.0.1:8080/b", "/b", 0.5),
            ("http://127.0.0.1:8080/b", "/b (2)", 1.0),
        ]
    );
    assert_eq!(list.streams, [Defaults::default().stream]);
}

#[test]
fn urls_of_a_command_line() {
    let plain = Defaults::default();
    let two = of_urls(&["http://[::1]:80/".into(), "https://localhost".into()], &plain).unwrap();
    assert_eq!(two.requests[0].url, "http://[::1]/");
    assert_eq!(
        (two.requests[1].url.as_str(), two.requests[1].name.as_str()),
        ("https://localhost/", "/ (2)")
    );
    let error = of_urls(&["localhost:80/x".into()], &plain).unwrap_err().to_string();
    assert_eq!(error, "localhost:80/x: localhost is not a scheme; write http://localhost:80/x");
}

#[test]
fn bodies_come_from_files_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mix.toml");
    std::fs::write(folder.path().join("form"), b"\x00\xff").unwrap();
    std::fs::write(&file, "[[request]]\nurl='/'\nmethod='PUT'\nbody-file='form'\n").unwrap();
    assert_eq!(read(&file, &defaults()).unwrap().requests[0].body, b"\x00\xff");
    std::fs::write(&file, "[[request]]\nurl='/'\nbody-file='none'\n").unwrap();
    let error = read(&file, &defaults()).unwrap_err().to_string();
    assert!(error.contains("line 1: body-file \"none\": cannot be read"), "{error}");
    assert!(
        read(&folder.path().join("missing"), &defaults()).unwrap_err().to_string().contains("cannot be read")
    );
    std::fs::write(&file, b"\xff").unwrap();
    assert!(read(&file, &defaults()).unwrap_err().to_string().contains("not text in UTF-8"));
    let large = std::fs::File::create(&file).unwrap();
    large.set_len((16 << 20) + 1).unwrap();
    assert!(read(&file, &defaults()).unwrap_err().to_string().contains("larger than the limit"));
}

#[test]
fn errors_of_a_request_file_have_their_line() {
    let request = |lines: &str| format!("# one\n[[request]]\nurl='/'\n[[request]]\nurl='/2'\n{lines}\n");
    for (lines, expected) in [
        ("weight=0", "line 4: weight 0 is not above 0"),
        ("weight=-1", "line 4: weight -1 is not above 0"),
        ("weight=inf", "line 4: weight inf is not above 0"),
        ("weihgt=1", "line 6: unknown field `weihgt`"),
        ("weight='1'", "line 6: invalid type: string"),
        ("headers={A=1}", "line 6: the value of a header must be a string or a list of strings, not integer"),
        ("headers={'A B'='c'}", "line 4: \"A B\" is not the name of a header"),
        ("headers={A=\"b\\r\\nEvil: 1\"}", "line 4: the value of the header A has a control character"),
        ("headers={Content-Length='5'}", "line 4: Content-Length \"5\", but the body has 0 bytes"),
        ("headers={transfer-encoding='chunked'}", "line 4: Transfer-Encoding is refused"),
        ("method='G T'", "line 4: \"G T\" is not a supported method"),
        ("method='CONNECT'", "line 4: \"CONNECT\" is not a supported method"),
        ("body=''\nbody-file='x'", "line 4: a request can have a body or a body-file, not both"),
        ("name='a'\n[[request]]\nurl='/'\nname='a'", "line 7: an earlier request has the name \"a\""),
        ("name=''", "line 4: \"\" is not a name"),
        ("class=\"\\u0007\"", "line 4: \"\\u{7}\" is not a class"),
        ("range='5-2'", "line 4: \"5-2\" is not a range"),
        ("range='0-1,3-4'", "line 4: \"0-1,3-4\" is not a range"),
        ("range='-0'", "line 4: \"-0\" is not a range"),
        ("range='0-1'\nheaders={RANGE='x'}", "line 4: the request has a range and a Range header"),
        ("stream='s'", "line 4: there is no stream \"s\"; declare it as [stream.s]"),
        (
            "stream=\"\\u001b[J\"",
            "line 4: there is no stream \"\\u{1b}[J\"; declare it as [stream.\\u{1b}[J]",
        ),
        ("\"a\\tb\"=1", "line 6: unknown field `a\\tb`"),
        ("[stream.s]\nconnections=1", "line 6: stream \"s\": the stream has no requests"),
        (
            "[stream.default]\nconnections=1",
            "line 6: stream \"default\": this is the name of the shared stream",
        ),
        ("stream='s'\n[stream.s]", "line 7: missing field `connections`"),
        ("stream='s'\n[stream.s]\nconnections=0", "line 7: stream \"s\": connections must be above 0"),
        ("stream='s'\n[stream.s]\nconnections=-1", "line 8: invalid value"),
        (
            "stream='s'\n[stream.s]\nconnections=1\nrate=0",
            "line 7: stream \"s\": arrival \"constant:0\": \"0\" is not a rate",
        ),
        (
            "stream='s'\n[stream.s]\nconnections=1\nrate=1\narrival='closed'",
            "line 7: stream \"s\": a stream can have an arrival or a rate",
        ),
        (
            "stream='s'\n[stream.s]\nconnections=1\nread-rate='50KB'",
            "line 7: stream \"s\": read-rate: \"50KB\" is not a read rate",
        ),
        ("stream='s'\n[stream.s]\nconnections=1\nabandon-after=0", "line 7: stream \"s\": abandon-after"),
        (
            "stream='s'\n[stream.s]\nconnections=1\nreceive-buffer='9GB'",
            "line 7: stream \"s\": receive-buffer: more",
        ),
        (
            "stream='s'\n[stream.s]\nconnections=1\nread-rate=true",
            "line 9: a quantity must be a number or a string",
        ),
        ("[[request]]\nurl='ftp://x/'", "line 6: ftp://x/: ftp is not supported"),
        ("[[request]]\nurl='http://a:b@c/'", "line 6: a URL with a user name or password is refused"),
        ("= 5", "line 6: "),
    ] {
        let error = wrong("mix.toml", &request(lines));
        assert!(error.starts_with(&format!("mix.toml, {expected}")), "{lines}: {error}");
    }
    assert_eq!(wrong("mix.toml", ""), "mix.toml: the file has no request");
}

#[test]
fn errors_of_a_list_have_their_line() {
    assert_eq!(wrong("urls", "/a\n/b often"), "urls, line 2: often: not a weight; write URL, or URL WEIGHT");
    assert_eq!(
        wrong("urls", "/a 1 2"),
        "urls, line 1: 2: unexpected text; write URL, or URL WEIGHT, one per line"
    );
    assert_eq!(wrong("urls", "/a nan"), "urls, line 1: weight NaN is not above 0");
    assert_eq!(wrong("urls", "# none"), "urls: the file has no request");
    assert!(wrong("urls", &"/\n".repeat(100_001)).contains("line 100001: more than 100000 requests"));
    assert!(wrong("urls", &format!("http://[{}", "x".repeat(1 << 20))).len() < 200);
    let error = parse("/a", Path::new("urls"), &Defaults::default()).unwrap_err().to_string();
    assert_eq!(error, "urls, line 1: /a: not an absolute URL; write http://HOST/PATH, or give a base");
}

#[test]
fn bodies_are_bounded_together() {
    let heavy = Defaults { body: vec![b'x'; 1 << 20], method: "POST".into(), ..defaults() };
    assert!(parse(&"/\n".repeat(64), Path::new("urls"), &heavy).is_ok());
    let error = parse(&"/\n".repeat(65), Path::new("urls"), &heavy).unwrap_err().to_string();
    assert!(
        error.starts_with("urls, line 65: with this body, all bodies together have more than"),
        "{error}"
    );
}

proptest! {
    #[test]
    fn no_text_panics(text in "(\\[\\[request\\]\\]\n)?(url = ')?[ -~\n]{0,80}") {
        for name in ["a.toml", "a"] {
            if let Err(error) = parse(&text, Path::new(name), &defaults()) {
                prop_assert!(!error.to_string().contains('\n'));
            }
        }
    }

    #[test]
    fn every_list_keeps_its_order_and_has_names_that_differ(paths in prop::collection::vec("/[a-c]?( \\(2\\))?", 1..20)) {
        let urls: Vec<String> = paths.iter().map(|p| format!("{BASE}{}", p.replace(' ', "%20"))).collect();
        let workload = of_urls(&urls, &defaults()).unwrap();
        let got: Vec<&String> = workload.requests.iter().map(|r| &r.url).collect();
        prop_assert_eq!(got, urls.iter().collect::<Vec<_>>());
        let names: std::collections::HashSet<_> = workload.requests.iter().map(|r| &r.name).collect();
        prop_assert_eq!(names.len(), urls.len());
    }
}
