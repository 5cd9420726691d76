//! A network of one's own: a namespace that lives as long as this value and whatever was started in it. Everything outside of it stays as
//! it is: unix sockets cross, TCP does not.
//!
//! One kind has small buffers: what a slow client does not take stays with the one who sends it. On the machine's own loopback the kernel
//! holds megabytes between server and client, as no long-distance connection does, and a slow client costs a server nothing. There a
//! loopback has connections that hold some kilobytes. Another kind is an end of a link, and the third is for private servers alone: nobody else on the
//! machine can connect to what listens there. Both have the kernel's own buffers.

use std::fs::File;
use std::io::Write;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::answer;
use anyhow::{Context, Result, bail, ensure};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use weigh_model::text::clean;

/// Least, default and most bytes that a connection's send buffer has.
const SEND_BUFFER: &str = "4096 16384 32768";
const SEND_BUFFER_FILE: &str = "/proc/sys/net/ipv4/tcp_wmem";
/// 1: a connection learns nothing from those before it.
const FORGET_FILE: &str = "/proc/sys/net/ipv4/tcp_no_metrics_save";
/// How connections send.
const CONTROL_FILE: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// 1: a connection that was silent for a while starts again with its initial window.
const IDLE_FILE: &str = "/proc/sys/net/ipv4/tcp_slow_start_after_idle";
/// The network of the thread that looks.
const OWN: &str = "/proc/thread-self/ns/net";
/// That of this process' first thread.
const OF_PROCESS: &str = "/proc/self/ns/net";

#[derive(Debug)]
pub struct Network {
    file: File,
}

impl Network {
    /// Makes one with a loopback whose connections have small send buffers.
    ///
    /// # Errors
    /// The privilege, or a program that sets the loopback up, is missing.
    pub fn narrow() -> Result<Network> {
        Network::make(&[(SEND_BUFFER_FILE, SEND_BUFFER)])
    }

    /// Makes one with the kernel's own buffers, where no connection profits from what one before it learnt of the way.
    pub fn plain() -> Result<Network> {
        Network::make(&[(FORGET_FILE, "1")])
    }

    /// Makes one as the machine's own is, for servers that other users of the machine shall not reach.
    ///
    /// # Errors
    /// As [`Network::narrow`].
    pub fn private() -> Result<Network> {
        Network::make(&[])
    }

    /// The machine's own, in which this process is anyway.
    pub fn outside() -> Result<Network> {
        Ok(Network { file: namespace(OWN.as_ref()).context("this network has no name")? })
    }

    /// Another handle of the same network, which stays as long as either value.
    ///
    /// # Errors
    /// This process has no room for another open file.
    pub fn try_clone(&self) -> Result<Network> {
        Ok(Network { file: self.file.try_clone().context("the network cannot be kept open")? })
    }

    fn make(settings: &[(&str, &str)]) -> Result<Network> {
        // A thread of its own: the one that made a namespace stays in it.
        std::thread::scope(|scope| scope.spawn(|| make(settings)).join())
            .unwrap_or_else(|_| bail!("the thread that makes it panicked"))
    }

