//! The same requests in the formats of many servers: what is counted is the same, as far as the format has it.

use super::*;

/// Placeholders of a format: `ADDR`, `HOST`, `TIME` (of nginx and Apache), `ISO`, `MSEC`, `METHOD`, `TARGET`, `REQUEST`, `STATUS`, `BYTES` (of the body), `DASHED` (`-` for
/// none), `LENGTH` (of the request), `REF`, `AGENT`, `ACCEPT`, `RT` and `URT` (seconds), and times of Caddy in `SEC`, `MS`, `NS` and `STR`.
struct Format {
    name: &'static str,
    /// What it has beside path, status and agent.
    has: &'static str,
    line: &'static str,
}

/// Of each its name, what it has, and a line.
fn formats() -> Vec<Format> {
    let format = |text: &'static str| {
        let (head, line) = text.split_once('\n').unwrap();
        let (name, has) = head.split_once(':').unwrap();
        Format { name, has: has.trim_start(), line }
    };
    include_str!("formats.txt").trim_end().split("\n\n").map(format).collect()
}

/// 60 requests: 24 pages of 2.5 ms behind PHP, 5.25 ms in all; 24 style sheets, six 304, three HEAD and three of a bot. One in four is for blog.example.
fn log(line: &str) -> String {
    let request = |n: u32| {
        let (target, php, method, status, bytes) = match n % 20 {
            0..=7 => (format!("/shop/{}", n % 3), true, "GET", 200, 9_000 + n),
            8..=15 => ("/css/app.css".to_owned(), false, "GET", 200, 5_000),
            16 | 17 => ("/css/app.css".to_owned(), false, "GET", 304, 0),
            18 => ("/shop/1".to_owned(), true, "HEAD", 200, 0),
            _ => ("/shop/2".to_owned(), true, "GET", 200, 8_000),
        };
        let (rt, urt) = if php {
            (format!("0.00{}", 5 + n % 2), "0.002".to_owned())
        } else {
            ("0.000".into(), "-".into())
        };
        let micros = if php { 5_000 + n % 2 * 1_000 } else { 12 + n };
        let nanos = u64::from(micros) * 1_000 + 501;
        let (second, minute) = (n % 60, n / 60);
        [
            ("REQUEST", format!("{method} {target} HTTP/1.1")),
            ("ADDR", format!("192.0.2.{}", n % 40)),
            ("HOST", if n % 4 == 3 { "blog.example" } else { "shop.example" }.to_owned()),
            ("TIME", format!("02/Jan/2026:03:{minute:02}:{second:02} +0000")),
            ("ISO", format!("2026-01-02T03:{minute:02}:{second:02}+00:00")),
            ("MSEC", format!("{}.678", 1_767_322_800 + minute * 60 + second)),
            ("METHOD", method.to_owned()),
            ("TARGET", target),
            ("STATUS", status.to_string()),
            ("BYTES", bytes.to_string()),
            ("DASHED", if bytes == 0 { "-".to_owned() } else { bytes.to_string() }),
            ("LENGTH", format!("{}", 500 + n % 7)),
            ("REF", if n.is_multiple_of(2) { "-".to_owned() } else { "https://search.example/".to_owned() }),
            ("AGENT", if n % 20 == 19 { BOT } else { CHROME }.to_owned()),
            ("ACCEPT", "gzip, deflate, br".to_owned()),
            ("URT", urt),
            ("RT", rt),
            ("SEC", format!("{}", nanos as f64 / 1e9)),
            ("MS", format!("{}", nanos as f64 / 1e6)),
            ("NS", nanos.to_string()),
            ("STR", format!("{}ms", nanos as f64 / 1e6)),
            ("MICROS", micros.to_string()),
        ]
        .into_iter()
        .fold(line.to_owned(), |line, (name, value)| replaced(&line, name, &value))
    };
    (0..60).map(|n| request(n) + "\n").collect()
}

/// Whole words only: `RT` stands in `URT`.
fn replaced(line: &str, name: &str, value: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let is_whole = !before.ends_with(|c: char| c.is_ascii_uppercase())
            && (!after.starts_with(|c: char| c.is_ascii_uppercase()) || after.starts_with("TARGET"));
        out += before;
        out += if is_whole { value } else { name };
        rest = after;
    }
    out + rest
}

