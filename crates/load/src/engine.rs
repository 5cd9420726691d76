//! The engine: runs a plan on threads of its own, and returns what they counted.

mod clock;
mod conn;
mod dispatch;
mod exchange;
mod expiry;
mod preflight;
mod prepared;
mod progress;
mod sink;
mod spread;
mod stream_part;
mod thread;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

pub use preflight::preflights;
pub use prepared::{Arsenal, Endpoint, Prepared, Refusal};
pub use progress::Progress;

use clock::Clock;
use progress::Window;
use sink::{Eye, Sink};
use spread::{models, parts, scouting, scouting_part};
use thread::{Shared, Thread};

use crate::arrival::Model;
use crate::plan::{Check, LoadPlan};
use crate::record::Recorder;
use crate::result::{Client, LoadResult, Preflight};
use crate::sys;
use crate::verify::{Decoder, Expectation, Expectations, Verifier};
use weigh_stats::hist::{Hist, Packed};

/// The interval of progress reports.
const TELL: Duration = Duration::from_millis(500);

/// Runs a plan: a preflight of every request, then the load.
///
/// `tell` is called about twice per second. When `stop` is set, no further request is sent, and requests in flight are
/// drained.
///
/// # Errors
/// Why the plan cannot run: it is impossible, or the preflight found nothing that could be verified. In these cases no
/// load was sent.
pub fn run(
    plan: &LoadPlan,
    tell: &mut dyn FnMut(&Progress),
    stop: &AtomicBool,
) -> Result<LoadResult, Refusal> {
    run_from(plan, None, tell, stop)
}

/// The same, with a start that others choose: after the preflight, `tell` is called with [`Progress::is_ready`] until `start` has
/// an instant, which is the origin of every schedule. If it has passed already, what was due since is sent late, and counts as late.
///
/// # Errors
/// As [`run`].
pub fn run_from(
    plan: &LoadPlan,
    start: Option<&OnceLock<Instant>>,
    tell: &mut dyn FnMut(&Progress),
    stop: &AtomicBool,
) -> Result<LoadResult, Refusal> {
    let models = models(plan)?;
    let arsenal = Arsenal::of(plan)?;
    let (mut preflights, expectations) = preflight(plan, &arsenal, tell, stop)?;
    let no_thread = |e: io::Error| Refusal(format!("no thread for decoding: {e}"));
    let check = expectations.map(|e| Ok((e, Decoder::start().map_err(no_thread)?))).transpose()?;
    let threads = plan.threads.max(1);
    let windows: Vec<Window> = (0..threads).map(|_| Window::default()).collect();
    let own = plan.length.requests.map(|n| plan.share().of(n));
    let tickets = own.map(|n| AtomicI64::new(i64::try_from(n).unwrap_or(i64::MAX)));
    let clock = match start {
        Some(start) => Clock::from(wait_for(start, tell, stop)?),
        None => Clock::start(),
    };
    let shared = Shared { clock, tickets, stop };
    let (began, is_alone) = (Some(Instant::now()), start.is_none());
    let before = sys::process_cpu_seconds();
    let job = Job { plan, arsenal: &arsenal, shared: &shared, models: &models };
    let outcomes: Vec<io::Result<ThreadResult>> = std::thread::scope(|scope| {
        let start = |index: u32| {
            let (job, window) = (&job, &windows[index as usize]);
            let eye = match &check {
                Some((e, d)) => Eye::Verify(Box::new(Verifier::new(Arc::clone(e), d.clone()))),
                None => Eye::Closed,
            };
            scope.spawn(move || job.one_thread(window, eye, index))
        };
        let handles: Vec<_> = (0..threads).map(start).collect();
        watch(&windows, &mut || tell(&progress(shared.clock, &windows, is_alone)), || {
            handles.iter().all(|h| h.is_finished())
        });
        handles.into_iter().map(|h| h.join().unwrap_or_else(|_| Err(died()))).collect()
    });
    let after = sys::process_cpu_seconds();
    for (request, note) in check.iter().flat_map(|(expectations, _)| expectations.changes()) {
        preflights[request].notes.push(note);
    }
    let mut client = Client {
        user_seconds: (after.0 - before.0).max(0.0),
        system_seconds: (after.1 - before.1).max(0.0),
        peak_rss_bytes: sys::peak_rss_bytes(),
        nice: sys::nice(),
        ..Client::default()
    };
    let mut all = Recorder::new(arsenal.classes.len(), slice(plan));
    let mut seconds = 0.0f64;
    for outcome in outcomes {
        let outcome = outcome.map_err(|e| Refusal(format!("the load was aborted: {e}")))?;
        client.thread_shares.push(outcome.share);
        client.thread_waits.extend(outcome.wait);
        seconds = seconds.max(outcome.seconds);
        all.add(outcome.recorder);
    }
    if !stop.load(Ordering::Relaxed) && !shared.is_sold_out() {
        seconds = seconds.max(scheduled_seconds(plan, &models));
    }
    client.lateness = std::mem::take(&mut all.lateness);
    let (unproven, faults) =
        (all.unproven, all.faults(|request| plan.requests[request as usize].name.clone()));
    let (classes, slices) = all.finish(&arsenal.classes);
    let due = Some(shared.clock.origin());
    let agents = Vec::new();
    Ok(LoadResult { seconds, classes, slices, faults, unproven, client, preflights, agents, due, began })
}

