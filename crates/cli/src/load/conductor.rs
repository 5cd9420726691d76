//! Blocks one after the other through one agent, or one on each of several nodes: each is shown, kept in the run directory, and may be the last if the user says so;
//! what they came to goes to the screen and to the files that were asked for.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context, Result, anyhow, bail};
use weigh_load::plan::{LoadPlan, Request};
use weigh_load::result::{Checked, LoadResult};

use super::args::{Args, Output};
use super::live::Live;
use crate::exit::{self, Exit, OrRefuse};
use crate::{results, terminal};
use weigh_answer::format::Detail;
use weigh_answer::load::report as load_report;
use weigh_answer::load::{Document, Measured, SCHEMA};
use weigh_cluster::Want;
use weigh_cluster::fleet::{Fleet, Generator};
use weigh_os::interrupt::Interrupt;
use weigh_os::machine::Machine;
use weigh_run::lab::Home;
use weigh_run::loading::load_dir::{self, LoadDir};
use weigh_run::loading::stored::RESULT;
use weigh_run::loading::{BlockOutcome, Failure, LoadAgent};
use weigh_run::measure::run_folder;

/// Seconds after which responses that are known to be steady are looked at again: they may still change during a block.
const MOMENT: f64 = 0.001;

/// An agent with a place to keep what it says.
pub struct Conductor {
    place: LoadDir,
    generator: Generator,
    output: Output,
    is_shown: bool,
    /// Requests of blocks so far whose responses did not change within a second.
    steady: Vec<Vec<Request>>,
    /// Why a block could not be kept, the first time.
    unkept: Option<anyhow::Error>,
}

/// Why there is no further block.
pub enum Stopped {
    Interrupted,
    /// It could not be carried out.
    Failed(anyhow::Error),
}

impl Conductor {
    /// Makes the run directory, and starts the agent or agents. `plan` is kept; of several blocks it is the first.
    pub fn start(args: &Args, plan: &LoadPlan) -> Result<Conductor> {
        if args.many.on.on.is_none() {
            super::make_room(plan).or_usage_error()?;
        }
        let output = args.output.clone();
        [&output.csv, &output.hlog]
            .into_iter()
            .flatten()
            .try_for_each(|file| load_dir::can_write(file))
            .or_usage_error()?;
        let place = LoadDir::create(&run_folder(output.out.as_deref(), "load")).or_usage_error()?;
        place.write("plan.json", &json(plan)?)?;
        let generator = generator(args, &place).inspect_err(|_| place.discard())?;
        Ok(Conductor { place, generator, output, is_shown: true, steady: Vec::new(), unkept: None })
    }

    /// Where the stderr of another worker goes.
    pub fn log(&self, name: &str) -> PathBuf {
        self.place.path().join(format!("{name}.log"))
    }

    /// Carries out one block, also in part where the user ends it.
    pub fn outcome(&mut self, plan: &LoadPlan, about: &str) -> Result<BlockOutcome> {
        let plan = &self.without_waiting(plan);
        let mut live = Live::new(plan, about, self.output.quiet);
        let outcome = self.generator.run(plan, &mut |progress| live.show(progress));
        live.clear();
        let outcome = outcome.map_err(|failure| match failure {
            // Where nothing was sent, there is nothing to keep.
            Failure::Refused(why) => {
                self.place.discard();
                exit::refused(anyhow!(why))
            }
            broken @ Failure::Broken(_) => match (live.broke(&broken.to_string()), self.place.log()) {
                (broken, log) if log.exists() => anyhow!("{broken}; its stderr is in {}", log.display()),
                // On a node, its last words are all there is.
                (broken, _) => anyhow!(broken),
            },
        })?;
        let is_steady = outcome.result.preflights.iter().all(|one| one.checked == Checked::Bytes);
        if is_steady && !self.steady.contains(&plan.requests) {
            self.steady.push(plan.requests.clone());
        }
        // What was measured is shown before anything is said of where it could not be kept.
        let kept = self.place.keep(plan, &outcome.result);
        self.unkept = self.unkept.take().or(kept.err());
        Ok(outcome)
    }

    /// The plan of a block. What did not change within a second before an earlier one is not waited for again, which would take longer than a
    /// short block.
    fn without_waiting(&self, plan: &LoadPlan) -> LoadPlan {
        let is_known = self.steady.contains(&plan.requests);
        let again_seconds = if is_known { plan.again_seconds.min(MOMENT) } else { plan.again_seconds };
        LoadPlan { again_seconds, ..plan.clone() }
    }