#[test]
fn each_format_counts_the_same() {
    let formats = formats();
    assert_eq!(formats.len(), 48);
    for Format { name, has, line } in formats {
        let has = |what: &str| has.split(' ').any(|one| one == what);
        let counted = counted(log(line));
        let case = format!("{name}: {:?}\n{}", counted.example, log(line).lines().next().unwrap());
        assert_eq!((counted.lines, counted.unreadable), (60, 0), "{case}");
        assert_eq!(
            (counted.visitors.requests, counted.bots.requests, counted.without_agent),
            (57, 3, 0),
            "{case}"
        );
        let not_modified: u64 = counted.paths.iter().map(|one| one.hits.not_modified).sum();
        assert_eq!(not_modified, 6, "{case}");
        let views: u64 =
            counted.paths.iter().filter(|one| one.path != "/css/app.css").map(|one| one.hits.views).sum();
        assert_eq!(views, 24, "{case}");
        if has("bytes") {
            let pages: u64 = (0..60).filter(|n| n % 20 < 8).map(|n| 9_000 + n).sum();
            assert_eq!(counted.visitors.bytes, 24 * 5_000 + pages, "{case}");
        }
        let hosts: Vec<(&str, u64)> =
            counted.hosts.iter().map(|(host, lines)| (host.as_str(), *lines)).collect();
        assert_eq!(
            hosts,
            if has("host") { vec![("shop.example", 45), ("blog.example", 15)] } else { vec![] },
            "{case}"
        );
        assert_eq!(counted.codings.by_header, if has("accept") { 57 } else { 0 }, "{case}");
        let millis = counted.script_seconds.map(|seconds| (seconds * 1e3).round());
        let wanted = if has("urt") { Some(2.0) } else { has("rt").then_some(6.0) };
        assert!(millis == wanted || wanted == Some(6.0) && millis == Some(5.0), "{millis:?} {case}");
        let (first, last) = (1_767_322_800, 1_767_322_859);
        assert_eq!((counted.first, counted.last), (Some(first), Some(last)), "{case}");
        let shop = Names::new(["shop.example"]);
        let mut counter = Counter::of(shop);
        counter.stream("access.log", log(line).as_bytes());
        let own = counter.counted();
        assert_eq!(own.elsewhere, if has("host") { 15 } else { 0 }, "{case}");
        checked(&own);
    }
}

#[test]
fn foreign_formats_are_named_and_not_counted() {
    for (line, what) in [
        (
            "#Software: Microsoft Internet Information Services 10.0\n#Fields: date time cs-method\n2026-01-02 03:04:05 GET",
            "IIS",
        ),
        (
            r#"Jan  2 03:04:05 lb haproxy[8]: 192.0.2.7:33 [02/Jan/2026:03:04:05.655] https~ php/web1 1/0/3/6/10 200 275 - - ---- 1/1/1/1/0 0/0 "GET /a HTTP/1.1""#,
            "HAProxy",
        ),
        (
            r#"[02/Jan/2026:03:04:05 +0000] - 200 200 - GET https shop.example "/a" [Client 192.0.2.7] [Length 9] [Gzip 4.1] [Sent-to 10.8.0.1] "Mozilla/5.0" "-""#,
            "Nginx Proxy Manager",
        ),
        (
            r#"https 2026-01-02T03:04:05.186641Z app/lb/50dc 192.0.2.7:28 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET https://shop.example:443/a HTTP/1.1" "Mozilla/5.0" E T"#,
            "AWS",
        ),
        (
            r#"{"DownstreamStatus":200,"RequestMethod":"GET","RequestPath":"/a","time":"2026-01-02T03:04:05Z"}"#,
            "Traefik",
        ),
    ] {
        let found = counted(line);
        assert_eq!((found.lines, found.requests(), found.problems.len()), (0, 0, 1), "{line}");
        assert!(
            found.problems[0].contains(what) && found.problems[0].contains("a format that is not read"),
            "{:?}",
            found.problems
        );
    }
}
