//! Links as tables and lines.

use super::Row;
use crate::cli::terminal;
use crate::rig::link::Link;
use weigh_answer::table::Grid;
use weigh_model::link::{LinkSpec, Measured, Rate};
use weigh_model::units;

/// The profiles.
pub(super) fn profiles(specs: &[LinkSpec]) -> String {
    let mut table = Grid::list(&["link", "down", "up", "round trip", "loss", "source"]);
    for spec in specs {
        let loss = if spec.loss > 0.0 { units::percent(spec.loss) } else { "–".into() };
        table.line([
            &spec.name,
            &speed(spec.down_kbps),
            &speed(spec.up_kbps),
            &ms(spec.rtt_ms),
            &loss,
            &spec.source,
        ]);
    }
    terminal::lines(&table)
}

/// What was measured beside what was asked, and what should be known about the way.
pub(super) fn measured(rows: &[Row]) -> String {
    let mut table = Grid::list(&["link", "way", "figure", "asked", "measured", ""]);
    let mut notes: Vec<String> = Vec::new();
    for row in rows {
        let Some(measured) = &row.measured else { continue };
        let (mut name, mut way) = (row.asked.name.as_str(), measured.way.name());
        for [figure, asked, seen, verdict] in figures(&row.asked, measured) {
            table.line([name, way, &figure, &asked, &seen, &verdict]);
            (name, way) = ("", "");
        }
        for note in remarks(&row.asked, measured) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes.iter().fold(terminal::lines(&table), |text, note| format!("{text}{note}\n"))
}

/// One line about a link that is about to be used.
pub(super) fn line(link: &Link) -> String {
    let figures = figures(link.spec(), link.measured());
    let figures: Vec<String> =
        figures.iter().map(|[figure, _, seen, _]| format!("{figure} {seen}")).collect();
    format!("link {} ({}): {}", link.spec().name, link.way().name(), figures.join(", "))
}

/// Figure, asked, measured, verdict.
fn figures(asked: &LinkSpec, measured: &Measured) -> Vec<[String; 4]> {
    let verdict = |is_off: bool| if is_off { "off".to_owned() } else { "ok".to_owned() };
    let mut rows = Vec::new();
    if let Some(trip) = &measured.round_trip {
        let seen = format!("{} ± {}, p99 {}", ms(trip.median_ms), ms(trip.mad_ms), ms(trip.p99_ms));
        rows.push(["round trip".into(), ms(trip.expected_ms), seen, verdict(trip.is_off())]);
    }
    for (figure, rate) in [("down", &measured.down), ("up", &measured.up)] {
        if let Some(rate) = rate {
            rows.push([figure.into(), speed(rate.expected_kbps), carried(rate), verdict(rate.is_off())]);
        }
    }
    if let Some(lost) = &measured.lost {
        let seen = format!("{} of {} packets", lost.lost, lost.sent);
        rows.push(["loss".into(), units::percent(asked.loss), seen, verdict(lost.is_off(asked.loss))]);
    }
    rows
}

fn carried(rate: &Rate) -> String {
    let payload = units::mbit(rate.payload_kbps / 1e3);
    format!("{}, of which TCP carries {payload}", units::mbit(rate.measured_kbps / 1e3))
}

/// What to know about the way, a line each.
fn remarks(asked: &LinkSpec, measured: &Measured) -> Vec<String> {
    let way = measured.way.name();
    let mut remarks: Vec<String> =
        measured.passed_over.iter().map(|why| format!("passed over: {why}")).collect();
    remarks.extend(measured.way.hides().map(|hidden| format!("{}, {way}: {hidden}", asked.name)));
    if measured.realtime == Some(false) {
        remarks.push(format!(
            "{}, {way}: no real-time priority: the delay wanders when the machine is busy",
            asked.name
        ));
    }
    remarks
}

fn ms(ms: f64) -> String {
    if ms == 0.0 { "–".into() } else { units::ns(ms * 1e6) }
}

fn speed(kbps: Option<f64>) -> String {
    kbps.map_or_else(|| "not limited".into(), |kbps| units::mbit(kbps / 1e3))
}
