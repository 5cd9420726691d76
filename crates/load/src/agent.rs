//! The load agent: reads plans, runs one after the other, and reports progress and results.
//!
//! A thread goes on reading while a block runs. A block can therefore be stopped, and the agent exits when the program
//! that started it is gone. Nothing here is generic over the output: so the code that reads plans and writes results
//! lies next to the engine's code. The kernel maps a program in large pieces, which count as memory of the process.

use std::any::Any;
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

use crate::engine::Progress;
use crate::message::{STOP, Said};
use crate::plan::LoadPlan;
use crate::result::LoadResult;

/// The longest line in bytes: lines contain request bodies.
const LINE_LIMIT: u64 = 64 << 20;

/// Runs a plan; an error is one line for the user.
pub type Engine = dyn Fn(&LoadPlan, &mut dyn FnMut(&Progress), &AtomicBool) -> Result<LoadResult, String>;

/// A line that contains a plan, and the flag that stops its block.
type Order = (Vec<u8>, Arc<AtomicBool>);

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
    let reader = std::thread::spawn(move || read(input, &orders));
    for (line, stop) in inbox {
        block(&line, &stop, output, engine)?;
    }
    reader.join().unwrap_or_else(|_| Err(io::Error::other("the thread that reads plans panicked")))
}

fn read(mut input: impl BufRead, orders: &Sender<Order>) -> io::Result<()> {
    let mut running: Option<Arc<AtomicBool>> = None;
    let stop = |running: &Option<Arc<AtomicBool>>| {
        running.iter().for_each(|flag| flag.store(true, Ordering::Relaxed));
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
            _ => {
                let flag = Arc::new(AtomicBool::new(false));
                running = Some(Arc::clone(&flag));
                if orders.send((line, flag)).is_err() {
                    return Ok(());
                }
            }
        }
    }
}

fn block(line: &[u8], stop: &AtomicBool, output: &mut dyn Write, engine: &Engine) -> io::Result<()> {
    let mut broken = None;
    let said = match serde_json::from_slice::<LoadPlan>(line) {
        Err(error) => Said::Fault(format!("not a plan: {error}")),
        Ok(plan) => {
            let mut tell = |progress: &Progress| {
                if let Err(error) = say(output, &Said::Slice(progress.clone())) {
                    // The output is closed, so the running block is of no use.
                    stop.store(true, Ordering::Relaxed);
                    broken.get_or_insert(error);
                }
            };
            match catch_unwind(AssertUnwindSafe(|| engine(&plan, &mut tell, stop))) {
                Ok(Ok(result)) => Said::Result(Box::new(result)),
                Ok(Err(why)) => Said::Fault(why),
                Err(panic) => Said::Fault(format!("the generator panicked: {}", words(&*panic))),
            }
        }
    };
    broken.map_or_else(|| say(output, &said), Err)
}

fn say(output: &mut dyn Write, said: &Said) -> io::Result<()> {
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

/// The message of a panic.
fn words(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

#[cfg(test)]
mod tests;
