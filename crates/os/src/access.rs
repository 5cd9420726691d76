//! What a user may read and write below a folder: the kernel is asked, in a process of that user's.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use rustix::fs::{Access as Mode, access};
use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use crate::launcher::Flags;
use crate::lifeline;
use crate::user::OwnUser;
use weigh_model::text::{clean, clean_bytes, clean_path};

/// The argument of `agent` that asks it.
const ASK: &str = "--access";
/// Files and folders that are asked about at most.
const MOST: usize = 200_000;
/// Names that are kept of each list.
const NAMED: usize = 3;
/// Folders that no page needs.
const SKIPPED: [&str; 4] = [".git", ".svn", ".hg", "node_modules"];

/// What a user may do below a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// Files and folders that it cannot read.
    pub unreadable: Paths,
    /// Folders that it can write to, without those inside of another.
    pub writable: Paths,
    /// Owner and group of the first unreadable one, where they can be asked for.
    owner: Option<(u32, u32)>,
}

/// How many paths there are, and the first of them, relative to the folder and safe to print.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paths {
    pub count: usize,
    pub first: Vec<String>,
}

impl Paths {
    fn add(&mut self, path: &Path) {
        self.count += 1;
        if self.first.len() < NAMED {
            self.first.push(if path.as_os_str().is_empty() { ".".into() } else { clean_path(path) });
        }
    }

    /// `a, b, c and 4 more`; nothing where there are none.
    pub fn list(&self) -> String {
        let more = self.count - self.first.len();
        self.first.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
    }
}

impl Access {
    /// The account that can read what this user cannot: the owner of the first of it, or one with the name of its group.
    pub fn reader(&self) -> Option<String> {
        let (uid, gid) = self.owner?;
        let owner = || nix::unistd::User::from_uid(uid.into()).ok().flatten().map(|user| user.name);
        let group = || nix::unistd::Group::from_gid(gid.into()).ok().flatten().map(|group| group.name);
        let name = if uid == 0 { group() } else { owner() };
        name.filter(|name| name != "root").map(|name| clean(&name))
    }

    /// Asks about what is below a folder, as far as this process may read it.
    fn below(folder: &Path) -> Access {
        let mut found = Access::default();
        let mut written: Option<PathBuf> = None;
        let is_needed = |entry: &walkdir::DirEntry| !SKIPPED.iter().any(|name| entry.file_name() == *name);
        for entry in WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(is_needed).take(MOST) {
            let (path, is_folder, is_denied) = match &entry {
                Ok(entry) => (entry.path(), entry.file_type().is_dir(), is_closed(entry.path())),
                Err(error) => (error.path().unwrap_or(folder), true, is_denied(error)),
            };
            let name = path.strip_prefix(folder).unwrap_or(path);
            if is_denied {
                found.owner = found.owner.or(path.metadata().ok().map(|data| (data.uid(), data.gid())));
                found.unreadable.add(name);
            }
            let is_inside = written.as_ref().is_some_and(|above| path.starts_with(above));
            if is_folder && !is_inside && access(path, Mode::WRITE_OK).is_ok() {
                found.writable.add(name);
                written = Some(path.to_owned());
            }
        }
        found
    }
}

/// Whether a file may not be read. A folder shows it when it is entered.
fn is_closed(path: &Path) -> bool {
    !path.is_dir() && access(path, Mode::READ_OK) == Err(rustix::io::Errno::ACCESS)
}

/// Whether a folder may neither be listed nor entered: what is in one that is only not listed may be read by its name.
fn is_denied(error: &walkdir::Error) -> bool {
    let denied = error.io_error().is_some_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied);
    denied && error.path().is_none_or(|path| access(path, Mode::EXEC_OK).is_err())
}

impl OwnUser {
    /// What it may do below a folder, where it is shown these folders.
    ///
    /// # Errors
    /// One line: why the folders cannot be shown to it, or why it cannot be asked.
    pub fn access(self, shown: &[PathBuf], folder: &Path) -> Result<Access> {
        let mut command = Command::new(lifeline::this_program());
        command.args(["agent", ASK, lifeline::USER, &self.to_string()]);
        command.args(shown.iter().flat_map(|one| [lifeline::SHOW.as_ref(), one.as_os_str()]));
        command.arg("--").arg(folder).current_dir("/").stdin(Stdio::null());
        #[allow(
            clippy::disallowed_methods,
            reason = "this program itself, and a list as long as the folder has files"
        )]
        let ended = command.output().context("cannot ask what another user may read")?;
        if !ended.status.success() {
            bail!("{}", clean_bytes(ended.stderr.trim_ascii()));
        }
        serde_json::from_slice(&ended.stdout).context("cannot ask what another user may read")
    }
}

/// Handles `agent --access FLAGS… -- FOLDER` (`args` holds the program's own name first): one line of JSON; `None` for any other command line.
pub fn dispatch(args: &[OsString]) -> Option<ExitCode> {
    let [_, agent, ask, rest @ ..] = args else { return None };
    if agent != "agent" || ask != ASK {
        return None;
    }
    let (flags, [folder]) = Flags::before_program(rest)? else { return None };
    if let Err(error) = flags.carry_out() {
        eprintln!("{error:#}");
        return Some(ExitCode::FAILURE);
    }
    let text = serde_json::to_string(&Access::below(Path::new(folder))).unwrap_or_default();
    println!("{text}");
    Some(ExitCode::SUCCESS)
}
