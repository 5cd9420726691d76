//! What the index keeps of a run or a load, derived from its folder.

use std::path::Path;

use anyhow::{Result, ensure};
use walkdir::WalkDir;

use crate::content::regular;
use crate::digest;
use crate::run::dir::{RECORDS, StoredRun};
use crate::run::kept::Kept;
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

    /// The metrics that its rows may have.
    pub fn metrics(&self) -> impl Iterator<Item = &'static Metric> {
        self.subject.into_iter().flat_map(|name| subject::named(name).metrics())
    }
}

/// The SHA-256 of the files from which everything is derived; empty where they cannot be read.
pub fn digest_of(run: &Path) -> String {
    let one = |name: &str| {
        let mut file = regular::open(run.join(name))?;
        let most = if name == RECORDS { regular::RECORDS } else { regular::RESULT };
        ensure!(file.metadata()?.len() <= most, "longer than a run's files are");
        digest::copy(&mut file, &mut std::io::sink(), most).map(|sum| sum.sha256)
    };
    let all: Result<String> = Kept::files(run).iter().copied().map(one).collect();
    all.unwrap_or_default()
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
