//! The evidence of a study of codecs.

pub mod beats;
pub mod breakeven;
pub mod levels;
pub mod marshaller;
pub mod memory;
pub mod serializer;
pub mod size;

use weigh_model::payload::Payload;
use weigh_model::setting::Setting;
use weigh_model::units;

use crate::exhibit::links::{Line, break_evens, line_of};
use crate::first::{distinct, grouped};
use crate::group::Group;
use crate::label;
use crate::metric::codec::{DECODE, DECODED, ENCODE, IDENTITY, STORED};
use crate::report::Report;
use crate::report::exhibit::links::{BreakEven, Mix};
use crate::report::finding::{Draft, Evidence};
use crate::report::ranking::conditions::{speeds_of, usual_reads};
use crate::row::Row;
use crate::verdict::{Ratio, is_less, ratio};

/// Encoded bytes with a dictionary's.
pub(crate) fn stored(row: &Row) -> f64 {
    row.value(STORED).unwrap_or(0.0)
}

fn id_of(row: &&Row) -> String {
    row.cell.id.clone()
}

fn level_of(row: &&Row) -> Option<i32> {
    row.cell.setting.level
}

fn members<'a>(evidence: &Evidence<'a>, group: &'a Group) -> Vec<&'a Row> {
    evidence.report.members(group).filter(|row| row.get(ENCODE).is_some()).collect()
}

fn reference_of<'a>(evidence: &Evidence<'a>, group: &Group) -> Option<&'a Row> {
    evidence.report.row(group.reference()?).filter(|row| row.get(ENCODE).is_some())
}

/// The reference and the rows that differ from it only in the setting, so that codecs are compared.
fn peers<'a>(evidence: &Evidence<'a>, group: &'a Group) -> Option<(&'a Row, Vec<&'a Row>)> {
    let reference = reference_of(evidence, group)?;
    let mut peers = members(evidence, group);
    peers.retain(|row| row.cell.serializer == reference.cell.serializer);
    Some((reference, peers))
}

/// The lines of a group over links.
pub(crate) fn lines<'a>(evidence: &Evidence<'a>, group: &'a Group, mix: Mix) -> Vec<Line<'a>> {
    let Some(links) = &evidence.plan.study.links else { return Vec::new() };
    let rows = evidence.report.members(group);
    rows.filter_map(|row| line_of(evidence.report, links, row, mix)).collect()
}

/// Mean bytes of one item of the group's payload.
pub(crate) fn item_bytes(evidence: &Evidence, group: &Group) -> u64 {
    let items = evidence.report.payload(group.payload()).map_or(1, Payload::operations);
    content_bytes(evidence.report, group) / items as u64
}

/// The runtimes with groups, each with its groups by item size, ascending.
pub(crate) fn by_runtime<'a>(evidence: &Evidence<'a>) -> Vec<(&'a str, Vec<&'a Group>)> {
    let of = |runtime: &'a weigh_model::plan::Runtime| {
        let own = evidence.report.groups.iter().filter(|g| g.runtime() == runtime.name);
        let mut groups: Vec<&Group> = own.collect();
        groups.sort_by_key(|group| item_bytes(evidence, group));
        (runtime.name.as_str(), groups)
    };
    let runtimes = evidence.plan.runtimes.iter().map(of);
    runtimes.filter(|(_, groups)| !groups.is_empty()).collect()
}

/// The usual mix: see [`usual_reads`]; a write if none was requested.
pub(crate) fn usual_mix(evidence: &Evidence) -> Option<Mix> {
    let links = evidence.plan.study.links.as_ref()?;
    Some(usual_reads(links).map_or(Mix::Write, Mix::ReadsPerWrite))
}

/// Possible link speeds, ascending, in Mbit/s.
pub(crate) fn speeds(evidence: &Evidence) -> Vec<f64> {
    let mut speeds = evidence.plan.study.links.as_ref().map_or(Vec::new(), speeds_of);
    speeds.sort_by(f64::total_cmp);
    speeds
}

/// What is said of the largest content of each runtime.
fn of_largest<'a, D: IntoIterator<Item = Draft>>(
    evidence: &Evidence<'a>,
    say: impl Fn(&'a Group) -> D,
) -> Vec<Draft> {
    let largest = by_runtime(evidence).into_iter().filter_map(|(_, groups)| groups.last().copied());
    largest.flat_map(say).collect()
}

/// The codecs of some rows that encode: the one in use today first, then as planned.
fn codecs_of<'a>(rows: impl Iterator<Item = &'a Row>, reference: &Row) -> Vec<&'a str> {
    let mut codecs = distinct(rows.map(|row| row.cell.setting.codec.as_str()).filter(|of| *of != IDENTITY));
    codecs.sort_by_key(|codec| *codec != reference.cell.setting.codec);
    codecs
}

/// ` with igbinary`; nothing without a serializer.
fn with_serializer(row: &Row) -> String {
    row.cell.serializer.as_ref().map_or(String::new(), |serializer| format!(" with {serializer}"))
}

/// `tree-2.4m`, with the runtime where the plan has several: `tree-2.4m (php8.2)`; content that is not real is called so.
fn describe_group(evidence: &Evidence, group: &Group) -> String {
    let content = label::content(evidence, group.payload());
    format!("{content}{}", label::on_runtime(evidence, group.runtime()))
}

/// Bytes of a group's content: of a value, those of `serialize` in its own PHP, if measured. PHP before 7.1 writes
/// numbers with fractions with more digits.
pub fn content_bytes(report: &Report, group: &Group) -> u64 {
    let Some(payload) = report.payload(group.payload()) else { return 0 };
    let is_own = |row: &&Row| row.cell.serializer.as_deref() == Some("serialize");
    let own = report.members(group).filter(is_own).find_map(|row| row.value(DECODED));
    own.filter(|_| payload.value.is_some()).map_or(payload.size(), |bytes| bytes as u64)
}
