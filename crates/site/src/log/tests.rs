//! Logs as servers write them, and as nobody should.

use std::io::Write;

use proptest::prelude::*;

use super::*;

mod formats;

const CHROME: &str =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36";
const BOT: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";

fn counted(log: impl AsRef<[u8]>) -> Counted {
    let mut counter = Counter::of(Names::default());
    counter.stream("access.log", log.as_ref());
    counter.counted()
}

/// A combined line of a visitor.
fn combined(path: &str, status: u16, bytes: u64) -> String {
    format!(
        "203.0.113.7 - - [02/Jan/2026:03:04:05 +0000] \"GET {path} HTTP/1.1\" {status} {bytes} \"-\" \"{CHROME}\"\n"
    )
}

fn only(counted: &Counted) -> &PathTraffic {
    assert_eq!((counted.unreadable, counted.paths.len()), (0, 1), "{counted:?}");
    &counted.paths[0]
}

#[test]
fn a_combined_line_is_read() {
    let counted = counted(combined("/a.css?v=1", 200, 1234));
    let hits = Hits { requests: 1, bytes: 1234, whole: 1, views: 1, ..Hits::default() };
    assert_eq!(*only(&counted), PathTraffic { path: "/a.css".into(), hits, variants: Vec::new() });
    assert_eq!((counted.first, counted.last), (Some(1_767_323_045), Some(1_767_323_045)));
    assert_eq!((counted.codings.zstd_br_gzip, counted.codings.by_agent), (1, 1));
}

#[test]
fn each_format_of_text_is_read() {
    let time = "[02/Jan/2026:03:04:05 +0000]";
    let request = "\"GET /a HTTP/1.1\" 200 5";
    for line in [
        format!("203.0.113.7 - - {time} {request}"),
        format!("203.0.113.7 - alice smith {time} {request} \"https://x/\" \"{CHROME}\""),
        format!("shop.example:443 203.0.113.7 - - {time} {request} \"-\" \"{CHROME}\""),
        format!("[2001:db8::1]:443 2001:db8::1 - - {time} {request} \"-\" \"{CHROME}\""),
        // lighttpd, with the host in the second field.
        format!("203.0.113.7 shop.example - {time} {request} \"-\" \"{CHROME}\""),
        format!("203.0.113.7 - - {time} shop.example {request} \"-\" \"{CHROME}\""),
        format!("203.0.113.7 - - {time} {request} \"-\" \"{CHROME}\" \"10.0.0.1\" 0.250 0.249 . -"),
        format!("203.0.113.7 - - {time} {request} \"-\" \"{CHROME}\" \"gzip, br\" rt=0.250 uct=\"0.000\"\r"),
        format!("203.0.113.7 - - [2026-01-02T03:04:05+00:00] {request} \"-\" \"{CHROME}\""),
    ] {
        let counted = counted(&line);
        let path = only(&counted);
        assert_eq!((&*path.path, path.hits.bytes, counted.first), ("/a", 5, Some(1_767_323_045)), "{line}");
        // Of two times without names the second, which is never longer, is that of PHP.
        let seconds =
            if line.contains("0.249") { Some(0.249) } else { line.contains("0.250").then_some(0.25) };
        assert_eq!(counted.script_seconds, seconds, "{line}");
        assert_eq!(counted.codings.by_header, u64::from(line.contains("gzip, br")), "{line}");
    }
}

