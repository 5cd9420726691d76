//! `weigh report`: a run again, in any format.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::cli::terminal;
use crate::run::dir::StoredRun;
use weigh_answer::analysis::Results;
use weigh_answer::report::{self, Detail, Options};

/// Flags of `weigh report`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run directory
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// terminal, markdown, csv, json, svg, png (repeatable)
    #[arg(long, short, default_value = "terminal", value_name = "FORMAT", value_parser = known_format)]
    format: Vec<String>,
    /// Write files into this folder instead of printing; pictures go there or into the run's report/
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The summary instead of full tables
    #[arg(long)]
    summary: bool,
}

fn known_format(text: &str) -> Result<String, String> {
    report::format(text).map(|f| f.name().to_owned()).map_err(|e| e.to_string())
}

/// How a report on this terminal looks.
pub fn options(detail: Detail, command: Option<String>) -> Options {
    Options { width: terminal::width(), color: terminal::colours(), detail, command, ..Options::default() }
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    let stored = StoredRun::read(&args.run)?;
    let results = Results::of(&stored.facts(), &stored.plan, &stored.records);
    let detail = if args.summary { Detail::Summary } else { Detail::Full };
    let options = options(detail, Some(terminal::line_of(&stored.file.command)));
    for format in &args.format {
        let folder = args.out.clone().or_else(|| is_picture(format).then(|| args.run.join("report")));
        match folder {
            Some(folder) => {
                let plain = Options { color: false, ..options.clone() };
                for path in write(&results, format, &plain, &folder)? {
                    terminal::print(&format!("{}\n", path.display()))?;
                }
            }
            None => {
                for file in report::format(format)?.render_results(&results, &options)? {
                    terminal::print(&String::from_utf8_lossy(&file.bytes))?;
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn is_picture(format: &str) -> bool {
    matches!(format, "svg" | "png")
}

/// Writes the files of one format into a folder, each whole or not at all.
pub fn write(results: &Results, format: &str, options: &Options, folder: &Path) -> Result<Vec<PathBuf>> {
    let doing = || format!("{}: the report cannot be written", folder.display());
    std::fs::create_dir_all(folder).with_context(doing)?;
    let mut written = Vec::new();
    for file in report::format(format)?.render_results(results, options)? {
        let path = folder.join(&file.file_name);
        let mut draft = tempfile::NamedTempFile::new_in(folder).with_context(doing)?;
        draft.write_all(&file.bytes).with_context(doing)?;
        draft.persist(&path).with_context(doing)?;
        written.push(path);
    }
    Ok(written)
}
