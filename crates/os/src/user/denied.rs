//! Why a lab that root started runs its programs without a user of their own, and how to fix it.

use std::path::{Path, PathBuf};

use crate::permissions::first_closed;
use crate::{lifeline, ordinary};
use weigh_model::text::clean_path;

/// The file that a fetched runtime has in its folder, three above its programs.
pub const RUNTIME_FILE: &str = "runtime.json";

fn is_fetched(program: &Path) -> bool {
    program.ancestors().nth(3).is_some_and(|root| root.join(RUNTIME_FILE).is_file())
}

/// Why there is no such user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denied {
    /// The machine withholds what it takes.
    Machine {
        /// What root may not do here.
        why: &'static str,
        remedy: &'static str,
    },
    /// The folder for temporary files is out of the user's reach.
    Temporary(Closed),
    Program(Closed),
}

/// What a user cannot reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// What was to be reached.
    path: PathBuf,
    /// The first on the way there that lets others not through.
    at: PathBuf,
}

impl Closed {
    /// What keeps a user from a path; none where nothing does.
    pub(super) fn to(path: &Path, user: u32) -> Option<Closed> {
        first_closed(path, Some(user)).map(|at| Closed { path: path.to_owned(), at })
    }

    fn told(&self) -> String {
        let (path, at) = (clean_path(&self.path), clean_path(&self.at));
        if self.path == self.at {
            format!("{path} is closed to other users")
        } else {
            format!("other users cannot reach {path}: {at} is closed to them")
        }
    }
}

impl Denied {
    /// One line for the user: what `who` may do now, why, and what to do.
    pub fn told(&self, who: &str) -> String {
        let is_root = ordinary::is_real_root(&lifeline::this_program());
        let what = if is_root { "run as root" } else { "can read root's files" };
        format!("{who} {what} in this run: {}; {}", self.why(), self.remedy())
    }

    /// One line for the user: what would be otherwise, why, and what to do.
    pub fn refused(&self, what: &str) -> String {
        format!("{what}: {}; {}", self.why(), self.remedy())
    }

    fn why(&self) -> String {
        match self {
            Denied::Machine { why, .. } => (*why).to_owned(),
            Denied::Temporary(closed) => format!("{} (the folder for temporary files)", closed.told()),
            Denied::Program(closed) => closed.told(),
        }
    }

    fn remedy(&self) -> String {
        let instead = match self {
            Denied::Machine { remedy, .. } => remedy,
            Denied::Temporary(_) => "set TMPDIR to a folder that is open to all, such as /tmp",
            // What is fetched is its user's alone wherever it lies.
            Denied::Program(closed) if is_fetched(&closed.path) => "name a PHP of the system's by --php",
            Denied::Program(_) => "move it to a folder that is open to all, such as /opt",
        };
        format!("{instead}, or start weigh as an ordinary user")
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, create_dir_all, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_first_that_is_closed_is_named_with_what_is_behind_it() {
        let room = tempfile::tempdir_in("/tmp").unwrap();
        let (closed, program) = (room.path().join("a/b"), room.path().join("a/b/c/program"));
        create_dir_all(program.parent().unwrap()).unwrap();
        write(&program, "").unwrap();
        let open = |path: &Path, mode| set_permissions(path, Permissions::from_mode(mode)).unwrap();
        for ancestor in ["", "a", "a/b", "a/b/c"] {
            open(&room.path().join(ancestor), 0o711);
        }
        open(&program, 0o755);
        let nobody = u32::MAX - 7;
        assert_eq!(Closed::to(&program, nobody), None);
        open(&closed, 0o700);
        let found = Closed::to(&program, nobody).unwrap();
        assert_eq!((&found.path, &found.at), (&program, &closed));
        let line = Denied::Program(found).told("stores");
        let (path, at) = (program.display(), closed.display());
        let why = format!("other users cannot reach {path}: {at} is closed to them; move it to");
        assert!(line.starts_with("stores ") && line.contains(&why), "{line}");
        assert!(Closed::to(&closed, nobody).unwrap().told().ends_with("b is closed to other users"));
    }

    #[test]
    fn a_machine_that_withholds_it_is_told_with_the_remedy() {
        let denied = Denied::Machine { why: "root may not do it here", remedy: "allow it" };
        let line = denied.told("servers");
        assert!(
            line.ends_with("root may not do it here; allow it, or start weigh as an ordinary user"),
            "{line}"
        );
    }
}
