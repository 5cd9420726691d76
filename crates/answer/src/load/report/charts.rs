//! The charts of a load: rate and response times over time, and response times by percentile.

use weigh_load::result::Slice;
use weigh_model::units;

use crate::chart::{Axis, Chart, Drawing, Line, LinePanel, Lines, beside, ends, time_tick};
use crate::load::document::{Document, Measured, Run};
use crate::load::figures::Time;
use crate::output::Picture;
use crate::text::clean;

/// The percentiles of response times over time.
const PERCENTILES: [(f64, &str); 2] = [(0.5, "median"), (0.99, "p99")];

/// The runs of a document, each with its name; none of a calibration.
fn runs(document: &Document) -> Vec<(&'static str, &Run)> {
    match &document.measured {
        Measured::Run(run) => vec![("", run)],
        Measured::Comparison(compared) => vec![("A", &compared.a), ("B", &compared.b)],
        Measured::Capacity(searched) => vec![("", &searched.closed)],
        Measured::Calibration(_) => Vec::new(),
    }
}

/// Every chart that has at least two points.
pub(super) fn pictures(document: &Document) -> Vec<Picture> {
    let runs = runs(document);
    let over_time = [rates(&runs), times(&runs)].into_iter().flatten().collect::<Vec<_>>();
    let mut pictures = Vec::new();
    let mut add = |stem: &str, about: &str, title: String, remark: &str, panels: Vec<LinePanel>| {
        let drawing = Drawing::Lines(Lines { panels, strips: Vec::new(), caption: "" });
        let chart = Chart {
            title,
            about: clean(&document.machine),
            remark: remark.to_owned(),
            source: format!("weigh {} · {}", clean(&document.weigh), day(&document.started)),
            drawing,
        };
        pictures.push(Picture { stem: stem.to_owned(), about: about.to_owned(), group: None, chart });
    };
    if !over_time.is_empty() {
        let about = "Rate and response times over time";
        add("over-time", about, about.into(), "Slices without responses are left out.", over_time);
    }
    if let Some(panel) = distribution(&runs) {
        let about = "Response time by share of requests";
        add(
            "distribution",
            about,
            about.into(),
            "Where a line ends, the rest was not answered.",
            vec![panel],
        );
    }
    pictures
}

fn day(started: &str) -> String {
    clean(started.get(..10).unwrap_or(started))
}

/// A name with that of its side.
fn named(side: &str, name: &str) -> String {
    [side, name].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The slices of a run without the last, where that is shorter.
fn whole(run: &Run) -> impl Iterator<Item = &Slice> {
    let length = run.result.slices.first().map_or(0.0, |slice| slice.seconds);
    let count = run.result.slices.len();
    let is_whole =
        move |at: usize, slice: &Slice| at + 1 < count || run.result.seconds >= slice.start + 0.99 * length;
    run.result
        .slices
        .iter()
        .enumerate()
        .filter(move |(at, slice)| is_whole(*at, slice))
        .map(|(_, slice)| slice)
}

fn middle(slice: &Slice) -> f64 {
    slice.start + slice.seconds / 2.0
}

fn line(name: String, place: usize, points: Vec<(f64, f64)>) -> Option<Line> {
    let points: Vec<_> = points.into_iter().map(|(x, y)| (x, y, y, y)).collect();
    let more = String::new();
    (points.len() > 1).then(|| Line {
        name,
        more,
        color: beside(place),
        is_strong: true,
        has_dots: false,
        points,
    })
}

fn seconds_axis(lines: &[Line]) -> Axis {
    let (_, high) = ends(lines.iter().flat_map(|line| &line.points).map(|point| point.0));
    Axis::linear((0.0, high), (0.0, 0.02)).named("seconds since the start", units::trimmed_number)
}

/// Logarithmic where times differ much.
fn time_axis(low: f64, high: f64) -> Axis {
    match high > 4.0 * low {
        true => Axis::log((low, high), (0.06, 0.08)),
        false => Axis::linear((0.0, high), (0.0, 0.08)),
    }
}

fn rates(runs: &[(&str, &Run)]) -> Option<LinePanel> {
    let lines: Vec<Line> = runs
        .iter()
        .enumerate()
        .filter_map(|(place, (side, run))| {
            let rate = |slice: &Slice| (middle(slice), slice.completed as f64 / slice.seconds);
            line(
                named(side, "rate"),
                place,
                whole(run).filter(|slice| slice.seconds > 0.0).map(rate).collect(),
            )
        })
        .collect();
    let (_, high) = ends(lines.iter().flat_map(|line| &line.points).map(|point| point.1));
    (!lines.is_empty()).then(|| LinePanel {
        title: "Responses per second",
        x: seconds_axis(&lines),
        y: Axis::linear((0.0, high), (0.0, 0.08)).named("", units::trimmed_number),
        level: None,
        marks: Vec::new(),
        lines,
    })
}

fn times(runs: &[(&str, &Run)]) -> Option<LinePanel> {
    let mut lines = Vec::new();
    for (side, run) in runs {
        let slices: Vec<_> =
            whole(run).filter_map(|slice| Some((middle(slice), slice.response.unpack().ok()?))).collect();
        for (share, name) in PERCENTILES {
            let point =
                |(at, times): &(f64, weigh_stats::hist::Hist)| Some((*at, times.quantile(share)? * 1e9));
            lines.extend(line(named(side, name), lines.len(), slices.iter().filter_map(point).collect()));
        }
    }
    let (low, high) = ends(lines.iter().flat_map(|line| &line.points).map(|point| point.1));
    (!lines.is_empty()).then(|| LinePanel {
        title: "Response time",
        x: seconds_axis(&lines),
        y: time_axis(low, high).named("", time_tick),
        level: None,
        marks: Vec::new(),
        lines,
    })
}

/// Of how many requests one takes longer, as the percent that do not: 100 becomes `99%`.
fn percent(one_in: f64) -> String {
    let percent = 100.0 - 100.0 / one_in;
    let text = format!("{percent:.4}");
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

fn distribution(runs: &[(&str, &Run)]) -> Option<LinePanel> {
    let lines: Vec<Line> = runs
        .iter()
        .enumerate()
        .filter_map(|(place, (side, run))| {
            let response = run.figures.total.response.as_ref()?;
            let point = |of: &crate::load::figures::Percentile| match of.time()? {
                Time::Took(seconds) if of.percent < 100.0 => {
                    Some((100.0 / (100.0 - of.percent), seconds * 1e9))
                }
                _ => None,
            };
            let points = response.percentiles.iter().filter_map(point).collect();
            line(named(side, "response time"), place, points).map(|line| Line { has_dots: true, ..line })
        })
        .collect();
    let points = || lines.iter().flat_map(|line| &line.points);
    let (near, far) = ends(points().map(|point| point.0));
    let (low, high) = ends(points().map(|point| point.1));
    (!lines.is_empty()).then(|| LinePanel {
        title: "",
        x: Axis::log((near, far), (0.02, 0.04)).named("share of requests that took no longer", percent),
        y: time_axis(low, high).named("response time", time_tick),
        level: None,
        marks: Vec::new(),
        lines,
    })
}
