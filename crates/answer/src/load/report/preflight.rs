//! The server's responses to each request, and how responses are checked.

use weigh_load::plan::{Check, LoadPlan, Protocol, Request};
use weigh_load::result::{Checked, Framing, Preflight};
use weigh_model::units;

use crate::block::Block;
use crate::load::document::Run;
use crate::load::report::fact::{Fact, facts, parts};
use crate::output::{Detail, Options};

/// Requests that a summary shows.
const SHOWN: usize = 8;

pub(super) fn blocks(run: &Run, options: &Options) -> Vec<Block> {
    let full = options.detail == Detail::Full;
    let mut blocks = vec![Block::Heading(1, title(&run.plan)), Block::Remark(plan(run))];
    if run.result.preflights.is_empty() {
        return blocks;
    }
    blocks.push(Block::Heading(2, "What the server sends".into()));
    let mut rows: Vec<Fact> = Vec::new();
    let offered = accept_encoding(&run.plan);
    if let Some(offered) = &offered {
        rows.push(("offered", format!("Accept-Encoding: {offered}")));
    }
    let most = if full { usize::MAX } else { SHOWN };
    for (request, seen) in run.plan.requests.iter().zip(&run.result.preflights).take(most) {
        let name = if run.plan.requests.len() > 1 { seen.request.clone() } else { String::new() };
        let own = header(request, "accept-encoding").filter(|_| offered.is_none());
        let own = own.map_or(String::new(), |o| format!("asked for {o}"));
        rows.push(("answer", parts(&[name, own, answer(seen)])));
        if let Some(fault) = &seen.fault {
            rows.push(("", format!("{}: {}", fault.kind.name(), fault.message)));
        }
        rows.push(("", headers(seen, full)));
        rows.push(("", seen.notes.join("; ")));
        rows.push(("checked", checked(&run.plan, seen)));
    }
    let more = run.plan.requests.len().saturating_sub(most);
    if more > 0 {
        rows.push(("", format!("and {more} more requests; --verbose shows all")));
    }
    rows.retain(|(_, text)| !text.is_empty());
    blocks.extend(facts(&rows, options));
    blocks
}

fn title(plan: &LoadPlan) -> String {
    match plan.requests.as_slice() {
        [one] => format!("{} {}", one.method, one.url),
        [first, ..] => format!("{} requests, the first {} {}", plan.requests.len(), first.method, first.url),
        [] => "nothing".into(),
    }
}

/// The request, on one line.
fn plan(run: &Run) -> String {
    let plan = &run.plan;
    let protocol = match plan.protocol {
        Protocol::Http10 => "HTTP/1.0",
        Protocol::Http11 => "HTTP/1.1",
        Protocol::Http2 => "HTTP/2",
    };
    let streams = plan.streams.iter().map(|s| {
        let kept = if s.keepalive { "" } else { ", one a request" };
        let at_once = match s.streams_per_connection {
            0 | 1 => String::new(),
            n => format!(", {n} requests at once on each"),
        };
        let slow = s.read_rate.map_or(String::new(), |r| format!(", reading {}/s each", units::bytes(r)));
        let name = if plan.streams.len() > 1 { format!("{}: ", s.name) } else { String::new() };
        let connections = units::count(s.connections as usize, "connection", "connections");
        format!("{name}{}, {connections}{kept}{at_once}{slow}", s.arrival)
    });
    let length = match (plan.length.requests, plan.length.seconds) {
        (Some(n), Some(s)) => format!("{} requests or {}", super::fact::whole(n), super::fact::seconds(s)),
        (Some(n), None) => format!("{} requests", super::fact::whole(n)),
        (None, Some(s)) => super::fact::seconds(s),
        (None, None) => String::new(),
    };
    // The plan has those of a node.
    let threads = match run.result.agents.is_empty() {
        true => plan.threads as usize,
        false => run.result.client.thread_shares.len(),
    };
    let threads = units::count(threads, "thread", "threads");
    let mut all = vec![protocol.to_owned()];
    all.extend(streams);
    all.extend([length, threads]);
    parts(&all)
}

/// The Accept-Encoding of all requests, if they agree.
fn accept_encoding(plan: &LoadPlan) -> Option<String> {
    let mut all = plan.requests.iter().map(|r| header(r, "accept-encoding"));
    let first = all.next()?;
    all.all(|other| other == first).then(|| first.unwrap_or_else(|| "(none)".into()))
}

fn header(request: &Request, name: &str) -> Option<String> {
    request.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())
}

fn answer(seen: &Preflight) -> String {
    if seen.status == 0 {
        return "no response".into();
    }
    let coding = seen.content_encoding.clone().unwrap_or_else(|| "identity".into());
    let size = match seen.decoded_bytes {
        Some(decoded) if seen.content_encoding.is_some() => {
            let share = 1.0 - seen.body_bytes as f64 / decoded.max(1) as f64;
            let body = units::bytes(seen.body_bytes);
            format!("{coding}, {body} of {} ({} saved)", units::bytes(decoded), units::percent(share))
        }
        _ => format!("{coding}, {}", units::bytes(seen.body_bytes)),
    };
    let kind = seen.content_type.clone().unwrap_or_else(|| "no Content-Type".into());
    parts(&[format!("{} {}", seen.version, seen.status), kind, size, framing(seen.framing).into()])
}

fn headers(seen: &Preflight, full: bool) -> String {
    // Quotes were escaped with everything else; on a line of its own they need not be.
    let one = |name: &str, value: &Option<String>| {
        value.as_ref().map_or(String::new(), |v| format!("{name}: {}", v.replace("\\\"", "\"")))
    };
    let digest = seen.decoded_sha256.as_deref().unwrap_or_default();
    let digest = if full { digest } else { digest.get(..12).unwrap_or(digest) };
    let digest = if digest.is_empty() {
        String::new()
    } else {
        format!("sha256 {digest}{}", if full { "" } else { "…" })
    };
    parts(&[one("Vary", &seen.vary), one("ETag", &seen.etag), one("Server", &seen.server), digest])
}

fn framing(framing: Framing) -> &'static str {
    match framing {
        Framing::None => "no body",
        Framing::Length => "Content-Length",
        Framing::Chunked => "chunked",
        Framing::Close => "ends when the connection closes",
        Framing::Frames => "HTTP/2 frames",
    }
}

fn checked(plan: &LoadPlan, seen: &Preflight) -> String {
    match (&plan.check, seen.checked) {
        _ if seen.status == 0 => String::new(),
        (Check::Discard, _) => "status and length only; bodies are discarded (--discard)".into(),
        (_, Checked::Bytes) => "every byte of every body".into(),
        (Check::Verify { decode_every, .. }, Checked::Samples) => {
            format!(
                "status, type, coding, and of one body in {decode_every} full decode and plausible length: \
                 bodies have too little in common"
            )
        }
        (_, Checked::Parts) => "every byte of every body, except the parts that vary".into(),
        (_, Checked::Length) => "status and length".into(),
    }
}