#[test]
fn json_of_nginx_is_read_with_the_keys_that_people_use() {
    for line in [
        r#"{"time_iso8601":"2026-01-02T03:04:05+00:00","request":"GET /a?b=1 HTTP/1.1","status":"200","body_bytes_sent":"5","bytes_sent":"300","request_time":"0.250","http_user_agent":"AGENT","http_accept_encoding":"gzip, br"}"#,
        r#"{"time_local":"02/Jan/2026:03:04:05 +0000","request_method":"GET","request_uri":"/a?b=1","status":200,"bytes_sent":5,"request_time":0.25,"http_user_agent":"AGENT","http_accept_encoding":"br, gzip"}"#,
        r#" {"msec":1767323045.678,"method":"GET","uri":"/a","args":"b=1","status":200,"size":5,"request_time":0.25,"user_agent":"AGENT","accept_encoding":"br, gzip","more":[{"x":null}]}"#,
        r#"{"msec":"1767323045.678","request":"GET \u002fa?b=1 HTTP/2.0","request_method":"GET","uri":"/index.php","status":"200","body_bytes_sent":5,"request_time":"0.250","http_user_agent":"AGENT","http_accept_encoding":"br, gzip"}"#,
    ] {
        let counted = counted(line.replace("AGENT", CHROME));
        let path = only(&counted);
        assert_eq!((&*path.path, path.hits.bytes, path.variants[0].keys.as_str()), ("/a", 5, "b"), "{line}");
        assert_eq!((counted.first, counted.script_seconds), (Some(1_767_323_045), Some(0.25)), "{line}");
        assert_eq!((counted.codings.br_gzip, counted.codings.by_header), (1, 1), "{line}");
    }
}

#[test]
fn the_servers_own_address_is_none_that_a_proxy_forwarded() {
    let line = |at: usize, name: &str| {
        format!(
            "{{\"time_iso8601\":\"2026-01-02T03:04:{:02}+00:00\",\"remote_addr\":\"203.0.113.{}\",\"{name}\":\"198.51.100.9\",\"request_method\":\"GET\",\
             \"request_uri\":\"/a\",\"status\":200,\"body_bytes_sent\":5,\"http_user_agent\":\"{CHROME}\"}}\n",
            at % 60,
            at % 250
        )
    };
    let front = |name: &str| counted((0..400).map(|at| line(at, name)).collect::<String>()).front;
    assert_eq!((front("server_addr"), front("host")), (None, None));
    assert!(front("http_x_forwarded_for").is_some());
}

