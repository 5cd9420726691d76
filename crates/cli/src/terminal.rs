//! What the terminal is: its width, whether it shows colours, and how errors and pages are written to it.

use std::collections::BTreeSet;
use std::io::{BufRead, ErrorKind, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use weigh_answer::table::{Grid, Sheet};
use weigh_model::text::{clean, clean_lines};

/// The width of tables where stdout is not a terminal.
const PIPE_WIDTH: usize = 120;
/// Where nobody looks, a line is written this often.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Columns that a table on stdout may take.
pub fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let term = console::Term::stdout();
    let seen = || term.is_term().then(|| usize::from(term.size().1));
    columns.or_else(seen).unwrap_or(PIPE_WIDTH).clamp(40, 400)
}

/// Lines that a live table on stderr may take.
pub fn height() -> usize {
    usize::from(console::Term::stderr().size().0).max(10)
}

/// Whether stdout shows colours: a terminal that can, and `NO_COLOR` not set.
pub fn colours() -> bool {
    let can = std::env::var_os("TERM").is_none_or(|term| term != "dumb");
    can && std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Whether somebody looks at stderr.
pub fn watched() -> bool {
    std::io::stderr().is_terminal()
}

/// Writes what people read to stdout: nothing in it moves the cursor or reorders a line, whatever names it shows.
pub fn print(text: &str) -> anyhow::Result<()> {
    write(&clean_lines(text, colours()))
}

/// Writes results to stdout as they are. A reader that closes the pipe ends the output, not the program.
pub fn write(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("the results cannot be written to stdout"),
    }
}

/// Shows a result: its document as JSON, or the text that people read.
pub fn show(json: bool, document: &impl Serialize, text: impl FnOnce() -> String) -> anyhow::Result<()> {
    if json { print_json(document) } else { print(&text()) }
}

/// Writes a document to stdout as JSON.
pub fn print_json(document: &impl Serialize) -> anyhow::Result<()> {
    write(&(serde_json::to_string_pretty(document)? + "\n"))
}

/// A line on stderr that turns while something goes on. Where nobody looks it is written every ten seconds instead, unless it is to be
/// silent.
pub struct Line {
    pub bar: ProgressBar,
    said: Instant,
    is_silent: bool,
}

impl Line {
    pub fn new(is_silent: bool) -> Line {
        let bar = if watched() && !is_silent { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{spinner} {wide_msg}");
        let bar = bar.with_style(style.unwrap_or(ProgressStyle::default_spinner()));
        Line { bar, said: Instant::now(), is_silent }
    }

    pub fn say(&mut self, message: String) {
        if !watched() && !self.is_silent && self.said.elapsed() > LINE_EVERY {
            note(&message);
            self.said = Instant::now();
        }
        self.bar.set_message(clean(&message));
    }
}

/// A bar on stderr of bytes that are fetched; hidden where nobody looks.
pub fn bytes_bar() -> ProgressBar {
    let bar = if watched() { ProgressBar::new(0) } else { ProgressBar::hidden() };
    let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {wide_msg}");
    bar.with_style(style.unwrap_or(ProgressStyle::default_bar()))
}

/// Says on a bar what is done; where it is hidden, a line on stderr does.
pub fn say_on(bar: &ProgressBar, line: &str) {
    if bar.is_hidden() {
        note(line);
    }
    bar.set_message(clean(line));
}

/// A table as lines no wider than stdout.
pub fn lines(table: &Grid) -> String {
    table.draw(&Sheet::plain(width()))
}

/// One line on stderr with the whole chain of causes. Names of files may hold anything: what would move the cursor is
/// spelled out.
pub fn error(error: &anyhow::Error) {
    let prefix = console::style("weigh:").for_stderr().red().bold();
    let text = format!("{error:#}");
    let lines: Vec<String> = text.lines().map(|l| clean(l.trim())).filter(|l| !l.is_empty()).collect();
    let said = if lines.is_empty() { "it failed, and nothing says why".to_owned() } else { lines.join("; ") };
    tell(&format!("{prefix} {said}\n"));
}

/// Writes to stderr. One that is full or closed ends nothing.
pub fn tell(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// A remark on stderr: one line.
pub fn note(text: &str) {
    tell(&format!("{}\n", console::style(clean(text)).for_stderr().dim()));
}

/// Whether somebody can answer a question.
pub fn is_asked() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks a question on the terminal; everything but a yes is a no.
pub fn ask(question: &str) -> anyhow::Result<bool> {
    tell(&format!("{} [y/N] ", clean(question)));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes" | "Yes"))
}

/// A remark that holds for all that is done: the program makes it once.
pub fn note_once(text: &str) {
    static MADE: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if MADE.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned()) {
        note(text);
    }
}
