//! Loads: what `weigh load` measured of a server. A load has no plan of cells: its rows are made of its result, see
//! [`crate::load`], and have the same form as all others.

use crate::metric::load::{BODY, CAPACITY, CLIENT_CPU, ERRORS, FIRST_BYTE, MEAN_BODY, PERCENTILES, RATE};
use crate::metric::{Metric, Source, Statistic, metrics};
use crate::report::exhibit::Exhibits;
use crate::report::shape::{Look, Shape};
use crate::text::clean;

pub static SHAPE: Shape = Shape {
    name: "load",
    kinds: &[],
    phases: &[],
    is_row: |_| true,
    factors: &[],
    group_by: &[],
    metrics: &[METRICS],
    facts: |_, _| Vec::new(),
    complete: |_| {},
    axes: None,
    costs: None,
    headline: &[RATE, ERRORS, "p50", "p99", MEAN_BODY, CAPACITY],
    marks: &[],
    caveats: |_, _, _| Vec::new(),
    watches_wall: false,
    exhibits: |_, _| Exhibits::default(),
    questions: |_| Vec::new(),
    advise: |_| None,
    findings: &[],
    look: Look {
        noun: ("load", "loads"),
        method: "Requests are sent to a server that runs, on a schedule or each after the response before, and every response is verified. Intervals \
            follow from slices of the run.",
        label: |row| clean(row.id()),
        title: |_, _| String::new(),
        part: None,
        about: |_, _| Vec::new(),
        columns: |_, _| Vec::new(),
        notes: |_, _| Vec::new(),
        overview: |_, _| Vec::new(),
        pictures: |_| Vec::new(),
        few: 0,
    },
};

const fn at(share: f64) -> Statistic {
    Statistic::Quantile(share)
}

const METRICS: &[Metric] = metrics! {
    RATE => PerSecond, More, Median, per Run: Source::Beside, "Completed responses per second: the median over slices.";
    ERRORS => Share, Less, Mean, per Request: Source::Beside, "Share of requests that failed or were never sent.";
    PERCENTILES[0].0 => S, Less, Distribution(at(PERCENTILES[0].1)), per Request: Source::Beside, "Median of response times, from the scheduled send to the last byte.";
    PERCENTILES[1].0 => S, Less, Distribution(at(PERCENTILES[1].1)), per Request: Source::Beside, "90% of responses took no longer.";
    PERCENTILES[2].0 => S, Less, Distribution(at(PERCENTILES[2].1)), per Request: Source::Beside, "95% of responses took no longer.";
    PERCENTILES[3].0 => S, Less, Distribution(at(PERCENTILES[3].1)), per Request: Source::Beside, "99% of responses took no longer.";
    PERCENTILES[4].0 => S, Less, Distribution(at(PERCENTILES[4].1)), per Request: Source::Beside, "99.9% of responses took no longer.";
    FIRST_BYTE[0].0 => S, Less, Distribution(at(FIRST_BYTE[0].1)), per Request: Source::Beside, "Median time from the send to the first byte, without an interval.";
    FIRST_BYTE[1].0 => S, Less, Distribution(at(FIRST_BYTE[1].1)), per Request: Source::Beside, "99th percentile of the time to the first byte, without an interval.";
    BODY => Bytes, Less, Exact, per Request: Source::Beside, "Bytes of a body in its content coding, where all bodies are the same.";
    MEAN_BODY => Bytes, Less, Median, per Request: Source::Beside, "Bytes of a body where bodies differ: the mean of a slice, as median over slices.";
    CLIENT_CPU => S, Neither, Mean, per Request: Source::Beside, "CPU time of the load generator per completed response. The server's is not known to it.";
    CAPACITY => PerSecond, More, Max, per Run: Source::Beside, "Highest rate within a limit of response times, without an interval.";
};