#[test]
fn json_of_caddy_is_read() {
    let line = r#"{"level":"info","ts":1767323045.678,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"203.0.113.7","remote_port":"1","client_ip":"203.0.113.7","proto":"HTTP/2.0","method":"GET","host":"shop.example","uri":"/a?b","headers":{"User-Agent":["AGENT"],"Accept-Encoding":["gzip, deflate, br, zstd"],"Cookie":["REDACTED"]},"tls":{"resumed":false,"version":772}},"bytes_read":0,"user_id":"","duration":0.25,"size":5,"status":200,"resp_headers":{"Server":["Caddy"]}}"#;
    let line = line.replace("AGENT", CHROME);
    let with = counted(&line);
    assert_eq!((&*only(&with).path, only(&with).hits.bytes), ("/a", 5));
    assert_eq!((with.first, with.script_seconds), (Some(1_767_323_045), Some(0.25)));
    assert_eq!((with.codings.zstd_br_gzip, with.codings.by_header), (1, 1));
    // A header that is not there was not sent.
    let without = counted(line.replace(r#","Accept-Encoding":["gzip, deflate, br, zstd"]"#, ""));
    assert_eq!((without.codings.none, without.codings.by_header), (1, 1));
    let error = counted(line.replace("http.log.access.log0", "http.log.error.log0"));
    assert_eq!((error.requests(), error.unreadable), (0, 1));
}

#[test]
fn statuses_methods_and_clients_are_apart() {
    let mut log = String::new();
    for status in [200, 200, 204, 206, 304, 301, 404, 499, 502, 101] {
        log += &combined("/a", status, 10);
    }
    log += &combined("/a", 200, 0).replace("GET", "HEAD");
    log += &combined("/a", 200, 7).replace("GET", "POST");
    log += &combined("/a", 200, 7).replace(CHROME, BOT);
    log += &combined("/a", 400, 0).replace("GET /a HTTP/1.1", r"\x16\x03\x01\x00");
    log += &combined("/a", 408, 0).replace("GET /a HTTP/1.1", "-");
    log += "{\"ts\":1767323045,\"request\":\"\",\"request_method\":\"\",\"uri\":\"\",\"status\":400}\n";
    log += &combined("/a", 200, 0).replace("GET /a HTTP/1.1", "OPTIONS * HTTP/1.0");
    let counted = counted(log);
    assert_eq!(counted.visitors, Traffic { requests: 12, bytes: 107 });
    assert_eq!((counted.bots.requests, counted.bots.bytes, counted.malformed.requests), (1, 7, 4));
    assert_eq!((counted.lines, counted.requests(), counted.unreadable), (17, 17, 0));
    let hits =
        Hits { requests: 12, bytes: 107, not_modified: 1, partial: 1, other_bytes: 70, whole: 3, views: 3 };
    assert_eq!(only(&counted).hits, hits);
}

#[test]
fn where_codings_are_known_from_is_told() {
    let line =
        |agent: &str, accept: &str| combined("/a", 200, 1).replace(CHROME, agent).replace('\n', accept);
    let log = [
        line(CHROME, " \"gzip, br\"\n"),
        line(CHROME, " \"-\"\n"),
        line("Nobody/1", " \"gzip\"\n"),
        // A line with fewer fields than the others.
        line(CHROME, "\n"),
        line("Nobody/1", "\n"),
    ];
    let codings = counted(log.concat()).codings;
    let expected =
        Codings { zstd_br_gzip: 1, br_gzip: 1, gzip: 2, none: 1, by_header: 3, by_agent: 1, assumed: 1 };
    assert_eq!(codings, expected);
}

#[test]
fn broken_lines_are_counted_and_the_rest_goes_on() {
    let good = combined("/a", 200, 1);
    let broken: Vec<Vec<u8>> = vec![
        b"\n\n".to_vec(),
        b"not a log line\n".to_vec(),
        good.replace("200 1", "-200 1").into_bytes(),
        good.replace("200 1", "200 -1").into_bytes(),
        good.replace("200 1", "200 99999999999999999999").into_bytes(),
        good.replace("200 1", "2000 1").into_bytes(),
        good.replace("02/Jan", "31/Feb").into_bytes(),
        good.replace("2026", "0026").into_bytes(),
        good.replace("/a", "/\0").into_bytes(),
        [&b"1 - - [02/Jan/2026:03:04:05 +0000] \"GET /\xff HTTP/1.1\" 200 1\n"[..]].concat(),
        good.replace("HTTP/1.1\"", "HTTP/1.1").replace('"', "'").into_bytes(),
        // As UTF-16 has them.
        good.trim().bytes().flat_map(|b| [b, 0]).chain(*b"\n").collect(),
        format!("{}\n", "x".repeat(1 << 20)).into_bytes(),
        good.replace("/a", &format!("/{}", "y".repeat(1 << 20))).into_bytes(),
        b"{\"request\":\n".to_vec(),
        b"{}\n".to_vec(),
        b"{\"ts\":1767323045,\"status\":-1,\"request\":\"GET / HTTP/1.1\"}\n".to_vec(),
        b"{\"ts\":1767323045,\"status\":200,\"size\":-1,\"request\":\"GET / HTTP/1.1\"}\n".to_vec(),
        b"{\"ts\":1e300,\"status\":200,\"request\":\"GET / HTTP/1.1\"}\n".to_vec(),
        format!("{}\n", "[".repeat(60_000)).into_bytes(),
        format!("{}\n", "{\"request\":".repeat(6_000)).into_bytes(),
    ];
    for line in &broken {
        let counted = counted([good.as_bytes(), line, good.as_bytes()].concat());
        assert_eq!(
            counted.visitors.requests,
            2,
            "{:?}",
            String::from_utf8_lossy(&line[..line.len().min(200)])
        );
        let is_empty = line == b"\n\n";
        assert_eq!(counted.unreadable == 0, is_empty);
        assert_eq!(counted.example.map(|example| example.line), (!is_empty).then_some(2));
        assert_eq!(counted.lines, 2 + counted.unreadable);
    }
    let all = counted([broken.concat(), good.into_bytes()].concat());
    assert_eq!(all.visitors.requests, 1);
    assert_eq!(
        all.example,
        Some(Example { file: "access.log".into(), line: 3, why: "no access log line of a known format" })
    );
}

#[test]
fn formats_may_be_mixed_within_a_file() {
    let json = r#"{"msec":1767323045.0,"request":"GET /a HTTP/1.1","status":200,"body_bytes_sent":5}"#;
    let common = "203.0.113.7 - - [02/Jan/2026:03:04:05 +0000] \"GET /a HTTP/1.0\" 200 5";
    let counted = counted(format!("{json}\n{common}\n{}{json}\n", combined("/a", 200, 5)));
    assert_eq!((only(&counted).hits.requests, only(&counted).hits.bytes), (4, 20));
}

fn packed(log: &str) -> [Vec<u8>; 2] {
    let mut gz = Vec::new();
    // Rotated logs may have several members.
    for part in [&log[..log.len() / 3], &log[log.len() / 3..]] {
        let mut member = flate2::write::GzEncoder::new(&mut gz, flate2::Compression::fast());
        member.write_all(part.as_bytes()).unwrap();
        member.finish().unwrap();
    }
    [gz, ruzstd::encoding::compress_to_vec(log.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)]
}

#[test]
fn files_are_read_whatever_they_are_called_and_once() {
    let dir = tempfile::tempdir().unwrap();
    let log: String = (0..3_000).map(|n| combined(&format!("/{}", n % 7), 200, n)).collect();
    let mut paths = Vec::new();
    // The same lines of another client; a copy of a file is one.
    let other = |client: &str| packed(&log.replace("203.0.113.7", client));
    let ([gz, _], [_, zst]) = (other("203.0.113.8"), other("203.0.113.9"));
    let copy = &packed(&log)[0];
    for (name, content) in
        [("access.log", log.as_bytes()), ("access.log.1", &gz), ("access.log.2.gz", &zst), ("copy.gz", copy)]
    {
        paths.push(dir.path().join(name));
        std::fs::write(paths.last().unwrap(), content).unwrap();
    }
    paths.push(dir.path().join("again.log"));
    std::os::unix::fs::symlink(&paths[0], &paths[4]).unwrap();
    let all = read(&paths, Names::default(), &Interrupt::new()).unwrap();
    assert_eq!((all.files, all.visitors.requests, all.problems.len()), (4, 9_000, 2), "{:?}", all.problems);
    assert!(
        all.problems[0].contains("begins with the same lines") && all.problems[1].contains("given twice")
    );
    let one = read(&paths[..1], Names::default(), &Interrupt::new()).unwrap();
    assert_eq!(all.visitors.bytes, 3 * one.visitors.bytes);
    assert_eq!(all.paths.len(), 7);
}

#[test]
fn what_is_no_regular_file_is_one_line_and_the_rest_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let (log, pipe) = (dir.path().join("access.log"), dir.path().join("pipe\x1b[2J"));
    std::fs::write(&log, combined("/a", 200, 1)).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    let gone = dir.path().join("gone.log");
    let cut = dir.path().join("cut.gz");
    let [gz, _] = packed(&combined("/a", 200, 1).repeat(2_000));
    std::fs::write(&cut, &gz[..gz.len() - 9]).unwrap();
    let paths = [dir.path().to_owned(), pipe, "/dev/null".into(), gone, cut, log];
    let counted = read(&paths, Names::default(), &Interrupt::new()).unwrap();
    assert!(counted.visitors.requests > 1_000, "{counted:?}");
    let said = [
        "is a folder: give a regular file",
        "is a named pipe",
        "is a device",
        "no such file",
        "lines were counted:",
    ];
    assert_eq!(counted.problems.len(), said.len(), "{:?}", counted.problems);
    for (problem, said) in counted.problems.iter().zip(said) {
        assert!(problem.contains(said) && !problem.contains(char::is_control), "{problem}");
    }
}

/// Cuts its file short, or appends to it, when half of it is read, as rotation does.
struct Rotating<'f> {
    file: &'f std::fs::File,
    left: usize,
    length: u64,
}

