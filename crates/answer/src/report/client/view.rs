//! What every form of a client report shows of a cell and of a content.

use super::super::text::clean;
use super::super::words::note;
use crate::analysis::client::model::{ClientAnalysis, ClientResult, Work};
use crate::analysis::model::Quantity;
use weigh_model::payload::{Origin, Payload};
use weigh_model::record::StopReason;
use weigh_model::units;

/// One cell as a row.
#[derive(Clone)]
pub(in crate::report) struct Row<'a> {
    pub result: &'a ClientResult,
    /// `redis/phpredis`, cleaned.
    pub place: String,
    /// `php8.2`, cleaned.
    pub runtime: String,
    /// `igbinary/zstd:3`, cleaned; empty where the worker does not encode.
    pub setting: String,
}

impl<'a> Row<'a> {
    fn of(result: &'a ClientResult) -> Row<'a> {
        let cell = &result.cell;
        let client = cell.client.as_ref();
        let place = client.map(|c| format!("{}/{}", c.store, c.driver)).unwrap_or_default();
        let is_encoded = client.is_some_and(|c| c.encoded);
        let setting = format!("{}/{}", cell.serializer.as_deref().unwrap_or("-"), cell.setting);
        Row {
            result,
            place: clean(&place),
            runtime: clean(&cell.runtime),
            setting: if is_encoded { clean(&setting) } else { String::new() },
        }
    }

    /// `redis/phpredis php8.2`, with the setting of a worker that encodes.
    pub fn label(&self) -> String {
        let setting = if self.setting.is_empty() { String::new() } else { format!(" {}", self.setting) };
        format!("{} {}{setting}", self.place, self.runtime)
    }

    /// `9:1/one*4`, cleaned; over a link `9:1/one*4 over 100mbit/20ms`.
    pub fn work(&self) -> String {
        let client = self.result.cell.client.as_ref();
        let link = client.and_then(|c| c.link.as_ref()).map_or(String::new(), |link| format!(" over {link}"));
        clean(&format!("{}{link}", client.map(|c| c.work()).unwrap_or_default()))
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

/// Half of an interval in percent of its number; none of a single round.
pub(in crate::report) fn half_width(quantity: Option<Quantity>) -> Option<f64> {
    let Quantity { value, low, high } = quantity?;
    (value > 0.0 && high > low).then(|| (high - low) / 2.0 / value * 100.0)
}

/// The rows that do one work.
pub(in crate::report) struct WorkView<'a> {
    pub work: &'a Work,
    pub rows: Vec<Row<'a>>,
}

impl WorkView<'_> {
    /// `9:1/one*4, 5,000 transactions a worker`, cleaned.
    pub fn title(&self) -> String {
        let link = self.work.link.as_ref().map_or(String::new(), |link| format!(" over {link}"));
        let transactions = usize::try_from(self.work.transactions).unwrap_or(usize::MAX);
        let transactions = units::count(transactions, "transaction", "transactions");
        format!("{}, {transactions} a worker", clean(&format!("{}{link}", self.work.work)))
    }
}

/// A content with everything that was done with it.
pub(in crate::report) struct GroupView<'a> {
    pub name: &'a str,
    pub payload: Option<&'a Payload>,
    pub works: Vec<WorkView<'a>>,
}

impl<'a> GroupView<'a> {
    /// The content's name, cleaned.
    pub fn title(&self) -> String {
        let mark = if self.synthetic() { " (SYNTHETIC)" } else { "" };
        format!("{}{mark}", clean(self.name))
    }

    /// Kind, size and origin of the content in one line.
    pub fn about(&self) -> String {
        let Some(payload) = self.payload else { return String::new() };
        let origin = super::super::view::origin(&payload.origin);
        match payload.origin {
            Origin::Made => origin,
            _ => format!("{} · {} · {origin}", clean(&payload.kind), units::bytes(payload.bytes)),
        }
    }

    /// The content is generated, not real.
    pub fn synthetic(&self) -> bool {
        self.payload.is_some_and(|payload| matches!(payload.origin, Origin::Synthetic { .. }))
    }

    /// All rows, work by work.
    pub fn rows(&self) -> impl Iterator<Item = &Row<'a>> {
        self.works.iter().flat_map(|work| &work.rows)
    }
}

/// The contents with at least one measured cell, in the analysis' order.
pub(in crate::report) fn groups(analysis: &ClientAnalysis) -> Vec<GroupView<'_>> {
    let mut groups: Vec<GroupView> = Vec::new();
    for work in &analysis.works {
        let cells = work.cells.iter().filter_map(|id| analysis.cells.iter().find(|c| c.cell.id == *id));
        let view = WorkView { work, rows: cells.map(Row::of).collect() };
        if view.rows.is_empty() {
            continue;
        }
        match groups.iter_mut().find(|group| group.name == work.payload) {
            Some(group) => group.works.push(view),
            None => groups.push(GroupView {
                name: &work.payload,
                payload: analysis.payloads.iter().find(|p| p.name == work.payload),
                works: vec![view],
            }),
        }
    }
    groups
}

/// A cell by its id.
pub(in crate::report) fn row<'a>(analysis: &'a ClientAnalysis, id: &str) -> Option<Row<'a>> {
    analysis.cells.iter().find(|c| c.cell.id == id).map(Row::of)
}

/// What a reader calls a cell beside others of its work: by its id.
pub(in crate::report) fn label(analysis: &ClientAnalysis, id: &str) -> String {
    row(analysis, id).map_or_else(|| clean(id), |row| row.label())
}
