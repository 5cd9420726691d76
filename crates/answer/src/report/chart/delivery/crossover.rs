//! Files encoded before beside encoding each response: the ratio by size, with the size from which they pay.

use anyhow::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::super::super::text::{clean, shorten};
use super::super::axis::{Axis, Naming, Plot, number_tick};
use super::super::canvas::{Canvas, INK, Pen, QUIET, Rect, SIZE, sheet};
use super::super::labels::stack;
use super::super::{palette, title};
use crate::analysis::delivery::model::{Crossover, DeliveryAnalysis, Pays, SizeRatio};
use crate::analysis::model::Relative;
use weigh_model::payload::Origin;
use weigh_model::units;

/// Lines drawn at most.
const LINES: usize = 6;

/// What a panel shows.
struct Panel {
    name: &'static str,
    y: &'static str,
    ratio: fn(&SizeRatio) -> Option<Relative>,
    pays: fn(&Crossover) -> Option<Pays>,
}

const PANELS: [Panel; 2] = [
    Panel { name: "CPU time", y: "on the fly ÷ encoded before", ratio: |s| s.cpu, pays: |c| c.cpu },
    Panel { name: "Rate", y: "encoded before ÷ on the fly", ratio: |s| s.rate, pays: |c| c.rate },
];

/// There is a line.
pub(super) fn possible(analysis: &DeliveryAnalysis) -> bool {
    !lines(analysis).is_empty()
}

/// One a server first, then the others, as long as there is room.
fn lines(analysis: &DeliveryAnalysis) -> Vec<&Crossover> {
    let is_line = |c: &&Crossover| {
        PANELS.iter().all(|panel| {
            let drawable = c.sizes.iter().filter_map(panel.ratio).filter(|r| r.ratio > 0.0);
            drawable.count() > 1
        })
    };
    let mut all: Vec<&Crossover> = analysis.crossovers.iter().filter(is_line).collect();
    let is_repeated = |at: usize, all: &[&Crossover]| all[..at].iter().any(|c| c.server == all[at].server);
    let repeated: Vec<bool> = (0..all.len()).map(|at| is_repeated(at, &all)).collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|at| repeated[*at]);
    all = order.into_iter().map(|at| all[at]).collect();
    all.truncate(LINES);
    all
}

/// Two panels: CPU time and rate.
pub(super) fn draw(analysis: &DeliveryAnalysis) -> Result<String> {
    let lines = lines(analysis);
    let heading = heading(&lines);
    sheet(&heading, |canvas| {
        let about = format!(
            "A file encoded before beside encoding each response, by size of the file · {}",
            clean(&analysis.run.machine)
        );
        let top = title::head(canvas, &heading, &about)? + 44.0;
        let rects = [(128.0, 500.0), (706.0, 1000.0)];
        for (panel, (left, right)) in PANELS.iter().zip(rects) {
            draw_panel(canvas, panel, &lines, Rect { left, top, right, bottom: 632.0 })?;
        }
        let synthetic = lines.iter().flat_map(|line| &line.sizes).any(|size| {
            let payload = analysis.payloads.iter().find(|p| p.name == size.payload);
            payload.is_some_and(|p| matches!(p.origin, Origin::Synthetic { .. }))
        });
        let remark = "Above 1 encoding before pays. Circles: from this size on, 95% interval.";
        title::foot(canvas, analysis, synthetic, remark)
    })
}

fn heading(lines: &[&Crossover]) -> String {
    let everywhere: Vec<String> = lines
        .iter()
        .filter(|line| matches!(line.cpu, Some(Pays::Everywhere { .. })))
        .map(|line| clean(&line.server))
        .collect();
    let mut froms: Vec<String> = Vec::new();
    for line in lines {
        if let Some(Pays::From { bytes, .. }) = line.cpu {
            froms.push(format!("on {} from {}", clean(&line.server), units::bytes(bytes.round() as u64)));
        }
    }
    let mut everywhere = everywhere;
    everywhere.dedup();
    froms.truncate(3);
    match (everywhere.is_empty(), froms.is_empty()) {
        (true, true) => "CPU time and rate of files encoded before, by size".into(),
        (false, true) => {
            format!("Encoding before saves CPU time at every size measured on {}", units::list(&everywhere))
        }
        (true, false) => format!("Encoding before saves CPU time {}", units::list(&froms)),
        (false, false) => format!(
            "Encoding before saves CPU time at every size measured on {}, {}",
            units::list(&everywhere),
            units::list(&froms)
        ),
    }
}

