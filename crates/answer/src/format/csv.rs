//! The report as flat tables for other programs. `values.csv` is long, one row per configuration and metric;
//! `cells.csv` is wide, one row per configuration; exhibits have tables of their own. Units are in the header or next
//! to the value; nothing is rounded.

use anyhow::{Context, Result};
use csv::Writer;

use crate::csv_table::{end, ends_of, text};
use crate::document::group::is_synthetic;
use crate::estimate::Estimate;
use crate::format::form::{Form, Format, Medium};
use crate::metric::Metric;
use crate::output::{Options, Rendered};
use crate::report::Report;
use crate::row::Row;
use crate::text::tag_name;
use crate::words;

#[derive(Debug)]
pub struct Csv;

impl Format for Csv {
    fn form(&self) -> Form {
        Form { name: "csv", extension: "csv", medium: Medium::Text }
    }

    fn render(&self, report: &Report, _: &Options) -> Result<Vec<Rendered>> {
        let mut files = vec![
            Rendered::new("values.csv", long(report).context("writing the table of values")?),
            Rendered::new("cells.csv", wide(report).context("writing the table of cells")?),
        ];
        for exhibit in report.exhibits.all() {
            files.extend(exhibit.csv(report)?);
        }
        Ok(files)
    }
}

/// One row per cell and metric.
fn long(report: &Report) -> Result<Vec<u8>> {
    let shape = report.shape();
    let mut out = Writer::from_writer(Vec::new());
    let factors = shape.factors.iter().map(|factor| factor.id);
    out.write_record(
        std::iter::once("cell").chain(factors).chain(["metric", "unit", "value", "low", "high", "rounds"]),
    )?;
    for row in &report.rows {
        for metric in shape.metrics() {
            let Some(estimate) = row.get(metric.id) else { continue };
            let mut fields = factors_of(report, row);
            fields.extend([metric.id.to_owned(), metric.unit.symbol().to_owned()]);
            fields.extend(with_ends(estimate));
            fields.push(estimate.rounds.to_string());
            out.write_record(fields)?;
        }
    }
    Ok(out.into_inner()?)
}

/// One row per cell.
fn wide(report: &Report) -> Result<Vec<u8>> {
    let shape = report.shape();
    // An interval has columns if any row has one.
    let columns: Vec<(&Metric, bool)> = shape
        .metrics()
        .filter(|metric| report.rows.iter().any(|row| row.get(metric.id).is_some()))
        .map(|metric| {
            let estimates = report.rows.iter().filter_map(|row| row.get(metric.id));
            (metric, estimates.into_iter().any(|estimate| estimate.has_interval()))
        })
        .collect();
    let facts = facts(report);
    let mut out = Writer::from_writer(Vec::new());
    let mut header: Vec<String> = vec!["cell".into()];
    header.extend(shape.factors.iter().map(|factor| factor.id.to_owned()));
    header.push("synthetic".into());
    header.extend(facts.iter().map(|name| (*name).to_owned()));
    for (metric, has_ends) in &columns {
        let name = format!("{} ({})", metric.id, metric.unit.symbol());
        header.extend(if *has_ends { ends_of(&name).to_vec() } else { vec![name] });
    }
    for mark in shape.marks {
        header.extend(ends_of(&format!("÷ {} (×)", mark.name)));
    }
    header.extend(["front", "dominated by", "stop", "caveats"].map(str::to_owned));
    out.write_record(header)?;
    for row in &report.rows {
        let mut fields = factors_of(report, row);
        fields.push(report.payload(&row.cell.payload).is_some_and(is_synthetic).to_string());
        fields.extend(facts.iter().map(|name| text(row.fact(name).unwrap_or_default())));
        for (metric, has_ends) in &columns {
            let ends = row.get(metric.id).map(with_ends);
            let ends = ends.unwrap_or_default();
            fields.extend(ends.into_iter().take(if *has_ends { 3 } else { 1 }));
        }
        for mark in shape.marks {
            let ratio = row.beside.get(mark.name);
            fields.extend(ratio.map(|r| [r.value, r.low, r.high].map(|x| x.to_string())).unwrap_or_default());
        }
        fields.push(row.front.to_string());
        fields.push(text(row.dominated_by.as_deref().unwrap_or_default()));
        fields.push(row.stop.as_ref().map(|reason| tag_name(reason, "why")).unwrap_or_default());
        fields.push(text(&row.caveats.iter().map(words::note).collect::<Vec<_>>().join("; ")));
        out.write_record(fields)?;
    }
    Ok(out.into_inner()?)
}

fn factors_of(report: &Report, row: &Row) -> Vec<String> {
    let factors = report.shape().factors.iter();
    let values = factors.map(|factor| text(&(factor.of)(&row.cell).unwrap_or_default()));
    std::iter::once(text(&row.cell.id)).chain(values).collect()
}

/// The names of all facts, in alphabetical order.
fn facts(report: &Report) -> Vec<&str> {
    let mut names: Vec<&str> =
        report.rows.iter().flat_map(|row| row.facts.keys().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Value, low and high; an end that is not known is empty.
fn with_ends(estimate: &Estimate) -> [String; 3] {
    [estimate.value.to_string(), end(estimate.low), end(estimate.high)]
}
