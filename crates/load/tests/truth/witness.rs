//! A thread that notices when a processor was away.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use rustix::thread::gettid;
use rustix::time::{ClockId, clock_gettime};

/// Shorter absences cannot be distinguished from the kernel's work between two looks.
const SHORTEST: Duration = Duration::from_micros(50);
/// A look takes less time; a longer one was interrupted, and is repeated.
const GLANCE: Duration = Duration::from_micros(10);
/// How often it looks for a client that is not running.
const SEARCH: Duration = Duration::from_millis(1);

/// Reads the clock continuously on the client's processor, and finds when that processor was away.
///
/// Between two looks, the processor ran this thread or the client, or was away. The kernel knows the time of the first
/// two; the rest could not be used by any client. A third thread on the processor would be taken for an absence; the
/// client's own behaviour would not.
pub struct Witness {
    cpu: u32,
    client: Option<Client>,
    searched: Instant,
    before: Option<Look>,
}

/// The only other thread that stays on this processor.
struct Client {
    /// See schedstat in the documentation of proc(5): nanoseconds on a processor come first.
    times: File,
}

/// The accounting of a processor's time.
#[derive(Clone, Copy, Debug)]
struct Look {
    seen: Instant,
    /// The time that this thread and the client had so far.
    used: Duration,
}

impl Witness {
    /// For the processor that this thread is on, and stays on.
    pub fn of(cpu: u32) -> Witness {
        Witness { cpu, client: None, searched: Instant::now(), before: None }
    }

    /// Looks: if the processor was away for a while since the last look, returns the period between the two. Without a
    /// client, nothing is found.
    pub fn look(&mut self) -> Option<Range<Instant>> {
        if self.client.is_none() && self.searched.elapsed() >= SEARCH {
            self.client = Client::find(self.cpu);
            self.searched = Instant::now();
        }
        let now = self.client.as_ref().and_then(Look::take);
        if now.is_none() {
            self.client = None;
        }
        let before = std::mem::replace(&mut self.before, now);
        absence(before?, now?)
    }
}

/// The lost time may have been before the client ran, after it, or between two of its actions: the whole period is
/// returned.
fn absence(before: Look, now: Look) -> Option<Range<Instant>> {
    let lost = (now.seen - before.seen).saturating_sub(now.used.saturating_sub(before.used));
    (lost >= SHORTEST).then_some(before.seen..now.seen)
}

impl Look {
    /// None if the client has ended.
    fn take(client: &Client) -> Option<Look> {
        loop {
            let begun = Instant::now();
            let used = own_time() + client.time()?;
            let seen = Instant::now();
            if seen - begun < GLANCE {
                return Some(Look { seen, used });
            }
        }
    }
}

impl Client {
    fn find(cpu: u32) -> Option<Client> {
        let own = gettid().as_raw_nonzero().to_string();
        let mut threads = std::fs::read_dir("/proc/self/task").ok()?.flatten();
        let thread = threads.find(|thread| thread.file_name() != *own && stays_on(thread, cpu))?;
        Some(Client { times: File::open(thread.path().join("schedstat")).ok()? })
    }

    /// Processor time so far.
    fn time(&self) -> Option<Duration> {
        let mut text = [0; 64];
        let read = self.times.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(&text[..read]).ok()?;
        text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
    }
}

fn stays_on(thread: &std::fs::DirEntry, cpu: u32) -> bool {
    let status = std::fs::read_to_string(thread.path().join("status")).unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.is_some_and(|list| list.trim() == cpu.to_string())
}

fn own_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
fn time_that_is_nobodys_is_an_absence() {
    let us = Duration::from_micros;
    let before = Look { seen: Instant::now(), used: Duration::from_secs(1) };
    let after = |gap, used| Look { seen: before.seen + us(gap), used: before.used + us(used) };
    assert_eq!(absence(before, after(3_000, 2_960)), None, "the client was at work");
    assert_eq!(absence(before, after(3_000, 500)), Some(before.seen..before.seen + us(3_000)));
    assert_eq!(absence(before, after(20, 90)), None, "clocks are not read at one instant");
}

#[test]
fn a_client_is_found_its_time_grows_and_it_ends() {
    let cpu = super::places::allowed()[0];
    let (tell, told) = std::sync::mpsc::channel();
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        weigh_load::sys::pin(cpu).unwrap();
        tell.send(gettid()).unwrap();
        while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {}
    });
    let times = format!("/proc/self/task/{}/schedstat", told.recv().unwrap().as_raw_nonzero());
    assert!(Client::find(cpu).is_some(), "at least that one stays there");
    let client = Client { times: File::open(times).unwrap() };
    let more = client.time().unwrap() + Duration::from_millis(20);
    while client.time().unwrap() < more {}
    assert!(Look::take(&client).unwrap().used >= more);
    drop(stop);
    thread.join().unwrap();
    // The kernel forgets a thread slightly after it is joined.
    let is_gone = || Look::take(&client).is_none();
    assert!(
        (0..5_000).any(|_| {
            std::thread::sleep(SEARCH);
            is_gone()
        }),
        "it has ended"
    );
}
