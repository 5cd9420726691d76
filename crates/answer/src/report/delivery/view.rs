//! What every form of a delivery report shows of a cell and of a group.

use std::collections::HashMap;

use super::super::text::clean;
use super::super::words::note;
use crate::analysis::delivery::model::{DeliveryAnalysis, DeliveryGroup, DeliveryResult, OverLink};
use crate::analysis::model::Quantity;
use weigh_model::cell::{NO_PHP, Subject};
use weigh_model::link::Rate;
use weigh_model::payload::{Origin, Payload};
use weigh_model::record::StopReason;
use weigh_model::units;
use weigh_model::way::WayKind;

/// One cell as a row.
pub(in crate::report) struct Row<'a> {
    pub result: &'a DeliveryResult,
    /// `php/gzencode:6`, cleaned.
    pub label: String,
    /// The label of the cell that beats it.
    pub dominated_by: Option<String>,
}

impl Row<'_> {
    /// Milliseconds of CPU time of server and PHP.
    pub fn cpu_ms(&self) -> Option<f64> {
        self.result.cpu_ns().map(|ns| ns / 1e6)
    }

    /// Half-width of the 95% interval of the CPU time in percent; none of a single round.
    pub fn interval(&self) -> Option<f64> {
        let Quantity { value, low, high } = self.result.cpu.as_ref()?.total;
        (value > 0.0 && high > low).then(|| (high - low) / 2.0 / value * 100.0)
    }

    /// The content is sent as it is.
    pub fn is_copy(&self) -> bool {
        self.kind() == Some(WayKind::Plain)
    }

    pub fn kind(&self) -> Option<WayKind> {
        self.result.cell.delivery.as_ref().map(|d| d.kind)
    }

    /// Short words on what to keep in mind.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<_> = self.result.caveats.iter().map(note).collect();
        if self.result.stop == Some(StopReason::Budget) {
            notes.push("budget ended".into());
        }
        notes
    }
}

/// A group with what belongs to it.
pub(in crate::report) struct GroupView<'a> {
    pub group: &'a DeliveryGroup,
    pub payload: Option<&'a Payload>,
    /// Front first by CPU time, then the dominated by CPU time.
    pub rows: Vec<Row<'a>>,
}

impl GroupView<'_> {
    /// `page-path from nginx, php8.2, https, 10 connections, over cable`, cleaned.
    pub fn title(&self) -> String {
        format!("{} from {}", clean(&self.group.payload), self.place())
    }

    /// `nginx, php8.2, https, 10 connections`, cleaned.
    pub fn place(&self) -> String {
        let group = self.group;
        let mut parts = vec![clean(&group.server)];
        if group.runtime != NO_PHP {
            parts.push(clean(&group.runtime));
        }
        parts.push(group.transport.name().to_owned());
        if group.connections > 1 {
            parts.push(format!("{} connections", group.connections));
        }
        parts.extend(group.link.as_ref().map(|link| format!("over {}", clean(&link.asked.name))));
        parts.join(", ")
    }

    /// Kind, size and origin of the content in one line.
    pub fn about(&self) -> String {
        let Some(payload) = self.payload else { return String::new() };
        let origin = super::super::view::origin(&payload.origin);
        format!("{} · {} · {origin}", clean(&payload.kind), units::bytes(payload.bytes))
    }

    /// What the link was measured as, beside what was asked, in one line; none without one.
    pub fn link(&self) -> Option<String> {
        let OverLink { asked, measured } = self.group.link.as_ref()?;
        let beside = |name: &str, asked: Option<String>, seen: Option<String>| {
            let asked = asked.unwrap_or_else(|| "not limited".into());
            seen.map(|seen| format!("{name} {seen} ({asked})"))
        };
        let mbit = |kbps: f64| units::mbit(kbps / 1e3);
        let ms = |ms: f64| units::ns(ms * 1e6);
        let rate = |name, asked: Option<f64>, seen: &Option<Rate>| {
            beside(name, asked.map(mbit), seen.as_ref().map(|rate| mbit(rate.measured_kbps)))
        };
        let trip = measured.round_trip.as_ref();
        let lost = measured.lost.as_ref().filter(|lost| lost.sent > 0);
        let loss = lost.map(|lost| units::percent(lost.lost as f64 / lost.sent as f64));
        let figures: Vec<String> = [
            rate("down", asked.down_kbps, &measured.down),
            rate("up", asked.up_kbps, &measured.up),
            beside("round trip", Some(ms(asked.rtt_ms)), trip.map(|trip| ms(trip.median_ms))),
            beside("loss", Some(units::percent(asked.loss)), loss),
        ]
        .into_iter()
        .flatten()
        .collect();
        let hides = measured.way.hides().map_or(String::new(), |hides| format!(" · {hides}"));
        Some(format!(
            "The link {} ({}), measured (asked): {}. Each response has a connection of its own, whose begin its times count from.{hides}",
            clean(&asked.name),
            measured.way.name(),
            figures.join(", "),
        ))
    }

    /// The content is generated, not real.
    pub fn synthetic(&self) -> bool {
        self.payload.is_some_and(|payload| matches!(payload.origin, Origin::Synthetic { .. }))
    }

    pub fn subject(&self) -> Option<Subject> {
        self.rows.first().map(|row| row.result.cell.subject)
    }

    pub fn row(&self, id: Option<&String>) -> Option<&Row<'_>> {
        self.rows.iter().find(|row| Some(&row.result.cell.id) == id)
    }

    pub fn reference(&self) -> Option<&Row<'_>> {
        self.row(self.group.reference.as_ref())
    }

    pub fn gzip(&self) -> Option<&Row<'_>> {
        self.row(self.group.gzip.as_ref())
    }

    pub fn front(&self) -> impl Iterator<Item = &Row<'_>> {
        self.rows.iter().filter(|row| row.result.front)
    }
}

/// The groups with at least one measured cell, in the analysis' order.
pub(in crate::report) fn groups(analysis: &DeliveryAnalysis) -> Vec<GroupView<'_>> {
    let by_id: HashMap<&str, &DeliveryResult> =
        analysis.cells.iter().map(|cell| (cell.cell.id.as_str(), cell)).collect();
    let labelled = |id: &String| by_id.get(id.as_str()).map_or_else(|| clean(id), |cell| label(cell));
    let views = analysis.groups.iter().map(|group| {
        let results = group.cells.iter().filter_map(|id| by_id.get(id.as_str()));
        let mut rows: Vec<_> = results
            .map(|result| Row {
                result,
                label: label(result),
                dominated_by: result.dominated_by.as_ref().map(labelled),
            })
            .collect();
        let time = |row: &Row| row.result.cpu_ns().unwrap_or(f64::INFINITY);
        rows.sort_by(|a, b| {
            let front = b.result.front.cmp(&a.result.front);
            front.then(time(a).total_cmp(&time(b))).then_with(|| a.label.cmp(&b.label))
        });
        let payload = analysis.payloads.iter().find(|payload| payload.name == group.payload);
        GroupView { group, payload, rows }
    });
    views.filter(|view| !view.rows.is_empty()).collect()
}

/// `php/gzencode:6`: what a reader calls the cell inside its group.
pub(in crate::report) fn label(result: &DeliveryResult) -> String {
    let way = result.cell.delivery.as_ref().map(|d| d.way(&result.cell.setting));
    clean(&way.unwrap_or_else(|| result.cell.setting.to_string()))
}
