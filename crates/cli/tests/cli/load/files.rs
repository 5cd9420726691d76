//! What a run leaves behind: the directory, CSV of slices, the HdrHistogram log.

use base64::Engine;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

use super::schema::document;
use super::server::Server;
use crate::lab::Lab;

#[test]
fn the_directory_has_plan_result_slices_and_histograms() {
    let (lab, server) = (Lab::new(), Server::of("a body"));
    let url = server.url("/");
    let args = ["load", &url, "-n", "300", "-c", "3", "--out", "run", "--csv", "s.csv", "--hlog", "t.hlog"];
    let printed = lab.fine(&[&args[..], &["--json", "--slice", "10ms"]].concat());
    assert_eq!(document(&printed), lab.json("run/result.json"));
    assert_eq!(lab.json("run/plan.json"), lab.json("run/result.json")["plan"]);
    assert_eq!(
        (lab.read("s.csv"), lab.read("t.hlog")),
        (lab.read("run/slices.csv"), lab.read("run/times.hlog"))
    );
    // A run is never written over.
    let ran = lab.run(&args);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("there are files in it already"), "{}", ran.stderr);
}

#[test]
fn a_result_is_shown_again_in_the_formats_of_runs() {
    let (lab, server) = (Lab::new(), Server::of("a body"));
    let url = server.url("/");
    let printed = lab.fine(&["load", &url, "-d", "0.4s", "-c", "3", "--out", "run", "--slice", "10ms"]);
    // The same text, below a title.
    let again = lab.fine(&["runs", "show", "run"]);
    let rate = printed.lines().find(|line| line.contains("requests/s")).unwrap().trim();
    assert!(again.starts_with("GET http") && again.contains(rate), "{again}");
    assert_eq!(document(&lab.fine(&["runs", "show", "run", "--json"])), lab.json("run/result.json"));
    let markdown = lab.fine(&["runs", "show", "run", "-f", "markdown"]);
    assert!(markdown.starts_with("# GET http") && markdown.contains("distribution.svg"), "{markdown}");
    lab.fine(&["runs", "show", "run", "-f", "svg", "-f", "png", "--out", "shown"]);
    assert!(lab.read("shown/over-time.svg").contains("Responses per second"));
    assert!(lab.path("shown/distribution.png").is_file());
    if weigh_answer::page::is_built_in() {
        lab.fine(&["runs", "show", "run", "-f", "html", "--out", "shown"]);
        let page = lab.read("shown/report.html");
        assert!(page.contains("Response time by share of requests") && page.contains("responses per second"));
    }
    let line = lab.refused(&["runs", "show", "run", "-f", "csv"]);
    assert!(line.contains("a load has no format csv; use terminal"), "{line}");
    let line = lab.refused(&["runs", "show", "run", "--at", "reads=1"]);
    assert!(line.contains("--at is for runs"), "{line}");
    lab.write("run/result.json", "{}");
    let line = lab.refused(&["runs", "show", "run"]);
    assert!(line.contains("result.json: damaged"), "{line}");
}

#[test]
fn slices_add_up() {
    let (lab, server) = (Lab::new(), Server::of("a body"));
    lab.fine(&["load", &server.url("/"), "-n", "300", "-c", "3", "--slice", "10ms", "--csv", "s.csv"]);
    let text = lab.read("s.csv");
    let mut rows = text.lines();
    let names: Vec<&str> = rows.next().unwrap().split(',').collect();
    let column = |name: &str| names.iter().position(|n| *n == name).unwrap();
    let rows: Vec<Vec<f64>> =
        rows.map(|row| row.split(',').map(|v| v.parse().unwrap_or(f64::NAN)).collect()).collect();
    let sum = |name: &str| rows.iter().map(|row| row[column(name)]).sum::<f64>();
    assert_eq!((sum("completed"), sum("faulted"), sum("body_bytes")), (300.0, 0.0, 1800.0));
    let ascending = |name: &str| rows.windows(2).all(|w| w[0][column(name)] < w[1][column(name)]);
    assert!(ascending("start_s"), "{text}");
}

#[test]
fn the_histogram_log_can_be_read_by_its_tools() {
    let (lab, server) = (Lab::new(), Server::of("a body"));
    lab.fine(&["load", &server.url("/"), "-n", "200", "-c", "2", "--hlog", "t.hlog"]);
    let log = lab.read("t.hlog");
    assert!(log.starts_with("#[Histogram log format version 1.3]\n#[StartTime: "), "{log}");
    let (mut untagged, mut tagged) = (0, Vec::new());
    let mut deserializer = Deserializer::new();
    for entry in IntervalLogIterator::new(log.as_bytes()) {
        let LogEntry::Interval(interval) = entry.unwrap() else { continue };
        let bytes = base64::engine::general_purpose::STANDARD.decode(interval.encoded_histogram()).unwrap();
        let histogram: Histogram<u64> = deserializer.deserialize(&mut bytes.as_slice()).unwrap();
        match interval.tag() {
            None => untagged += histogram.len(),
            Some(tag) => tagged.push((tag.as_str().to_owned(), histogram.len())),
        }
    }
    assert_eq!(untagged, 200);
    let of = |name: &str| tagged.iter().find(|(tag, _)| tag == name).map(|(_, count)| *count);
    assert_eq!((of("all/response"), of("all/service"), of("all/connect")), (Some(200), Some(200), Some(2)));
}
