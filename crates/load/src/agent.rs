//! The load agent: reads plans, runs them one after the other, and says how they go.
//!
//! Reading goes on while a block runs, so that it can be stopped, and so that an agent whose lab has gone ends. Nothing here is
//! generic over what is written to: the code that reads plans and writes results then stands beside the engine's, and the kernel
//! maps a program in large pieces, which count to the memory of the process.

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

/// The longest line in bytes: request bodies travel in it.
const LINE_LIMIT: u64 = 64 << 20;

/// What carries a plan out; an error is one line for the user.
pub type Engine = dyn Fn(&LoadPlan, &mut dyn FnMut(&Progress), &AtomicBool) -> Result<LoadResult, String>;

/// A line that asks for a block, and the flag that ends it.
type Order = (Vec<u8>, Arc<AtomicBool>);

/// Answers plans until the input ends, which also ends the block in flight.
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
                    // Nobody listens: what is running is of no use.
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
    // A result of many slices is long: it is written as it is made, for the process should not be the larger for it.
    let mut output = BufWriter::new(output);
    let written = serde_json::to_writer(&mut output, said).map_err(io::Error::from);
    let ended = written.and_then(|()| output.write_all(b"\n")).and_then(|()| output.flush());
    ended.map_err(|e| during("writing an answer", &e))
}

/// The same error, with what was being done.
fn during(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// What a panic said.
fn words(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

#[cfg(test)]
mod tests;
