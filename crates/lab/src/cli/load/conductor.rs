//! Blocks one after the other through one agent: each is shown, kept, and may be the last if the user says so.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context, Result};
use weigh_load::plan::LoadPlan;
use weigh_load::result::LoadResult;

use super::args::Args;
use super::live::Live;
use super::output::Session;
use crate::cli::terminal;
use crate::interrupt::Interrupt;
use crate::loading::{LoadAgent, Outcome};
use weigh_answer::load::Measured;

/// An agent with a place to keep what it says.
pub struct Conductor {
    session: Session,
    agent: LoadAgent,
    silent: bool,
}

/// Why there is no further block.
pub enum Stopped {
    /// The user ended it.
    Interrupted,
    /// It could not be carried out.
    Failed(anyhow::Error),
}

impl Conductor {
    /// Makes the run directory, and starts the agent. `plan` is kept; of several blocks it is the first.
    ///
    /// # Errors
    /// The directory cannot be written, or the agent cannot be started.
    pub fn start(args: &Args, plan: &LoadPlan) -> Result<Conductor> {
        super::make_room(plan)?;
        let session = Session::open(&args.output)?;
        session.keep_plan(plan)?;
        let interrupt = Interrupt::on_signals().context("signals cannot be caught")?;
        let agent =
            LoadAgent::start(&session.log(), interrupt).context("the load agent cannot be started")?;
        Ok(Conductor { session, agent, silent: args.output.quiet })
    }

    /// Where the stderr of another worker goes.
    pub fn log(&self, name: &str) -> PathBuf {
        self.session.path().join(format!("{name}.log"))
    }

    /// Carries out one block, also in part where the user ends it.
    ///
    /// # Errors
    /// The plan was refused, the agent broke, or the result cannot be kept.
    pub fn outcome(&mut self, plan: &LoadPlan, about: &str) -> Result<Outcome> {
        let mut live = Live::new(plan, about, self.silent);
        let outcome = self.agent.run(plan, &mut |progress| live.show(progress));
        live.clear();
        let outcome = outcome.map_err(|failure| self.session.explained(failure))?;
        self.session.keep(plan, &outcome.result)?;
        Ok(outcome)
    }

    /// Carries out one block of several.
    ///
    /// # Errors
    /// See [`Stopped`].
    pub fn block(&mut self, plan: &LoadPlan, about: &str) -> Result<LoadResult, Stopped> {
        match self.outcome(plan, about) {
            Ok(Outcome { interrupted: true, .. }) => Err(Stopped::Interrupted),
            Ok(outcome) => Ok(outcome.result),
            Err(error) => Err(Stopped::Failed(error)),
        }
    }

    /// What is said and done when there is no further block.
    ///
    /// # Errors
    /// The failure itself.
    pub fn stopped(self, stopped: Stopped) -> Result<ExitCode> {
        match stopped {
            Stopped::Failed(error) => Err(error),
            Stopped::Interrupted => {
                terminal::note(&format!(
                    "interrupted; the blocks so far are in {}",
                    self.session.path().display()
                ));
                Ok(ExitCode::FAILURE)
            }
        }
    }

    /// Lets the agent end, writes everything down, and shows it.
    ///
    /// # Errors
    /// A file or stdout cannot be written.
    pub fn finish(self, measured: Measured, began: SystemTime) -> Result<()> {
        self.agent.end();
        self.session.finish(measured, began)
    }
}
