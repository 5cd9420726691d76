//! `weigh runs open`: runs in a browser, as an index page in their folder.

use std::io::IsTerminal;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

use crate::exit::{Exit, OrRefuse};
use crate::listing::history_of;
use crate::terminal::{self, Line};
use weigh_history::{History, Index};
use weigh_model::text::clean_path;
use weigh_os::interrupt::Interrupt;
use weigh_run::dir::RUN;

/// What opens a page in the user's browser.
const OPENER: &str = "xdg-open";
/// Seconds between two versions of the page while a run is measuring, at the least.
const EVERY: u64 = 5;
/// Between two of them at least this many times what writing one took: it must not be what is measured.
const SHARE: u32 = 50;

/// The end of its help.
pub const EXAMPLES: &str = "Examples:
  weigh runs open                 every run in weigh-runs
  weigh runs open --in old-runs   those of another folder

It writes index.html into the folder, and the report page of each run that has none. On a desktop it opens the page.
While a run is measuring it goes on: the page shows the progress until the run ends, or until Ctrl-C.";

/// Runs the verb, for a folder of runs.
pub fn run(folder: &Path) -> Result<ExitCode> {
    refuse_run(folder).or_usage_error()?;
    let interrupt = Interrupt::on_signals().context("signals cannot be caught")?;
    let mut is_first = true;
    loop {
        let began = Instant::now();
        let history = history_of(folder)?;
        let written = write(&history, Some(EVERY)).or_usage_error();
        let index = written.or_else(|error| interrupt.ended(Err(error)))?;
        if is_first {
            terminal::print(&format!("{}\n", clean_path(&index.path)))?;
            open(&index.path);
        }
        if !index.is_live {
            return Ok(Exit::Fine.into());
        }
        if is_first {
            terminal::note("a run is measuring: the page is written again until it ends; Ctrl-C ends this");
        }
        is_first = false;
        if interrupt.wait(Duration::from_secs(EVERY).max(began.elapsed() * SHARE)).is_none() {
            // The last version does not reload.
            write(&history, None)?;
            return Ok(Exit::Fine.into());
        }
    }
}

fn write(history: &History, again: Option<u64>) -> Result<Index> {
    let mut line = Line::new(false);
    let progress = &mut |done, all| line.say(format!("writing pages: {done} of {all}"));
    let now = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S").to_string();
    let written = history.write_index(&now, again, &mut terminal::note_once, progress);
    line.bar.finish_and_clear();
    written
}

fn refuse_run(folder: &Path) -> Result<()> {
    let shown = clean_path(folder);
    if folder.join(RUN).is_file() {
        return Err(anyhow!("{shown}: a run; name the folder that it is in, or: weigh runs show {shown}"));
    }
    Ok(())
}

/// Opens a page in the user's browser where somebody sees it. Its path was printed, for where nothing does.
fn open(page: &Path) {
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if !has_display || !std::io::stdout().is_terminal() {
        return;
    }
    let mut opener = Command::new(OPENER);
    opener.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Its own group: Ctrl-C here does not end a browser.
    std::os::unix::process::CommandExt::process_group(&mut opener, 0);
    let _ = opener.spawn();
}
