//! What every form of the report shows of a cell and of a group, and in which order. Owns the choice of
//! figures (CPU time of the whole operation, uncompressed bytes); refuses to say how they look.

use std::collections::HashMap;

use super::text::clean;
use super::words::note;
use crate::analysis::model::{Analysis, CellResult, Estimate, Group, Mix, usual_reads};
use weigh_model::payload::{Origin, Payload};
use weigh_model::protocol::Phase;
use weigh_model::record::StopReason;
use weigh_model::units;

/// One cell as a row.
pub(super) struct Row<'a> {
    pub result: &'a CellResult,
    /// `igbinary + zstd:3`, cleaned.
    pub label: String,
    /// The label of the cell that beats it.
    pub dominated_by: Option<String>,
}

impl Row<'_> {
    pub fn encode(&self) -> Option<&Estimate> {
        self.result.phases.get(&Phase::Encode).or_else(|| self.result.compress())
    }

    pub fn decode(&self) -> Option<&Estimate> {
        self.result.phases.get(&Phase::Decode).or_else(|| self.result.decompress())
    }

    /// A part that was measured apart from the whole.
    pub fn alone(&self, part: Phase) -> Option<&Estimate> {
        self.result.phases.get(&part)
    }

    /// Codec throughput in MB/s of uncompressed bytes.
    pub fn rate(&self, estimate: Option<&Estimate>) -> Option<f64> {
        estimate.map(|estimate| estimate.throughput(self.result.decoded_bytes)).filter(|rate| *rate > 0.0)
    }

    /// Half-width of the wider 95% interval of the two directions, in percent of the CPU time.
    pub fn interval(&self) -> Option<f64> {
        let half = |e: &Estimate| (e.cpu > 0.0).then(|| (e.high - e.low) / 2.0 / e.cpu * 100.0);
        [self.encode(), self.decode()].into_iter().flatten().filter_map(half).reduce(f64::max)
    }

    /// Wall time ÷ CPU time of the encode.
    pub fn wall_over_cpu(&self) -> Option<f64> {
        self.encode().filter(|e| e.cpu_median > 0.0).map(|e| e.wall_median / e.cpu_median)
    }

    /// Peak memory of the hungrier direction in bytes.
    pub fn peak(&self) -> Option<u64> {
        self.result.peak_bytes.values().copied().max()
    }

    /// The fewest samples of a direction.
    pub fn samples(&self) -> Option<u32> {
        [self.encode(), self.decode()].into_iter().flatten().map(|estimate| estimate.samples).min()
    }

    /// Short words on what to keep in mind.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<_> = self.result.caveats.iter().map(note).collect();
        if self.result.stop == Some(StopReason::Budget) {
            notes.push("budget ended".into());
        }
        if self.result.dictionary_bytes > 0 {
            notes.push(format!("+ dictionary {}", units::bytes(self.result.dictionary_bytes)));
        }
        notes
    }
}

/// A group with what belongs to it.
pub(super) struct GroupView<'a> {
    pub group: &'a Group,
    pub payload: Option<&'a Payload>,
    /// Front first by encode time, then the dominated by encode time.
    pub rows: Vec<Row<'a>>,
}

