//! Total time against link speed: which setting is best where, and where one overtakes the next.

use anyhow::Result;
use plotters::prelude::*;

use super::super::sections::links::ranges;
use super::super::text::{clean, shorten};
use super::super::view::{self, GroupView};
use super::axis::{Axis, Naming, Plot, time_tick};
use super::canvas::{Canvas, INK, PAPER, Pen, QUIET, Rect, sheet, whole};
use super::labels::{Layout, Wish, stack};
use super::{palette, title};
use crate::analysis::model::{Analysis, BestAt, LinkMix, LinkTotals};
use weigh_model::units;

/// Lines drawn at most: the best ones, the reference and the copy.
const LINES: usize = 9;
const LEFT: f64 = 144.0;
const RIGHT: f64 = 950.0;
/// Height of a strip that shows the best setting at each speed.
const STRIP: f64 = 26.0;

/// The study asked for links and at least two settings and speeds are there.
pub(super) fn possible(group: &GroupView) -> bool {
    let sound = |at: &(f64, f64, f64, f64)| at.0 > 0.0 && at.1 > 0.0 && at.0.is_finite() && at.1.is_finite();
    view::main_mix(group.group).is_some_and(|mix| {
        let drawable = |totals: &LinkTotals| totals.at.len() > 1 && totals.at.iter().all(sound);
        mix.totals.len() > 1 && mix.best.len() > 1 && mix.totals.iter().all(drawable)
    })
}

/// The chart of one group: lines for the main mix, a strip of the best for every mix.
pub(super) fn draw(analysis: &Analysis, group: &GroupView) -> Result<String> {
    let Some(mix) = view::main_mix(group.group) else { return Ok(String::new()) };
    let heading = heading(group, mix);
    sheet(&heading, |canvas| {
        let subtitle = format!(
            "Total time of {}: encode + transfer + decode, computed from measured parts · {} · {}",
            view::mix(mix.mix),
            group.title(),
            group.about()
        );
        let top = title::head(canvas, &heading, &subtitle)? + 14.0;
        let strips = &group.group.links[..group.group.links.len().min(4)];
        let bottom = 668.0 - strips.len() as f64 * (STRIP + 6.0) - 46.0;
        let lines = lines(group, mix);
        let plot = plot(&lines, mix, Rect { left: LEFT, top, right: RIGHT, bottom });
        let naming = Naming { x: "", y: "time, logarithmic", x_tick: &units::mbit, y_tick: &time_tick };
        plot.frame(canvas, &naming)?;
        for totals in &lines {
            band(canvas, &plot, group, totals)?;
        }
        for totals in &lines {
            line(canvas, &plot, group, mix, totals)?;
        }
        name_lines(canvas, &plot, group, mix, &lines)?;
        crossings(canvas, &plot, mix, &lines)?;
        let caption = Pen::new(15.0, QUIET);
        canvas.text("Best setting by link speed:", (LEFT, bottom + 54.0), caption)?;
        for (index, mix) in strips.iter().enumerate() {
            let top = bottom + 68.0 + index as f64 * (STRIP + 6.0);
            strip(canvas, &plot, group, mix, top)?;
        }
        title::foot(
            canvas,
            analysis,
            group.synthetic(),
            "Circles: break-even speeds, 95% interval (dashed: no upper end).",
        )
    })
}

fn heading(group: &GroupView, mix: &LinkMix) -> String {
    let name = shorten(&clean(&group.group.payload), 40);
    let ranges = ranges(&mix.best);
    let short = |id: &str| whole(&shorten(&group.label(id), 30));
    match ranges.as_slice() {
        [] => format!("{name}: total time by link speed"),
        [one] => format!("{name}: {} is best at every link speed", short(&one[0].cell)),
        [slow, fast] => format!(
            "{name}: {} up to {}, {} above",
            short(&slow[0].cell),
            whole(&units::mbit(border(mix, slow, &fast[0]))),
            short(&fast[0].cell)
        ),
        [slow, middle @ .., fast] => {
            let between = units::list(&middle.iter().map(|range| short(&range[0].cell)).collect::<Vec<_>>());
            let until = border(mix, slow, &ranges[1][0]);
            let from = border(mix, ranges[ranges.len() - 2], &fast[0]);
            format!(
                "{name}: {} up to {}, {between} between, {} from {}",
                short(&slow[0].cell),
                whole(&units::mbit(until)),
                short(&fast[0].cell),
                whole(&units::mbit(from))
            )
        }
    }
}

