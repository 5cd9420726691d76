//! Whose CPU time is the kernel's work for `sendfile`? nginx on processor 0, in a network of its own, sends a file of 1 MB again and again over a pair of devices
//! to a client on processor 1, in another network. The kernel sends, receives and acknowledges; some of that it does for whoever happens to run. What the lab's
//! meter reads for the server is held against all of it.
//!
//! A witness on each processor runs only when nobody else wants to: it looks at its own CPU clock again and again, and where the clock has gone on between two
//! looks for longer than a look takes, that was an interrupt's work, counted for the one that it interrupted. Where another ran between the two looks, as the wall's
//! clock tells, it was work for waking that one and changing over to it, which a processor that sleeps does in nobody's name: it is shown by itself.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use thread_priority::ThreadPriority;
use thread_priority::unix::{
    NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use weigh_content::defs::Definitions;
use weigh_os::group::Group;
use weigh_os::guard::LaunchContext;
use weigh_os::network::Network;
use weigh_rig::server::{Definition, Instance, Site};
use weigh_rig::service::FolderDefinition;
use weigh_stats::median;

use super::common::{Targets, WEIGH, progress};

/// Bytes of the file.
const FILE: usize = 1 << 20;
/// The device's name in either network, and its addresses.
const DEVICE: &str = "weigh0";
const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 153, 0, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 153, 0, 2);
/// The processors of server and client.
const CPUS: [usize; 2] = [0, 1];
/// How long a round sends, and how long it rests before.
const LOAD: Duration = Duration::from_secs(2);
const REST: Duration = Duration::from_secs(1);
/// A look is an interrupt's from this many usual looks on.
const UNUSUAL: u64 = 4;
/// The least part of all CPU time that has to be the server's or the client's.
const KNOWN: f64 = 0.95;

/// CPU time of one round in nanoseconds a response: those who did something, and what fell to others.
#[derive(Clone, Copy, Debug)]
struct Round {
    server: f64,
    /// Of it in the kernel.
    server_kernel: f64,
    client: f64,
    /// Interrupts' work that fell to whoever ran.
    interrupted: f64,
    /// Work for waking server and client that fell to whoever ran before them.
    woken: f64,
    /// The kernel's own threads for what interrupts leave.
    threads: f64,
}

impl Round {
    /// All but the waking.
    fn all(&self) -> f64 {
        self.server + self.client + self.interrupted + self.threads
    }
}

/// Measures, and adds its line.
///
/// # Errors
/// Something else than the measurement went wrong.
pub fn measure(targets: &mut Targets, rounds: usize) -> Result<()> {
    let target =
        format!("server's and client's part of all CPU time of a transfer by sendfile at least {KNOWN}");
    let home = tempfile::tempdir()?;
    let nginx = Definition::load(&Definitions::load(None)?)?.into_iter().find(|d| d.name == "nginx");
    let found = nginx.context("no nginx is defined")?.find();
    let near_and_far = Network::plain().and_then(|near| Ok((near, Network::plain()?)));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (near, far) = match near_and_far {
        _ if cores < 2 => return refuse(targets, "it takes two processors", &target),
        _ if found.missing.is_some() => return refuse(targets, "there is no nginx", &target),
        Ok(both) => both,
        Err(error) => return refuse(targets, &format!("{error:#}"), &target),
    };
    lay(&near, &far)?;
    for folder in ["www", "run"] {
        std::fs::create_dir(home.path().join(folder))?;
    }
    std::fs::write(home.path().join("www/file"), vec![b'x'; FILE])?;
    let site = Site { docroot: home.path().join("www"), cpus: vec![CPUS[0] as u32], ..Site::default() };
    let place = LaunchContext::new(home.path().join("run"), home.path().join("log"));
    let place = LaunchContext { launcher: WEIGH.into(), ..place };
    let instance = far.within(|| Instance::start_at(SERVER, &found, &site, &place))??;
    ensure!(
        instance.config().values().any(|text| text.contains("sendfile on;")),
        "nginx does not use sendfile"
    );
    let address = SocketAddr::from((SERVER, instance.port()));
    let seen = (1..=rounds).map(|_| round(&near, instance.group(), address)).collect::<Result<Vec<_>>>()?;
    judge(targets, &seen, &target);
    Ok(())
}

fn refuse(targets: &mut Targets, why: &str, target: &str) -> Result<()> {
    targets.missing("meter-sendfile", why, target);
    Ok(())
}

