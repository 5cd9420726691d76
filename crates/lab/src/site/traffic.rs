//! What access logs say, per month: requests of each file and of all pages, what clients accept, the busiest hour.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::hits::{Asked, Hits, MONTH_DAYS};
use super::local::Named;
use super::log::{self, Codings, Counted};
use super::served::Served;
use crate::interrupt::Interrupt;
use crate::lab::Progress;
use weigh_model::site::{Accept, Figure, From};
use weigh_model::units::count;

/// Seconds of a day, and the least that a log is taken to cover.
const DAY: f64 = 86_400.0;
const LEAST: f64 = 3_600.0;

/// What logs say, per month.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Requests by path: of files, and of pages.
    pub asked: Asked,
    /// What is asked of all pages together.
    pub pages: Hits,
    /// How many paths of pages there are.
    pub page_paths: u64,
    /// Milliseconds that a page takes, where the log has times.
    pub made_ms: Option<f64>,
    /// What clients accept; empty if the log does not tell.
    pub accept: Vec<Accept>,
    /// Requests per second in the busiest hour.
    pub peak: Option<Figure>,
    /// Requests in the logs.
    pub requests: u64,
    /// Lines that could not be read.
    pub unreadable: u64,
    /// Days that the logs cover.
    pub days: f64,
}

impl Traffic {
    /// Reads the logs. What stands in the way of a file or a line is said.
    ///
    /// # Errors
    /// One line: no request could be read; or the user wants an end.
    pub fn read(logs: &[PathBuf], served: Option<&Served>, progress: &mut dyn Progress) -> Result<Traffic> {
        progress.doing(&format!("reading {}", count(logs.len(), "log", "logs")));
        let counted = Interrupt::during(|interrupt| log::read(logs, interrupt))
            .context("signals cannot be caught")??;
        counted.problems.iter().for_each(|problem| progress.note(&format!("--log {problem}")));
        if let Some(example) = &counted.example {
            let lines = count(usize::try_from(counted.unreadable).unwrap_or(usize::MAX), "line", "lines");
            let (file, line, why) = (&example.file, example.line, example.why);
            progress.note(&format!("--log: {lines} could not be read, such as line {line} of {file}: {why}"));
        }
        if counted.visitors.requests == 0 {
            bail!("--log: no request of a visitor in it; give the web server's access log");
        }
        Ok(Traffic::of(&counted, served, progress))
    }

    fn of(counted: &Counted, served: Option<&Served>, progress: &mut dyn Progress) -> Traffic {
        let seconds = counted.covered_seconds as f64;
        if seconds < DAY {
            progress.note("--log: less than a day; a month is taken to be like it. Give rotated logs too, such as access.log.1");
        }
        let factor = MONTH_DAYS * DAY / seconds.max(LEAST);
        let (mut paths, mut pages, mut page_paths) = (HashMap::new(), Hits::default(), 0);
        for one in &counted.paths {
            let hits = per_month(&one.hits, factor);
            let path = Named::of(one.path.trim_start_matches('/'), served);
            if hits.any() && path.is_page {
                pages.add(&hits);
                page_paths += 1;
            }
            paths.entry(path.name).or_insert_with(Hits::default).add(&hits);
        }
        if counted.others.requests > 0 {
            let others =
                count(usize::try_from(counted.others.requests).unwrap_or(usize::MAX), "request", "requests");
            progress.note(&format!("--log: {others} for further paths, each with few, are left out"));
        }
        let peak = counted.busiest_hour.as_ref().map(|hour| hour.requests as f64 / 3600.0);
        Traffic {
            asked: Asked { paths, from: From::Counted },
            pages,
            page_paths,
            made_ms: counted.times.scripts.mean_seconds().map(|seconds| round(seconds * 1e3, 100.0)),
            accept: accept(&counted.codings),
            peak: peak.map(|peak| Figure::counted(round(peak, 1000.0))),
            requests: counted.requests(),
            unreadable: counted.unreadable,
            days: seconds / DAY,
        }
    }
}

