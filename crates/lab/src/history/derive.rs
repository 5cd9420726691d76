//! What the summary of a run or a load has, derived from its folder.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use walkdir::WalkDir;

use super::summary::{Figure, Values};
use crate::run::dir::StoredRun;
use crate::run::kept::Kept;
use weigh_answer::estimate::Estimate;
use weigh_answer::facts::{self, Facts};
use weigh_answer::load::Document;
use weigh_answer::metric::Metric;
use weigh_answer::report::{Report, rows};
use weigh_answer::row::Row;
use weigh_answer::subject;
use weigh_model::text::clean;

/// All that is kept of one run.
#[derive(Debug, Default)]
pub struct Derived {
    /// When it was started, RFC 3339, UTC; empty where its file does not say.
    pub started: String,
    /// The study's name.
    pub study: Option<String>,
    /// The subject's name.
    pub subject: Option<&'static str>,
    /// It ended by itself.
    pub is_complete: bool,
    /// Configurations in its plan.
    pub configurations: usize,
    /// Rounds measured.
    pub rounds: u32,
    /// Seconds of wall time.
    pub seconds: f64,
    /// Its values, by configuration and metric.
    pub rows: Vec<Row>,
    /// What it was measured with, by name: versions, the machine, digests of its content.
    pub facts: Facts,
    /// Why it cannot be shown.
    pub damaged: Option<String>,
}

impl Derived {
    /// Reads a run; what is wrong with a damaged one is part of what is known of it.
    pub fn of(run: &Path) -> Derived {
        Derived::read(run).unwrap_or_else(|error| Derived {
            started: Kept::started(run),
            damaged: Some(format!("{error:#}")),
            ..Derived::default()
        })
    }

    fn read(run: &Path) -> Result<Derived> {
        let stored = match Kept::read(run)? {
            Kept::Run(stored) => stored,
            Kept::Load(load) => return Ok(Derived::of_load(&load)),
        };
        let facts = stored.facts();
        Ok(Derived {
            started: stored.file.started.clone(),
            study: Some(stored.plan.study.name.clone()),
            subject: Some(subject::of_plan(&stored.plan).name),
            is_complete: facts.complete,
            configurations: stored.plan.cells.len(),
            rounds: facts.rounds,
            seconds: facts.seconds,
            rows: rows(&stored.plan, &stored.records),
            facts: measured_with(&stored),
            damaged: None,
        })
    }

    fn of_load(load: &Document) -> Derived {
        let Report { study, run, rows, payloads, .. } = load.report();
        let mut facts = run.environment;
        facts.insert("weigh".to_owned(), run.version);
        facts.extend(payloads.iter().map(facts::content));
        Derived {
            started: run.started,
            study: Some(study.name),
            subject: Some(subject::load::SHAPE.name),
            is_complete: run.complete,
            configurations: rows.len(),
            rounds: run.rounds,
            seconds: run.seconds,
            rows,
            facts: cleaned(facts),
            damaged: None,
        }
    }

    /// Its values, by metric and configuration. What is not finite is no value.
    pub fn values(&self) -> Values {
        let known = self.subject.into_iter().flat_map(|name| subject::named(name).metrics());
        let of = |metric: &'static Metric| {
            let figure = |row: &Row| {
                let Estimate { value, low, high, rounds, .. } = *row.values.get(metric.id)?;
                value.is_finite().then(|| (row.id().to_owned(), Figure { value, low, high, rounds }))
            };
            (metric.id.to_owned(), self.rows.iter().filter_map(figure).collect::<BTreeMap<_, _>>())
        };
        known.map(of).filter(|(_, figures)| !figures.is_empty()).collect()
    }
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
