//! The charts of a load: rate and response times over time, and response times by percentile.

use weigh_load::result::Slice;
use weigh_model::units;

use crate::chart::{Axis, Chart, Drawing, Line, LinePanel, Lines, beside, ends, time_tick};
use crate::load::document::{Document, Run};
use crate::load::figures::Time;
use crate::output::Picture;
use crate::text::clean;

/// The percentiles of response times over time.
const PERCENTILES: [(f64, &str); 2] = [(0.5, "median"), (0.99, "p99")];

/// Every chart that has at least two points.
pub(super) fn pictures(document: &Document) -> Vec<Picture> {
    let runs = document.sides();
    let over_time = [rates(&runs), times(&runs)].into_iter().flatten().collect::<Vec<_>>();
    let mut pictures = Vec::new();
    let day = document.started.get(..10).unwrap_or(&document.started);
    let mut add = |stem: &str, about: &str, remark: &str, panels: Vec<LinePanel>| {
        let drawing = Drawing::Lines(Lines { panels, strips: Vec::new(), caption: "" });
        let chart = Chart {
            title: about.to_owned(),
            about: clean(&document.machine),
            remark: remark.to_owned(),
            source: format!("weigh {} · {}", clean(&document.weigh), clean(day)),
            drawing,
        };
        pictures.push(Picture { stem: stem.to_owned(), about: about.to_owned(), group: None, chart });
    };
    if !over_time.is_empty() {
        let about = "Rate and response times over time";
        add("over-time", about, "Slices without responses are left out.", over_time);
    }
    if let Some(panel) = distribution(&runs) {
        let about = "Response time by share of requests";
        add("distribution", about, "Where a line ends, the rest was not answered.", vec![panel]);
    }
    pictures
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
    let (more, color) = (String::new(), beside(place));
    (points.len() > 1).then_some(Line { name, more, color, is_strong: true, has_dots: false, points })
}

/// None without lines.
fn panel(title: &'static str, x: Axis, y: Axis, lines: Vec<Line>) -> Option<LinePanel> {
    let (level, marks) = (None, Vec::new());
    (!lines.is_empty()).then_some(LinePanel { title, x, y, lines, level, marks })
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
            let points = whole(run).filter(|slice| slice.seconds > 0.0).map(rate).collect();
            line(format!("{side}rate"), place, points)
        })
        .collect();
    let (_, high) = ends(lines.iter().flat_map(|line| &line.points).map(|point| point.1));
    let y = Axis::linear((0.0, high), (0.0, 0.08)).named("", units::trimmed_number);
    panel("Responses per second", seconds_axis(&lines), y, lines)
}

fn times(runs: &[(&str, &Run)]) -> Option<LinePanel> {
    let mut lines = Vec::new();
    for (side, run) in runs {
        let slices: Vec<_> =
            whole(run).filter_map(|slice| Some((middle(slice), slice.response.unpack().ok()?))).collect();
        for (share, name) in PERCENTILES {
            let point =
                |(at, times): &(f64, weigh_stats::hist::Hist)| Some((*at, times.quantile(share)? * 1e9));
            let points = slices.iter().filter_map(point).collect();
            lines.extend(line(format!("{side}{name}"), lines.len(), points));
        }
    }
    let (low, high) = ends(lines.iter().flat_map(|line| &line.points).map(|point| point.1));
    panel("Response time", seconds_axis(&lines), time_axis(low, high).named("", time_tick), lines)
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
            line(format!("{side}response time"), place, points).map(|line| Line { has_dots: true, ..line })
        })
        .collect();
    let points = || lines.iter().flat_map(|line| &line.points);
    let (near, far) = ends(points().map(|point| point.0));
    let (low, high) = ends(points().map(|point| point.1));
    let x = Axis::log((near, far), (0.02, 0.04)).named("share of requests that took no longer", percent);
    panel("", x, time_axis(low, high).named("response time", time_tick), lines)
}