impl Read for Rotating<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            self.file.set_len(self.length)?;
        }
        self.left = self.left.wrapping_sub(1);
        let room = buffer.len().min(4096);
        (&mut &*self.file).read(&mut buffer[..room])
    }
}

#[test]
fn a_log_that_is_cut_while_it_is_read_ends_there() {
    let line = combined("/a", 200, 1);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(line.repeat(1_000).as_bytes()).unwrap();
    io::Seek::rewind(&mut file).unwrap();
    let mut counter = Counter::of(Names::default());
    counter.stream("access.log", Rotating { file: &file, left: 8, length: 0 });
    let counted = counter.counted();
    assert_eq!(counted.visitors.requests, 8 * 4096 / line.len() as u64);
    // The line at which it was cut.
    assert!(counted.problems.is_empty() && counted.unreadable <= 1, "{counted:?}");
}

#[test]
fn a_log_that_is_renamed_and_grows_is_read_as_long_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let (now, then) = (dir.path().join("access.log"), dir.path().join("access.log.1"));
    std::fs::write(&now, combined("/a", 200, 1)).unwrap();
    let mut file = std::fs::File::open(&now).unwrap();
    std::fs::rename(&now, &then).unwrap();
    std::fs::write(&now, combined("/b", 200, 1).repeat(2)).unwrap();
    let mut counter = Counter::of(Names::default());
    counter.stream("access.log", &mut file);
    counter.file(&now, &Interrupt::new()).unwrap();
    let counted = counter.counted();
    let found: Vec<_> = counted.paths.iter().map(|p| (&*p.path, p.hits.requests)).collect();
    assert_eq!(found, [("/b", 2), ("/a", 1)]);
}