/// Where one range ends and the next begins: at the break-even, or in the middle when none was found.
fn border(mix: &LinkMix, range: &[BestAt], next: &BestAt) -> f64 {
    let last = &range[range.len() - 1];
    let even = mix.break_even.iter().find(|even| even.slow == last.cell && even.fast == next.cell);
    even.map_or((last.mbit * next.mbit).sqrt(), |even| even.mbit).clamp(last.mbit, next.mbit)
}

/// The best cells in the order of the speeds, then the reference, the copy and the others.
fn lines<'a>(group: &GroupView, mix: &'a LinkMix) -> Vec<&'a LinkTotals> {
    let rank = |totals: &&LinkTotals| {
        let id = &totals.cell;
        let best = mix.best.iter().position(|best| best.cell == *id);
        let copy = group.row(id).is_some_and(|row| row.result.cell.setting.codec == "identity");
        best.unwrap_or(if group.reference() == Some(id) {
            1000
        } else if copy {
            1001
        } else {
            1002
        })
    };
    let mut lines: Vec<_> = mix.totals.iter().filter(|totals| !totals.at.is_empty()).collect();
    lines.sort_by_key(rank);
    lines.truncate(LINES);
    lines
}

fn plot(lines: &[&LinkTotals], mix: &LinkMix, rect: Rect) -> Plot {
    let speeds: Vec<f64> = mix.best.iter().map(|best| best.mbit).collect();
    let times = lines.iter().flat_map(|totals| totals.at.iter().map(|at| at.1)).filter(|time| *time > 0.0);
    let (low, high) = times.fold((f64::MAX, f64::MIN), |(low, high), time| (low.min(time), high.max(time)));
    Plot { rect, x: Axis::log_at(&speeds), y: Axis::log(low, high, (0.06, 0.04)) }
}

fn color(group: &GroupView, id: &str) -> RGBColor {
    group.row(id).map_or(QUIET, palette::row)
}

fn band(canvas: &Canvas, plot: &Plot, group: &GroupView, totals: &LinkTotals) -> Result<()> {
    let low = totals.at.iter().map(|(mbit, _, low, _)| plot.place(*mbit, *low));
    let high = totals.at.iter().rev().map(|(mbit, _, _, high)| plot.place(*mbit, *high));
    let outline: Vec<_> = low.chain(high).collect();
    canvas.area(&outline, color(group, &totals.cell).mix(0.15))
}

fn line(canvas: &Canvas, plot: &Plot, group: &GroupView, mix: &LinkMix, totals: &LinkTotals) -> Result<()> {
    let path: Vec<_> = totals.at.iter().map(|(mbit, total, ..)| plot.place(*mbit, *total)).collect();
    let color = color(group, &totals.cell);
    if mix.best.iter().any(|best| best.cell == totals.cell) {
        canvas.line(&path, color.mix(1.0), 2.5)
    } else {
        canvas.dashes(&path, color.mix(0.9), 1.75)
    }
}

/// Names at the right end, moved apart, each with a thin line to its end.
fn name_lines(
    canvas: &Canvas,
    plot: &Plot,
    group: &GroupView,
    mix: &LinkMix,
    lines: &[&LinkTotals],
) -> Result<()> {
    let ends: Vec<_> = lines
        .iter()
        .map(|totals| {
            totals.at.last().map_or((plot.rect.right, plot.rect.bottom), |at| plot.place(at.0, at.1))
        })
        .collect();
    let heights: Vec<_> = ends.iter().map(|end| end.1).collect();
    let heights = stack(&heights, 21.0, (plot.rect.top, plot.rect.bottom - 4.0));
    for ((totals, end), height) in lines.iter().zip(&ends).zip(heights) {
        let best = mix.best.iter().any(|best| best.cell == totals.cell);
        let color = color(group, &totals.cell);
        let pen = if best { Pen::new(15.0, color).bold() } else { Pen::new(15.0, color) };
        let mut name = group.label(&totals.cell);
        if group.reference() == Some(&totals.cell) {
            name.push_str(" (ref.)");
        }
        canvas.line(&[*end, (plot.rect.right + 18.0, height)], color.mix(0.6), 1.0)?;
        let room = super::canvas::SIZE.0 - plot.rect.right - 24.0 - 16.0;
        canvas.text(&canvas.fit(&name, pen, room), (plot.rect.right + 24.0, height), pen)?;
    }
    Ok(())
}

