//! Where results go: the run directory, the screen, and the files that were asked for.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Result, anyhow};
use weigh_load::plan::LoadPlan;
use weigh_load::result::LoadResult;

use super::args::Output;
use crate::cli::terminal;
use crate::loading::Failure;
use crate::loading::place::{self, Place};
use crate::rig::machine::Machine;
use weigh_answer::format::Detail;
use weigh_answer::load::report as load_report;
use weigh_answer::load::{Document, Measured, Run, SCHEMA};

/// One use of the verb.
pub struct Session {
    place: Place,
    output: Output,
}

impl Session {
    /// Makes its directory.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn open(output: &Output) -> Result<Session> {
        let place = Place::create(&super::place(output.out.as_ref()))?;
        Ok(Session { place, output: output.clone() })
    }

    /// Where the agent's stderr goes.
    pub fn log(&self) -> PathBuf {
        self.place.log()
    }

    /// Keeps what is about to be done.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep_plan(&self, plan: &LoadPlan) -> Result<()> {
        self.place.write("plan.json", &json(plan)?)?;
        Ok(())
    }

    /// Keeps a block that was carried out.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&mut self, plan: &LoadPlan, result: &LoadResult) -> Result<()> {
        self.place.keep(plan, result)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Why there is no result. Where nothing was sent, there is nothing to keep.
    pub fn explained(&self, failure: Failure) -> anyhow::Error {
        match failure {
            Failure::Refused(why) => {
                self.place.discard();
                anyhow!(why)
            }
            broken @ Failure::Broken(_) => anyhow!("{broken}; its stderr is in {}", self.log().display()),
        }
    }

    /// Writes everything down, and shows it.
    ///
    /// # Errors
    /// A file or stdout cannot be written.
    pub fn finish(self, measured: Measured, began: SystemTime) -> Result<()> {
        let started = jiff::Timestamp::try_from(began).unwrap_or(jiff::Timestamp::now());
        let document = Document {
            schema: SCHEMA,
            weigh: env!("CARGO_PKG_VERSION").into(),
            started: started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            machine: Machine::query().line(),
            command: std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
            measured,
        };
        let json = json(&document)?;
        self.place.write("result.json", &json)?;
        if let Measured::Run(run) = &document.measured {
            self.series(run, began)?;
        }
        if self.output.json {
            terminal::print(&String::from_utf8_lossy(&json))?;
        } else {
            let detail = if self.output.verbose { Detail::Full } else { Detail::Summary };
            terminal::print(&load_report::terminal(&document, &crate::cli::report::options(detail, None)))?;
        }
        terminal::note(&format!("run       {}", self.place.path().display()));
        Ok(())
    }

    fn series(&self, run: &Run, began: SystemTime) -> Result<()> {
        let slices = load_report::csv::slices(&run.result)?;
        let since = began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let log = load_report::hlog::log(&run.result, since)?;
        self.place.write("slices.csv", &slices)?;
        self.place.write("times.hlog", &log)?;
        for (file, bytes) in [(&self.output.csv, slices), (&self.output.hlog, log)] {
            if let Some(file) = file {
                place::write(file, &bytes)?;
            }
        }
        Ok(())
    }
}

fn json(value: &impl serde::Serialize) -> Result<Vec<u8>> {
    let mut json = serde_json::to_vec_pretty(value)?;
    json.push(b'\n');
    Ok(json)
}