#[test]
fn the_user_may_end_it() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let interrupt = Interrupt::new();
    interrupt.set();
    let ended = read(&[file.path().to_owned()], Names::default(), &interrupt).unwrap_err();
    assert_eq!(ended.to_string(), INTERRUPTED);
}

#[test]
fn what_is_of_a_person_is_not_kept() {
    let combined = r#"203.0.113.77 ident-x alice-x [02/Jan/2026:03:04:05 +0000] "GET http://bob-x:pw-x@shop/a?token=secret-x HTTP/1.1" 200 5 "https://referer-x/" "Agent-x/1" "cookie-x" "198.51.100.77""#;
    let caddy = r#"{"ts":1767323045,"request":{"remote_ip":"203.0.113.77","method":"GET","host":"host-x","uri":"/a?secret-x","headers":{"User-Agent":["Agent-x/2"],"Cookie":["cookie-x"],"Referer":["referer-x"]}},"user_id":"alice-x","status":200,"size":5}"#;
    let nginx = r#"{"msec":"1767323045","remote_addr":"203.0.113.77","remote_user":"alice-x","request":"GET /a?secret-x HTTP/1.1","status":"200","http_referer":"referer-x","http_cookie":"cookie-x","http_user_agent":"Agent-x/3"}"#;
    let broken = r#"203.0.113.77 - alice-x [bad] "GET /a?secret-x HTTP/1.1" 200 5 "referer-x" "Agent-x/1""#;
    let counted = counted([combined, caddy, nginx, broken].join("\n"));
    assert_eq!((counted.visitors.requests, counted.unreadable), (3, 1), "{counted:?}");
    let shown = format!("{counted:?}");
    assert!(shown.contains("\"/a\""));
    for personal in [
        "203.0.113",
        "198.51",
        "ident-x",
        "alice-x",
        "bob-x",
        "pw-x",
        "secret",
        "referer",
        "Agent",
        "cookie",
        "host-x",
    ] {
        assert!(!shown.contains(personal), "{personal}: {shown}");
    }
}

fn checked(counted: &Counted) {
    let visitors = &counted.visitors;
    let listed: u64 = counted.paths.iter().map(|path| path.hits.requests).sum();
    assert_eq!(listed + counted.others.requests, visitors.requests);
    let bytes: u64 = counted.paths.iter().map(|path| path.hits.bytes).sum();
    assert_eq!(bytes + counted.others.bytes, visitors.bytes);
    let codings = &counted.codings;
    assert_eq!(codings.zstd_br_gzip + codings.br_gzip + codings.gzip + codings.none, visitors.requests);
    assert_eq!(codings.by_header + codings.by_agent + codings.assumed, visitors.requests);
    assert_eq!(counted.lines, counted.requests() + counted.unreadable + counted.elsewhere);
}

