//! The runs that are served: those of a folder as they come and go, or some that were named.

use std::path::PathBuf;

use anyhow::{Result, bail};

use weigh_history::{Filter, History, RunRow};
use weigh_model::text::clean;
use weigh_run::dir::RUN;
use weigh_run::list::folders;

/// The most runs of a list: the newest.
const LISTED: usize = 500;

#[derive(Clone, Debug)]
pub enum Runs {
    /// Every run of a folder.
    Folder(PathBuf),
    Named(Vec<(String, PathBuf)>),
}

impl Runs {
    /// Runs by their folders.
    ///
    /// # Errors
    /// Two have the same name.
    pub fn named(paths: Vec<PathBuf>) -> Result<Runs> {
        let mut named: Vec<(String, PathBuf)> = Vec::new();
        for path in paths {
            let full = std::path::absolute(&path)?;
            let name = full.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            if named.iter().any(|(other, _)| *other == name) {
                bail!("{}: two runs of this name; name one of them", clean(&name));
            }
            named.push((name, full));
        }
        Ok(Runs::Named(named))
    }

    /// The folder of the run of this name, if it is served.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let all = match self {
            Runs::Folder(folder) => folders(folder),
            Runs::Named(named) => named.clone(),
        };
        all.into_iter().find(|(known, _)| known == name).map(|(_, path)| path)
    }

    /// The runs, the newest first, and how many of a folder are left out.
    ///
    /// # Errors
    /// The user wants an end.
    pub fn list(&self) -> Result<(Vec<RunRow>, usize)> {
        match self {
            Runs::Folder(folder) => {
                // Nobody reads what a server would say here.
                let history = History::read(folder, &mut |_| {}, &mut |_, _| {})?;
                let mut runs = history.runs(&Filter::default());
                // A load has no page here.
                runs.retain(|run| folder.join(&run.name).join(RUN).is_file());
                let more = runs.len().saturating_sub(LISTED);
                runs.truncate(LISTED);
                Ok((runs, more))
            }
            Runs::Named(named) => {
                let mut runs: Vec<RunRow> =
                    named.iter().map(|(name, path)| RunRow::read(name, path)).collect();
                runs.sort_by(|a, b| (&b.started, &b.name).cmp(&(&a.started, &a.name)));
                Ok((runs, 0))
            }
        }
    }
}