    /// Carries something out inside: what it starts and what it connects to is there.
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

/// How connections of this thread's network send: `cubic`, `bbr`; none: the kernel does not say.
pub fn congestion_control() -> Option<String> {
    Some(crate::regular::system(CONTROL_FILE).ok()?.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Whether connections of this thread's network start again after a pause; none: the kernel does not say.
pub fn slow_start_after_idle() -> Option<bool> {
    Some(crate::regular::system(IDLE_FILE).ok()?.trim() != "0")
}

/// Packets that a connection of this thread's network, given by its own port, may have under way, as the kernel says it; none: it does not say.
pub fn window(port: u16) -> Option<u32> {
    let port = format!("sport = :{port}");
    let said = answer(Command::new("ss").args(["-tinH", "state", "established", &port])).ok()?;
    let words = said.is_fine().then_some(said.stdout)?;
    words.split_whitespace().find_map(|word| word.strip_prefix("cwnd:")?.parse().ok())
}

/// Whether one of this name spreads what it sends over round trips.
pub fn is_paced(congestion_control: &str) -> bool {
    congestion_control.starts_with("bbr")
}

/// Lets connections of this thread's network send as those of a kernel that paces, or that does not.
///
/// # Errors
/// The kernel has none such, or does not let it be chosen.
pub fn pace(paced: bool) -> Result<()> {
    if congestion_control().is_some_and(|own| is_paced(&own) == paced) {
        return Ok(());
    }
    let choose = |name: &str| -> std::io::Result<()> {
        std::fs::OpenOptions::new().write(true).open(CONTROL_FILE)?.write_all(name.as_bytes())
    };
    let names = if paced { &["bbr"][..] } else { &["cubic", "reno"] };
    let chosen = names.iter().any(|name| choose(name).is_ok());
    ensure!(chosen, "{} cannot be chosen as congestion control here", names.join(" or "));
    Ok(())
}

/// Lets connections of this thread's network to itself come from an address; false: it is that of the process, and stays as it is.
///
/// # Errors
/// The address cannot be set up.
pub fn come_from(address: Ipv4Addr) -> Result<bool> {
    let network = |path| std::fs::metadata(path).map(|of| of.ino()).context("this network has no name");
    if network(OWN)? == network(OF_PROCESS)? {
        return Ok(false);
    }
    let address = address.to_string();
    let words = ["route", "change", "local", "127.0.0.1", "dev", "lo", "table", "local", "src", &address];
    carry_out("ip", &["address", "add", &address, "dev", "lo"])
        .and_then(|()| carry_out("ip", &words))
        .context("its loopback has no other address")?;
    Ok(true)
}

/// Carries something out in a private network if one is available, else in the machine's own.
pub fn privately<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T> {
    match Network::private() {
        Ok(network) => network.within(work),
        Err(_) => Ok(work()),
    }
}

/// Moves this process into a namespace by its path. To be called before there are threads.
pub fn join(path: &Path) -> Result<()> {
    let file = namespace(path).with_context(|| format!("no network namespace {}", path.display()))?;
    enter(&file).context("the network namespace cannot be entered")
}

/// What stands for a namespace is not a regular file.
#[allow(clippy::disallowed_methods, reason = "the kernel's own, and named by this program")]
fn namespace(path: &Path) -> std::io::Result<File> {
    File::open(path)
}

/// Where this thread is already, it takes no privilege.
fn enter(file: &File) -> std::io::Result<()> {
    if let (Ok(there), Ok(here)) = (file.metadata(), std::fs::metadata(OWN))
        && (there.dev(), there.ino()) == (here.dev(), here.ino())
    {
        return Ok(());
    }
    Ok(move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?)
}

/// Makes a namespace on this thread, with settings of its own.
fn make(settings: &[(&str, &str)]) -> Result<Network> {
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET)
        .context("a network namespace takes root, or a machine that lets users have one (user namespaces)")?;
    let file = namespace(OWN.as_ref()).context("the network namespace has no name")?;
    carry_out("ip", &["link", "set", "lo", "up"]).context("its loopback cannot be set up")?;
    for (setting, value) in settings {
        let settings = std::fs::OpenOptions::new().write(true).open(setting);
        let written = settings.and_then(|mut file| file.write_all(value.as_bytes()));
        written.with_context(|| format!("{setting} cannot be set"))?;
    }
    Ok(Network { file })
}

/// Carries out `ip` or `tc` in the network of this thread.
///
/// # Errors
/// It is not there, or refused: its words.
pub fn carry_out(program: &str, args: &[&str]) -> Result<()> {
    let said =
        answer(Command::new(program).args(args)).context("apt install iproute2 brings `ip` and `tc`")?;
    if !said.is_fine() {
        bail!("`{program}` refused: {}", clean(&said.stderr));
    }
    Ok(())
}

/// Gives a device of this thread's network its address, the one at its other end, and the settings that `ip link set` is told, and starts
/// it. The kernel says nothing over it by itself.
pub fn set_up(device: &str, own: Ipv4Addr, other: Ipv4Addr, settings: &[&str]) -> Result<()> {
    let (own, other) = (own.to_string(), other.to_string());
    carry_out("ip", &["address", "add", &own, "peer", &other, "dev", device])?;
    let link = ["link", "set", "dev", device];
    carry_out("ip", &[&link[..], &["addrgenmode", "none"]].concat())?;
    carry_out("ip", &[&link[..], settings, &["up"]].concat())
}

#[cfg(test)]
mod tests;
