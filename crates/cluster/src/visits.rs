//! The end of a run on a node: `weigh agent --visits` reads what is asked of it, one JSON object a line, and carries visits out with the very
//! executor that the subject has for visits on this machine.
//!
//! Plan and records come from the lab; what is known of cells follows from them. It writes nothing but files in a private folder of its own.

use std::collections::BTreeMap;
use std::io::{BufRead, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};

use weigh_model::inventory::Inventory;
use weigh_model::plan::Plan;
use weigh_model::protocol::Fault;
use weigh_model::record::{Record, VisitRecord};
use weigh_os::interrupt::Interrupt;
use weigh_os::machine::Machine;
use weigh_os::meter::CpuTimes;
use weigh_os::shelter::Shelter;
use weigh_run::executor::{Executor, Failure, PartsDone, Version, VisitOrder};
use weigh_run::lab::Home;
use weigh_run::state::State;
use weigh_run::study::Study;
use weigh_run::subject::{self, Surroundings};

/// The longest line, of questions and of answers: plans name every item of their payloads.
pub const LONGEST_LINE: usize = 64 << 20;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "ask")]
pub enum NodeRequest {
    Machine,
    /// What studies can be measured on.
    Inventory {
        studies: Vec<String>,
        /// The PHPs that were named.
        php: Vec<PathBuf>,
    },
    /// Make the executor of a plan.
    Open {
        plan: Box<Plan>,
        /// The files of its payloads here, by digest.
        blobs: BTreeMap<String, PathBuf>,
    },
    /// What cells stand on, by index.
    Versions {
        live: Vec<usize>,
    },
    Visit {
        /// What was recorded since the one before.
        records: Vec<Record>,
        index: usize,
        /// The round, from 1.
        round: u32,
        /// Seconds that it may take.
        limit: f64,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "answer")]
pub enum Answer {
    Machine {
        machine: Box<Machine>,
    },
    Inventory {
        inventory: Box<Inventory>,
    },
    Opened {
        /// What the user should know before anything is measured.
        remark: Option<String>,
    },
    Versions {
        versions: Vec<Version>,
    },
    Visit {
        visit: Box<VisitRecord>,
    },
    Fault {
        fault: Fault,
    },
    /// Something else cannot be done.
    Refused {
        why: String,
    },
}

/// Answers until the input ends; what was started ends then.
///
/// # Errors
/// The input cannot be read or has a line that is too long, the output cannot be written, or there is no temporary folder.
pub fn serve(mut input: impl BufRead, mut output: impl Write) -> Result<()> {
    let room = Shelter::new().context("no temporary folder")?;
    let mut end = End { room: &room, home: Home::open(None)?, interrupt: Interrupt::new(), open: None };
    let mut line = Vec::new();
    loop {
        line.clear();
        input
            .by_ref()
            .take(LONGEST_LINE as u64 + 1)
            .read_until(b'\n', &mut line)
            .context("reading a question")?;
        ensure!(line.len() <= LONGEST_LINE, "a question is longer than {LONGEST_LINE} bytes");
        if line.is_empty() {
            break;
        }
        let answer = serde_json::from_slice(&line).map_err(|e| anyhow!("not a question: {e}"));
        let answer = answer.and_then(|ask| end.answer(ask));
        let answer = answer.unwrap_or_else(|error| Answer::Refused { why: format!("{error:#}") });
        let mut answer = serde_json::to_vec(&answer).context("writing an answer")?;
        answer.push(b'\n');
        output.write_all(&answer).and_then(|()| output.flush()).context("writing an answer")?;
    }
    if let Some(mut open) = end.open {
        open.executor.end();
    }
    Ok(())
}

struct End<'r> {
    room: &'r Shelter,
    home: Home,
    interrupt: Interrupt,
    open: Option<Open>,
}

/// A plan that is measured.
struct Open {
    plan: Plan,
    state: State,
    blobs: BTreeMap<String, PathBuf>,
    executor: Box<dyn Executor>,
}

impl End<'_> {
    fn answer(&mut self, ask: NodeRequest) -> Result<Answer> {
        Ok(match ask {
            NodeRequest::Machine => Answer::Machine { machine: Box::new(Machine::query()) },
            NodeRequest::Inventory { studies, php } => {
                let studies: Vec<Study> =
                    studies.iter().map(|text| Study::parse(text, "the study")).collect::<Result<_>>()?;
                Answer::Inventory { inventory: Box::new(self.home.found(&studies, &php)?) }
            }
            NodeRequest::Open { plan, blobs } => {
                let open = self.open(*plan, blobs)?;
                let remark = open.executor.remark().map(str::to_owned);
                self.open = Some(open);
                Answer::Opened { remark }
            }
            NodeRequest::Versions { live } => {
                let Open { plan, executor, .. } = self.opened()?;
                ensure!(live.iter().all(|index| *index < plan.cells.len()), "no such configuration");
                Answer::Versions { versions: executor.versions(plan, &live) }
            }
            NodeRequest::Visit { records, index, round, limit } => {
                let open = self.opened()?;
                records.iter().try_for_each(|record| open.state.apply(record))?;
                open.visit(index, round, limit)?
            }
        })
    }

    fn opened(&mut self) -> Result<&mut Open> {
        self.open.as_mut().context("no plan was opened")
    }

    fn open(&self, plan: Plan, blobs: BTreeMap<String, PathBuf>) -> Result<Open> {
        weigh_answer::subject::check(&plan)
            .and_then(|()| plan.check())
            .context("the plan cannot be carried out")?;
        let (scratch, logs) = (self.room.path().join("scratch"), self.room.path().join("logs"));
        for folder in [&scratch, &logs] {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        let (home, interrupt) = (&self.home, &self.interrupt);
        let around = Surroundings { home, scratch: &scratch, logs: &logs, stores: &[], interrupt };
        let executor = subject::executor(&plan, &around)?;
        Ok(Open { state: State::new(&plan), plan, blobs, executor })
    }
}

impl Open {
    fn visit(&mut self, index: usize, round: u32, limit: f64) -> Result<Answer> {
        let Open { plan, state, blobs, executor } = self;
        let cell = plan.cells.get(index).context("no such configuration")?;
        let payload = plan.payloads.iter().find(|p| p.name == cell.payload).context("no such content")?;
        let blob = blobs
            .get(&payload.sha256)
            .with_context(|| format!("the content {} is not here", payload.name))?;
        let limit = Duration::try_from_secs_f64(limit).context("a limit that is none")?;
        let meter = CpuTimes::read();
        let visited = executor.visit(&VisitOrder {
            plan,
            state,
            index,
            round,
            payload,
            blob,
            limit,
            parts: &PartsDone::default(),
        });
        match visited {
            Ok(mut visit) => {
                visit.steal = CpuTimes::read().zip(meter).and_then(|(now, before)| now.since(before));
                Ok(Answer::Visit { visit: Box::new(visit) })
            }
            Err(Failure::Fault(fault)) => Ok(Answer::Fault { fault }),
            Err(Failure::Interrupted) => bail!("interrupted"),
        }
    }
}
