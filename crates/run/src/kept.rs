//! What is kept of a measurement, whatever it was: a run of a study, or a load. What compares, lists and indexes them asks
//! here.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::Result;

use super::dir::{self, PLAN, RECORDS, RUN, StoredRun};
use crate::loading::stored::{self, RESULT, is_load};
use weigh_answer::load::Document;
use weigh_answer::report::Report;
use weigh_answer::subject;

/// What a folder of a run or a load has in it.
const PARTS: &str = "summary.json run.json plan.json records.ndjson seal lock logs payloads scratch report profiles \
    result.json blocks.ndjson slices.csv times.hlog agent.log target.log report.html";

/// A measurement as it stands on the disk.
#[derive(Debug)]
pub enum StoredMeasurement {
    Run(Box<StoredRun>),
    Load(Box<Document>),
}

impl StoredMeasurement {
    /// Whether a folder is one.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(RUN).is_file() || is_load(folder)
    }

    /// Reads one.
    ///
    /// # Errors
    /// It is damaged, or of a later version.
    pub fn read(folder: &Path) -> Result<StoredMeasurement> {
        match is_load(folder) && !folder.join(RUN).exists() {
            true => stored::read(folder).map(|load| StoredMeasurement::Load(Box::new(load))),
            false => StoredRun::read(folder).map(|run| StoredMeasurement::Run(Box::new(run))),
        }
    }

    /// When the one in a folder was started, RFC 3339, UTC; empty where its file does not say.
    pub fn started(folder: &Path) -> String {
        if folder.join(RUN).is_file() { dir::started(folder) } else { stored::started(folder) }
    }

    /// The files from which everything else follows, by their names in the folder.
    pub fn files(folder: &Path) -> &'static [&'static str] {
        if folder.join(RUN).exists() { &[RUN, PLAN, RECORDS] } else { &[RESULT] }
    }

    /// Whether a name is that of something that runs and loads have in their folders.
    pub fn is_part(name: &OsStr) -> bool {
        let name = name.to_string_lossy();
        // What a killed process was about to rename.
        PARTS.split(' ').any(|part| name == part) || name.starts_with(".tmp")
    }

    pub fn report(&self) -> Report {
        match self {
            StoredMeasurement::Run(run) => run.report(),
            StoredMeasurement::Load(load) => load.report(),
        }
    }

    /// Whether it ended by itself.
    pub fn is_complete(&self) -> bool {
        match self {
            StoredMeasurement::Run(run) => run.is_complete(),
            StoredMeasurement::Load(load) => load.is_complete(),
        }
    }

    /// The study's name; `load` for a load.
    pub fn study(&self) -> &str {
        match self {
            StoredMeasurement::Run(run) => &run.plan.study.name,
            StoredMeasurement::Load(_) => subject::load::SHAPE.name,
        }
    }

    pub fn configurations(&self) -> usize {
        match self {
            StoredMeasurement::Run(run) => run.plan.cells.len(),
            StoredMeasurement::Load(load) => load.report().rows.len(),
        }
    }
}
