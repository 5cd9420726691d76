//! Flags as a plan: what is asked, of whom, when, for how long.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use weigh_load::plan::{Check, Length, Limits, LoadPlan, PREFLIGHTS, Protocol, Stream, Tls};
use weigh_load::target::{Resolver, permit};
use weigh_load::workload::{self, Defaults};
use weigh_os::regular;

use super::args::Args;
use super::arrival::{self, Arriving};
use weigh_model::text::clean;

/// Connections where nothing is said, of a closed and of an open model.
const CONNECTIONS: (u32, u32) = (10, 100);
/// Slices that a run has at most where nothing is said.
const SLICES: f64 = 600.0;
/// A clock goes on by a second meanwhile.
const AGAIN_SECONDS: f64 = 1.1;
/// The name of the only stream and class.
const ALL: &str = "all";

/// The plan that the flags ask for, against these URLs or the request file.
pub fn build(args: &Args, urls: &[String]) -> Result<LoadPlan> {
    let arriving = arrival::model(&args.arrival, args.load.requests, args.load.duration)?;
    let defaults = defaults(args, &arriving)?;
    let asked = match &args.request.requests_file {
        Some(file) => workload::read(file, &defaults)?,
        None => workload::of_urls(urls, &defaults)?,
    };
    let resolver = Resolver::default();
    for request in &asked.requests {
        permit(&resolver.target(&request.url)?, &args.tls.allow_remote)?;
    }
    let length = Length { requests: args.load.requests, seconds: arriving.seconds };
    let connections: u32 = asked.streams.iter().map(|s| s.connections).sum();
    let plan = LoadPlan {
        requests: asked.requests,
        streams: asked.streams,
        protocol: protocol(args)?,
        tls: tls(args)?,
        length,
        limits: limits(args),
        check: check(args),
        preflights: PREFLIGHTS,
        again_seconds: AGAIN_SECONDS,
        threads: threads(args, connections)?,
        cpus: args.machine.cpus.clone(),
        slice_seconds: args.machine.slice.unwrap_or_else(|| slice(length.seconds)),
        seed: args.machine.seed,
        share: None,
    };
    sensible(args, &plan)?;
    Ok(plan)
}

/// What holds for every request and stream that says nothing else.
fn defaults(args: &Args, arriving: &Arriving) -> Result<Defaults> {
    let fallback = if arriving.open { CONNECTIONS.1 } else { CONNECTIONS.0 };
    // Ten connections for five requests would be five too many.
    let fallback =
        args.load.requests.map_or(fallback, |n| fallback.min(u32::try_from(n).unwrap_or(u32::MAX)));
    let body = body(args)?;
    let method = args.request.method.clone();
    let stream = Stream {
        name: ALL.into(),
        arrival: arriving.text.clone(),
        connections: args.load.connections.unwrap_or(fallback),
        streams_per_connection: args.load.streams,
        keepalive: !args.request.no_keepalive,
        read_rate: args.clients.read_rate,
        abandon_after: args.clients.abandon_after,
        receive_buffer: args.clients.receive_buffer.map(|b| u32::try_from(b).unwrap_or(u32::MAX)),
        in_turn: false,
    };
    Ok(Defaults {
        base: args.request.base.clone(),
        method: method.unwrap_or_else(|| if body.is_empty() { "GET" } else { "POST" }.into()),
        headers: headers(args)?,
        body,
        class: ALL.into(),
        stream,
        seconds: arriving.seconds,
    })
}

/// The headers of every request, in the order given.
fn headers(args: &Args) -> Result<Vec<(String, String)>> {
    let mut headers = args.request.header.clone();
    let has =
        |headers: &[(String, String)], name: &str| headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
    let offered = args.request.accept_encoding.trim();
    if !has(&headers, "accept-encoding") && !offered.eq_ignore_ascii_case("none") && !offered.is_empty() {
        headers.push(("Accept-Encoding".into(), offered.to_owned()));
    }
    if !has(&headers, "user-agent") {
        headers.push(("User-Agent".into(), format!("weigh/{}", env!("CARGO_PKG_VERSION"))));
    }
    if let Some(range) = &args.request.range {
        let range = range.strip_prefix("bytes=").unwrap_or(range);
        let ends = range.split_once('-').filter(|(from, to)| !(from.is_empty() && to.is_empty()));
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if !ends.is_some_and(|(from, to)| digits(from) && digits(to)) {
            bail!("--range {}: write it as 0-65535, 65536- or -500", clean(range));
        }
        headers.push(("Range".into(), format!("bytes={range}")));
    }
    Ok(headers)
}