/// Whole responses are what is neither a range, nor a 304, nor an error, nor without a body.
fn per_month(hits: &log::Hits, factor: f64) -> Hits {
    let apart = hits.not_modified + hits.partial + hits.errors + hits.heads;
    let hits = Hits {
        requests: hits.requests.saturating_sub(apart) as f64,
        bytes: hits.bytes as f64,
        not_modified: hits.not_modified as f64,
        ranges: hits.partial as f64,
    };
    hits.times(factor)
}

/// The classes of clients with their shares; empty if nothing is known of any.
fn accept(codings: &Codings) -> Vec<Accept> {
    let classes: [(&[&str], u64); 4] = [
        (&["zstd", "br", "gzip"], codings.zstd_br_gzip),
        (&["br", "gzip"], codings.br_gzip),
        (&["gzip"], codings.gzip),
        (&[], codings.none),
    ];
    let all: u64 = classes.iter().map(|class| class.1).sum();
    if codings.by_header + codings.by_agent == 0 {
        return Vec::new();
    }
    let of = |(codings, requests): (&[&str], u64)| Accept {
        codings: codings.iter().map(|coding| (*coding).to_owned()).collect(),
        share: round(requests as f64 / all as f64, 1e4),
        from: From::Counted,
    };
    classes.into_iter().filter(|class| class.1 > 0).map(of).collect()
}

fn round(number: f64, parts: f64) -> f64 {
    (number * parts).round() / parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::tests::Quiet;

    #[test]
    fn a_log_of_two_days_is_scaled_to_a_month() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("docs")).unwrap();
        std::fs::write(root.path().join("docs/index.html"), "x").unwrap();
        let agent = "\"-\" \"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36\"";
        let line = |day: u32, request: &str, status: u32, bytes: u32| {
            format!(
                "192.0.2.1 - - [{day:02}/Nov/2026:10:00:00 +0000] \"GET {request} HTTP/1.1\" {status} {bytes} {agent}\n"
            )
        };
        let text = [
            line(1, "/js/app.js?v=1", 200, 3000),
            line(1, "/js/app.js", 304, 0),
            line(1, "/files/a.zip", 206, 500),
            line(1, "/blog/post", 200, 9000),
            line(1, "/", 200, 8000),
            line(1, "/docs/", 200, 100),
            line(1, "/gone", 404, 10),
            line(2, "/gone", 404, 10),
            line(3, "/index.php", 200, 7000),
            "rubbish\n".to_owned(),
        ];
        let log = root.path().join("access.log");
        std::fs::write(&log, text.concat()).unwrap();
        let mut said = Quiet::default();
        let traffic = Traffic::read(&[log], Some(&Served::new(Some(root.path()), None)), &mut said).unwrap();
        let month = MONTH_DAYS / 2.0;
        let near = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-6, "{found} {wanted}");
        let app = traffic.asked.of("js/app.js");
        near(app.requests, month);
        near(app.not_modified, month);
        near(app.bytes, 3000.0 * month);
        near(traffic.asked.of("files/a.zip").ranges, month);
        near(traffic.asked.of("docs/index.html").requests, month);
        near(traffic.pages.requests, 3.0 * month);
        assert_eq!((traffic.page_paths, traffic.unreadable, traffic.days), (3, 1, 2.0));
        assert_eq!(traffic.accept.len(), 1, "{:?}", traffic.accept);
        near(traffic.accept[0].share, 1.0);
        assert!(
            said.0.iter().any(|line| line.contains("1 line could not be read, such as line 10")),
            "{:?}",
            said.0
        );
        let none = Traffic::read(&["/nonexistent/log".into()], None, &mut said).unwrap_err().to_string();
        assert!(none.contains("no request of a visitor"), "{none}");
    }
}