impl GroupView<'_> {
    /// `tree-2.4m in php8.2`, cleaned.
    pub fn title(&self) -> String {
        let runtime = if self.group.runtime == "native" {
            "native libraries".to_owned()
        } else {
            clean(&self.group.runtime)
        };
        format!("{}, {runtime}", clean(&self.group.payload))
    }

    /// Kind, size and origin of the content in one line, with `SYNTHETIC` in front where it is.
    pub fn about(&self) -> String {
        let Some(payload) = self.payload else { return String::new() };
        let items = match payload.items.len() {
            0 | 1 => String::new(),
            many => format!(" in {many} items"),
        };
        let size = units::bytes(payload.bytes);
        format!("{} · {size}{items} · {}", clean(&payload.kind), origin(&payload.origin))
    }

    /// The content is generated, not real.
    pub fn synthetic(&self) -> bool {
        self.payload.is_some_and(|payload| matches!(payload.origin, Origin::Synthetic { .. }))
    }

    pub fn row(&self, id: &str) -> Option<&Row<'_>> {
        self.rows.iter().find(|row| row.result.cell.id == id)
    }

    /// The label of a cell by its id; the cleaned id of one that is not here.
    pub fn label(&self, id: &str) -> String {
        self.row(id).map_or_else(|| clean(id), |row| row.label.clone())
    }

    pub fn front(&self) -> impl Iterator<Item = &Row<'_>> {
        self.rows.iter().filter(|row| row.result.front)
    }

    /// The cell the others are compared with.
    pub fn reference(&self) -> Option<&str> {
        self.group.reference.as_deref()
    }
}

/// The groups with at least one measured cell, in the analysis' order.
pub(super) fn groups(analysis: &Analysis) -> Vec<GroupView<'_>> {
    let labels: HashMap<&str, String> =
        analysis.cells.iter().map(|cell| (cell.cell.id.as_str(), label(cell))).collect();
    let views = analysis.groups.iter().map(|group| {
        let mut rows: Vec<_> = analysis
            .cells
            .iter()
            .filter(|cell| cell.cell.payload == group.payload && cell.cell.runtime == group.runtime)
            .map(|result| Row {
                result,
                label: labels[result.cell.id.as_str()].clone(),
                dominated_by: result
                    .dominated_by
                    .as_ref()
                    .map(|id| labels.get(id.as_str()).cloned().unwrap_or_else(|| clean(id))),
            })
            .collect();
        let time = |row: &Row| row.encode().map_or(f64::INFINITY, |encode| encode.cpu);
        rows.sort_by(|a, b| {
            b.result
                .front
                .cmp(&a.result.front)
                .then(time(a).total_cmp(&time(b)))
                .then_with(|| a.label.cmp(&b.label))
        });
        let payload = analysis.payloads.iter().find(|payload| payload.name == group.payload);
        GroupView { group, payload, rows }
    });
    views.filter(|view| !view.rows.is_empty()).collect()
}

/// The priority of a column with the runtime: it stays where it tells two groups of one content apart.
pub(super) fn runtime_priority(groups: &[GroupView]) -> u8 {
    let mut payloads: Vec<_> = groups.iter().map(|group| &group.group.payload).collect();
    payloads.sort();
    if payloads.windows(2).any(|pair| pair[0] == pair[1]) { 0 } else { 50 }
}

/// `igbinary + zstd:3`: what a reader calls the cell inside its group.
fn label(result: &CellResult) -> String {
    let setting = clean(&result.cell.setting.to_string());
    match result.cell.serializer.as_deref() {
        Some(serializer) => format!("{} + {setting}", clean(serializer)),
        None => setting,
    }
}

/// Where a payload came from, in a few words.
pub(super) fn origin(origin: &Origin) -> String {
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

/// What a total time counts, in words.
pub(super) fn mix(mix: Mix) -> String {
    match mix {
        Mix::Write => "one write".into(),
        Mix::Read => "one read".into(),
        Mix::ReadsPerWrite(reads) => {
            let reads = (reads * 100.0).round() / 100.0;
            format!("1 write : {reads} {}", if reads == 1.0 { "read" } else { "reads" })
        }
    }
}

/// The mix that stands for a group where only one has room: that of daily use, else the first.
pub(super) fn main_mix(group: &Group) -> Option<&crate::analysis::model::LinkMix> {
    let reads = |mix: &crate::analysis::model::LinkMix| match mix.mix {
        Mix::ReadsPerWrite(reads) => Some(reads),
        Mix::Write | Mix::Read => None,
    };
    let usual = usual_reads(group.links.iter().filter_map(reads));
    let mixed = group.links.iter().find(|mix| usual.is_some() && reads(mix) == usual);
    mixed.or_else(|| group.links.first())
}
