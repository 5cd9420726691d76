//! The rows of one group: the best trade-offs, and what is better than the others.

use weigh_model::payload::{Origin, Payload};
use weigh_model::record::StopReason;
use weigh_model::units;

use crate::block::Block;
use crate::group::Group;
use crate::report::Report;
use crate::report::shape::{Look, ShownColumn, time_axis};
use crate::row::Row;
use crate::table::{Column, Columns, Grid, Tone};
use crate::text::clean;
use crate::words::note;

/// The most columns of a table of settings.
const MOST: usize = 6;

/// A group with its rows as tables show them.
pub struct View<'a> {
    pub report: &'a Report,
    pub group: &'a Group,
    /// Those on the front first by time, then the others by time; in the plan's order if nothing competes.
    pub rows: Vec<&'a Row>,
}

pub fn views(report: &Report) -> Vec<View<'_>> {
    report.groups.iter().map(|group| View::of(report, group)).collect()
}

impl<'a> View<'a> {
    pub fn of(report: &'a Report, group: &'a Group) -> View<'a> {
        let shape = report.shape();
        let mut rows: Vec<&Row> = report.members(group).collect();
        if let Some(axes) = &shape.axes {
            let axis = time_axis(axes, rows.iter().copied());
            let time = |row: &Row| axis.and_then(|(time, _)| row.value(time)).unwrap_or(f64::INFINITY);
            rows.sort_by(|a, b| {
                let front = b.front.cmp(&a.front).then(time(a).total_cmp(&time(b)));
                front.then_with(|| (shape.look.label)(a).cmp(&(shape.look.label)(b)))
            });
        }
        View { report, group, rows }
    }

    fn look(&self) -> &'static Look {
        &self.report.shape().look
    }

    /// Its title, with a mark where its content is generated.
    pub fn title(&self) -> String {
        let mark = if self.is_synthetic() { " (SYNTHETIC)" } else { "" };
        format!("{}{mark}", (self.look().title)(self.report, self.group))
    }

    /// The name of its content, with a mark where it is generated.
    pub fn content(&self) -> String {
        let mark = if self.is_synthetic() { " (SYNTHETIC)" } else { "" };
        format!("{}{mark}", clean(self.group.payload()))
    }

    pub fn payload(&self) -> Option<&'a Payload> {
        self.report.payload(self.group.payload())
    }

    /// The content is generated, not real.
    pub fn is_synthetic(&self) -> bool {
        self.payload().is_some_and(is_synthetic)
    }

    /// The name of a row by its cell's id; the cleaned id of one that is not here.
    pub fn label(&self, id: &str) -> String {
        label(self.report, id)
    }

    pub fn on_front(&self) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().copied().filter(|row| row.front)
    }

    pub fn marked(&self, mark: &str) -> Option<&'a Row> {
        self.report.row(self.group.mark(mark)?)
    }

    fn head(&self) -> Vec<Block> {
        let about = (self.look().about)(self.report, self.group).into_iter().map(Block::Remark);
        std::iter::once(Block::Heading(2, self.title())).chain(about).collect()
    }

    /// Title and part, where it has one.
    pub fn full_title(&self) -> Option<String> {
        Some(format!("{} · {}", self.title(), self.look().part?(self.report, self.group)))
    }

    /// Every row, after the group `before`; the legend of columns is in the report's first table.
    pub(super) fn section(&self, before: Option<&Group>, columns: &Columns) -> Vec<Block> {
        let look = self.look();
        let is_continued = look.part.is_some() && before.is_some_and(|b| b.payload() == self.group.payload());
        let mut remark = String::new();
        let axes = self.report.shape().axes.as_ref();
        if let Some((_, time)) = axes.and_then(|axes| time_axis(axes, self.rows.iter().copied())) {
            let (front, all) = (self.on_front().count(), self.rows.len());
            let worth = units::count(all, look.noun.0, look.noun.1);
            let are = if front == 1 { "is" } else { "are" };
            let others = if front < all {
                "; each of the others is no smaller than one of them and not measurably quicker"
            } else {
                ""
            };
            remark = format!("{front} of {worth} {are} on the Pareto front (●) of {time} and bytes{others}.");
        }
        let mut blocks = if is_continued { Vec::new() } else { self.head() };
        blocks.push(Block::Remark(remark));
        blocks.extend(look.part.map(|part| Block::Heading(3, part(self.report, self.group))));
        let mut table = self.table(self.rows.iter().copied(), columns);
        table.has_legend = before.is_none();
        blocks.push(Block::Table(table));
        blocks
    }

    /// The table of some of its rows, with a column for every requested factor and metric.
    pub fn table(&self, rows: impl Iterator<Item = &'a Row>, columns: &Columns) -> Grid {
        let shape = self.report.shape();
        let mut shown = (shape.look.columns)(self.report, self.group);
        if let Columns::These(names) = columns {
            let is_there =
                |shown: &[ShownColumn], name: &str| shown.iter().any(|one| one.column.called() == name);
            let more = names.iter().filter(|name| !is_there(&shown, name));
            let more: Vec<ShownColumn> = more.filter_map(|name| shape.column(name)).collect();
            shown.extend(more);
        }
        let (columns, fields): (Vec<Column>, Vec<_>) =
            shown.into_iter().map(|one| (one.column, one.of)).unzip();
        let told = |column: Column| match column.about {
            "" => column.clone().about(shape.about(column.id)),
            _ => column,
        };
        let mut grid = Grid::new(columns.into_iter().map(told).collect());
        grid.most = Some(MOST);
        for row in rows {
            grid.push(self.tone(row), fields.iter().map(|of| of(self.report, self.group, row)).collect());
        }
        grid
    }

    fn tone(&self, row: &Row) -> Tone {
        let is_chosen = match &self.report.advice {
            Some(advice) if !advice.recommended.is_empty() => advice.recommends(row.id()),
            _ => row.front,
        };
        match (is_chosen, &row.dominated_by) {
            (true, _) => Tone::Strong,
            (false, Some(_)) => Tone::Dim,
            (false, None) => Tone::Plain,
        }
    }
}

