//! One kind at one time: a server in this process, a client in another, and the check of the result.

use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use weigh_load::fault::HttpFaultKind;
use weigh_load::message::AgentMessage;
use weigh_load::plan::{Check, Limits, LoadPlan, Protocol};
use weigh_load::result::LoadResult;

use crate::client::{self, Report};
use crate::kind::{Kind, When};
use crate::plans::{self, counts};
use crate::server::{Manner, Server};

/// Good responses: the preflight's, and those before a server becomes hostile.
const PREFLIGHT: u64 = 1;
const GOOD: u64 = 6;
/// Requests of a load.
const REQUESTS: u64 = 10;
/// The most memory of a client, in bytes.
pub const MOST_MEMORY: u64 = 32 << 20;
/// Extra time for a client on a busy machine, in addition to the plan's limits.
const BESIDE: Duration = Duration::from_secs(20);

/// One kind at one time.
pub struct Trial<'a> {
    pub kind: &'a Kind,
    pub when: When,
}

/// The result.
pub struct TrialResult {
    /// The text in the table.
    pub end: String,
    pub seconds: f64,
    pub peak_bytes: u64,
    /// What is wrong with it.
    pub wrong: Option<String>,
}

impl Trial<'_> {
    /// The start of the line in the table.
    pub fn name(&self) -> String {
        format!("{:<46} {:<10} {:<6}", self.kind.name, self.kind.protocol(), self.when.name())
    }

    /// Runs it.
    pub fn run(&self) -> TrialResult {
        thread::scope(|scope| scope.spawn(|| self.against_a_server()).join()).unwrap_or_else(|_| {
            TrialResult {
                end: String::new(),
                seconds: 0.0,
                peak_bytes: 0,
                wrong: Some("the trial panicked".into()),
            }
        })
    }

    fn against_a_server(&self) -> TrialResult {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a local port");
        let server = Server::with(listener, self.manner());
        let plan = self.plan(server.address.port());
        let longest = longest(&plan);
        match ask(&plan, longest + BESIDE) {
            Err(error) => TrialResult {
                end: "none".into(),
                seconds: longest.as_secs_f64(),
                peak_bytes: 0,
                wrong: Some(error.to_string()),
            },
            Ok(report) => {
                let (end, wrong) = self.judge(&report.said);
                let beyond = if report.seconds > longest.as_secs_f64() {
                    Some(format!("over {:.1} s", longest.as_secs_f64()))
                } else {
                    (report.peak_bytes > MOST_MEMORY).then(|| format!("over {} MB", MOST_MEMORY >> 20))
                };
                let Report { seconds, peak_bytes, .. } = report;
                TrialResult { end, seconds, peak_bytes, wrong: wrong.or(beyond) }
            }
        }
    }

    fn manner(&self) -> Manner {
        let (kind, when) = (self.kind.clone(), self.when);
        let is_bad = move |number| match when {
            When::First => true,
            When::After => number >= PREFLIGHT + GOOD,
            When::Once | When::OnceUnread => number == PREFLIGHT + GOOD,
        };
        let greeting = kind.greeting.clone();
        Manner {
            is_http2: kind.is_http2,
            tls: kind.tls.map(|tls| tls.config(kind.is_http2)),
            greetings: Box::new(move |number| greeting.clone().filter(|_| is_bad(number))),
            answers: Box::new(move |asked| match &kind.answer {
                Some(bad) if is_bad(asked.number) => bad(asked.stream),
                _ => (kind.good)(asked.stream),
            }),
        }
    }

    /// Short limits, so that a kind that times out ends soon. Any other has the time of a busy machine.
    fn plan(&self, port: u16) -> LoadPlan {
        let kind = self.kind;
        let ends = kind.ends(self.when);
        let is_timed =
            ends.iter().any(|end| matches!(end, HttpFaultKind::Timeout | HttpFaultKind::ConnectTimeout));
        // What drips has ended after 1.4 s.
        let patience = if is_timed { 1.0 } else { 30.0 };
        let (protocol, scheme) = (
            if kind.is_http2 { Protocol::Http2 } else { Protocol::Http11 },
            if kind.tls.is_some() { "https" } else { "http" },
        );
        let mut plan = plans::gets(protocol, &format!("{scheme}://127.0.0.1:{port}/page"), REQUESTS);
        plan.requests[0].headers = vec![("Accept-Encoding".into(), "gzip, deflate, br, zstd".into())];
        plan.streams[0].keepalive = !kind.is_fresh;
        if !kind.body.is_empty() {
            plan.requests[0].method = "POST".into();
            plan.requests[0].body.clone_from(&kind.body);
        }
        plan.tls = kind.tls.map_or(plan.tls, |tls| tls.trusted());
        plan.preflights = PREFLIGHT as u32;
        plan.limits = Limits {
            connect_seconds: patience,
            request_seconds: patience,
            drain_seconds: patience,
            head_bytes: 16 << 10,
            body_bytes: 4 << 20,
            decoded_bytes: 8 << 20,
            ..Limits::default()
        };
        plan.check = match self.when {
            When::OnceUnread => Check::Discard,
            _ => Check::Verify { decode_every: 1, vary_by: Vec::new() },
        };
        plan
    }

    /// The result as text, and what is wrong with it.
    fn judge(&self, said: &AgentMessage) -> (String, Option<String>) {
        let ends = self.kind.ends(self.when);
        let (faults, result): (Vec<(HttpFaultKind, String)>, Option<&LoadResult>) = match said {
            AgentMessage::Slice(_) | AgentMessage::Clock(_) | AgentMessage::Began(_) => (Vec::new(), None),
            AgentMessage::Fault(refusal) => match refused(refusal) {
                Some(fault) => (vec![fault], None),
                None => return (refusal.clone(), Some("a refusal without a fault".into())),
            },
            AgentMessage::Result(result) => {
                let fault =
                    |fault: &weigh_load::result::FaultCount| (fault.kind, fault.example.message.clone());
                (result.faults.iter().map(fault).collect(), Some(result))
            }
        };
        let names: Vec<String> = faults.iter().map(|(kind, _)| kind.name()).collect();
        let end = if names.is_empty() { "completes".to_owned() } else { names.join(", ") };
        (end, self.objection(ends, &faults, result))
    }

    fn objection(
        &self,
        ends: &[HttpFaultKind],
        faults: &[(HttpFaultKind, String)],
        result: Option<&LoadResult>,
    ) -> Option<String> {
        let said =
            || faults.iter().map(|(kind, said)| format!("{}: {said}", kind.name())).collect::<Vec<_>>();
        let names = || ends.iter().map(|end| end.name()).collect::<Vec<_>>().join(" or ");
        if faults.is_empty() != ends.is_empty() || !faults.iter().all(|(kind, _)| ends.contains(kind)) {
            let wanted = if ends.is_empty() { "completes".to_owned() } else { names() };
            return Some(format!("expected: {wanted}; it ended: {:?}", said()));
        }
        if let Some((_, said)) = faults.iter().find(|(_, said)| said.contains(char::is_control)) {
            return Some(format!("a message with control characters: {said:?}"));
        }
        if !faults.is_empty() && !faults.iter().any(|(_, said)| said.contains(self.kind.says)) {
            return Some(format!("expected the words `{}`: {:?}", self.kind.says, said()));
        }
        let counts = counts(result?);
        let ended = counts.completed + counts.faulted + counts.dropped + counts.abandoned;
        if counts.scheduled != ended {
            return Some(format!("requests that have not ended: {counts:?}"));
        }
        let whole = match self.when {
            _ if ends.is_empty() => REQUESTS,
            When::First | When::After => counts.completed,
            When::Once | When::OnceUnread => REQUESTS - 1,
        };
        let is_once = matches!(self.when, When::Once | When::OnceUnread);
        if counts.completed != whole || (is_once && (counts.faulted, counts.retried) != (1, 0)) {
            return Some(format!("{whole} should be whole: {counts:?}"));
        }
        None
    }
}

