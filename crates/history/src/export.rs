//! Every value of every run as lines for other programs: CSV, or a JSON object each.

use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;

use super::folder::{Entry, History};
use weigh_answer::metric::Better;
use weigh_answer::subject;
use weigh_model::text::clean_path;

/// A value of a run. The members are the columns.
#[derive(Serialize)]
struct Line<'h> {
    run: &'h str,
    started: &'h str,
    study: &'h str,
    subject: &'h str,
    weigh: Option<&'h str>,
    processor: Option<&'h str>,
    kernel: Option<&'h str>,
    system: Option<&'h str>,
    configuration: &'h str,
    metric: &'h str,
    unit: &'h str,
    better: Better,
    complete: bool,
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
    rounds: u32,
}

type Put<'p> = &'p mut dyn FnMut(&Line) -> Result<()>;

/// Writes every value that the runs have into a file, the oldest run first, whole or not at all; returns the number of lines. The file's
/// ending says the form.
///
/// # Errors
/// Another ending; the file cannot be written.
pub fn export(history: &History, file: &Path) -> Result<usize> {
    let shown = clean_path(file);
    let doing = || format!("{shown}: cannot be written");
    ensure!(!file.is_dir(), "{shown}: cannot be written: it is a folder");
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let draft = tempfile::NamedTempFile::new_in(folder).with_context(doing)?;
    let mut out = BufWriter::new(draft.as_file());
    let count = match file.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => {
            let mut csv = csv::Writer::from_writer(&mut out);
            let count = every(history, &mut |line| Ok(csv.serialize(line)?));
            csv.flush().with_context(doing)?;
            count
        }
        Some("ndjson" | "jsonl") => every(history, &mut |line| {
            serde_json::to_writer(&mut out, line)?;
            Ok(out.write_all(b"\n")?)
        }),
        _ => bail!("{shown}: its ending says the form: .csv, .ndjson or .jsonl"),
    };
    let count = count.with_context(doing)?;
    out.flush().with_context(doing)?;
    drop(out);
    draft.persist(file).with_context(doing)?;
    Ok(count)
}

fn every(history: &History, put: Put<'_>) -> Result<usize> {
    history.runs.iter().rev().try_fold(0, |count, run| Ok(count + of_run(run, put)?))
}

fn of_run(run: &Entry, put: Put<'_>) -> Result<usize> {
    let Entry { name, path, summary } = run;
    let Some((study, subject)) = summary.study.as_deref().zip(summary.subject.as_deref()) else {
        return Ok(0);
    };
    let fact = |name: &str| summary.facts.get(name).map(String::as_str);
    let values = summary.values(path);
    let mut count = 0;
    for metric in subject::named(subject).metrics() {
        for (configuration, figure) in values.get(metric.id).into_iter().flatten() {
            put(&Line {
                run: name,
                started: &summary.started,
                study,
                subject,
                weigh: fact("weigh"),
                processor: fact("processor"),
                kernel: fact("kernel"),
                system: fact("system"),
                configuration,
                metric: metric.id,
                unit: metric.unit.symbol(),
                better: metric.better,
                complete: summary.complete,
                value: figure.value,
                low: figure.low,
                high: figure.high,
                rounds: figure.rounds,
            })?;
            count += 1;
        }
    }
    Ok(count)
}