fn draw_panel(canvas: &Canvas, panel: &Panel, lines: &[&Crossover], rect: Rect) -> Result<()> {
    let points = |line: &Crossover| -> Vec<(f64, Relative)> {
        let sizes = line.sizes.iter().filter_map(|s| Some((s.bytes.max(1) as f64, (panel.ratio)(s)?)));
        sizes.filter(|(_, r)| r.ratio > 0.0 && r.ratio.is_finite()).collect()
    };
    let all: Vec<(f64, Relative)> = lines.iter().flat_map(|line| points(line)).collect();
    let ends = |value: &dyn Fn(&(f64, Relative)) -> f64| {
        let low = all.iter().map(value).fold(f64::MAX, f64::min);
        (low, all.iter().map(value).fold(f64::MIN, f64::max))
    };
    let (x, y) = (ends(&|p| p.0), ends(&|p| p.1.ratio));
    let plot = Plot {
        rect,
        x: Axis::log(x.0, x.1, (0.04, 0.04)),
        y: Axis::log(y.0.min(0.8), y.1.max(1.25), (0.06, 0.08)),
    };
    let naming = Naming {
        x: "size of the file, logarithmic",
        y: panel.y,
        x_tick: &|bytes| units::bytes(bytes.round() as u64),
        y_tick: &|ratio| format!("{}×", number_tick(ratio)),
    };
    plot.frame(canvas, &naming)?;
    let middle = (rect.left + rect.right) / 2.0;
    canvas.text(panel.name, (middle, rect.top - 20.0), Pen::new(18.0, INK).bold().anchored(HPos::Center))?;
    let one = plot.place(1.0, 1.0).1;
    canvas.dashes(&[(rect.left, one), (rect.right, one)], INK.mix(0.8), 1.5)?;
    let ends: Vec<f64> = lines
        .iter()
        .map(|line| points(line).last().map_or(rect.bottom, |(x, r)| plot.place(*x, r.ratio).1))
        .collect();
    let heights = stack(&ends, 40.0, (rect.top + 8.0, rect.bottom - 16.0));
    for (place, (line, height)) in lines.iter().zip(heights).enumerate() {
        let color = palette::beside(place);
        draw_line(canvas, &plot, &points(line), color)?;
        mark(canvas, &plot, (panel.pays)(line), color)?;
        let from = (rect.right + 4.0, ends[place]);
        canvas.line(&[from, (rect.right + 16.0, height)], QUIET.mix(0.5), 1.0)?;
        let room = if rect.right < 600.0 { 118.0 } else { SIZE.0 - title::MARGIN - rect.right - 20.0 };
        let pen = Pen::new(14.0, color).bold();
        let name = canvas.fit(&shorten(&clean(&line.server), 24), pen, room);
        canvas.text(&name, (rect.right + 20.0, height), pen)?;
        let pen = Pen::new(12.0, color);
        let way = line.pre_encoded.split_once('/').map_or(line.pre_encoded.as_str(), |(_, way)| way);
        let way = canvas.fit(&clean(way), pen, room);
        canvas.text(&way, (rect.right + 20.0, height + 16.0), pen)?;
    }
    Ok(())
}

fn draw_line(canvas: &Canvas, plot: &Plot, points: &[(f64, Relative)], color: RGBColor) -> Result<()> {
    let highs = points.iter().map(|(x, r)| plot.place(*x, r.high.max(r.ratio)));
    let lows = points.iter().rev().map(|(x, r)| plot.place(*x, r.low.min(r.ratio)));
    let band: Vec<_> = highs.chain(lows).collect();
    canvas.area(&band, color.mix(0.15))?;
    let path: Vec<_> = points.iter().map(|(x, r)| plot.place(*x, r.ratio)).collect();
    canvas.line(&path, color.mix(1.0), 2.5)?;
    for point in &path {
        canvas.dot(*point, 4.0, color.mix(1.0))?;
    }
    Ok(())
}

/// The crossing with its interval on the line at 1.
fn mark(canvas: &Canvas, plot: &Plot, pays: Option<Pays>, color: RGBColor) -> Result<()> {
    let Some(Pays::From { bytes, low, high }) = pays else { return Ok(()) };
    let (left, right) = plot.x.ends();
    let at = |x: f64| plot.place(x.clamp(left, right), 1.0);
    canvas.line(&[at(low.unwrap_or(left)), at(high.unwrap_or(right))], color.mix(1.0), 4.0)?;
    canvas.ring(at(bytes), 7.0, color)
}
