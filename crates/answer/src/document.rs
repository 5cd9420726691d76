//! The report as blocks of plain text and tables, independent of their rendering. Terminal and Markdown both render
//! this document, so they cannot disagree.

pub mod group;
mod head;
mod method;
pub mod ranking;
mod rest;

use anyhow::{Result, bail};
use weigh_model::suggest::nearest;

use crate::block::Block;
use crate::exhibit::present::Exhibit;
use crate::first::distinct;
use crate::group::Group;
use crate::output::{Detail, Options};
use crate::report::Report;
use crate::table::Columns;
use crate::text::clean;

pub(crate) use head::answered;
pub use head::sentences;
pub(crate) use rest::FAILURES;

/// The whole report, the answer first; a summary is only the answer.
pub fn build(report: &Report, options: &Options) -> Vec<Block> {
    let look = &report.shape().look;
    let mut blocks = head::head(report);
    blocks.extend(head::answer(report, options));
    if options.detail != Detail::Full {
        if report.advice.is_none() {
            blocks.extend(rest::faults(&report.faults));
            blocks.extend(rest::not_measured(report));
        }
        blocks.push(Block::Remark(head::measured(report)));
        return blocks;
    }
    let groups: Vec<group::View> = group::views(report);
    let facts = head::facts(report);
    blocks.push(Block::Remark(facts.clone()));
    blocks.extend(head::findings(&report.findings, options.findings));
    let exhibits = report.exhibits.all();
    let (first, then): (Vec<&dyn Exhibit>, Vec<_>) = exhibits.iter().partition(|exhibit| exhibit.leads());
    blocks.extend(first.iter().flat_map(|exhibit| exhibit.blocks(report, options)));
    // If nothing competes, an overview already has all rows.
    if groups.len() > look.few && report.shape().axes.is_some() {
        blocks.extend((look.overview)(report, &options.columns));
    }
    blocks.extend(then.iter().flat_map(|exhibit| exhibit.blocks(report, options)));
    blocks.push(Block::StudyCharts);
    for (index, view) in groups.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| groups[before].group);
        blocks.extend(view.section(before, &options.columns));
        blocks.push(Block::Charts(index));
        blocks.extend(exhibits.iter().flat_map(|exhibit| exhibit.group_blocks(report, view.group)));
    }
    blocks.extend(rest::faults(&report.faults));
    blocks.extend(rest::not_measured(report));
    blocks.extend(rest::caveats(report));
    blocks.extend(method::section(report, facts, options));
    blocks
}

/// The whole report for a page: the figures of the choices are in tiles, chart and ranking.
pub fn for_page(report: &Report, options: &Options) -> Vec<Block> {
    let mut blocks = build(report, &options.whole());
    let Some(at) = blocks.iter().position(|block| matches!(block, Block::Answer(_))) else { return blocks };
    if matches!(blocks.get(at + 1..=at + 2), Some([Block::Remark(_), Block::Table(_)])) {
        blocks.drain(at + 1..=at + 2);
    }
    blocks
}

/// Checks that each requested column exists: in a table of the report, or as a factor or metric of its subject.
///
/// # Errors
/// The first unknown column, and the nearest known one.
pub fn check(report: &Report, columns: &Columns) -> Result<()> {
    let Columns::These(names) = columns else { return Ok(()) };
    let shape = report.shape();
    let full = Options { detail: Detail::Full, ..Options::default() };
    let mut known: Vec<String> = shape.factors.iter().map(|factor| factor.id.to_owned()).collect();
    known.extend(shape.metrics().map(|metric| metric.id.to_owned()));
    known.extend((shape.look.columns)(report, &Group::default()).iter().map(|shown| shown.column.called()));
    for detail in [full, Options::default()] {
        let grids = build(report, &detail).into_iter();
        let grids = grids.filter_map(|block| if let Block::Table(grid) = block { Some(grid) } else { None });
        known.extend(grids.flat_map(|grid| grid.columns).map(|column| column.called()));
    }
    let known = distinct(known);
    match names.iter().find(|name| !known.contains(name)) {
        Some(name) => match nearest(name, known.iter().map(String::as_str)) {
            Some(near) => bail!("no column `{}`; did you mean `{near}`?", clean(name)),
            None => bail!("no column `{}`; `--columns all` shows every one with its name", clean(name)),
        },
        None => Ok(()),
    }
}
