//! Taking samples of one phase: how often, in which batches, and when to stop; and the calls for it that only some systems have (the
//! thread's CPU clock, context switches, peak memory). Elsewhere each of these says that it cannot tell.

use std::fs;
use std::time::Instant;

use weigh_model::protocol::{Fault, Samples, VisitRequest};
use weigh_os::group::field;

/// A first call that took more CPU time than this, in nanoseconds, counts as a sample: to do it again only to have
/// it warm would cost more than the warmth is worth.
const KEEP_FROM: u64 = 300_000_000;
/// A call shorter than this many minimum batches is timed again, warm, before the batch is chosen.
const COLD: u64 = 100;
/// Passes that take up this many nanoseconds in all stand before the samples of a call that is timed again: over some
/// six to eight passes the processor learns a content (its branches, its lines in the caches), and a call of 0.2 ms
/// takes up to 1.7 times as long in the first of them. Calls of 2 ms and more show nothing of it.
const WARM_NS: u64 = 2_000_000;
/// How often warm passes are done again that another process interrupted.
const WARM_TRIES: u32 = 8;
/// Between two looks at the clock within a batch, in nanoseconds: a look costs about 1% of it.
const LOOK_EVERY: f64 = 2_500.0;

/// What some passes took in all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// CPU time in nanoseconds.
    pub cpu: u64,
    /// Wall time in nanoseconds.
    pub wall: u64,
    pub preempted: u64,
}

impl Span {
    /// What one of this many items took, about.
    pub fn of_one(self, items: usize) -> Span {
        let items = items.max(1) as u64;
        Span { cpu: self.cpu / items, wall: self.wall / items, preempted: 0 }
    }
}

/// What times are read from.
pub trait Clock {
    /// Nanoseconds of wall time since any moment.
    fn wall(&self) -> u64;
    /// Nanoseconds of this thread's CPU time, user and system.
    fn cpu(&self) -> u64;
    /// Involuntary context switches of this thread.
    fn preempted(&self) -> u64;
}

pub struct SystemClock(Instant);

impl SystemClock {
    /// Wall time is counted from now on.
    pub fn new() -> SystemClock {
        SystemClock(Instant::now())
    }
}

impl Clock for SystemClock {
    fn wall(&self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }

    fn cpu(&self) -> u64 {
        thread_cpu_ns()
    }

    fn preempted(&self) -> u64 {
        preempted()
    }
}

/// Runs something once and says what it took. The wall clock is the outer one of those that tell time.
pub fn time<T>(clock: &impl Clock, run: impl FnOnce() -> T) -> (T, Span) {
    let switched = clock.preempted();
    let (wall, cpu) = (clock.wall(), clock.cpu());
    let result = run();
    let (cpu, wall) = (clock.cpu().saturating_sub(cpu), clock.wall() - wall);
    (result, Span { cpu, wall, preempted: clock.preempted() - switched })
}

/// Takes the samples that a request asks for. `first` is what the untimed pass took; `pass` does one more.
pub fn take(
    clock: &impl Clock,
    request: &VisitRequest,
    first: Span,
    mut pass: impl FnMut() -> Result<(), Fault>,
) -> Result<Samples, Fault> {
    let mut samples = Samples { batch: 1, ..Samples::default() };
    let mut spent = 0;
    // By CPU time: a short call may have had to wait that long.
    let mut call = first.cpu.max(1) as f64;
    if first.cpu > KEEP_FROM {
        samples.cpu_ns.push(first.cpu as f64);
        samples.wall_ns.push(first.wall as f64);
        samples.preempted = first.preempted;
        spent = first.wall;
    } else if first.cpu < request.min_batch_ns.saturating_mul(COLD) {
        call = warm(clock, request, first, &mut pass)?;
        samples.batch = batch(request, call);
    }
    let look = (LOOK_EVERY / call).ceil().clamp(1.0, f64::from(u32::MAX)) as u32;
    let switched = clock.preempted();
    let wanted = request.samples.max(1) as usize;
    while samples.wall_ns.len() < wanted && (samples.wall_ns.is_empty() || spent < request.budget_ns) {
        let (wall, cpu) = (clock.wall(), clock.cpu());
        let done = repeat(clock, samples.batch, look, request.max_batch_ns, &mut pass);
        let (cpu, wall) = (clock.cpu().saturating_sub(cpu), clock.wall() - wall);
        let passes = f64::from(done?);
        samples.cpu_ns.push(cpu as f64 / passes);
        samples.wall_ns.push(wall as f64 / passes);
        spent += wall;
    }
    samples.preempted += clock.preempted() - switched;
    Ok(samples)
}

