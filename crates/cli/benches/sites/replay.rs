//! The advice for a site, installed by hand in a copy of it; the requests of the crawl are sent to the site and to the copy, and the answers
//! compared by a client of their own (`bench/sites/replay.py`).

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::common::{self, Targets, progress};
use crate::ground::{Ground, Running, RunningSite};
use crate::{install, server};

/// The site that was described and advised in a folder: asked, ended, and asked again as a copy with the policy, on the same port.
pub fn measure(
    name: &str,
    (ground, site, running): (&Ground, &RunningSite, Running),
    work: &Path,
    targets: &mut Targets,
) -> Result<()> {
    let Running { name: kind, url, _server: before, .. } = running;
    ask(work, &url, "before")?;
    drop(before);
    let port = url.rsplit(':').next().and_then(|rest| rest.split('/').next()).context("no port")?.parse()?;
    let mut copy = ground.copy()?;
    let installed = install::policy(work, kind, &copy).and_then(|settings| {
        let pool = ground.pool_with(site.database.as_deref(), &settings)?;
        copy.lead(&site._services.0.socket(), &pool.socket())?;
        install::check(|| server::checked(kind, copy.root()), &server::etc(kind, copy.root()))?;
        Ok((server::start(ground, kind, copy.root(), port)?, pool))
    });
    targets.line(&format!("{name}-install"), &said(&installed), "as its files say", installed.is_ok());
    let Ok(after) = installed else { return Ok(()) };
    ask(work, &url, "after")?;
    drop(after);
    let compared = script("compare", work).args(["--name", name]).stderr(Stdio::piped()).output()?;
    let (lines, error) =
        (String::from_utf8(compared.stdout)?, String::from_utf8_lossy(&compared.stderr).into_owned());
    error.lines().for_each(progress);
    ensure!(!lines.is_empty(), "{name}: the comparison failed");
    lines.lines().for_each(|line| targets.made(line));
    Ok(())
}

fn said<T>(installed: &Result<T>) -> String {
    match installed {
        Ok(_) => "accepted".into(),
        Err(error) => format!("{error:#}").replace('\n', " "),
    }
}

fn ask(work: &Path, url: &str, side: &str) -> Result<()> {
    let asked = script("ask", work).args(["--url", url, "--side", side]).status();
    ensure!(asked.context("python3 cannot be started")?.success(), "the site could not be asked");
    Ok(())
}

fn script(verb: &str, work: &Path) -> Command {
    let mut command = Command::new("python3");
    command.arg(common::source("sites/replay.py")).arg(verb).arg("--dir").arg(work);
    command
}
