//! Logs that no web server of a site writes, known by words in their lines.

/// What a log is, and words that each of its lines has.
const KNOWN: [(&str, &[&str]); 17] = [
    ("an access log of IIS (W3C)", &["#Software: Microsoft Internet Information"]),
    ("a log of CloudFront", &["#Fields:", "x-edge-location"]),
    ("a log in W3C's extended format", &["#Fields:"]),
    ("a log of HAProxy", &["haproxy[", "] "]),
    ("a log of Nginx Proxy Manager", &["[Client ", "] [Length "]),
    ("Traefik's JSON (its `common` format is read)", &["\"DownstreamStatus\":"]),
    ("Traefik's JSON (its `common` format is read)", &["\"RequestPath\":", "\"RouterName\":"]),
    ("a log of Cloudflare", &["\"EdgeResponseStatus\":"]),
    ("a log of Cloudflare", &["\"ClientRequestURI\":"]),
    ("a log of an AWS load balancer", &["Z app/"]),
    ("a log of Amazon S3", &[" REST.", ".OBJECT "]),
    ("a log of Google Cloud's load balancer", &["\"httpRequest\":", "\"requestUrl\":"]),
    ("a log of Envoy", &["Z] \"", "via_upstream"]),
    ("a log of Squid", &[" TCP_", "/"]),
    ("nginx's error log", &[" [error] ", "#", ": *"]),
    ("nginx's error log", &[" [warn] ", "#", ": "]),
    ("Apache's error log", &[":error] [pid "]),
];

/// A line that names fields counts as much as all lines that are looked at.
const HEAD: usize = 1_000;

/// What most of the first lines of a file are, if they are known to be of something else.
pub fn name<'l>(lines: impl Iterator<Item = &'l [u8]>) -> Option<&'static str> {
    let mut counts = [0; KNOWN.len()];
    let mut all = 0;
    for line in lines {
        // The fields are named once, before all lines.
        let is_head = line.starts_with(b"#");
        all += usize::from(!is_head);
        let has = |word: &&str| memchr::memmem::find(line, word.as_bytes()).is_some();
        if let Some(at) = KNOWN.iter().position(|(_, words)| words.iter().all(has)) {
            counts[at] += if is_head { HEAD } else { 1 };
        }
    }
    let most = counts.iter().enumerate().max_by_key(|(at, count)| (**count, usize::MAX - at))?;
    (*most.1 * 2 > all && *most.1 > 0).then(|| KNOWN[most.0].0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_logs_are_named_and_others_are_not() {
        let of = |text: &str| name(text.lines().map(str::as_bytes));
        assert_eq!(
            of("#Version: 1.0\n#Fields: date time cs-method\n2026-01-02 03:04:05 GET\nx\ny\nz"),
            Some("a log in W3C's extended format")
        );
        assert_eq!(of("2026/01/02 03:04:05 [error] 7#7: *9 open() failed"), Some("nginx's error log"));
        assert_eq!(of("::1 - - [02/Jan/2026:03:04:05 +0000] \"GET /app/ HTTP/1.1\" 200 5"), None);
        assert_eq!(of(""), None);
        assert_eq!(of(&"#Fields: x\n".repeat(1_000)), Some("a log in W3C's extended format"));
    }
}