/// Waits for the instant that others choose, and until then.
fn wait_for(
    start: &OnceLock<Instant>,
    tell: &mut dyn FnMut(&Progress),
    stop: &AtomicBool,
) -> Result<Instant, Refusal> {
    let mut told: Option<Instant> = None;
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(Refusal("interrupted before the common start; nothing was measured".into()));
        }
        let left = start.get().map(|at| at.saturating_duration_since(Instant::now()));
        if let (Some(at), Some(Duration::ZERO)) = (start.get(), left) {
            return Ok(*at);
        }
        if told.is_none_or(|told| told.elapsed() >= TELL) {
            told = Some(Instant::now());
            tell(&Progress { is_preflight: true, is_ready: true, ..Progress::default() });
        }
        std::thread::sleep(left.unwrap_or(Duration::MAX).min(Duration::from_millis(5)));
    }
}

/// Seconds of a run whose requests are due until its end independent of the server: the schedule goes on after the last
/// request. 0 for other runs.
fn scheduled_seconds(plan: &LoadPlan, models: &[Box<dyn Model>]) -> f64 {
    let Some(seconds) = plan.length.seconds else { return 0.0 };
    let end = seconds * (1.0 - 1e-9);
    let is_due = models.iter().any(|model| model.offered(end).is_some_and(|rate| rate > 0.0));
    if is_due { seconds } else { 0.0 }
}

fn died() -> io::Error {
    io::Error::other("a thread of the generator panicked")
}

/// Sends every request a few times, and returns what responses of the load must be.
fn preflight(
    plan: &LoadPlan,
    arsenal: &Arsenal,
    tell: &mut dyn FnMut(&Progress),
    stop: &AtomicBool,
) -> Result<(Vec<Preflight>, Option<Arc<Expectations>>), Refusal> {
    let (clock, window) = (Clock::start(), Window::default());
    let found = std::thread::scope(|scope| {
        let asking = scope.spawn(|| scout(plan, arsenal, &window, stop));
        let window = std::slice::from_ref(&window);
        let mut tell = || tell(&Progress { is_preflight: true, ..progress(clock, window, true) });
        watch(window, &mut tell, || asking.is_finished());
        asking.join().unwrap_or_else(|_| Err(died()))
    });
    let found = found.map_err(|e| Refusal(format!("the preflight was aborted: {e}")))?;
    let (mut preflights, mut expectations) = (Vec::new(), Vec::new());
    for (preflight, expectation) in found {
        let is_answered = preflight.status != 0;
        if let Some(fault) = preflight.fault.as_ref().filter(|_| plan.check != Check::Discard || !is_answered)
        {
            if stop.load(Ordering::Relaxed) {
                return Err(Refusal("the preflight was interrupted; nothing was measured".into()));
            }
            let Preflight { request, .. } = &preflight;
            let hint = if is_answered { "; --discard measures it unverified" } else { "" };
            let message = format!("{request}: {}: {}{hint}", fault.kind.name(), fault.message);
            return Err(Refusal(message));
        }
        preflights.push(preflight);
        expectations.extend(expectation);
    }
    let is_whole = expectations.len() == plan.requests.len();
    Ok((preflights, is_whole.then(|| Expectations::new(expectations, plan))))
}

/// What the responses to every request showed.
fn scout(
    plan: &LoadPlan,
    arsenal: &Arsenal,
    window: &Window,
    stop: &AtomicBool,
) -> io::Result<Vec<(Preflight, Option<Expectation>)>> {
    let mini = scouting(plan);
    let all: Vec<u32> = (0..plan.requests.len() as u32).collect();
    let asking = Asking { mini: &mini, arsenal, window, stop };
    let mut scout = Box::new(preflight::Scout::new(plan));
    scout = asking.ask(scout, &all, preflight::times(plan))?;
    if plan.again_seconds > 0.0 && scout.asks_again() {
        asking.pause(Duration::from_secs_f64(plan.again_seconds));
        for request in all {
            // Each over a connection of its own.
            scout = asking.ask(scout, &[request], preflight::AGAIN)?;
        }
    }
    Ok(scout.finish(|| window.beat()))
}

/// The parts of a preflight.
struct Asking<'a> {
    mini: &'a LoadPlan,
    arsenal: &'a Arsenal,
    window: &'a Window,
    stop: &'a AtomicBool,
}

