//! `weigh agent`: the processes that the lab starts from this program, each with a job of its own.
//!
//! They have a parser of their own: the tree of all verbs is some megabytes of code and memory, which would count to a
//! process whose memory is measured.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use super::{link, load};
use weigh_os::{namespace, shelter, umask};

const VERB: &str = "agent";

/// The native worker, the load agent, its target, a link's emulator or the lab's end on a node; started by the lab
#[derive(Debug, Parser)]
#[command(name = "weigh agent", bin_name = "weigh agent")]
pub struct Agent {
    /// Carries out plans of load
    #[arg(long)]
    load: bool,
    /// The network namespace that loads are made in
    #[arg(long, requires = "load")]
    network: Option<PathBuf>,
    /// The built-in target of a calibration
    #[arg(long, conflicts_with = "load")]
    target: bool,
    /// The target's processor
    #[arg(long, requires = "target")]
    cpu: Option<u32>,
    /// Carries packets between the networks `near` and `far` as this task says
    #[arg(long, requires_all = ["near", "far"], conflicts_with_all = ["load", "target"])]
    link: Option<String>,
    /// The network at the near end of the link
    #[arg(long, requires = "link")]
    near: Option<PathBuf>,
    /// Carries out the visits of runs
    #[arg(long, conflicts_with_all = ["load", "target", "link"])]
    visits: bool,
    /// The network at its far end
    #[arg(long, requires = "link")]
    far: Option<PathBuf>,
}

impl Agent {
    /// Reads `weigh agent …` (`args` holds the program's own name first); `None` for any other command line.
    pub fn asked(args: impl IntoIterator<Item = OsString>) -> Option<Result<Agent, clap::Error>> {
        let mut args = args.into_iter().skip(1).peekable();
        (args.peek()? == VERB).then(|| Agent::try_parse_from(args))
    }

    /// Does the job until the lab ends it.
    pub fn run(self) -> Result<ExitCode> {
        match self {
            Agent { load: true, network, .. } => load::agent(network.as_deref()),
            Agent { target: true, cpu, .. } => load::target(cpu),
            Agent { link: Some(task), near: Some(near), far: Some(far), .. } => {
                link::agent(&task, &near, &far)
            }
            Agent { visits: true, .. } => visits(),
            Agent { .. } => native(),
        }
    }
}

fn native() -> Result<ExitCode> {
    weigh_run::agent::serve(std::io::stdin().lock(), std::io::stdout().lock())?;
    Ok(ExitCode::SUCCESS)
}

/// A lab of its own, on a node of a cluster.
fn visits() -> Result<ExitCode> {
    umask::begin();
    shelter::sweep();
    namespace::allow_networks();
    weigh_cluster::visits::serve(std::io::stdin().lock(), std::io::stdout())?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Option<Result<Agent, clap::Error>> {
        Agent::asked(line.split(' ').map(Into::into))
    }

    #[test]
    fn an_agent_is_told_by_the_first_word() {
        assert!(asked("weigh").is_none());
        assert!(asked("weigh run agent").is_none());
        assert!(asked("weigh --defs agent").is_none());
        assert!(asked("weigh agent").unwrap().is_ok());
    }

    #[test]
    fn jobs_do_not_mix() {
        assert!(asked("weigh agent --load --network /n").unwrap().unwrap().load);
        assert_eq!(asked("weigh agent --target --cpu 1").unwrap().unwrap().cpu, Some(1));
        for line in
            ["--load --target", "--network /n", "--cpu 1", "--link {}", "--link {} --near /n --load", "more"]
        {
            assert!(asked(&format!("weigh agent {line}")).unwrap().is_err(), "{line}");
        }
    }
}