/// How long a warm pass takes in nanoseconds: over as many passes as should take [`WARM_NS`], and over more until they
/// do, and fill the minimum batch.
fn warm(
    clock: &impl Clock,
    request: &VisitRequest,
    first: Span,
    pass: &mut impl FnMut() -> Result<(), Fault>,
) -> Result<f64, Fault> {
    let mut passes = (WARM_NS / first.wall.max(1)).clamp(1, 1 << 20) as u32;
    let (mut tries, mut spent) = (WARM_TRIES, 0);
    loop {
        let (done, Span { wall, preempted, .. }) =
            time(clock, || repeat(clock, passes, passes, u64::MAX, pass));
        done?;
        // Passes that had to wait would pass for long ones, and quick calls would not be batched.
        if preempted > 0 && tries > 0 {
            tries -= 1;
            continue;
        }
        spent += wall;
        if (wall >= request.min_batch_ns && spent >= WARM_NS) || passes >= 1 << 20 {
            return Ok(wall.max(1) as f64 / f64::from(passes));
        }
        passes *= 2;
    }
}

/// Passes that fill the minimum batch, none of them started past the maximum.
fn batch(request: &VisitRequest, call: f64) -> u32 {
    let least = (request.min_batch_ns as f64 / call).ceil();
    let most = (request.max_batch_ns as f64 / call).ceil();
    least.min(most).clamp(1.0, f64::from(u32::MAX)) as u32
}

/// Up to `passes` passes, looking at the clock every `look` of them and starting none past `limit`
/// nanoseconds; how many were made.
fn repeat(
    clock: &impl Clock,
    passes: u32,
    look: u32,
    limit: u64,
    pass: &mut impl FnMut() -> Result<(), Fault>,
) -> Result<u32, Fault> {
    let start = clock.wall();
    let mut done = 0;
    while done < passes {
        pass()?;
        done += 1;
        if done < passes && done.is_multiple_of(look) && clock.wall() - start >= limit {
            break;
        }
    }
    Ok(done)
}

/// CPU time (user and system) of this thread in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Involuntary context switches of this thread so far; 0 where the system does not count them.
pub fn preempted() -> u64 {
    field("/proc/thread-self/status", "nonvoluntary_ctxt_switches:").unwrap_or(0)
}

/// The start of a measurement of peak memory.
pub struct Baseline(u64);

impl Baseline {
    /// Gives freed memory back and sets the peak to what is resident now; `None` where the system has no
    /// peak that can be set back.
    pub fn set() -> Option<Baseline> {
        if !weigh_codec::memory::trim() {
            return None;
        }
        // "5" sets VmHWM to the resident set, see proc(5), /proc/PID/clear_refs.
        fs::write("/proc/self/clear_refs", "5").ok()?;
        field("/proc/self/status", "VmHWM:").map(Baseline)
    }

    /// How many bytes the resident set has risen above the start at its peak.
    pub fn risen(self) -> Option<u64> {
        let peak = field("/proc/self/status", "VmHWM:")?;
        Some(peak.saturating_sub(self.0) * 1024)
    }
}

#[cfg(test)]
mod tests;