fn body(args: &Args) -> Result<Vec<u8>> {
    match (&args.request.body, &args.request.body_file) {
        (Some(text), _) => Ok(text.clone().into_bytes()),
        (None, Some(file)) => bounded(file, "--body-file"),
        (None, None) => Ok(Vec::new()),
    }
}

/// Bytes of a request's body at most: what an agent is told is bounded too.
const LARGEST_BODY: u64 = 32 << 20;

/// Reads a file that has an end, and not far away.
fn bounded(file: &Path, flag: &str) -> Result<Vec<u8>> {
    weigh_load::regular::read(file, LARGEST_BODY).map_err(|error| match error.kind() {
        ErrorKind::InvalidInput => {
            anyhow!("{flag} {}: not a regular file; save it as one first", file.display())
        }
        ErrorKind::FileTooLarge => anyhow!(
            "{flag} {}: larger than {} MiB, the most for a request body",
            file.display(),
            LARGEST_BODY >> 20
        ),
        _ => anyhow!("{flag} {}: cannot be read: {error}", file.display()),
    })
}

fn read(file: &Path, flag: &str) -> Result<Vec<u8>> {
    regular::read(file, regular::TEXT).with_context(|| flag.to_owned())
}

fn protocol(args: &Args) -> Result<Protocol> {
    let protocol = match args.request.http.as_str() {
        "1.0" => Protocol::Http10,
        "2" => Protocol::Http2,
        _ => Protocol::Http11,
    };
    if args.load.streams > 1 && protocol != Protocol::Http2 {
        bail!(
            "--streams {}: several requests in flight per connection need HTTP/2; add --http 2",
            args.load.streams
        );
    }
    Ok(protocol)
}

fn tls(args: &Args) -> Result<Tls> {
    if let Some(file) = &args.tls.ca {
        // A wrong path is said now, by its name.
        read(file, "--ca")?;
    }
    let authorities = args.tls.ca.as_ref().map(|p| std::path::absolute(p).unwrap_or(p.clone()));
    Ok(Tls {
        insecure: args.tls.insecure,
        authorities: authorities.map(|p| p.to_string_lossy().into_owned()),
        resumption: !args.tls.no_resumption,
    })
}

fn limits(args: &Args) -> Limits {
    Limits {
        connect_seconds: args.check.connect_timeout,
        request_seconds: args.check.timeout,
        drain_seconds: args.check.drain,
        ..Limits::default()
    }
}

fn check(args: &Args) -> Check {
    if args.check.discard {
        return Check::Discard;
    }
    Check::Verify { decode_every: args.check.decode_every, vary_by: args.check.vary_by.clone() }
}

fn threads(args: &Args, connections: u32) -> Result<u32> {
    let cores = std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(1));
    let most = if args.machine.cpus.is_empty() { cores } else { args.machine.cpus.len() as u32 };
    match args.machine.threads {
        Some(threads) if threads > connections => bail!(
            "--threads {threads} is more than the {connections} connections (-c); lower --threads or raise -c"
        ),
        Some(threads) => Ok(threads),
        None => Ok(most.min(connections).max(1)),
    }
}

fn slice(seconds: Option<f64>) -> f64 {
    (seconds.unwrap_or(0.0) / SLICES).max(1.0)
}

/// What is well formed and would still measure nothing sensible.
fn sensible(args: &Args, plan: &LoadPlan) -> Result<()> {
    let connections: u32 = plan.streams.iter().map(|s| s.connections).sum();
    if let Some(requests) = plan.length.requests
        && requests < u64::from(connections)
        && args.load.connections.is_some()
    {
        bail!(
            "-n {requests} is less than -c {connections}: some connections would send nothing; lower -c or raise -n"
        );
    }
    Ok(())
}
