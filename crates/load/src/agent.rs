//! The load agent: reads plans, runs one after the other, and reports progress and results.
//!
//! A thread goes on reading while a block runs. A block can therefore be stopped, and the agent exits when the program
//! that started it is gone. Nothing here is generic over the output: so the code that reads plans and writes results
//! lies next to the engine's code. The kernel maps a program in large pieces, which count as memory of the process.

use std::any::Any;
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::engine::Progress;
use crate::message::{AgentMessage, Begin, CLOCK, STOP};
use crate::plan::LoadPlan;
use crate::result::LoadResult;

/// The longest line in bytes: lines contain request bodies.
const LINE_LIMIT: u64 = 64 << 20;
/// The longest line that says only when to begin.
const SHORT: usize = 64;

/// Runs a plan; an error is one line for the user.
pub type Engine = dyn Fn(&LoadPlan, &mut dyn FnMut(&Progress), &Signals) -> Result<LoadResult, String>;

/// What is said to a block while it runs.
#[derive(Debug, Default)]
pub struct Signals {
    /// Nothing further is to be sent.
    pub stop: AtomicBool,
    /// When it is to begin, if others choose that.
    pub start: OnceLock<Instant>,
}

/// What is done one after the other.
enum Order {
    /// A line that contains a plan, with what is said to its block.
    Plan(Vec<u8>, Arc<Signals>),
    /// See [`CLOCK`].
    Clock,
}

/// Runs plans until the input ends, which also stops the block in flight.
///
/// # Errors
/// The input cannot be read, a line is longer than 64 MiB, or the output cannot be written.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: &mut dyn Write,
    engine: &Engine,
) -> io::Result<()> {
    let (orders, inbox) = channel();
    let origin = Instant::now();
    let clock =
        move |at: Instant| u64::try_from(at.saturating_duration_since(origin).as_nanos()).unwrap_or(u64::MAX);
    let reader = std::thread::spawn(move || read(input, origin, &orders));
    for order in inbox {
        match order {
            Order::Plan(line, signals) => block(&line, &signals, output, engine, &clock)?,
            Order::Clock => say(output, &AgentMessage::Clock(clock(Instant::now())))?,
        }
    }
    reader.join().unwrap_or_else(|_| Err(io::Error::other("the thread that reads plans panicked")))
}

fn read(mut input: impl BufRead, origin: Instant, orders: &Sender<Order>) -> io::Result<()> {
    let mut running: Option<Arc<Signals>> = None;
    let stop = |running: &Option<Arc<Signals>>| {
        running.iter().for_each(|signals| signals.stop.store(true, Ordering::Relaxed));
    };
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(LINE_LIMIT + 1).read_until(b'\n', &mut line);
        if read.as_ref().map_or(true, |n| *n == 0) || line.len() as u64 > LINE_LIMIT {
            stop(&running);
            read.map_err(|e| during("reading a plan", &e))?;
            if line.is_empty() {
                return Ok(());
            }
            return Err(io::Error::other(format!("a plan is longer than {} MiB", LINE_LIMIT >> 20)));
        }
        match line.trim_ascii() {
            [] => {}
            order if order == STOP.as_bytes() => stop(&running),
            order if order == CLOCK.as_bytes() => {
                if orders.send(Order::Clock).is_err() {
                    return Ok(());
                }
            }
            order => match begin(order) {
                Some(ns) => {
                    let at = origin.checked_add(Duration::from_nanos(ns));
                    if let (Some(signals), Some(at)) = (&running, at) {
                        let _ = signals.start.set(at);
                    }
                }
                None => {
                    let signals = Arc::new(Signals::default());
                    running = Some(Arc::clone(&signals));
                    if orders.send(Order::Plan(line, signals)).is_err() {
                        return Ok(());
                    }
                }
            },
        }
    }
}

/// The instant of a [`Begin`]; none: it is something else.
fn begin(line: &[u8]) -> Option<u64> {
    let is_short = line.len() <= SHORT;
    is_short.then(|| serde_json::from_slice::<Begin>(line).ok().map(|word| word.begin)).flatten()
}

fn block(
    line: &[u8],
    signals: &Signals,
    output: &mut dyn Write,
    engine: &Engine,
    clock: &dyn Fn(Instant) -> u64,
) -> io::Result<()> {
    let mut broken = None;
    let mut began = None;
    let said = match serde_json::from_slice::<LoadPlan>(line) {
        Err(error) => AgentMessage::Fault(format!("not a plan: {error}")),
        Ok(plan) => {
            let mut tell = |progress: &Progress| {
                if let Err(error) = say(output, &AgentMessage::Slice(progress.clone())) {
                    // The output is closed, so the running block is of no use.
                    signals.stop.store(true, Ordering::Relaxed);
                    broken.get_or_insert(error);
                }
            };
            match catch_unwind(AssertUnwindSafe(|| engine(&plan, &mut tell, signals))) {
                Ok(Ok(result)) => {
                    began = plan.share.and(result.began).map(|at| AgentMessage::Began(clock(at)));
                    AgentMessage::Result(Box::new(result))
                }
                Ok(Err(why)) => AgentMessage::Fault(why),
                Err(panic) => {
                    AgentMessage::Fault(format!("the generator panicked: {}", read_panic_message(&*panic)))
                }
            }
        }
    };
    broken.map_or(Ok(()), Err)?;
    began.iter().chain([&said]).try_for_each(|said| say(output, said))
}

fn say(output: &mut dyn Write, said: &AgentMessage) -> io::Result<()> {
    // A result with many slices is long: it is written in parts, so that it does not enlarge the process.
    let mut output = BufWriter::new(output);
    let written = serde_json::to_writer(&mut output, said).map_err(io::Error::from);
    let ended = written.and_then(|()| output.write_all(b"\n")).and_then(|()| output.flush());
    ended.map_err(|e| during("writing an answer", &e))
}

/// The same error, with what was being done when it occurred.
fn during(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

pub fn read_panic_message(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

#[cfg(test)]
mod tests;
