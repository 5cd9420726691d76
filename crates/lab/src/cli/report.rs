//! `weigh report`: a run again, in any format.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::cli::terminal;
use crate::run::dir::StoredRun;
use weigh_answer::document;
use weigh_answer::format::{self, Detail, FORMATS, Format, Medium, Options};
use weigh_answer::report::Report;
use weigh_answer::table::Columns;

/// Flags of `weigh report`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run directory
    #[arg(value_name = "RUN")]
    run: PathBuf,
    #[arg(long, short, default_value = "terminal", value_name = "FORMAT", value_parser = known_format, help = formats())]
    format: Vec<&'static dyn Format>,
    /// Write files into this folder instead of printing; pictures go there or into the run's report/
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The summary instead of full tables
    #[arg(long)]
    summary: bool,
    #[command(flatten)]
    wanted: Wanted,
}

/// Which columns tables have.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Wanted {
    /// Columns of tables beside those that tell rows apart: metrics and factors by their ids, as encode,ratio, or all
    #[arg(long, value_name = "IDS")]
    columns: Option<Columns>,
}

impl Wanted {
    /// The columns; where nothing is asked for, the most important.
    pub fn columns(&self) -> Columns {
        self.columns.clone().unwrap_or_default()
    }
}

fn known_format(text: &str) -> Result<&'static dyn Format, String> {
    format::named(text).map_err(|e| e.to_string())
}

/// What `--format` takes, for its help.
fn formats() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name()).collect();
    format!("{} (repeatable)", names.join(", "))
}

/// How a report on this terminal looks.
pub fn options(detail: Detail, command: Option<String>) -> Options {
    Options { width: terminal::width(), color: terminal::colours(), detail, command, ..Options::default() }
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    let stored = StoredRun::read(&args.run)?;
    let results = stored.report();
    let detail = if args.summary { Detail::Summary } else { Detail::Full };
    let columns = args.wanted.columns();
    document::check(&results, &columns)?;
    let options = Options { columns, ..options(detail, Some(shell_words::join(&stored.file.command))) };
    for format in &args.format {
        let beside = || (format.medium() == Medium::Picture).then(|| args.run.join("report"));
        match args.out.clone().or_else(beside) {
            Some(folder) => {
                for path in write(&results, *format, &options, &folder)? {
                    terminal::print(&format!("{}\n", path.display()))?;
                }
            }
            None => print(&results, *format, &options)?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the report in one format.
pub fn print(results: &Report, format: &dyn Format, options: &Options) -> Result<()> {
    let files = format.render(results, options)?;
    let show = if format.medium() == Medium::Screen { terminal::print } else { terminal::write };
    files.iter().try_for_each(|file| show(&String::from_utf8_lossy(&file.bytes)))
}

/// Writes the files of one format into a folder, each whole or not at all, without colours.
pub fn write(
    results: &Report,
    format: &dyn Format,
    options: &Options,
    folder: &Path,
) -> Result<Vec<PathBuf>> {
    let plain = Options { color: false, ..options.clone() };
    let doing = || format!("{}: the report cannot be written", folder.display());
    std::fs::create_dir_all(folder).with_context(doing)?;
    let mut written = Vec::new();
    for file in format.render(results, &plain)? {
        let path = folder.join(&file.file_name);
        let mut draft = tempfile::NamedTempFile::new_in(folder).with_context(doing)?;
        draft.write_all(&file.bytes).with_context(doing)?;
        draft.persist(&path).with_context(doing)?;
        written.push(path);
    }
    Ok(written)
}
