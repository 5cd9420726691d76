//! `ab`'s own flags (of version 2.3) as ours. What has no counterpart is refused in one line; where real `ab` would have
//! measured something else, that is said.

use anyhow::{Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// `ab`'s command line in our words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translated {
    /// Our arguments, without the program and the verb.
    pub args: Vec<String>,
    /// What differs from what `ab` does, one line each.
    pub notes: Vec<String>,
}

/// Flags that take a value.
const VALUED: &str = "nctTpuHmCAbsvBPXywxzfegEZ";
const BARE: &str = "kilrqdSIhVwj";

/// Reads `ab`'s arguments.
pub fn translate(words: &[String]) -> Result<Translated> {
    let mut ab = Ab::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(flags) = word.strip_prefix('-').filter(|f| !f.is_empty()) else {
            if let Some(other) = ab.url.replace(word.clone()) {
                bail!("ab takes one URL, not {other} and {word}");
            }
            continue;
        };
        let mut rest = flags.chars();
        // As getopt reads them: bare flags may stand together, a value may follow at once.
        while let Some(flag) = rest.next() {
            if flag != 'w' && BARE.contains(flag) {
                ab.bare(flag)?;
            } else if VALUED.contains(flag) {
                let joined: String = rest.by_ref().collect();
                let value = if joined.is_empty() { words.next().cloned() } else { Some(joined) };
                let Some(value) = value else { bail!("ab's -{flag} needs a value") };
                ab.valued(flag, value)?;
            } else {
                bail!("ab has no flag -{flag}");
            }
        }
    }
    ab.finish()
}

#[derive(Debug, Default)]
struct Ab {
    url: Option<String>,
    out: Translated,
    keepalive: bool,
    requests: Option<String>,
    seconds: Option<String>,
    concurrency: Option<String>,
    content_type: Option<String>,
    method: Option<String>,
    body: bool,
    timeout: Option<String>,
}

impl Ab {
    fn bare(&mut self, flag: char) -> Result<()> {
        match flag {
            'k' => self.keepalive = true,
            'i' => self.method = Some("HEAD".into()),
            'q' => self.add("--quiet", None),
            'l' => self
                .note("-l is not needed: bodies that differ are detected, and checked by decoding samples"),
            'r' => self.note("-r is not needed: a failed connection is a failure, and the run goes on"),
            'd' | 'S' => self.note(&format!("-{flag} changes ab's report only")),
            'I' => bail!("ab's -I (no server name in TLS) has no counterpart here"),
            other => bail!("ab's -{other} has no counterpart; see weigh load --help"),
        }
        Ok(())
    }

    fn valued(&mut self, flag: char, value: String) -> Result<()> {
        match flag {
            'n' => self.requests = Some(value),
            'c' => self.concurrency = Some(value),
            't' => self.seconds = Some(value),
            's' => self.timeout = Some(value),
            'T' => self.content_type = Some(value),
            'm' => self.method = Some(value),
            'p' | 'u' => {
                self.body = true;
                self.method = Some(if flag == 'p' { "POST" } else { "PUT" }.into());
                self.add("--body-file", Some(value));
            }
            'H' => self.add("--header", Some(value)),
            'C' => self.add("--header", Some(format!("Cookie: {value}"))),
            'A' => self.add("--header", Some(format!("Authorization: Basic {}", STANDARD.encode(value)))),
            'b' => self.add("--receive-buffer", Some(value)),
            'v' if value.parse().is_ok_and(|level: u32| level >= 2) => self.add("--verbose", None),
            'v' => {}
            'f' if value.eq_ignore_ascii_case("all") => {}
            'f' => bail!("ab's -f {value}: the TLS version is negotiated here; leave -f out"),
            'Z' => bail!("ab's -Z: cipher suites are negotiated here; leave -Z out"),
            'E' => bail!("ab's -E: client certificates have no counterpart here"),
            'B' => bail!("ab's -B: the local address cannot be chosen here"),
            'P' | 'X' => bail!("ab's -{flag}: proxies have no counterpart here; load the server itself"),
            'e' | 'g' => bail!("ab's -{flag} {value}: give --csv FILE or --hlog FILE to weigh load itself"),
            other => bail!("ab's -{other} is about HTML tables, which have no counterpart; use --json"),
        }
        Ok(())
    }

    fn add(&mut self, flag: &str, value: Option<String>) {
        // One word, so that a value with a dash at its begin stays a value.
        self.out.args.push(value.map_or_else(|| flag.to_owned(), |v| format!("{flag}={v}")));
    }

    fn note(&mut self, note: &str) {
        self.out.notes.push(format!("ab: {note}"));
    }