/// A pair of devices between two networks, with the kernel's own settings.
fn lay(near: &Network, far: &Network) -> Result<()> {
    let there = far.path();
    let there = there.to_str().context("the far network has no name")?;
    let ip = |args: &[&str]| -> Result<()> {
        let said = Command::new("ip").args(args).output().context("`ip` cannot be started")?;
        ensure!(said.status.success(), "`ip` refused: {}", String::from_utf8_lossy(&said.stderr));
        Ok(())
    };
    near.within(|| ip(&["link", "add", DEVICE, "type", "veth", "peer", "name", DEVICE, "netns", there]))??;
    for (network, own, other) in [(near, CLIENT, SERVER), (far, SERVER, CLIENT)] {
        let (own, other) = (own.to_string(), other.to_string());
        network.within(|| {
            ip(&["address", "add", &own, "peer", &other, "dev", DEVICE])?;
            ip(&["link", "set", "dev", DEVICE, "up"])
        })??;
    }
    Ok(())
}

/// One round: a rest, which shows what witnesses meet anyway, then a load.
fn round(near: &Network, server: Group, address: SocketAddr) -> Result<Round> {
    let (rest, _) = witnessed(|| {
        std::thread::sleep(REST);
        Ok(())
    })?;
    let (load, (responses, client, usage)) = witnessed(|| {
        let before = server.usage();
        let (responses, client) = near.within(|| ask(address, LOAD))??;
        Ok((responses, client, server.usage().since(&before)))
    })?;
    ensure!(responses > 0, "there was no response");
    // What ran beside them is interrupted as often as the witness is in its time.
    let busy = [usage.cpu_ns as f64, client as f64];
    let fell = |of: fn(&Witness) -> u64| -> f64 {
        let share = |witness: &Witness| of(witness) as f64 / witness.own.max(1) as f64;
        let one = |at: usize| {
            let others = (LOAD.as_nanos() as f64 - busy[at]).max(0.0);
            others * (share(&load.witnesses[at]) - share(&rest.witnesses[at])).max(0.0)
        };
        one(0) + one(1)
    };
    let threads = load.threads as f64 - rest.threads as f64 * load.seconds / rest.seconds;
    let each = |ns: f64| ns / responses as f64;
    Ok(Round {
        server: each(usage.cpu_ns as f64),
        server_kernel: each(usage.system_ns as f64),
        client: each(client as f64),
        interrupted: each(fell(|witness| witness.interrupted)),
        woken: each(fell(|witness| witness.woke)),
        threads: each(threads.max(0.0)),
    })
}

/// What was seen while something was done.
struct WitnessedCost {
    witnesses: [Witness; 2],
    /// CPU nanoseconds of the kernel's threads for what interrupts leave.
    threads: u64,
    seconds: f64,
}

fn witnessed<T>(work: impl FnOnce() -> Result<T>) -> Result<(WitnessedCost, T)> {
    let end = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let witnesses = CPUS.map(|cpu| {
            let end = &end;
            scope.spawn(move || Witness::look(cpu, end))
        });
        let (begun, threads) = (Instant::now(), kernel_threads_ns());
        let done = work();
        let (seconds, threads) = (begun.elapsed().as_secs_f64(), kernel_threads_ns().saturating_sub(threads));
        end.store(true, Ordering::Relaxed);
        let [a, b] = witnesses.map(|witness| witness.join());
        let (Ok(a), Ok(b)) = (a, b) else { bail!("a witness panicked") };
        Ok((WitnessedCost { witnesses: [a?, b?], threads, seconds }, done?))
    })
}

/// What a witness saw in its own CPU time.
#[derive(Clone, Copy, Debug)]
struct Witness {
    /// CPU nanoseconds that it had.
    own: u64,
    /// Of them those that were an interrupt's, after which it went on.
    interrupted: u64,
    /// Those before or after another ran.
    woke: u64,
}

impl Witness {
    /// Looks until the end, when nobody else wants the processor.
    fn look(cpu: usize, end: &AtomicBool) -> Result<Witness> {
        pin(cpu)?;
        let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
        let set = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, idle);
        ensure!(set.is_ok(), "a thread cannot step aside for all others");
        let mut usual: Vec<u64> = (0..1000).map(|_| Witness::step()).collect();
        usual.sort_unstable();
        let usual = usual[usual.len() / 2].max(1);
        let mut seen = Witness { own: 0, interrupted: 0, woke: 0 };
        let (mut last, mut wall) = (own_ns(), Instant::now());
        while !end.load(Ordering::Relaxed) {
            let (now, now_wall) = (own_ns(), Instant::now());
            let (step, away) = (now - last, (now_wall - wall).as_nanos() as u64);
            seen.own += step;
            let beyond = if step > UNUSUAL * usual { step - usual } else { 0 };
            let others = away.saturating_sub(step) > UNUSUAL * usual;
            *if others { &mut seen.woke } else { &mut seen.interrupted } += beyond;
            (last, wall) = (now, now_wall);
        }
        Ok(seen)
    }

    fn step() -> u64 {
        let before = own_ns();
        own_ns() - before
    }
}

