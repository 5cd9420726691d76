//! The engine: carries a plan out on threads of its own, and gives what they counted.

mod clock;
mod conn;
mod dispatch;
mod expire;
mod part;
mod prepared;
mod progress;
mod sink;
mod thread;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::time::Duration;

pub use prepared::{Arsenal, Endpoint, Prepared, Refusal};
pub use progress::Progress;

use clock::Clock;
use part::{Draw, Part};
use progress::Window;
use sink::Sink;
use thread::{DRAIN, GO_ON, Shared, Thread};

use crate::hist::Hist;
use crate::plan::LoadPlan;
use crate::record::Recorder;
use crate::result::{Client, LoadResult};
use crate::{arrival, sys};

/// How often progress is told.
const TELL: Duration = Duration::from_millis(500);

/// Carries out a plan: the load itself, without a preflight.
///
/// `tell` is called about twice a second; when `stop` is set no further request is sent, and those in flight are drained.
///
/// # Errors
/// Why the plan cannot be carried out; then nothing was sent.
pub fn run(
    plan: &LoadPlan,
    arsenal: &Arsenal,
    tell: &mut dyn FnMut(&Progress),
    stop: &AtomicBool,
) -> Result<LoadResult, Refusal> {
    let models = models(plan)?;
    let threads = plan.threads.max(1);
    let windows: Vec<Window> = (0..threads).map(|_| Window::default()).collect();
    let shared = Shared {
        clock: Clock::start(),
        tickets: plan.length.requests.map(|n| AtomicI64::new(n.min(i64::MAX as u64) as i64)),
        order: AtomicU32::new(GO_ON),
    };
    let before = sys::process_cpu_seconds();
    let outcomes: Vec<io::Result<Outcome>> = std::thread::scope(|scope| {
        let start = |index: u32| {
            let (shared, models, window) = (&shared, &models, &windows[index as usize]);
            scope.spawn(move || one_thread(plan, arsenal, shared, models, window, index))
        };
        let handles: Vec<_> = (0..threads).map(start).collect();
        watch(&shared, &windows, tell, stop, || handles.iter().all(|h| h.is_finished()));
        let died = || io::Error::other("a thread of the generator panicked");
        handles.into_iter().map(|h| h.join().unwrap_or_else(|_| Err(died()))).collect()
    });
    let seconds = shared.clock.now() as f64 / 1e9;
    let after = sys::process_cpu_seconds();
    let mut client = Client {
        user_seconds: (after.0 - before.0).max(0.0),
        system_seconds: (after.1 - before.1).max(0.0),
        peak_rss_bytes: sys::peak_rss_bytes(),
        ..Client::default()
    };
    let mut all = Recorder::new(arsenal.classes.len(), slice(plan));
    let mut last = 0.0f64;
    for outcome in outcomes {
        let outcome = outcome.map_err(|e| Refusal(format!("the load broke off: {e}")))?;
        client.thread_shares.push(outcome.share);
        last = last.max(outcome.seconds);
        all.add(outcome.recorder);
    }
    client.lateness = std::mem::take(&mut all.lateness);
    let faults = all.faults(|request| plan.requests[request as usize].name.clone());
    let (classes, slices) = all.finish(&arsenal.classes);
    Ok(LoadResult { seconds: last.min(seconds), classes, slices, faults, client, preflights: Vec::new() })
}

/// What one thread came to.
struct Outcome {
    recorder: Recorder,
    /// Share of a core.
    share: f64,
    /// When it ended.
    seconds: f64,
}

fn one_thread(
    plan: &LoadPlan,
    arsenal: &Arsenal,
    shared: &Shared,
    models: &[Box<dyn arrival::Model>],
    window: &Window,
    index: u32,
) -> io::Result<Outcome> {
    if !plan.cpus.is_empty() {
        sys::pin(plan.cpus[index as usize % plan.cpus.len()])?;
    }
    let cpu = sys::thread_cpu_seconds();
    let begun = shared.clock.now();
    let parts = parts(plan, arsenal, models, index);
    let sink = Sink::new(shared.clock, Recorder::new(arsenal.classes.len(), slice(plan)));
    let thread = Thread::new(plan, arsenal, shared, parts, sink, window)?;
    let sink = thread.run()?;
    let ended = shared.clock.now();
    let share = (sys::thread_cpu_seconds() - cpu) / ((ended - begun) as f64 / 1e9).max(1e-9);
    Ok(Outcome { recorder: sink.recorder, share, seconds: ended as f64 / 1e9 })
}

fn slice(plan: &LoadPlan) -> crate::Nanos {
    (plan.slice_seconds.max(0.001) * 1e9) as crate::Nanos
}

fn models(plan: &LoadPlan) -> Result<Vec<Box<dyn arrival::Model>>, Refusal> {
    if plan.requests.is_empty() || plan.streams.is_empty() {
        return Err(Refusal("the plan asks for nothing".into()));
    }
    let model = |s: &crate::plan::Stream| arrival::parse(&s.arrival).map_err(|e| Refusal(e.to_string()));
    plan.streams.iter().map(model).collect()
}

/// One thread's parts of the streams. Connections are dealt out in turn, so that every thread has as many within one.
fn parts<'a>(
    plan: &'a LoadPlan,
    arsenal: &Arsenal,
    models: &[Box<dyn arrival::Model>],
    index: u32,
) -> Vec<Part<'a>> {
    let part = |at: usize| {
        let (stream, model) = (&plan.streams[at], &models[at]);
        let count = plan.threads.max(1).min(stream.connections.max(1));
        let most = (stream.connections + count - 1 - index.min(count - 1)) / count;
        let most = if index < count { most } else { 0 };
        let context = arrival::Part {
            index: index.min(count - 1),
            count,
            slots: most * stream.streams_per_connection.max(1),
            seed: plan.seed ^ (at as u64) << 32,
            seconds: plan.length.seconds,
        };
        let requests: Vec<(u32, f64)> = plan
            .requests
            .iter()
            .enumerate()
            .filter(|(_, r)| r.stream as usize == at && r.weight > 0.0)
            .map(|(i, r)| (i as u32, r.weight))
            .collect();
        let most = if requests.is_empty() { 0 } else { most as usize };
        let draw = Draw::new(
            &requests,
            plan.seed.wrapping_add(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(u64::from(index) + 1)),
        );
        Part::new(stream, model.schedule(&context), model.is_open(), most, arsenal.endpoints.len(), draw)
    };
    (0..plan.streams.len()).map(part).collect()
}

/// Tells how it goes until the threads have ended.
fn watch(
    shared: &Shared,
    windows: &[Window],
    tell: &mut dyn FnMut(&Progress),
    stop: &AtomicBool,
    is_over: impl Fn() -> bool,
) {
    let mut told = std::time::Instant::now();
    let mut pause = Duration::from_millis(1);
    while !is_over() {
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
        if stop.load(Ordering::Relaxed) {
            shared.order.store(DRAIN, Ordering::Relaxed);
        }
        if told.elapsed() >= TELL {
            told = std::time::Instant::now();
            tell(&progress(shared, windows));
        }
    }
}

fn progress(shared: &Shared, windows: &[Window]) -> Progress {
    let mut newest = Hist::default();
    let mut progress = Progress { seconds: shared.clock.now() as f64 / 1e9, ..Progress::default() };
    for seen in windows.iter().map(Window::look) {
        progress.completed += seen.counts.0;
        progress.faulted += seen.counts.1;
        newest.add(&seen.newest);
    }
    progress.p50 = newest.quantile(0.5);
    progress.p99 = newest.quantile(0.99);
    progress
}
