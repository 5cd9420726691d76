//! `weigh runs open`: runs in a browser, served on loopback.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, anyhow};
use tempfile::NamedTempFile;

use crate::exit::{Exit, OrRefuse};
use crate::terminal;
use crate::viewer::{Runs, Server, serve};
use weigh_model::text::clean_path;
use weigh_os::interrupt::Interrupt;
use weigh_run::list::{FOLDER, find};

/// What opens a page in the user's browser.
const OPENER: &str = "xdg-open";

/// Flags of `weigh runs open`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Runs, by folder, name or `latest`; without any, all runs in weigh-runs
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// The folder of runs
    #[arg(long = "in", value_name = "DIR", default_value = FOLDER, conflicts_with = "runs")]
    folder: PathBuf,
    /// The port; without it, any that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Open the list in your browser
    #[arg(long)]
    open: bool,
}

const EXAMPLES: &str = "Examples:
  weigh runs open                  every run in weigh-runs; Ctrl-C ends it
  weigh runs open latest --open    the newest run, in your browser
  weigh runs open --port 8000      for a tunnel: ssh -L 8000:127.0.0.1:8000 HOST

It listens on 127.0.0.1 only, and answers only with the address that it prints: who has that address can read the runs.";

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    let server = Server::listen(runs(args).or_usage_error()?, args.port).or_usage_error()?;
    let interrupt = Interrupt::on_signals().context("signals cannot be caught")?;
    terminal::print(&format!("{}\n", server.url()))?;
    terminal::note("Ctrl-C ends it. Who has this address can read the runs.");
    // Kept until the end: the browser may take its time.
    let _page = args.open.then(|| open(&server)).transpose()?;
    serve(server, &interrupt)?;
    Ok(Exit::Fine.into())
}

fn runs(args: &Args) -> Result<Runs> {
    if args.runs.is_empty() {
        if args.folder != Path::new(FOLDER) && !args.folder.is_dir() {
            return Err(anyhow!("--in {}: not a folder", clean_path(&args.folder)));
        }
        return Ok(Runs::Folder(args.folder.clone()));
    }
    let paths = args.runs.iter().map(|word| find(word)).collect::<Result<Vec<_>>>()?;
    Runs::named(paths)
}

/// Opens a page on the disk, which only this user can read and which leads to the list: the address itself would be among the
/// arguments of a process, which every user can read.
fn open(server: &Server) -> Result<NamedTempFile> {
    let doing = "the page that leads to the list cannot be written";
    let mut page =
        tempfile::Builder::new().prefix("weigh-view-").suffix(".html").tempfile().context(doing)?;
    let html = "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>weigh runs open</title>\n";
    let refresh = format!("<meta http-equiv=\"refresh\" content=\"0; url={}\">\n", server.url());
    page.write_all(html.as_bytes()).and_then(|()| page.write_all(refresh.as_bytes())).context(doing)?;
    server.opens();
    let mut opener = Command::new(OPENER);
    opener.arg(page.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Its own group: Ctrl-C here does not end a browser.
    std::os::unix::process::CommandExt::process_group(&mut opener, 0);
    if opener.spawn().is_err() {
        terminal::note(&format!("{OPENER} cannot be run; open the address above in your browser"));
    }
    Ok(page)
}
