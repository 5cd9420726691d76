//! A network of one's own, whose buffers are small: what a slow client does not take stays with the one who sends it.
//!
//! On the machine's own loopback the kernel holds megabytes between server and client, as no long-distance connection does, and a
//! slow client costs a server nothing. Here a network namespace has a loopback whose connections hold some kilobytes. It lives as long
//! as this value and whatever was started in it. Everything outside of it stays as it is: unix sockets cross, TCP does not.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Least, default and most bytes that a connection's send buffer has.
const SEND_BUFFER: &str = "4096 16384 32768";
const SEND_BUFFER_FILE: &str = "/proc/sys/net/ipv4/tcp_wmem";

/// A network namespace with a loopback whose connections have small send buffers.
#[derive(Debug)]
pub struct Network {
    file: File,
}

impl Network {
    /// Makes one.
    ///
    /// # Errors
    /// The privilege, or a program that sets the loopback up, is missing.
    pub fn narrow() -> Result<Network> {
        // A thread of its own: the one that made a namespace stays in it.
        std::thread::scope(|scope| scope.spawn(make).join())
            .unwrap_or_else(|_| bail!("the thread that makes it panicked"))
    }

    /// Carries something out inside: what it starts and what it connects to is there.
    ///
    /// # Errors
    /// The namespace cannot be entered.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T> {
        let inside = || -> Result<T> {
            enter(&self.file).context("the network namespace cannot be entered")?;
            Ok(work())
        };
        let ended = std::thread::scope(|scope| scope.spawn(inside).join());
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// What a child process of this one opens and [`join`]s.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()))
    }
}

/// Moves this process into a namespace by its path. To be called before there are threads.
///
/// # Errors
/// It is not there, or the privilege is missing.
pub fn join(path: &std::path::Path) -> Result<()> {
    let file = File::open(path).with_context(|| format!("no network namespace {}", path.display()))?;
    enter(&file).context("the network namespace cannot be entered")
}

fn enter(file: &File) -> rustix::io::Result<()> {
    move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
}

/// Makes a namespace on this thread.
fn make() -> Result<Network> {
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET)
        .context("a network namespace takes root, or CAP_SYS_ADMIN")?;
    let file = File::open("/proc/thread-self/ns/net").context("the network namespace has no name")?;
    let mut up = Command::new("ip");
    up.args(["link", "set", "lo", "up"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let said = up.output().context("`ip` cannot be started (apt install iproute2)")?;
    if !said.status.success() {
        bail!("its loopback cannot be set up: {}", super::process::printable(&said.stderr));
    }
    let settings = std::fs::OpenOptions::new().write(true).open(SEND_BUFFER_FILE);
    let written = settings.and_then(|mut file| file.write_all(SEND_BUFFER.as_bytes()));
    written.with_context(|| format!("{SEND_BUFFER_FILE} cannot be set"))?;
    Ok(Network { file })
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use super::*;

    #[test]
    fn what_listens_inside_is_reached_from_inside_alone() {
        let network = match Network::narrow() {
            Ok(network) => network,
            Err(error) => {
                // A machine may withhold the privilege, from root in a container too.
                eprintln!("skipped: no network namespace here: {error:#}");
                return;
            }
        };
        let listener = network.within(|| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap().unwrap();
        let address = listener.local_addr().unwrap();
        assert!(TcpStream::connect(address).is_err(), "the machine's own loopback leads there");
        network.within(|| TcpStream::connect(address)).unwrap().unwrap();
        let outside = std::fs::read_to_string(SEND_BUFFER_FILE).unwrap();
        let inside = network.within(|| std::fs::read_to_string(SEND_BUFFER_FILE)).unwrap().unwrap();
        let numbers = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(numbers(&inside), SEND_BUFFER);
        assert_ne!(numbers(&outside), SEND_BUFFER);
    }

    #[test]
    fn a_namespace_that_is_not_there_is_named() {
        let error = join(std::path::Path::new("/nowhere")).unwrap_err();
        assert!(format!("{error:#}").contains("/nowhere"), "{error:#}");
    }
}
