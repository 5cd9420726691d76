//! Tables for other programs, in CSV.

use anyhow::Result;
use csv::Writer;

use crate::output::Rendered;
use crate::text::clean;

/// A file with a row for each thing; `row` returns each column's name with its value. None without a thing.
pub(crate) fn file_of<T>(
    name: &str,
    things: impl IntoIterator<Item = T>,
    row: impl Fn(T) -> Vec<(&'static str, String)>,
) -> Result<Vec<Rendered>> {
    let mut out = Writer::from_writer(Vec::new());
    let rows: Vec<_> = things.into_iter().map(row).collect();
    let Some(first) = rows.first() else { return Ok(Vec::new()) };
    out.write_record(first.iter().map(|(name, _)| name))?;
    for row in &rows {
        out.write_record(row.iter().map(|(_, value)| value))?;
    }
    Ok(vec![Rendered::new(name, out.into_inner()?)])
}

/// A value's column and those of its interval.
pub(crate) fn ends_of(name: &str) -> [String; 3] {
    ["", " 95% low", " 95% high"].map(|end| format!("{name}{end}"))
}

/// Cleaned text that a spreadsheet does not interpret as a formula.
pub(crate) fn text(text: &str) -> String {
    let text = clean(text);
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}

/// An end of an interval; empty where it is not known.
pub fn end(end: Option<f64>) -> String {
    end.map(|end| end.to_string()).unwrap_or_default()
}
