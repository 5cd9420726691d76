//! Limits of the system's (`ulimit`) end nothing without a line.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, anyhow, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::SIGXFSZ;

use super::terminal;
use weigh_os::machine::cgroup_memory;

/// The stack of the main thread, in bytes: what it usually is, and what it takes at least.
const STACK: (u64, u64) = (8 << 20, 1 << 20);

/// Less memory than this many bytes is said.
const MEMORY: u64 = 256 << 20;

/// Makes what would end the program by a signal or a panic an error in a line.
///
/// # Errors
/// The stack is too small, and may not grow.
pub fn keep() -> Result<()> {
    let limit = getrlimit(Resource::Stack);
    // The kernel asks for the limit when the stack grows, not when the program starts.
    if limit.current.is_some_and(|bytes| bytes < STACK.0) {
        let most = limit.maximum.unwrap_or(u64::MAX).min(STACK.0);
        let _ = setrlimit(Resource::Stack, Rlimit { current: Some(most), maximum: limit.maximum });
    }
    let stack = getrlimit(Resource::Stack).current.unwrap_or(u64::MAX);
    ensure!(stack >= STACK.1, "a stack of {} KB is too small; raise it (ulimit -s 8192)", stack >> 10);
    // Where a file may not grow, writing fails, with the system's own words.
    let never_asked = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGXFSZ, never_asked).context("signals cannot be caught")?;
    tell_of_threads();
    Ok(())
}

/// Says that there is so little memory that the system may end this without a word, where it is so.
pub fn tell_memory() {
    let limit = getrlimit(Resource::As).current.into_iter().chain(cgroup_memory()).min();
    if let Some(bytes) = limit.filter(|bytes| *bytes < MEMORY) {
        let limit = bytes >> 20;
        terminal::note(&format!(
            "Memory is limited to {limit} MB: if this ends without a word, it took more than that (ulimit -v, or a cgroup)"
        ));
    }
}

/// The standard library panics where it gets no thread.
fn tell_of_threads() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |about| {
        let said = about.payload().downcast_ref::<String>().map_or("", String::as_str);
        if said.starts_with("failed to spawn thread") {
            let limits = "raise its limits (ulimit -u for processes, ulimit -v for memory)";
            terminal::error(&anyhow!("the system gives no further thread; {limits}"));
            std::process::exit(1);
        }
        usual(about);
    }));
}
