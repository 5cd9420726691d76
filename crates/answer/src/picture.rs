//! The pictures of a report: fills the shapes of the module `chart` with the figures of each subject.

pub(crate) mod client;
pub(crate) mod codec;
pub(crate) mod delivery;

use weigh_model::payload::Payload;
use weigh_model::units;

use crate::chart::{Chart, Scatter, ScatterPoint, bytes_tick, time_tick, whole};
use crate::document::group::{View, is_synthetic};
use crate::output::Picture;
use crate::report::Report;
use crate::text::{clean, dotted, shorten, slug};
use crate::worth::worth;

/// The charts of a group that can be drawn: each with the start of its name and what it shows.
fn of_group<const N: usize>(
    index: usize,
    title: &str,
    drawn: [(&str, &str, Option<Chart>); N],
) -> impl Iterator<Item = Picture> {
    drawn.into_iter().filter_map(move |(stem, about, chart)| {
        Some(Picture {
            stem: format!("{stem}-{:02}-{}", index + 1, slug(title)),
            about: format!("{about}: {title}"),
            group: Some(index),
            chart: chart?,
        })
    })
}

/// The title of a group without its mark.
fn plain_title(group: &View) -> String {
    (group.report.shape().look.title)(group.report, group.group)
}

fn source(report: &Report, is_synthetic: bool) -> String {
    let (run, study) = (&report.run, &report.study.name);
    let day = run.started.get(..10).unwrap_or(&run.started);
    let synthetic = if is_synthetic { "SYNTHETIC content" } else { "" };
    dotted([
        format!("weigh {}", clean(&run.version)),
        format!("study {}", clean(study)),
        format!("seed {}", run.seed),
        clean(day),
        synthetic.to_owned(),
    ])
}

/// The content of this name is generated, not real.
fn is_made_up(report: &Report, payload: &str) -> bool {
    report.payload(payload).is_some_and(is_synthetic)
}

/// Time against bytes of a content; none with fewer than `least` points that encode it. Points with a time above
/// `longest` are not recommended trade-offs.
fn tradeoff(
    mut points: Vec<ScatterPoint>,
    longest: f64,
    least: usize,
    x: &'static str,
    y: &'static str,
    content: Option<&Payload>,
) -> Option<Scatter> {
    consider(&mut points, longest);
    let is_enough = points.iter().filter(|point| !point.is_aside).count() >= least;
    let bytes = content.map(|content| content.size() as f64).filter(|bytes| *bytes > 0.0);
    is_enough.then(|| Scatter {
        x: (x, time_tick),
        y: (y, bytes_tick),
        points,
        whole: bytes,
        slopes: Vec::new(),
    })
}

/// Marks the points of the front that are good trade-offs.
fn consider(points: &mut [ScatterPoint], longest: f64) {
    let mut front: Vec<usize> =
        (0..points.len()).filter(|at| points[*at].is_front && !points[*at].is_aside).collect();
    front.sort_by(|a, b| points[*a].x.total_cmp(&points[*b].x));
    let figures: Vec<(f64, f64)> = front.iter().map(|at| (points[*at].x, points[*at].y)).collect();
    for (at, is_worth) in front.into_iter().zip(worth(&figures, longest)) {
        points[at].is_worth = is_worth;
    }
}

/// The words of a trade-off's title.
struct TradeoffWords {
    things: &'static str,
    /// The label of the point at the left end: `fastest`.
    first: &'static str,
    axes: &'static str,
    /// The label of a point that is better than all others.
    alone: fn(&str, usize) -> String,
}

/// What is recommended and how many good trade-offs there are; without a recommendation, those at the ends.
fn tradeoff_title(content: &str, scatter: &Scatter, words: &TradeoffWords) -> String {
    let name = shorten(&clean(content), 40);
    let mut points: Vec<_> = scatter.points.iter().filter(|point| !point.is_aside).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let recommended: Vec<_> =
        points.iter().filter(|point| point.is_recommended).map(|point| whole(&point.label)).collect();
    let front: Vec<_> = points.iter().filter(|point| point.is_worth).map(|p| whole(&p.label)).collect();
    match front.as_slice() {
        _ if !recommended.is_empty() => format!(
            "{name}: {} recommended; {} of {} {} worth considering",
            units::list(&recommended),
            front.len(),
            points.len(),
            words.things
        ),
        [] => format!("{name}: {}", words.axes),
        [one] if points.iter().filter(|point| point.is_front).count() > 1 => {
            format!("{name}: of {} {} only {one} is worth considering", points.len(), words.things)
        }
        [one] => format!("{name}: {}", (words.alone)(one, points.len() - 1)),
        [first, .., last] => format!(
            "{name}: {} of {} {} are worth considering, from {first} ({}) to {last} (smallest)",
            front.len(),
            points.len(),
            words.things,
            words.first,
        ),
    }
}