    fn finish(mut self) -> Result<Translated> {
        let Some(url) = self.url.clone() else { bail!("the flags of ab have no URL") };
        let concurrency = self.concurrency.take().unwrap_or_else(|| "1".into());
        self.add("--connections", Some(concurrency));
        // With -t, ab stops at 50,000 requests unless a later -n says otherwise.
        let default = if self.seconds.is_some() { "50000" } else { "1" };
        let requests = self.requests.take().unwrap_or_else(|| default.into());
        self.add("--requests", Some(requests));
        for (flag, value) in [("--duration", self.seconds.take()), ("--timeout", self.timeout.take())] {
            if let Some(value) = value {
                self.add(flag, Some(value));
            }
        }
        if !self.keepalive {
            self.add("--no-keepalive", None);
        }
        if let Some(method) = self.method.take() {
            self.add("--method", Some(method));
        }
        if self.body {
            let kind = self.content_type.take().unwrap_or_else(|| "text/plain".into());
            self.add("--header", Some(format!("Content-Type: {kind}")));
        }
        self.add("--header", Some("User-Agent: ApacheBench/2.3".into()));
        self.add("--header", Some("Accept: */*".into()));
        // ab offers nothing of its own.
        self.add("--accept-encoding", Some("none".into()));
        let kept = if self.keepalive {
            ", and closes connections after responses without Content-Length"
        } else {
            ""
        };
        self.note(&format!(
            "real ab uses HTTP/1.0, for which nginx does not compress unless gzip_http_version says so{kept}; \
             this is HTTP/1.1; for HTTP/1.0 put --http 1.0 before --ab-args"
        ));
        self.out.args.push(url);
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        shell_words::split(line).unwrap()
    }

    fn args(line: &str) -> String {
        translate(&words(line)).unwrap().args.join(" ")
    }

    #[test]
    fn common_lines_are_ours() {
        assert_eq!(
            args("-k -n 1000 -c 10 -H 'Accept-Encoding: gzip' http://127.0.0.1/x"),
            "--header=Accept-Encoding: gzip --connections=10 --requests=1000 --header=User-Agent: ApacheBench/2.3 \
             --header=Accept: */* --accept-encoding=none http://127.0.0.1/x"
        );
        let joined = args("-kqn1000 -c10 http://127.0.0.1/x");
        assert!(joined.starts_with("--quiet --connections=10 --requests=1000"), "{joined}");
        assert!(!joined.contains("--no-keepalive"), "{joined}");
        let plain = args("http://127.0.0.1/x");
        assert!(plain.contains("--connections=1 --requests=1 --no-keepalive"), "{plain}");
    }

    #[test]
    fn bodies_time_and_authority() {
        let post = args("-t 5 -s 3 -p body.json -T application/json -A me:pw -C a=b http://127.0.0.1/x");
        for part in [
            "--requests=50000 --duration=5 --timeout=3",
            "--body-file=body.json",
            "--method=POST",
            "--header=Content-Type: application/json",
            "--header=Authorization: Basic bWU6cHc=",
            "--header=Cookie: a=b",
        ] {
            assert!(post.contains(part), "{part}: {post}");
        }
        assert!(args("-i http://127.0.0.1/x").contains("--method=HEAD"));
        assert!(args("-u f http://127.0.0.1/x").contains("--method=PUT --header=Content-Type: text/plain"));
        assert!(args("-m DELETE http://127.0.0.1/x").contains("--method=DELETE"));
    }

    #[test]
    fn what_cannot_be_done_is_one_line_that_names_the_flag() {
        for (line, said) in [
            ("-n 1", "no URL"),
            ("-n", "-n needs a value"),
            ("-X proxy:80 http://127.0.0.1/", "proxies"),
            ("-Z X http://127.0.0.1/", "cipher suites"),
            ("-f TLS1.1 http://127.0.0.1/", "TLS version"),
            ("-e f.csv http://127.0.0.1/", "--csv FILE"),
            ("-a http://127.0.0.1/", "no flag -a"),
            ("http://127.0.0.1/ http://127.0.0.2/", "one URL"),
        ] {
            let error = translate(&words(line)).unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains('\n'), "{line}: {error}");
        }
    }

    #[test]
    fn the_protocol_is_always_spoken_of_and_lost_keepalive_where_it_was_asked_for() {
        let notes = |line: &str| translate(&words(line)).unwrap().notes.join("\n");
        assert!(notes("http://127.0.0.1/").contains("HTTP/1.0"));
        assert!(!notes("http://127.0.0.1/").contains("closes connections"));
        assert!(notes("-k http://127.0.0.1/").contains("closes connections"));
        assert!(notes("-l http://127.0.0.1/").contains("-l is not needed"));
    }
}