    /// Carries out one block of several.
    pub fn block(&mut self, plan: &LoadPlan, about: &str) -> Result<LoadResult, Stopped> {
        match self.outcome(plan, about) {
            Ok(BlockOutcome { interrupted: true, .. }) => Err(Stopped::Interrupted),
            Ok(BlockOutcome { result, .. }) => {
                // Further blocks would send less than this one, and cannot be held against it.
                if let Some((node, why)) = result.lost().next() {
                    let place = self.place.path().display();
                    let why = anyhow!("the agent on node {node} {why}; the blocks so far are in {place}");
                    return Err(Stopped::Failed(why));
                }
                Ok(result)
            }
            Err(error) => Err(Stopped::Failed(error)),
        }
    }

    /// What is said and done when there is no further block.
    pub fn stopped(self, stopped: Stopped) -> Result<ExitCode> {
        match stopped {
            Stopped::Failed(error) => Err(error),
            Stopped::Interrupted => {
                if let Some(error) = self.unkept {
                    return Err(error.context("interrupted, and the blocks so far could not be saved"));
                }
                terminal::note(&format!(
                    "interrupted; the blocks so far are in {}",
                    self.place.path().display()
                ));
                Ok(Exit::Internal.into())
            }
        }
    }

    /// Lets the caller show what it came to.
    #[must_use]
    pub fn unseen(self) -> Conductor {
        Conductor { is_shown: false, ..self }
    }

    /// Lets the agent end, shows everything, and writes it down: figures do not go with a full disk.
    ///
    /// # Errors
    /// What could not be shown or written.
    pub fn finish(self, measured: Measured, began: SystemTime) -> Result<()> {
        let Conductor { place, generator, output, is_shown, unkept, .. } = self;
        generator.end();
        let started = jiff::Timestamp::try_from(began).unwrap_or(jiff::Timestamp::now());
        let machine = Machine::query();
        let document = Document {
            schema: SCHEMA,
            weigh: env!("CARGO_PKG_VERSION").into(),
            started: started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            machine: machine.line(),
            environment: machine.environment(),
            command: std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
            measured,
        };
        let json = json(&document)?;
        let shown = if !is_shown {
            Ok(())
        } else if output.json {
            terminal::write(&String::from_utf8_lossy(&json))
        } else {
            let detail = if output.verbose { Detail::Full } else { Detail::Summary };
            terminal::print(&load_report::terminal(&document, &results::options(detail, None)))
        };
        let mut failed: Vec<anyhow::Error> = unkept.into_iter().collect();
        keep(&place, &output, &document, &json, began, &mut failed)?;
        shown.with_context(|| format!("what is kept of the figures is in {}", place.path().display()))?;
        if !failed.is_empty() {
            let failed: Vec<String> = failed.iter().map(|error| format!("{error:#}")).collect();
            bail!("the figures above are not kept in full: {}", failed.join("; "));
        }
        terminal::note(&format!("Run: {}", place.path().display()));
        Ok(())
    }
}

/// What sends: an agent of this machine, or one on each node that is asked for.
fn generator(args: &Args, place: &LoadDir) -> Result<Generator> {
    let want = args.many.nodes.map_or(Want::all(1), Want::exactly);
    let cluster = match args.many.on.on {
        Some(_) => args.many.on.open(&Home::open(None)?, want).or_usage_error()?,
        None => None,
    };
    let interrupt = Interrupt::on_signals().context("signals cannot be caught")?;
    let started = match cluster {
        Some(cluster) => {
            Fleet::on(&cluster, args.machine.threads, &place.log(), &interrupt).map(Generator::Fleet)
        }
        None => LoadAgent::start(&place.log(), interrupt).map(Generator::Here),
    };
    started.context("the load agent cannot be started")
}

/// Writes down what there is beside the blocks. What cannot be written keeps no other file from it.
fn keep(
    place: &LoadDir,
    output: &Output,
    document: &Document,
    json: &[u8],
    began: SystemTime,
    failed: &mut Vec<anyhow::Error>,
) -> Result<()> {
    let mut write = |path: &Path, bytes: &[u8]| failed.extend(load_dir::write(path, bytes).err());
    write(&place.path().join(RESULT), json);
    let Measured::Run(run) = &document.measured else { return Ok(()) };
    let since = began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let slices = load_report::csv::slices(&run.plan, &run.result)?;
    let log = load_report::hlog::log(&run.result, since)?;
    for (name, asked, bytes) in [("slices.csv", &output.csv, slices), ("times.hlog", &output.hlog, log)] {
        write(&place.path().join(name), &bytes);
        if let Some(file) = asked {
            write(file, &bytes);
        }
    }
    Ok(())
}

fn json(value: &impl serde::Serialize) -> Result<Vec<u8>> {
    let mut json = serde_json::to_vec_pretty(value)?;
    json.push(b'\n');
    Ok(json)
}
