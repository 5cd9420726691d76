//! What the summary of a run or a load has, derived from its folder.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use walkdir::WalkDir;

use super::summary::{Figure, Summary, Values};
use weigh_answer::derive::rows;
use weigh_answer::estimate::Estimate;
use weigh_answer::facts::{self, Facts};
use weigh_answer::load::Document;
use weigh_answer::metric::Metric;
use weigh_answer::report::Report;
use weigh_answer::row::Row;
use weigh_answer::{document, subject};
use weigh_model::record::Record;
use weigh_model::text::clean;
use weigh_run::dir::StoredRun;
use weigh_run::kept::StoredMeasurement;

/// Reads a run; what is wrong with a damaged one is part of what is known of it.
pub fn derived(run: &Path) -> (Summary, Values) {
    read(run).unwrap_or_else(|error| {
        let (started, damaged) = (StoredMeasurement::started(run), Some(format!("{error:#}")));
        (Summary { started, damaged, ..Summary::default() }, Values::new())
    })
}

fn read(run: &Path) -> Result<(Summary, Values)> {
    let stored = match StoredMeasurement::read(run)? {
        StoredMeasurement::Run(stored) => stored,
        StoredMeasurement::Load(load) => return Ok(of_load(&load)),
    };
    let (facts, subject) = (stored.facts(), subject::of_plan(&stored.plan));
    // What compares rows takes longer than the rows, and a run that measures is read again and again.
    let (rows, answer) = match facts.complete {
        true => {
            let report = stored.report();
            let answer = document::sentences(&report).into_iter().next();
            (report.rows, answer)
        }
        false => (rows(&stored.plan, &stored.records), None),
    };
    let summary = Summary {
        started: stored.file.started.clone(),
        study: Some(stored.plan.study.name.clone()),
        title: Some(stored.plan.study.title.clone()),
        answer,
        subject: Some(subject.name.to_owned()),
        complete: facts.complete,
        configurations: stored.plan.cells.len(),
        done: stored.records.iter().filter(|record| matches!(record, Record::Stop { .. })).count(),
        rounds: facts.rounds,
        seconds: facts.seconds,
        facts: measured_with(&stored),
        ..Summary::default()
    };
    Ok((summary, values(subject.name, &rows)))
}

fn of_load(load: &Document) -> (Summary, Values) {
    let Report { study, run, rows, payloads, .. } = load.report();
    let mut facts = run.environment;
    facts.insert("weigh".to_owned(), run.version);
    facts.extend(payloads.iter().map(facts::content));
    let subject = subject::load::SHAPE.name;
    let summary = Summary {
        started: run.started,
        study: Some(study.name),
        title: Some(study.title),
        subject: Some(subject.to_owned()),
        complete: run.complete,
        configurations: rows.len(),
        rounds: run.rounds,
        seconds: run.seconds,
        facts: cleaned(facts),
        ..Summary::default()
    };
    (summary, values(subject, &rows))
}

/// Values by metric and configuration. What is not finite is not a value.
fn values(subject: &str, rows: &[Row]) -> Values {
    let of = |metric: &'static Metric| {
        let figure = |row: &Row| {
            let Estimate { value, low, high, rounds, .. } = *row.values.get(metric.id)?;
            value.is_finite().then(|| (row.id().to_owned(), Figure { value, low, high, rounds }))
        };
        (metric.id.to_owned(), rows.iter().filter_map(figure).collect::<BTreeMap<_, _>>())
    };
    subject::named(subject).metrics().map(of).filter(|(_, figures)| !figures.is_empty()).collect()
}

/// The bytes of all files of a run.
pub fn size_of(run: &Path) -> u64 {
    let files = WalkDir::new(run).into_iter().flatten().filter_map(|entry| entry.metadata().ok());
    files.filter(|about| about.is_file()).map(|about| about.len()).sum()
}

/// What may differ between two runs of a study and change their figures.
fn measured_with(stored: &StoredRun) -> Facts {
    let plan = &stored.plan;
    let mut facts = stored.file.machine.environment();
    facts.insert("weigh".to_owned(), stored.file.version.clone());
    facts.extend(facts::versions(&plan.runtimes, &plan.servers, &plan.stores, str::to_owned));
    facts.extend(plan.payloads.iter().map(facts::content));
    cleaned(facts)
}

fn cleaned(facts: Facts) -> Facts {
    facts.into_iter().map(|(name, value)| (clean(&name), clean(&value))).collect()
}
