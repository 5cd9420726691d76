//! The load generators: how each is asked for the same thing, and where it says how much it did.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::bare;
use crate::common::WEIGH;
use crate::server::Server;

/// Connections in all comparisons over HTTP/1.1.
pub const CONNECTIONS: u32 = 100;
/// In those over HTTP/2: fewer connections, with this many requests in flight on each.
const MULTIPLEXED: (u32, u32) = (10, 10);

/// One load generator, in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// Ours; every response verified.
    Weigh,
    /// Ours; bodies dropped by the kernel.
    Discard,
    /// The barest loop, see [`crate::bare`].
    Bare,
    /// wrk, which counts bytes and statuses.
    Wrk,
    /// ab, which speaks HTTP/1.0 and compares lengths.
    Ab,
    /// h2load.
    H2load,
}

/// One thing to do, by whichever tool can.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// A name for tables.
    pub name: &'static str,
    /// The file.
    pub file: &'static str,
    /// How it is carried.
    pub over: Carriage,
    /// Who is asked.
    pub tools: &'static [Tool],
}

/// How requests are carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carriage {
    /// HTTP/1.1 over kept connections.
    Kept,
    /// HTTP/1.1, a connection a request.
    Closed,
    /// HTTP/1.1 over kept TLS connections.
    Tls,
    /// HTTP/2 over TLS.
    Http2,
}

impl Tool {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Weigh => "weigh, verified",
            Tool::Discard => "weigh --discard",
            Tool::Bare => "bare loop",
            Tool::Wrk => "wrk",
            Tool::Ab => "ab",
            Tool::H2load => "h2load",
        }
    }

    /// Whether it is on this machine.
    pub fn is_here(self) -> bool {
        let mut command = match self {
            Tool::Weigh | Tool::Discard | Tool::Bare => return true,
            Tool::Wrk => Command::new("wrk"),
            Tool::Ab => Command::new("ab"),
            Tool::H2load => Command::new("h2load"),
        };
        let version = if self == Tool::Ab { "-V" } else { "--version" };
        // wrk tells its version with exit code 1.
        command.arg(version).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    }

    /// The command line for a case, over this many seconds.
    pub fn command(self, case: &Case, server: &Server, seconds: u32) -> Vec<String> {
        let tls = matches!(case.over, Carriage::Tls | Carriage::Http2);
        let options = match self {
            Tool::Weigh | Tool::Discard => self.ours(case.over, seconds),
            Tool::Bare => {
                let program = std::env::current_exe().unwrap_or_default();
                format!("{} {} {CONNECTIONS} {seconds}", program.display(), bare::NAME)
            }
            Tool::Wrk => format!("wrk -t1 -c{CONNECTIONS} -d{seconds}s"),
            Tool::Ab => {
                let keep = if case.over == Carriage::Closed { "" } else { " -k" };
                // A time limit alone would end it after 50,000 requests.
                format!("ab -q{keep} -c {CONNECTIONS} -t {seconds} -n 5000000")
            }
            Tool::H2load if case.over == Carriage::Http2 => {
                let (connections, streams) = MULTIPLEXED;
                format!("h2load -t1 -c{connections} -m{streams} -D{seconds}")
            }
            Tool::H2load => format!("h2load --h1 -t1 -c{CONNECTIONS} -D{seconds}"),
        };
        let mut command: Vec<String> = options.split(' ').map(str::to_owned).collect();
        if self == Tool::Wrk && case.over == Carriage::Closed {
            command.extend(["-H".to_owned(), "Connection: close".to_owned()]);
        }
        command.push(server.url(case.file, tls));
        command
    }

    fn ours(self, over: Carriage, seconds: u32) -> String {
        let discard = if self == Tool::Discard { " --discard" } else { "" };
        let (connections, streams) = MULTIPLEXED;
        let way = match over {
            Carriage::Kept => format!("-c {CONNECTIONS}"),
            Carriage::Closed => format!("-c {CONNECTIONS} --no-keepalive"),
            Carriage::Tls => format!("-c {CONNECTIONS} --insecure"),
            Carriage::Http2 => format!("-c {connections} --streams {streams} --http 2 --insecure"),
        };
        format!("{WEIGH} load --json --quiet --threads 1 --duration {seconds}s {way}{discard}")
    }

    /// Requests that it says to have completed.
    ///
    /// # Errors
    /// It says nothing of the kind, or that some failed.
    pub fn completed(self, stdout: &str) -> Result<f64> {
        let after = |mark: &str| -> Option<f64> {
            let rest = stdout.split_once(mark)?.1.trim_start();
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        let before = |mark: &str| -> Option<f64> {
            stdout.split_once(mark)?.0.split_whitespace().next_back()?.parse().ok()
        };
        let (completed, failed) = match self {
            Tool::Weigh | Tool::Discard => return ours_completed(stdout),
            Tool::Bare | Tool::Wrk => {
                (before(" requests in "), after("Non-2xx or 3xx responses:").or(Some(0.0)))
            }
            Tool::Ab => {
                let other = after("Non-2xx responses:").unwrap_or(0.0);
                (after("Complete requests:"), after("Failed requests:").map(|failed| failed + other))
            }
            Tool::H2load => (before(" succeeded,"), before(" failed,")),
        };
        let (Some(completed), Some(failed)) = (completed, failed) else {
            bail!("{}: it does not say how much it did: {stdout}", self.name());
        };
        ensure!(failed == 0.0 && completed > 0.0, "{}: {completed} completed, {failed} failed", self.name());
        Ok(completed)
    }
}

fn ours_completed(stdout: &str) -> Result<f64> {
    let document: Value = serde_json::from_str(stdout).context("weigh load --json")?;
    let classes = document["result"]["classes"].as_array().context("weigh load --json: no classes")?;
    let sum = |what: &str| classes.iter().filter_map(|c| c["counts"][what].as_f64()).sum::<f64>();
    let (completed, faulted, non_2xx) = (sum("completed"), sum("faulted"), sum("non_2xx"));
    let sound = faulted == 0.0 && non_2xx == 0.0 && completed > 0.0;
    ensure!(sound, "weigh: {completed} completed, {faulted} faulted, {non_2xx} with another status than 2xx");
    Ok(completed)
}
