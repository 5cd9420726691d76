//! `--on`: the flag of the verbs that measure on a cluster, and how one is opened for them.

use anyhow::{Context, Result, anyhow, bail};

use crate::exit::OrRefuse;
use crate::live::Preparing;
use crate::terminal;
use weigh_cluster::environment::{Environment, RAY, SIZE};
use weigh_cluster::{Cluster, On, Opening, Want};
use weigh_content::cache::Cache;
use weigh_model::text::clean_path;
use weigh_os::interrupt::Interrupt;
use weigh_run::lab::{Home, Progress};

/// Flags of a verb that may measure on a cluster.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Many machines")]
pub struct OnFlags {
    /// Measure on the nodes of a Ray cluster: `ray` starts one on this machine, `ray://HOST:PORT` names the head node of one that is there
    #[arg(long, value_name = "CLUSTER")]
    pub on: Option<On>,
    /// Install Ray for --on without asking
    #[arg(long, requires = "on")]
    pub yes: bool,
}

impl OnFlags {
    /// The cluster, if one is asked for. What it needs is installed first, after asking.
    ///
    /// # Errors
    /// One line: see [`Cluster::open`]; nobody agreed to an installation.
    pub fn open(&self, home: &Home, want: Want) -> Result<Option<Cluster>> {
        let Some(on) = &self.on else { return Ok(None) };
        let cache = Cache::default_folder().context("--on needs a home folder, or WEIGH_CACHE set to one")?;
        let opened = Interrupt::during(|interrupt| {
            let mut progress = Preparing::new();
            self.prepare(&Environment::new(&cache), &mut progress)?;
            let (definitions, cache) = (&home.definitions, cache.as_path());
            Cluster::open(on, want, &mut Opening { definitions, cache, progress: &mut progress, interrupt })
        });
        opened.context("signals cannot be caught")?.map(Some)
    }

    fn prepare(&self, environment: &Environment, progress: &mut Preparing) -> Result<()> {
        if environment.is_there() {
            return Ok(());
        }
        if !self.yes && !agreed(environment)? {
            return Err(anyhow!("--on needs Ray {RAY}, and it was not to be installed")).or_usage_error();
        }
        progress.note(&format!("installing Ray {RAY} into {} ({SIZE})", clean_path(environment.folder())));
        environment.make(progress)
    }
}

/// Asks; where nobody can answer, `--yes` does.
fn agreed(environment: &Environment) -> Result<bool> {
    let what = format!("Ray {RAY} into {} ({SIZE}, by pip)", clean_path(environment.folder()));
    if !terminal::is_asked() {
        bail!("--on needs Ray, which is not installed; add --yes to install {what}");
    }
    terminal::ask(&format!("Install {what}?"))
}
