//! What this program writes is its user's alone: folders of mode 0700 and files of mode 0600, whatever the umask it was started with. Servers,
//! stores and PHP that it starts are held to the same; programs of the user's own that it only carries out have the umask that the user has.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use rustix::fs::Mode;
use rustix::process::umask;

use crate::{lifeline, regular};

/// What the user had set.
static USERS: OnceLock<u32> = OnceLock::new();

/// Nobody else reads what is made from now on, neither by this process nor by those that it starts. To be called before there are threads.
pub fn begin() {
    let users = umask(Mode::RWXG | Mode::RWXO);
    let _ = USERS.set(users.as_raw_mode());
}

/// A launcher of a program of the user's own: what that writes is not the lab's affair.
pub fn users_launcher() -> Command {
    let users = USERS.get().map(|mask| [lifeline::UMASK.into(), format!("{mask:o}").into()]);
    lifeline::launcher_with(users.into_iter().flatten().collect::<Vec<OsString>>())
}

/// Copies a file's content; unlike [`std::fs::copy`], which copies its mode too.
///
/// # Errors
/// As the file system says.
pub fn copy(from: &Path, to: &Path) -> io::Result<u64> {
    io::copy(&mut regular::open(from)?, &mut std::fs::File::create(to)?)
}
