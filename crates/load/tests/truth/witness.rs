//! Who sees when a processor was away.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use rustix::thread::gettid;
use rustix::time::{ClockId, clock_gettime};

/// Shorter absences are not told from what the kernel does between two looks.
const SHORTEST: Duration = Duration::from_micros(50);
/// A look takes less; one that took longer was interrupted, and is taken again.
const GLANCE: Duration = Duration::from_micros(10);
/// How often a client that is not there is looked for.
const SEARCH: Duration = Duration::from_millis(1);

/// Looks at the clock all the time on the client's processor, and finds when that was away.
///
/// From one look to the next the processor was this thread's, the client's, or away. What the first two had of it the kernel
/// knows, and the rest no client could have used. A third thread that ran on it would be taken for an absence; nothing that the client
/// itself does, or leaves undone, is.
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

/// The state of a processor's time.
#[derive(Clone, Copy, Debug)]
struct Look {
    seen: Instant,
    /// What this thread and the client had so far.
    used: Duration,
}

impl Witness {
    /// Of the processor that this thread is on, and stays on.
    pub fn of(cpu: u32) -> Witness {
        Witness { cpu, client: None, searched: Instant::now(), before: None }
    }

    /// Looks: if the processor was away for a while since the last look, the time from that to this one. Without a client nothing is found.
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

/// What was lost may have been lost before the client ran or after, or between two things that it did: the whole time is told.
fn absence(before: Look, now: Look) -> Option<Range<Instant>> {
    let lost = (now.seen - before.seen).saturating_sub(now.used.saturating_sub(before.used));
    (lost >= SHORTEST).then_some(before.seen..now.seen)
}

impl Look {
    /// None when the client has ended.
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
    // The kernel forgets a thread a little later than it is joined.
    let is_gone = || Look::take(&client).is_none();
    assert!(
        (0..5_000).any(|_| {
            std::thread::sleep(SEARCH);
            is_gone()
        }),
        "it has ended"
    );
}
