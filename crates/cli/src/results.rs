//! How results are shown, whichever verb has them: what the flags ask for, formats, and files.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};

use crate::terminal;
use weigh_answer::format::{Detail, Format, Medium, Options, Rendered};
use weigh_answer::page::Flame;
use weigh_answer::report::Report;
use weigh_answer::table::Columns;
use weigh_model::text::clean_path;
use weigh_profile::stored;
use weigh_run::dir::RunFile;
use weigh_run::list::{FOLDER, LATEST, below};

/// Which columns tables have.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ColumnsFlag {
    /// Columns of the tables of all evidence: metrics and factors by their ids, as encode,ratio, or all
    #[arg(long, value_name = "IDS")]
    pub columns: Option<Columns>,
}

#[derive(Clone, Debug, Default)]
pub struct OutputOptions {
    /// The answer, or all evidence.
    pub detail: Detail,
    pub json: bool,
    pub columns: Columns,
}

impl OutputOptions {
    /// As the flags `--full`, `--json` and `--columns` say. Who asks for columns wants the tables that have them.
    pub fn new(full: bool, json: bool, wanted: &ColumnsFlag) -> OutputOptions {
        let detail = if full || wanted.columns.is_some() { Detail::Full } else { Detail::Summary };
        OutputOptions { detail, json, columns: wanted.columns.clone().unwrap_or_default() }
    }
}

/// How a report on this terminal looks.
pub fn options(detail: Detail, run: Option<&RunFile>) -> Options {
    let (command, repeat) = (run.map(RunFile::command_line), run.and_then(RunFile::repeat));
    Options {
        width: terminal::width(),
        color: terminal::colours(),
        detail,
        command,
        repeat,
        ..Options::default()
    }
}

/// The flame graphs of a run for those formats that show them.
pub fn flames(run: &Path, formats: &[&dyn Format]) -> Arc<[Flame]> {
    let has_page = formats.iter().any(|format| format.name() == "html");
    if has_page { stored::flames_of_run(run).into() } else { Arc::default() }
}

/// Says where a run's pictures and report are, and how its evidence is shown: a line each.
pub fn further(run: &Path, detail: Detail) {
    let folder = run.join("report");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    let of =
        |extension: &str| files.iter().filter(|f| f.extension().is_some_and(|e| e == extension)).collect();
    let pictures: Vec<&PathBuf> = of("png");
    if let [first, rest @ ..] = pictures.as_slice() {
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        terminal::note(&format!("Pictures: {}{more}", from_here(first)));
    }
    for (word, extension) in [("Page", "html"), ("Report", "md")] {
        let reports: Vec<&PathBuf> = of(extension);
        if let [report, ..] = reports.as_slice() {
            terminal::note(&format!("{word}: {}", from_here(report)));
        }
    }
    if detail == Detail::Summary {
        let runs = below(Path::new(FOLDER));
        let same = |newest: &Path| newest.canonicalize().ok() == run.canonicalize().ok();
        let is_latest = runs.first().is_some_and(|newest| same(&newest.path));
        let word = if is_latest { LATEST.to_owned() } else { from_here(run) };
        terminal::note(&format!("Evidence: weigh runs show {word} --full"));
    }
}

/// A path as it can be typed here.
fn from_here(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    clean_path(path.strip_prefix(here).unwrap_or(path)).to_string()
}

pub fn print(results: &Report, format: &dyn Format, options: &Options) -> Result<()> {
    print_files(&format.render(results, options)?, format)
}

pub fn print_files(files: &[Rendered], format: &dyn Format) -> Result<()> {
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
    write_files(&format.render(results, &Options { color: false, ..options.clone() })?, folder)
}

/// Writes files into a folder, each whole or not at all.
pub fn write_files(files: &[Rendered], folder: &Path) -> Result<Vec<PathBuf>> {
    let doing = || format!("{}: the report cannot be written", folder.display());
    std::fs::create_dir_all(folder).with_context(doing)?;
    let mut written = Vec::new();
    for file in files {
        let path = folder.join(&file.file_name);
        let mut draft = tempfile::NamedTempFile::new_in(folder).with_context(doing)?;
        draft.write_all(&file.bytes).with_context(doing)?;
        draft.persist(&path).with_context(doing)?;
        written.push(path);
    }
    Ok(written)
}