/// CPU nanoseconds of this thread.
fn own_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn pin(cpu: usize) -> Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).with_context(|| format!("a thread cannot be pinned to processor {cpu}"))
}

/// CPU nanoseconds of `ksoftirqd` on the processors used; 0 where that may not be read.
fn kernel_threads_ns() -> u64 {
    let names = CPUS.map(|cpu| format!("ksoftirqd/{cpu}"));
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    let threads = entries.flatten().filter(|entry| {
        let name = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        names.iter().any(|known| known == name.trim())
    });
    let ns = |entry: std::fs::DirEntry| {
        let text = std::fs::read_to_string(entry.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    };
    threads.filter_map(ns).sum()
}

/// A client that asks again as soon as it has a whole response: how many it had, and its CPU nanoseconds. To be called on a thread of its own.
fn ask(address: SocketAddr, time: Duration) -> Result<(u64, u64)> {
    pin(CPUS[1])?;
    let mut stream = TcpStream::connect(address).context("the server cannot be reached")?;
    stream.set_nodelay(true)?;
    let request = format!("GET /file HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let mut buffer = vec![0; 256 << 10];
    let whole = first(&mut stream, request.as_bytes(), &mut buffer)?;
    let (begun, before) = (Instant::now(), own_ns());
    let mut responses = 0;
    while begun.elapsed() < time {
        stream.write_all(request.as_bytes())?;
        let mut come = 0;
        while come < whole {
            let read = stream.read(&mut buffer)?;
            ensure!(read > 0, "the server closed the connection");
            come += read;
        }
        ensure!(come == whole, "a response is longer than the first");
        responses += 1;
    }
    Ok((responses, own_ns() - before))
}

/// The bytes of the first response, with its head.
fn first(stream: &mut TcpStream, request: &[u8], buffer: &mut [u8]) -> Result<usize> {
    stream.write_all(request)?;
    let mut head = Vec::new();
    loop {
        let read = stream.read(buffer)?;
        ensure!(read > 0, "the server closed the connection");
        head.extend_from_slice(&buffer[..read]);
        let Some(end) = head.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        ensure!(head.starts_with(b"HTTP/1.1 200"), "the server refused");
        let whole = end + 4 + FILE;
        if head.len() >= whole {
            return Ok(whole);
        }
    }
}

/// The parts on stderr, and the line: what part of all CPU time was the server's or the client's.
fn judge(targets: &mut Targets, seen: &[Round], target: &str) {
    let middle =
        |of: &dyn Fn(&Round) -> f64| median(&seen.iter().map(of).collect::<Vec<_>>()).unwrap_or(f64::NAN);
    let us = |of: &dyn Fn(&Round) -> f64| middle(of) / 1e3;
    let part = |of: fn(&Round) -> f64| middle(&|round| of(round) / round.all()) * 100.0;
    progress(&format!(
        "1 MB by sendfile: server {:.0} µs ({:.0}% in the kernel), client {:.0} µs, fell to whoever was interrupted {:.1} µs, ksoftirqd {:.1} µs, waking them {:.1} µs; \
         the server's part is {:.1}%, the client's {:.1}%",
        us(&|round| round.server),
        middle(&|round| round.server_kernel / round.server) * 100.0,
        us(&|round| round.client),
        us(&|round| round.interrupted),
        us(&|round| round.threads),
        us(&|round| round.woken),
        part(|round| round.server),
        part(|round| round.client),
    ));
    let known: Vec<f64> = seen.iter().map(|round| (round.server + round.client) / round.all()).collect();
    let Some(value) = median(&known) else {
        return targets.missing("meter-sendfile", "there was no round", target);
    };
    let low = known.iter().copied().fold(f64::INFINITY, f64::min);
    let high = known.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    targets.line("meter-sendfile", &format!("{value:.3} [{low:.3}, {high:.3}]"), target, value >= KNOWN);
}