/// Break-even speeds between two drawn lines.
fn crossings(canvas: &Canvas, plot: &Plot, mix: &LinkMix, lines: &[&LinkTotals]) -> Result<()> {
    let mut layout = Layout::new(plot.rect);
    for totals in lines {
        layout.take_path(&totals.at.iter().map(|at| plot.place(at.0, at.1)).collect::<Vec<_>>());
    }
    for even in &mix.break_even {
        let line = lines.iter().find(|totals| totals.cell == even.fast);
        let Some(time) = line.and_then(|totals| between(totals, even.mbit)) else { continue };
        let (left, right) = plot.x.ends();
        let point = plot.place(even.mbit, time);
        let ends = [even.low, even.high].map(|mbit| plot.place(mbit.clamp(left, right), time));
        if even.high.is_finite() {
            canvas.line(&ends, INK.mix(0.8), 2.0)?;
        } else {
            canvas.dashes(&ends, INK.mix(0.5), 1.5)?;
        }
        canvas.ring(point, 4.5, INK)?;
        layout.take_dot(point, 6.0);
        let pen = Pen::new(14.0, INK);
        let text = units::mbit(even.mbit);
        let size = (canvas.width(&text, pen) + 2.0, 18.0);
        if let Some(place) = layout.put(&Wish { point, size, far: true }) {
            canvas.rect(place.rect, PAPER.mix(0.75))?;
            canvas.text(&text, (place.rect.left, (place.rect.top + place.rect.bottom) / 2.0), pen)?;
        }
    }
    Ok(())
}

/// The total at a speed between two computed ones, on the straight line of the double logarithmic scale.
fn between(totals: &LinkTotals, mbit: f64) -> Option<f64> {
    totals.at.windows(2).find(|pair| (pair[0].0..=pair[1].0).contains(&mbit)).map(|pair| {
        let share = (mbit / pair[0].0).ln() / (pair[1].0 / pair[0].0).ln();
        (pair[0].1.ln() + (pair[1].1 / pair[0].1).ln() * share).exp()
    })
}

/// The best setting at each link speed as coloured bars; the borders lie at the break-evens.
fn strip(canvas: &Canvas, plot: &Plot, group: &GroupView, mix: &LinkMix, top: f64) -> Result<()> {
    let ranges = ranges(&mix.best);
    let (low, high) = plot.x.ends();
    let mut from = low;
    for (index, range) in ranges.iter().enumerate() {
        let to = ranges.get(index + 1).map_or(high, |next| border(mix, range, &next[0]));
        let bar =
            Rect { left: plot.place(from, 1.0).0, top, right: plot.place(to, 1.0).0, bottom: top + STRIP };
        let color = color(group, &range[0].cell);
        canvas.rect(bar, color.mix(0.9))?;
        canvas.rect(Rect { left: bar.right - 1.0, ..bar }, PAPER.mix(1.0))?;
        let pen = Pen::new(14.0, PAPER).bold();
        let setting = group.row(&range[0].cell).map(|row| clean(&row.result.cell.setting.to_string()));
        let names = [Some(group.label(&range[0].cell)), setting];
        let fitting = names.into_iter().flatten().find(|name| canvas.width(name, pen) <= bar.width() - 10.0);
        if let Some(name) = fitting {
            canvas.text(&name, (bar.left + 6.0, top + STRIP / 2.0), pen)?;
        }
        from = to;
    }
    let pen = Pen::new(15.0, INK);
    canvas.text(&view::mix(mix.mix), (plot.rect.right + 24.0, top + STRIP / 2.0), pen)
}