/// A line of any format, right or wrong.
fn line() -> impl Strategy<Value = String> {
    let agents = prop_oneof![Just(CHROME.to_owned()), Just(BOT.to_owned()), "[ -~]{0,20}"];
    let extras = prop_oneof![Just(""), Just(" \"gzip, br\""), Just(" \"-\" 0.125"), Just(" 1.250")];
    let text = (0u32..24, 0u32..60, "/[a-d%2e/?.]{0,4}", 100u16..600, 0u64..5_000, agents, extras).prop_map(
        |(hour, second, path, status, bytes, agent, extra)| {
            format!(
                "::1 - - [02/Jan/2026:{hour:02}:00:{second:02} +0000] \"GET {path} HTTP/1.1\" {status} {bytes} \"-\" \"{agent}\"{extra}"
            )
        },
    );
    let json = (0u32..3_600, "/[a-d?]{0,4}", 100u16..600).prop_map(|(second, path, status)| {
        format!(
            r#"{{"ts":{}.5,"request":{{"method":"HEAD","uri":"{path}"}},"status":{status},"duration":0.25}}"#,
            1_767_312_000 + second
        )
    });
    prop_oneof![4 => text, 2 => json, 1 => "[ -~]{0,40}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_counted(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        checked(&counted(bytes));
    }

    #[test]
    fn a_line_with_any_bytes_in_it_is_counted(at in 0usize..200, bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
        let mut log = combined("/a", 200, 1).into_bytes();
        let at = at.min(log.len());
        log.splice(at..at, bytes);
        checked(&counted(log));
    }

    #[test]
    fn the_order_of_lines_changes_nothing(
        (lines, other) in proptest::collection::vec(line(), 0..60).prop_flat_map(|lines| (Just(lines.clone()), Just(lines).prop_shuffle()))
    ) {
        let count = |lines: &[String]| {
            let log: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let mut counted = Counted { example: None, ..counted(log) };
            // Of query strings with the same keys the first is the example.
            counted.paths.iter_mut().flat_map(|path| &mut path.variants).for_each(|one| one.query.clear());
            counted
        };
        let found = count(&lines);
        checked(&found);
        prop_assert_eq!(found, count(&other));
    }
}

#[test]
fn a_cache_of_pages_answers_what_was_asked_for_while_it_is_fresh() {
    let line = |seconds: u32, what: &str, agent: &str| {
        let time = format!("02/Jan/2026:03:{:02}:{:02} +0000", seconds / 60, seconds % 60);
        format!("203.0.113.7 - - [{time}] \"{what} HTTP/1.1\" 200 1000 \"-\" \"{agent}\"\n")
    };
    let asked = [
        (0, "GET /", CHROME),
        (0, "GET /", CHROME),
        (0, "GET /x?b=1", CHROME),
        (0, "GET /x?b=2", CHROME),
        (1, "POST /", CHROME),
        (5, "GET /", BOT),
        (9, "GET /app.css", CHROME),
        (70, "GET /", CHROME),
        (71, "HEAD /", CHROME),
    ];
    let cached = |strip: bool| {
        let of = |(seconds, what, agent): &(u32, &str, &str)| {
            let what = if strip { what.split('?').next().unwrap() } else { what };
            line(*seconds, what, agent)
        };
        counted(asked.iter().map(of).collect::<String>()).cached.all
    };
    let all = cached(false);
    let of = |seconds: u64| all.iter().find(|one| one.seconds == seconds).unwrap();
    let share = |hits: f64, asked: f64| (hits / asked * 1e4).round() / 1e4;
    // Of eight requests for scripts: the second of / at once, the bot's within ten seconds, and the last GET within ten minutes.
    assert_eq!(
        [1, 10, 60, 300].map(|seconds| of(seconds).hits),
        [1.0, 2.0, 2.0, 3.0].map(|hits| share(hits, 8.0))
    );
    assert_eq!(
        [1, 10, 60, 300].map(|seconds| of(seconds).visitors),
        [1.0, 1.0, 1.0, 2.0].map(|hits| Some(share(hits, 7.0)))
    );
    assert!(all.iter().all(|one| !one.at_most && one.megabytes.is_some_and(|all| all <= 0.01)), "{all:?}");
    // Without queries two pages look like one.
    let stripped = cached(true);
    assert!(stripped.iter().all(|one| one.at_most) && stripped[0].hits == share(2.0, 8.0), "{stripped:?}");
}