/// The failure in a refusal, after the request.
fn refused(refusal: &str) -> Option<(HttpFaultKind, String)> {
    let (_, fault) = refusal.split_once(": ")?;
    let (kind, message) = fault.split_once(": ")?;
    Some((serde_json::from_value(kind.into()).ok()?, message.to_owned()))
}

/// The longest duration of a plan: the preflight, the load with its last request, and extra time.
fn longest(plan: &LoadPlan) -> Duration {
    let Limits { connect_seconds, request_seconds, .. } = plan.limits;
    let one = connect_seconds + request_seconds;
    Duration::from_secs_f64(f64::from(plan.preflights + 1) * one) + BESIDE
}

/// Runs the plan in a process of its own; the process is killed if it does not end in time.
fn ask(plan: &LoadPlan, longest: Duration) -> io::Result<Report> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg(client::ROLE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    stdin.ok_or(io::ErrorKind::BrokenPipe)?.write_all(&serde_json::to_vec(plan)?)?;
    let reading = thread::spawn(move || {
        let mut said = Vec::new();
        stdout.map_or(Ok(0), |mut out| out.read_to_end(&mut said)).map(|_| said)
    });
    let is_over = wait(&mut child, longest);
    if !is_over {
        child.kill()?;
    }
    let status = child.wait()?;
    let said = reading.join().map_err(|_| io::Error::other("the reader panicked"))??;
    match is_over {
        false => Err(io::Error::other(format!("it did not end within {:.1} s", longest.as_secs_f64()))),
        true if status.success() => Ok(serde_json::from_slice(&said)?),
        true => Err(io::Error::other(format!("the client ended: {status}"))),
    }
}

/// Whether it ends in that time.
fn wait(child: &mut Child, longest: Duration) -> bool {
    let until = Instant::now() + longest;
    while Instant::now() < until {
        if child.try_wait().is_ok_and(|status| status.is_some()) {
            return true;
        }
        thread::sleep(Duration::from_millis(5));
    }
    false
}
