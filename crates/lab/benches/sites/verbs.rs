//! What the owner of a site would type: `weigh site`, `weigh advise`, `weigh prove`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::common::{Targets, WEIGH, progress};
use crate::ground::Standing;

/// For each server's configuration: all three, one after the other, as far as they end well.
pub fn measure(name: &str, site: &Standing, targets: &mut Targets) -> Result<()> {
    if let Some(missing) = ["site", "advise", "prove"].into_iter().find(|verb| !knows(verb)) {
        progress(&format!("{name}: it stands, and that is all: this weigh has no verb `{missing}` yet"));
        return Ok(());
    }
    for (server, config) in &site.configs {
        let work = tempfile::tempdir()?;
        let mut look = Command::new(WEIGH);
        look.args(["site", "--docroot"]).arg(&site.docroot).arg("--server-config").arg(config);
        look.arg("--log").arg(&site.log).args(["--url", &site.url]);
        let steps = [
            ("site", look),
            ("advise", verb(&["advise", "site.toml"])),
            ("prove", verb(&["prove", "policy.toml"])),
        ];
        for (step, command) in steps {
            if !run(&format!("sites-{name}-{server}-{step}"), command, work.path(), targets)? {
                break;
            }
        }
    }
    Ok(())
}

fn verb(args: &[&str]) -> Command {
    let mut command = Command::new(WEIGH);
    command.args(args);
    command
}

fn knows(verb: &str) -> bool {
    let asked =
        Command::new(WEIGH).args([verb, "--help"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

/// Runs one, shows what it says, and tells whether it ended well.
fn run(name: &str, mut command: Command, work: &Path, targets: &mut Targets) -> Result<bool> {
    let begun = Instant::now();
    let said = command.current_dir(work).output().context("weigh cannot be started")?;
    let seconds = begun.elapsed().as_secs_f64();
    for text in [&said.stdout, &said.stderr] {
        String::from_utf8_lossy(text).lines().for_each(|line| progress(&format!("  {line}")));
    }
    let is_fine = said.status.success();
    targets.line(name, &format!("{} after {seconds:.1} s", said.status), "ends well", is_fine);
    Ok(is_fine)
}
