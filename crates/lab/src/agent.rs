//! The native worker: answers the protocol's requests with the codecs of this binary, and times itself.
//!
//! It owns nothing but memory: payloads come by path, and it ends when its input does. It knows nothing of
//! plans, rounds or records.

mod blob;
mod check;
mod dictionary;
mod fault;
mod hands;
mod inventory;
mod sample;
mod system;
mod visit;

use std::any::Any;
use std::io::{BufRead, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Context, bail};

use fault::fault;
use weigh_model::protocol::{Description, Fault, FaultKind, FaultReply, Reply, Request};

/// The longest request line in bytes: a million items and more fit.
const LINE_LIMIT: u64 = 64 << 20;

/// What this worker is: every codec of this binary, with the version its library reports.
pub fn describe() -> Description {
    inventory::describe()
}

/// Answers requests, one JSON object a line, until the input ends.
///
/// A request that cannot be carried out, a codec that panics and a line that is no request are answered
/// with a fault; the worker goes on.
///
/// # Errors
/// When the input cannot be read, a line is longer than 64 MiB, or the output cannot be written.
pub fn serve(mut input: impl BufRead, mut output: impl Write) -> anyhow::Result<()> {
    let mut agent = Agent::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = input.by_ref().take(LINE_LIMIT + 1);
        if bounded.read_until(b'\n', &mut line).context("reading a request")? == 0 {
            return Ok(());
        }
        if line.len() as u64 > LINE_LIMIT {
            bail!("a request line is longer than {} MiB", LINE_LIMIT >> 20);
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        serde_json::to_writer(&mut output, &agent.answer(&line)).context("writing a reply")?;
        output.write_all(b"\n").and_then(|()| output.flush()).context("writing a reply")?;
    }
}

/// What the worker keeps between requests.
#[derive(Default)]
struct Agent {
    blobs: blob::Blobs,
    dictionaries: dictionary::Dictionaries,
    hands: hands::Hands,
}

impl Agent {
    fn answer(&mut self, line: &[u8]) -> Reply {
        let request = match serde_json::from_slice::<Request>(line) {
            Ok(request) => request,
            Err(error) => return unreadable(line, &error),
        };
        let (id, answer) = match &request {
            Request::Describe { id } => (*id, Ok(Reply::Description(Box::new(self.introduce(*id))))),
            Request::Visit(r) => {
                (r.id, self.guarded(|a| visit::visit(a, r)).map(|v| Reply::Visit(Box::new(v))))
            }
            Request::Check(r) => (r.id, self.guarded(|_| check::check(r)).map(Reply::Checked)),
        };
        answer.unwrap_or_else(|fault| Reply::Fault(FaultReply { id, fault }))
    }

    fn introduce(&self, id: u64) -> Description {
        Description { id, ..describe() }
    }

    /// Runs one request; a panic in it becomes a fault, after which nothing of the old state is trusted.
    fn guarded<T>(&mut self, run: impl FnOnce(&mut Agent) -> Result<T, Fault>) -> Result<T, Fault> {
        catch_unwind(AssertUnwindSafe(|| run(self))).unwrap_or_else(|panic| {
            *self = Agent::default();
            Err(fault(FaultKind::Codec, format!("panicked: {}", text(&*panic))))
        })
    }
}

/// The reply to a line that is no request; its identifier is echoed when at least that can be read.
fn unreadable(line: &[u8], error: &serde_json::Error) -> Reply {
    let value = serde_json::from_slice::<serde_json::Value>(line).ok();
    let id = value.and_then(|v| v.get("id").and_then(serde_json::Value::as_u64)).unwrap_or(0);
    Reply::Fault(FaultReply { id, fault: fault(FaultKind::Parameter, format!("not a request: {error}")) })
}

/// What a panic said.
fn text(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

#[cfg(test)]
mod tests;
