//! The index page of a folder of runs: each run with its answer, and a link to its report page. It loads nothing from elsewhere.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rustix::fs::OFlags;

use super::folder::History;
use super::rows::{Filter, RunRow, State};
use weigh_answer::format::{self, Medium, Options};
use weigh_answer::page::safe;
use weigh_model::text::clean_path;
use weigh_model::units;
use weigh_os::interrupt::{INTERRUPTED, Interrupt};
use weigh_os::open_folder::OpenFolder;
use weigh_profile::stored::flames_of_run;
use weigh_run::dir::{RECORDS, REPORT, RUN, StoredRun};
use weigh_run::seal;

/// Its name in the folder of runs.
const INDEX: &str = "index.html";
/// What every index page has, and no other page: only such a one is replaced.
const MARK: &str = "<meta name=\"generator\" content=\"weigh runs open\">";
/// Bytes of a page in which it is looked for.
const HEAD: u64 = 4096;
/// The most runs of a page: the newest.
const LISTED: usize = 500;
/// What stands in a link as it is.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');
const STYLE: &str = ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:90rem;margin:0 auto;padding:1rem;overflow-x:auto}\
table{border-collapse:collapse}th,td{padding:.25rem .75rem .25rem 0;text-align:left;vertical-align:top}\
td{border-top:1px solid color-mix(in srgb,currentColor 20%,transparent)}.number{text-align:right;font-variant-numeric:tabular-nums}";

/// An index page that was written.
#[derive(Debug)]
pub struct Index {
    pub path: PathBuf,
    /// A run in it is measuring: the page reloads, if it is to be written again.
    pub is_live: bool,
}

