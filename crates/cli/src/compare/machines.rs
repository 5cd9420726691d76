//! `weigh compare --machines`: runs that are there, on several machines.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use super::{Args, Form, put, read as side};
use crate::exit::{Exit, OrRefuse};
use crate::machines::{Run, compared, text};
use weigh_answer::compare::machines::document;
use weigh_answer::format::markdown;
use weigh_answer::page;
use weigh_model::text::clean;
use weigh_run::list::find_kept;

pub fn run(args: &Args) -> Result<ExitCode> {
    let runs: Result<Vec<Run>> = args.words.iter().map(|word| read(word)).collect();
    let machines = runs.and_then(|runs| compared(&runs, &args.core_hour)).or_usage_error()?;
    let (form, options) = args.shown();
    let whole = || document::blocks(&machines, &options.whole());
    let shown = match form {
        Form::Terminal => text(&machines, &options),
        Form::Markdown => markdown::text(&document::blocks(&machines, &options), &[], &options),
        Form::Html => page::page(&whole(), &[], None::<&()>).or_usage_error()?,
        Form::Json => serde_json::to_string_pretty(&machines)? + "\n",
    };
    put(args, form, &shown)?;
    Ok(Exit::Fine.into())
}

/// A run, as `RUN` or `NAME=RUN`. Without a name it is called what its cluster calls the machine, else by the run.
fn read(word: &Path) -> Result<Run> {
    let text = word.to_string_lossy();
    let named = text.split_once('=').filter(|(name, _)| !word.exists() && !name.is_empty());
    let side = side(&find_kept(named.map_or(word, |(_, run)| Path::new(run)))?)?;
    let kind = match named {
        Some((name, _)) => clean(name),
        None => side.report.run.environment.get("kind").cloned().unwrap_or(side.name),
    };
    Ok(Run { kind, report: side.report })
}