/// The name of a row inside its group by its cell's id; the cleaned id of one that the report does not have.
pub fn label(report: &Report, id: &str) -> String {
    report.row(id).map_or_else(|| clean(id), |row| (report.shape().look.label)(row))
}

pub const RECOMMENDED: &str = "→";

/// The name of a row with its mark: `→` if it is recommended, `●` if it is on the front. A report that marks no row has names only.
pub fn marked(report: &Report, row: &Row, label: &str) -> String {
    if report.advice.is_none() && report.shape().axes.is_none() {
        return label.to_owned();
    }
    let sign = match (report.recommends(row.id()), row.front) {
        (true, _) => RECOMMENDED,
        (false, true) => "●",
        (false, false) => " ",
    };
    format!("{sign} {label}")
}

/// Short caveats of a row.
pub fn notes(report: &Report, group: &Group, row: &Row) -> String {
    let mut notes = marks(report, group, row);
    notes.extend(row.caveats.iter().map(note));
    if row.stop == Some(StopReason::Budget) {
        notes.push("budget ended".into());
    }
    notes.extend((report.shape().look.notes)(report, row));
    notes.join(", ")
}

/// What a row is to the others of its group: `gzip`, `reference`.
pub fn marks(report: &Report, group: &Group, row: &Row) -> Vec<String> {
    let marks = report.shape().marks.iter().rev();
    let marks = marks.filter(|mark| group.mark(mark.name) == Some(&row.cell.id));
    marks.map(|mark| mark.note.to_owned()).collect()
}

/// The content is generated, not real.
pub fn is_synthetic(payload: &Payload) -> bool {
    matches!(payload.origin, Origin::Synthetic { .. })
}

/// Kind, size and origin of a content in one line.
pub fn about(payload: &Payload) -> String {
    let items = match payload.items.len() {
        0 | 1 => String::new(),
        many if payload.family => format!(" each, {many} of its kind in turn"),
        many => format!(" in {many} items"),
    };
    let origin = origin(&payload.origin);
    match payload.origin {
        Origin::Made => origin,
        _ => format!("{} · {}{items} · {origin}", clean(&payload.kind), units::bytes(payload.size())),
    }
}

/// Where a payload came from, in a few words.
pub fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Corpus { source, unpinned: None, .. } => format!("corpus {}", clean(source)),
        Origin::Corpus { source, unpinned: Some(why), .. } => {
            format!("corpus {}, not the pinned bytes ({})", clean(source), clean(why))
        }
        Origin::User { path, sampled: None } => clean(&path.display().to_string()),
        Origin::User { path, sampled: Some(blocks) } => {
            format!("{}, only {}", clean(&path.display().to_string()), clean(blocks))
        }
        Origin::Url { url } => clean(url),
        Origin::Made => "made by the workers".into(),
        Origin::Synthetic { imitates } => format!("SYNTHETIC, imitates {}", clean(imitates)),
    }
}