impl History {
    /// Writes the index page, and the report page of each run that has none that is as new as its records. `now` is shown as the time of writing.
    /// `again` is after how many seconds a browser reloads it while a run is measuring. `progress` is told how many runs of how many are done.
    ///
    /// # Errors
    /// There are no runs, another page has the name, it cannot be written, or the user wants an end.
    pub fn write_index(
        &self,
        now: &str,
        again: Option<u64>,
        note: &mut dyn FnMut(&str),
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Index> {
        let shown = clean_path(&self.folder);
        let mut runs = self.runs(&Filter::default());
        // A load has no page.
        runs.retain(|run| self.folder.join(&run.name).join(RUN).is_file());
        ensure!(!runs.is_empty(), "{shown}: no runs; measure one: weigh run --quick");
        let path = self.folder.join(INDEX);
        let folder = OpenFolder::open(&self.folder).with_context(|| shown.to_string())?;
        let doing = || format!("{}: cannot be written", clean_path(&path));
        let there = folder.file(INDEX.as_ref(), OFlags::RDONLY).and_then(|file| {
            let mut head = Vec::new();
            file.take(HEAD).read_to_end(&mut head).map(|_| String::from_utf8_lossy(&head).contains(MARK))
        });
        let is_free = there.unwrap_or_else(|error| error.kind() == ErrorKind::NotFound);
        ensure!(is_free, "{}: not a page of weigh runs open; move it away", clean_path(&path));
        let more = runs.len().saturating_sub(LISTED);
        runs.truncate(LISTED);
        let is_live = runs.iter().any(|run| run.state == State::Running);
        let (all, mut body, mut refused) = (runs.len(), String::new(), BTreeSet::new());
        for (at, run) in runs.iter().enumerate() {
            ensure!(again.is_none() || !Interrupt::caught().is_set(), INTERRUPTED);
            progress(at, all);
            let page = page_of(&self.folder.join(&run.name), run.state).unwrap_or_else(|error| {
                refused.insert(format!("{error:#}"));
                None
            });
            body.push_str(&row(run, page.as_deref()));
        }
        if let Some(why) = refused.first() {
            note(&format!("{shown}: pages of runs cannot be written ({why})"));
        }
        let page = framed(&body, now, again.filter(|_| is_live), more);
        folder.put(INDEX.as_ref(), page.as_bytes()).with_context(doing)?;
        Ok(Index { path, is_live })
    }
}

/// The report page of a run, by its path in the run's folder, made where there is none as new as the records. A run that is measuring or damaged has
/// none. That of a run from elsewhere is always made: it may say anything, and run scripts. A build without the page has the report as Markdown.
fn page_of(run: &Path, state: State) -> Result<Option<String>> {
    if matches!(state, State::Running | State::Damaged) {
        return Ok(None);
    }
    let shown = clean_path(run);
    let mut formats = format::available().filter(|format| format.medium() != Medium::Screen);
    let format = formats.next().context("no format has files")?;
    let name = format!("report.{}", format.extension());
    let root = OpenFolder::open(run).with_context(|| shown.to_string())?;
    let written = |folder: &OpenFolder, name: &str| folder.about(name.as_ref())?.modified();
    let folder = root.folder(REPORT.as_ref()).or_else(|error| match error.kind() {
        ErrorKind::NotFound => {
            root.make_folder(REPORT.as_ref(), 0o700).and_then(|()| root.folder(REPORT.as_ref()))
        }
        _ => Err(error),
    });
    let folder = folder.with_context(|| format!("{shown}/{REPORT}"))?;
    let records = written(&root, RECORDS).with_context(|| format!("{shown}/{RECORDS}"))?;
    let is_current = written(&folder, &name).is_ok_and(|page| page >= records);
    if !is_current || !seal::is_own(run) {
        let stored = StoredRun::read(run)?;
        let (command, repeat) = (Some(stored.file.command_line()), stored.file.repeat());
        let options = Options { command, repeat, flames: flames_of_run(run).into(), ..Options::default() };
        for file in format.render(&stored.report(), &options)? {
            folder.put(name.as_ref(), &file.bytes).with_context(|| format!("{shown}/{REPORT}/{name}"))?;
        }
    }
    Ok(Some(format!("{REPORT}/{name}")))
}

fn row(run: &RunRow, page: Option<&str>) -> String {
    let RunRow { summary, .. } = run;
    let name = safe(&run.name);
    let shown = match page {
        Some(page) => format!("<a href=\"{}/{page}\">{name}</a>", utf8_percent_encode(&run.name, PLAIN)),
        None => name,
    };
    let progress = || {
        let time = units::ns(summary.seconds * 1e9);
        format!(
            "round {}, {} of {} configurations done, {time}",
            summary.rounds, summary.done, summary.configurations
        )
    };
    let answer = match run.state {
        State::Damaged => summary.damaged.clone(),
        State::Complete => summary.answer.clone(),
        State::Running | State::Interrupted => Some(progress()),
    };
    format!(
        "<tr><td>{shown}<br><small>{}</small></td><td>{}</td><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n",
        safe(summary.title.as_deref().unwrap_or_default()),
        safe(&answer.unwrap_or_default()),
        safe(summary.started.replace('T', " ").trim_end_matches('Z')),
        run.state.name(),
        summary.configurations,
        units::bytes(run.bytes),
    )
}

/// The page around the rows; `more` runs were left out.
fn framed(rows: &str, now: &str, again: Option<u64>, more: usize) -> String {
    let (reload, why) = again.map_or_else(Default::default, |seconds| {
        let every = format!("<meta http-equiv=\"refresh\" content=\"{seconds}\">\n");
        (every, format!("; a run is measuring, so this page reloads every {seconds} s"))
    });
    let left = match more {
        0 => String::new(),
        more => format!("<p>{more} older runs are not shown; <code>weigh runs</code> lists them.</p>\n"),
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         {MARK}\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n{reload}\
         <title>Runs</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>Runs</h1>\n<p>Written {} UTC{why}.</p>\n<table>\n<thead><tr><th>Run</th>\
         <th>Answer</th><th>Started (UTC)</th><th>State</th><th class=\"number\">Configurations</th><th class=\"number\">Size</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table>\n{left}</body>\n</html>\n",
        safe(now)
    )
}
