//! The client of one trial, in a process of its own: it runs a plan, and reports the result and its memory.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use weigh_load::message::AgentMessage;
use weigh_load::plan::LoadPlan;
use weigh_load::{run, sys};

/// The argument that makes this program a client.
pub const ROLE: &str = "--client";

/// The final report of a client.
#[derive(Serialize, Deserialize)]
pub struct Report {
    pub said: AgentMessage,
    pub seconds: f64,
    pub peak_bytes: u64,
}

/// Reads a plan, and writes a report.
pub fn main() -> ExitCode {
    // What is read at the start should not be the larger part of the memory.
    let plan: LoadPlan = serde_json::from_reader(std::io::stdin().lock()).expect("a plan");
    let begun = Instant::now();
    let said = match run(&plan, &mut |_| {}, &AtomicBool::new(false)) {
        Ok(result) => AgentMessage::Result(Box::new(result)),
        Err(refusal) => AgentMessage::Fault(refusal.0),
    };
    let report = Report { said, seconds: begun.elapsed().as_secs_f64(), peak_bytes: sys::peak_rss_bytes() };
    serde_json::to_writer(std::io::stdout(), &report).expect("somebody listens");
    ExitCode::SUCCESS
}
