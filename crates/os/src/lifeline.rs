//! What ties a worker's life to the lab's: a worker ends when the lab does, even by SIGKILL.
//!
//! A worker is started through a launcher, this same program: see [`crate::launcher`].

use std::ffi::OsString;
use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The launcher's flag that names a network namespace for the program.
pub const NETWORK: &str = "--network";
/// The launcher's flag that gives the program another umask than the lab's, octal.
pub const UMASK: &str = "--umask";
/// The launcher's flag that makes the program a user's of the lab's own, by its number.
pub const USER: &str = "--user";
/// The launcher's flag that names a folder which that user is shown, see [`crate::mounts`].
pub const SHOW: &str = "--show";

/// The launcher's program when nothing else is said: this very program, even if its file was replaced.
pub fn this_program() -> OsString {
    "/proc/self/exe".into()
}

/// A command of a launcher by this program; the program to be started, and its arguments, are to follow.
pub fn launcher() -> Command {
    launcher_with(Vec::new())
}

/// The same with flags of the launcher's.
pub fn launcher_with(flags: Vec<OsString>) -> Command {
    let mut command = Command::new(this_program());
    command.args(["agent", "--exec", &std::process::id().to_string()]).args(flags).arg("--");
    command
}

type Order = (Command, Sender<io::Result<Child>>);

/// Starts a command from a thread that lives as long as this process: the kernel's promise to kill a
/// worker holds for the thread that started it, not for the process.
pub fn spawn(command: Command) -> io::Result<Child> {
    static STARTER: OnceLock<Mutex<Sender<Order>>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (orders, inbox) = channel::<Order>();
        std::thread::spawn(move || {
            for (mut command, answer) in inbox {
                // An asker who is gone lets go of the child's pipes, and so ends it.
                let _ = answer.send(command.spawn());
            }
        });
        Mutex::new(orders)
    });
    let (answer, child) = channel();
    let gone = || io::Error::other("the thread that starts workers has ended");
    let sent = starter.lock().unwrap_or_else(PoisonError::into_inner).send((command, answer));
    sent.map_err(|_| gone())?;
    child.recv().map_err(|_| gone())?
}
