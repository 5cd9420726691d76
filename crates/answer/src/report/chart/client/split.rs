//! The CPU time of a transaction by whom it falls on: PHP, the kernel for PHP, the store, the kernel for the store.

use anyhow::Result;
use plotters::prelude::*;

use super::super::super::client::view::GroupView;
use super::super::super::text::clean;
use super::super::canvas::{Canvas, INK, Pen, Rect, SIZE, sheet};
use super::super::rows::{self, Bar};
use super::super::title;
use super::row::{BOTTOM, Named, named, remark};
use crate::analysis::client::model::{ClientAnalysis, ClientCpu};
use crate::analysis::model::Quantity;
use weigh_model::units;

const NAMES: f64 = 396.0;

type Part = fn(&ClientCpu) -> Option<Quantity>;

/// The parts from the left: name, colour, strength, amount.
const PARTS: [(&str, RGBColor, f64, Part); 4] = [
    ("PHP", RGBColor(119, 90, 170), 0.95, |cpu| Some(cpu.client_user)),
    ("kernel for PHP", RGBColor(119, 90, 170), 0.45, |cpu| Some(cpu.client_system)),
    ("store", RGBColor(0, 138, 100), 0.95, |cpu| cpu.server_user),
    ("kernel for the store", RGBColor(0, 138, 100), 0.45, |cpu| cpu.server_system),
];

/// There is something to show.
pub(super) fn possible(group: &GroupView) -> bool {
    group.rows().any(|row| row.result.cpu.is_some())
}

/// The chart of one content.
pub(super) fn draw(analysis: &ClientAnalysis, group: &GroupView) -> Result<String> {
    let heading = heading(group);
    sheet(&heading, |canvas| {
        let about = [group.about(), clean(&analysis.run.machine)].join(" · ");
        let top = title::head(canvas, &heading, &about)? + 66.0;
        let (shown, left) = named(group, top);
        let pitch = rows::pitch(shown.len(), top, BOTTOM);
        legend(canvas, top - 44.0)?;
        let names: Vec<_> = shown.iter().map(|row| (row.name.clone(), INK)).collect();
        rows::names(canvas, &names, (NAMES, NAMES - title::MARGIN), (top, pitch))?;
        let bars: Vec<Bar> = shown.iter().map(bar).collect();
        let rect = Rect { left: NAMES + 10.0, top, right: SIZE.0 - title::MARGIN, bottom: BOTTOM };
        rows::panel(canvas, "CPU time a transaction", rect, &bars, (f64::INFINITY, pitch))?;
        let text = "Behind a bar its sum. Intervals are in the tables.";
        title::foot(canvas, analysis, group.synthetic(), &remark(left, text))
    })
}

/// A field of each colour with its name.
fn legend(canvas: &Canvas, y: f64) -> Result<()> {
    let mut x = NAMES + 10.0;
    let pen = Pen::new(15.0, INK);
    for (name, color, strength, _) in PARTS {
        let field = Rect { left: x, top: y - 7.0, right: x + 14.0, bottom: y + 7.0 };
        canvas.rect(field, color.mix(strength))?;
        canvas.text(name, (x + 20.0, y), pen)?;
        x += 20.0 + canvas.width(name, pen) + 26.0;
    }
    Ok(())
}

fn bar(of: &Named) -> Bar {
    let Some(cpu) = of.row.result.cpu.as_ref() else { return Bar { text: "–".into(), ..Bar::default() } };
    let part = |(_, color, strength, amount): (&str, RGBColor, f64, Part)| {
        (amount(cpu).map_or(0.0, |quantity| quantity.value), color.mix(strength))
    };
    Bar { parts: PARTS.map(part).to_vec(), text: units::ns(cpu.total.value), ..Bar::default() }
}

/// How much of it is the store's.
fn heading(group: &GroupView) -> String {
    let cpu = group.rows().filter_map(|row| row.result.cpu);
    let shares: Vec<f64> = cpu
        .filter_map(|cpu| Some(1.0 - cpu.server?.value / cpu.total.value))
        .filter(|s| s.is_finite())
        .collect();
    let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
    let most = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let whole = |share: f64| format!("{:.0}%", share * 100.0);
    match (whole(least), whole(most)) {
        _ if shares.is_empty() => format!("{}: CPU time of a transaction", group.title()),
        (low, high) if low == high => {
            format!("{}: {low} of a transaction's CPU time is PHP's side", group.title())
        }
        (low, high) => {
            format!("{}: {low} to {high} of a transaction's CPU time is PHP's side", group.title())
        }
    }
}
