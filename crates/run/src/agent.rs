//! The native worker: answers the protocol's requests with the codecs of this binary, and times itself.
//!
//! It owns nothing but memory: payloads come by path, and it ends when its input does. It knows nothing of
//! plans, rounds or records.

mod blob;
pub(crate) mod coders;
pub(crate) mod fault;
pub(crate) mod sample;
pub(crate) mod visit;

use std::collections::BTreeMap;
use std::io::{BufRead, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use anyhow::{Context, bail};

use weigh_codec::{Codec, OptionSpec, OptionValues, codecs};
use weigh_load::agent::read_panic_message;

use fault::fault;
use weigh_model::protocol::{
    CodecDescription, Description, Fault, FaultKind, FaultReply, Levels, OptionDescription, PROTOCOL, Reply,
    Request,
};

/// The longest request line in bytes: a million items and more fit.
const LINE_LIMIT: u64 = 64 << 20;

/// Answers requests, one JSON object a line, until the input ends.
///
/// A request that cannot be carried out, a codec that panics and a line that is not a request are answered
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
pub(crate) struct Agent {
    blobs: blob::Blobs,
    dictionaries: coders::Dictionaries,
    hands: coders::RecentCoders,
}

impl Agent {
    fn answer(&mut self, line: &[u8]) -> Reply {
        let request = match serde_json::from_slice::<Request>(line) {
            Ok(request) => request,
            Err(error) => return unreadable(line, &error),
        };
        let (id, answer) = match &request {
            Request::Describe { id } => {
                (*id, Ok(Reply::Description(Box::new(Description { id: *id, ..describe() }))))
            }
            Request::Visit(r) => {
                (r.id, self.guarded(|a| visit::visit(a, r)).map(|v| Reply::Visit(Box::new(v))))
            }
            Request::Check(r) => (r.id, self.guarded(|_| blob::check(r)).map(Reply::Checked)),
        };
        answer.unwrap_or_else(|fault| Reply::Fault(FaultReply { id, fault }))
    }

    /// Runs one request; a panic in it becomes a fault, after which nothing of the old state is trusted.
    fn guarded<T>(&mut self, run: impl FnOnce(&mut Agent) -> Result<T, Fault>) -> Result<T, Fault> {
        catch_unwind(AssertUnwindSafe(|| run(self))).unwrap_or_else(|panic| {
            *self = Agent::default();
            Err(fault(FaultKind::Codec, format!("panicked: {}", read_panic_message(&*panic))))
        })
    }
}

/// The reply to a line that is not a request; its identifier is echoed when at least that can be read.
fn unreadable(line: &[u8], error: &serde_json::Error) -> Reply {
    let value = serde_json::from_slice::<serde_json::Value>(line).ok();
    let id = value.and_then(|v| v.get("id").and_then(serde_json::Value::as_u64)).unwrap_or(0);
    Reply::Fault(FaultReply { id, fault: fault(FaultKind::Parameter, format!("not a request: {error}")) })
}

/// What this worker is: every codec of this binary, with the version its library reports. The identifier is 0.
pub fn describe() -> Description {
    Description {
        id: 0,
        protocol: PROTOCOL,
        runtime: "native".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        facts: facts(),
        codecs: codecs::all().iter().map(|c| codec(&**c)).collect(),
        serializers: Vec::new(),
    }
}

fn codec(codec: &dyn Codec) -> CodecDescription {
    let info = codec.info();
    CodecDescription {
        name: info.name.into(),
        format: info.format.name().into(),
        binding: "native".into(),
        library: Some(codec.library()),
        takes_value: false,
        levels: info.levels.map(|l| Levels {
            min: l.min,
            max: l.max,
            default: l.default,
            representative: l.representative.to_vec(),
        }),
        options: info.options.iter().map(option).collect(),
        sets: info.sets.iter().map(ToString::to_string).collect(),
        nominal: info.nominal.to_vec(),
        missing: None,
        remedy: None,
    }
}

fn option(spec: &OptionSpec) -> OptionDescription {
    let (range, words) = match spec.values {
        OptionValues::Range(lo, hi) => (Some((lo, hi)), Vec::new()),
        OptionValues::Words(words) => (None, words.iter().map(ToString::to_string).collect()),
    };
    OptionDescription { name: spec.name.into(), range, words, about: spec.about.into() }
}

/// What changes results beside the codecs.
fn facts() -> BTreeMap<String, String> {
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    let allocator =
        if cfg!(all(target_os = "linux", target_env = "gnu")) { "glibc malloc" } else { "system malloc" };
    [
        ("build", build.to_string()),
        ("clock", "CLOCK_THREAD_CPUTIME_ID, monotonic".into()),
        ("clock_cost_ns", cost()),
        ("allocator", allocator.into()),
    ]
    .map(|(name, fact)| (name.to_string(), fact))
    .into()
}

/// What reading the CPU clock costs, in whole nanoseconds.
fn cost() -> String {
    const READS: u32 = 1000;
    let start = Instant::now();
    for _ in 0..READS {
        std::hint::black_box(sample::thread_cpu_ns());
    }
    (start.elapsed() / READS).as_nanos().to_string()
}

#[cfg(test)]
mod tests;
