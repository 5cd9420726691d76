//! The environment of an engine: a Python of its own in the cache, with Ray in it. It is made when it is first asked for, and only then.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use weigh_model::text::clean;
use weigh_os::command::run_within;
use weigh_os::lifeline;
use weigh_run::lab::Progress;

/// The version of Ray: that of a cluster must be the same.
pub const RAY: &str = "2.60.0";
/// What it takes, for the question.
pub const SIZE: &str = "about 300 MB";
/// How long a step may take: pip downloads.
const PATIENCE: Duration = Duration::from_secs(1800);

/// A place for an environment; it need not be there.
#[derive(Clone, Debug)]
pub struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// The one below this cache.
    pub fn new(cache: &Path) -> Environment {
        Environment { folder: cache.join("engines").join(format!("ray-{RAY}")) }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn is_there(&self) -> bool {
        self.program(&self.folder).exists()
    }

    fn program(&self, folder: &Path) -> PathBuf {
        folder.join("bin/python")
    }

    /// Its Python.
    ///
    /// # Errors
    /// It is not there.
    pub fn python(&self) -> Result<PathBuf> {
        if !self.is_there() {
            bail!("Ray {RAY} is not in {}", self.folder.display());
        }
        Ok(self.program(&self.folder))
    }

    /// Makes it, from what the user's `pip` has: whole or not at all.
    ///
    /// # Errors
    /// One line: there is no Python, it has no `venv`, or its `pip` cannot get Ray.
    pub fn make(&self, progress: &mut dyn Progress) -> Result<()> {
        let parent = self.folder.parent().context("the cache has no folder")?;
        std::fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        let draft = tempfile::Builder::new().prefix(".ray-").tempdir_in(parent)?;
        progress.doing("making an environment for Ray");
        let venv = ["-m", "venv"].map(Into::into).into_iter().chain([draft.path().as_os_str().to_owned()]);
        step(Command::new("python3").args(venv))
            .context("an environment for Ray cannot be made; it takes Python 3.9 or newer with venv (apt install python3-venv)")?;
        progress.doing(&format!("installing Ray {RAY}"));
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"];
        step(Command::new(self.program(draft.path())).args(pip).arg(format!("ray=={RAY}")))
            .with_context(|| format!("Ray {RAY} cannot be installed by pip"))?;
        if let Err(error) = std::fs::rename(draft.path(), &self.folder) {
            // Another process may have been faster.
            return if self.is_there() {
                Ok(())
            } else {
                Err(error).context("the environment cannot be put in place")
            };
        }
        let _ = draft.keep();
        Ok(())
    }
}

/// Carries out a step, with the user's own environment; what it says goes into the error.
fn step(command: &Command) -> Result<()> {
    let program = command.get_program();
    let mut launcher = lifeline::launcher();
    launcher.arg(program).args(command.get_args());
    let ended = run_within(&mut launcher, PATIENCE)
        .with_context(|| format!("{} cannot be started", program.display()))?;
    let Some(status) = ended.status else {
        bail!("{} did not end within {} minutes", program.display(), PATIENCE.as_secs() / 60);
    };
    if !status.success() {
        let mut lines = ended.stderr.lines().rev().map(str::trim);
        let last = lines.find(|line| !line.is_empty()).unwrap_or("without a word");
        bail!("{status}: {}", clean(last));
    }
    Ok(())
}
