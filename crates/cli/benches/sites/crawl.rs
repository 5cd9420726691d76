//! A crawl of known counts by an independent client (`bench/sites/crawl.py`), and whether the log and `weigh site` say the same.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use weigh_os::interrupt::Interrupt;
use weigh_site::log;

use crate::common::{self, Targets, WEIGH, progress};
use crate::ground::{Running, RunningSite};

/// Crawls a site, lets `weigh site` look at it in a folder, and compares; gives whether `weigh site` ended well.
pub fn measure(
    name: &str,
    site: &RunningSite,
    running: &Running,
    work: &Path,
    targets: &mut Targets,
) -> Result<bool> {
    let mut crawl = script("visit");
    crawl.args(["--url", &running.url, "--bytes", running.bytes]).arg("--log").arg(&running.log);
    crawl.arg("--out").arg(work).args(&running.crawl);
    ensure!(crawl.status().context("python3 cannot be started")?.success(), "{name}: the crawl failed");
    counted(name, work, targets)?;

    let mut look = Command::new(WEIGH);
    look.args(["site", "--json", "--docroot"]).arg(&site.docroot).arg("--server-config").arg(&running.config);
    look.args(["--log", "access.log"]).arg("--php-config").arg(&site.php_config);
    if running.is_rendered {
        look.arg("--render");
    } else {
        look.args(["--url", &running.url]);
    }
    look.arg("--browser");
    look.current_dir(work).stdout(File::create(work.join("site.json"))?);
    let said = look.stderr(Stdio::piped()).output().context("weigh cannot be started")?;
    String::from_utf8_lossy(&said.stderr).lines().for_each(|line| progress(&format!("  {line}")));
    let is_fine = said.status.success();
    targets.line(&format!("{name}-site"), &said.status.to_string(), "ends well", is_fine);
    if is_fine {
        let compared = script("compare").args(["--name", name, "--out"]).arg(work).output()?;
        let lines = String::from_utf8(compared.stdout)?;
        let error = String::from_utf8_lossy(&compared.stderr).into_owned();
        ensure!(!lines.is_empty() && error.is_empty(), "{name}: the comparison failed: {error}");
        lines.lines().for_each(|line| targets.made(line));
    }
    Ok(is_fine)
}

fn script(verb: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg(common::source("sites/crawl.py")).arg(verb);
    command
}

/// Requests and those of bots, as the reader of logs counts them.
fn counted(name: &str, work: &Path, targets: &mut Targets) -> Result<()> {
    let truth: serde_json::Value = serde_json::from_slice(&fs::read(work.join("truth.json"))?)?;
    let logs: [PathBuf; 1] = [work.join("access.log")];
    let counted = log::read(&logs, log::Names::default(), &Interrupt::new())?;
    let number = |what: &str| truth[what].as_u64().with_context(|| format!("truth.json: no {what}"));
    let (requests, bots) = (number("logged")?, number("bots")?);
    let measured = format!(
        "{} of {requests} requests, {} of {bots} of bots, {} lines not read",
        counted.requests(),
        counted.bots.requests,
        counted.unreadable
    );
    let met = (counted.requests(), counted.bots.requests, counted.unreadable) == (requests, bots, 0);
    targets.line(&format!("{name}-log"), &measured, "all of them", met);
    Ok(())
}