impl Asking<'_> {
    /// Sends each of these requests this many times, one after the other, starting with a new connection.
    fn ask(
        &self,
        scout: Box<preflight::Scout>,
        requests: &[u32],
        times: u32,
    ) -> io::Result<Box<preflight::Scout>> {
        let Asking { mini, arsenal, window, stop } = *self;
        let tickets = Some(AtomicI64::new(i64::from(times) * requests.len() as i64));
        let shared = Shared { clock: Clock::start(), tickets, stop };
        let recorder = Recorder::new(arsenal.classes.len(), slice(mini));
        let sink = Sink::new(shared.clock, recorder, Eye::Scout(scout));
        let part = scouting_part(mini, arsenal, requests, times);
        let (_, scout) = Thread::new(mini, arsenal, &shared, vec![part], sink, window)?.run()?.finish();
        scout.ok_or_else(|| io::Error::other("the results of the preflight are lost"))
    }

    /// Waits, unless the run is to be stopped.
    fn pause(&self, length: Duration) {
        let until = Instant::now() + length;
        while Instant::now() < until && !self.stop.load(Ordering::Relaxed) {
            self.window.beat();
            std::thread::sleep(
                until.saturating_duration_since(Instant::now()).min(Duration::from_millis(20)),
            );
        }
    }
}

/// State that all threads share.
struct Job<'a> {
    plan: &'a LoadPlan,
    arsenal: &'a Arsenal,
    shared: &'a Shared<'a>,
    models: &'a [Box<dyn Model>],
}

struct ThreadResult {
    recorder: Recorder,
    /// Share of a core.
    share: f64,
    /// Share of its time in which it waited for a processor; none: the system does not report it.
    wait: Option<f64>,
    seconds: f64,
}

impl Job<'_> {
    fn one_thread(&self, window: &Window, eye: Eye, index: u32) -> io::Result<ThreadResult> {
        let Job { plan, arsenal, shared, models } = *self;
        if !plan.cpus.is_empty() {
            sys::pin(plan.cpus[index as usize % plan.cpus.len()])?;
        }
        let (cpu, waited, begun) =
            (sys::thread_cpu_seconds(), sys::thread_wait_seconds(), shared.clock.now());
        let sink = Sink::new(shared.clock, Recorder::new(arsenal.classes.len(), slice(plan)), eye);
        let thread = Thread::new(plan, arsenal, shared, parts(plan, arsenal, models, index), sink, window)?;
        let sink = thread.run()?;
        window.end();
        let ended = shared.clock.now();
        let lasted = ((ended - begun) as f64 / 1e9).max(1e-9);
        let share = (sys::thread_cpu_seconds() - cpu) / lasted;
        let wait =
            sys::thread_wait_seconds().zip(waited).map(|(after, before)| (after - before).max(0.0) / lasted);
        // Waiting for the decoder does not count as time of the load.
        let (recorder, _) = sink.finish();
        Ok(ThreadResult { recorder, share, wait, seconds: ended as f64 / 1e9 })
    }
}

fn slice(plan: &LoadPlan) -> crate::Nanos {
    (plan.slice_seconds.max(0.001) * 1e9) as crate::Nanos
}

/// Reports progress until the threads have ended, as long as all of them go on. Without reports, the listener knows
/// that a thread hangs.
fn watch(windows: &[Window], tell: &mut dyn FnMut(), is_over: impl Fn() -> bool) {
    let mut told = Instant::now();
    let mut pause = Duration::from_millis(1);
    let mut beats = vec![0; windows.len()];
    let mut waited_for: Vec<usize> = (0..windows.len()).collect();
    while !is_over() {
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
        waited_for.retain(|at| !windows[*at].has_gone_on(&mut beats[*at]));
        if told.elapsed() >= TELL && waited_for.is_empty() {
            told = Instant::now();
            waited_for.extend(0..windows.len());
            tell();
        }
    }
}

/// `is_alone`: the percentiles are enough, because nobody adds this to what others say.
fn progress(clock: Clock, windows: &[Window], is_alone: bool) -> Progress {
    let mut newest = Hist::default();
    let mut progress = Progress { seconds: clock.now() as f64 / 1e9, ..Progress::default() };
    for seen in windows.iter().map(Window::look) {
        progress.completed += seen.counts.0;
        progress.faulted += seen.counts.1;
        newest.add(&seen.newest);
    }
    progress.p50 = newest.quantile(0.5);
    progress.p99 = newest.quantile(0.99);
    progress.newest = (!is_alone).then(|| Packed::coarse(&newest));
    progress
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_only_as_long_as_every_thread_goes_on() {
        // A thread must show progress within three times its own interval, relative to the interval of reports.
        let told = |beats: [bool; 2]| {
            let windows = [Window::default(), Window::default()];
            let (begun, mut told) = (Instant::now(), 0);
            watch(&windows, &mut || told += 1, || {
                windows.iter().zip(beats).filter(|(_, beats)| *beats).for_each(|(window, _)| window.beat());
                begun.elapsed() > 3 * TELL
            });
            told
        };
        assert_eq!(told([true, false]), 0);
        assert_eq!(told([false, true]), 0);
        assert!((1..=3).contains(&told([true, true])));
    }

    #[test]
    fn a_thread_that_has_ended_is_not_waited_for() {
        let window = Window::default();
        window.end();
        let mut beats = 0;
        assert!(window.has_gone_on(&mut beats) && window.has_gone_on(&mut beats));
        let window = Window::default();
        window.beat();
        let mut beats = 0;
        assert!(window.has_gone_on(&mut beats) && !window.has_gone_on(&mut beats));
    }
}
