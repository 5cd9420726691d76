//! What private servers and stores of a run stand on: who runs them, where, and on which processors and links.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::links::Links;
use weigh_model::plan::Plan;
use weigh_os::cores::Cores;
use weigh_os::guard::LaunchContext;
use weigh_os::shelter::Shelter;
use weigh_os::user::OwnUser;

/// To be dropped after what stands on it.
#[derive(Debug)]
pub struct Ground {
    pub links: Links,
    /// Who runs on which processors.
    pub cores: Cores,
    /// Who runs them, where that is not the lab's own user.
    pub user: Option<OwnUser>,
    /// Why they have no user of their own, where they should have one: a line.
    pub remark: Option<String>,
    logs: PathBuf,
    /// Where their private directories are. A lab that is killed before a guard has one leaves it to the next start.
    shelter: Shelter,
}

impl Ground {
    /// For these programs, which a remark names as `what`; what they say goes to `logs`.
    pub fn new<'p>(
        plan: &Plan,
        programs: impl Iterator<Item = &'p Path>,
        what: &str,
        logs: &Path,
    ) -> Result<Ground> {
        let user = OwnUser::for_programs(programs);
        let remark = user.as_ref().err().map(|denied| denied.told(what));
        let user = user.ok().flatten();
        let shelter = Shelter::of(user).context("no temporary folder")?;
        Ok(Ground {
            links: Links::of(plan),
            cores: Cores::here(),
            user,
            remark,
            logs: logs.to_owned(),
            shelter,
        })
    }

    /// The folder of all that they read.
    pub fn folder(&self) -> &Path {
        self.shelter.path()
    }

    /// The log of a server, a store or a runtime's pool; the first MiB of what each start says is in it.
    pub fn log(&self, name: &str) -> PathBuf {
        self.logs.join(format!("{name}.log"))
    }

    pub fn place(&self, name: &str) -> LaunchContext {
        LaunchContext::new(self.folder(), self.log(name)).of(self.user)
    }
}
