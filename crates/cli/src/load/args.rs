//! The flags of `weigh load`, under the headings of its help.

use std::path::PathBuf;

use crate::gates::GateFlags;
use weigh_load::capacity::Limit;
use weigh_load::escape::is_token;
use weigh_load::units;

use crate::on::OnFlags;
use crate::quantity::{self, count};

const EXAMPLES: &str = "Examples:
  weigh load http://127.0.0.1:8080/ -c 20 -d 30s
  weigh load http://127.0.0.1:8080/ --rate 200 --read-rate 50KB/s
  weigh load http://127.0.0.1:8080/ --find-capacity p99=50ms -d 5m";

/// Flags of `weigh load`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What to load, http or https; several are mixed in equal parts
    #[arg(value_name = "URL", required_unless_present_any = ["requests_file", "ab_args", "calibrate"])]
    pub urls: Vec<String>,
    #[command(flatten)]
    pub load: Load,
    #[command(flatten)]
    pub arrival: Arrival,
    #[command(flatten)]
    pub request: Request,
    #[command(flatten)]
    pub clients: Clients,
    #[command(flatten)]
    pub check: Checking,
    #[command(flatten)]
    pub tls: Secure,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub many: Many,
    #[command(flatten)]
    pub other: Other,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub gates: GateFlags,
}

/// How much.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "How much")]
pub struct Load {
    /// Connections in total; default: 10, or up to 100 with a rate
    #[arg(long, short, value_name = "N", value_parser = count::<u32>)]
    pub connections: Option<u32>,
    /// Requests in total
    #[arg(long, short = 'n', value_name = "N", value_parser = count::<u64>)]
    pub requests: Option<u64>,
    /// How long, such as 10s or 2m; default without -n: 10s
    #[arg(long, short, value_name = "TIME", value_parser = quantity::time)]
    pub duration: Option<f64>,
    /// Requests in flight on one connection (HTTP/2)
    #[arg(long, value_name = "N", default_value = "1", value_parser = count::<u32>)]
    pub streams: u32,
}

/// When requests are due.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "When (default: the next request follows the response)")]
#[group(id = "arrival_model", multiple = false)]
pub struct Arrival {
    /// Requests per second, evenly spaced
    #[arg(long, value_name = "R", value_parser = quantity::rate, group = "arrival_model")]
    pub rate: Option<f64>,
    /// Requests per second on average, at random (Poisson)
    #[arg(long, value_name = "R", value_parser = quantity::rate, group = "arrival_model")]
    pub poisson: Option<f64>,
    /// From one rate to another, such as 100..1000
    #[arg(long, value_name = "A..B", group = "arrival_model")]
    pub ramp: Option<String>,
    /// One rate after another: 100,200,400 in equal parts, or 100x10s,200x5s
    #[arg(long, value_name = "R,R…", group = "arrival_model")]
    pub steps: Option<String>,
    /// Pause of each connection after a response
    #[arg(long, value_name = "TIME", value_parser = quantity::time, group = "arrival_model")]
    pub think: Option<f64>,
    /// The arrival model as text, such as constant:200 or poisson:200
    #[arg(long = "arrival", value_name = "TEXT", group = "arrival_model")]
    pub text: Option<String>,
}

/// What is sent.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "What is sent")]
pub struct Request {
    /// HTTP version; ab uses 1.0
    #[arg(long, value_name = "VERSION", default_value = "1.1", value_parser = ["1.0", "1.1", "2"])]
    pub http: String,
    /// A new connection for each request
    #[arg(long)]
    pub no_keepalive: bool,
    /// The method; default: GET, or POST with a body
    #[arg(long, short = 'X', value_name = "METHOD")]
    pub method: Option<String>,
    /// A header, such as 'Name: value' (repeatable)
    #[arg(long, short = 'H', value_name = "HEADER", value_parser = header)]
    pub header: Vec<(String, String)>,
    /// Content codings to offer; `none` sends no such header
    #[arg(long, value_name = "CODINGS", default_value = "gzip, deflate, br, zstd")]
    pub accept_encoding: String,
    /// The request's body
    #[arg(long, value_name = "TEXT")]
    pub body: Option<String>,
    /// The request's body, from a file
    #[arg(long, value_name = "FILE", conflicts_with = "body")]
    pub body_file: Option<PathBuf>,
    /// A part of the content, such as 0-65535
    #[arg(long, value_name = "RANGE")]
    pub range: Option<String>,
    /// Requests with weights and classes (TOML), or a list of URLs
    #[arg(long, value_name = "FILE", conflicts_with_all = ["urls", "body", "body_file"])]
    pub requests_file: Option<PathBuf>,
    /// The URL that paths in the file are relative to
    #[arg(long, value_name = "URL", requires = "requests_file")]
    pub base: Option<String>,
}

/// What kind of clients.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Slow clients")]
pub struct Clients {
    /// Read at most this fast per connection, such as 50KB/s
    #[arg(long, value_name = "RATE", value_parser = read_rate)]
    pub read_rate: Option<u64>,
    /// Abort downloads after this many bytes, such as 1MB
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    pub abandon_after: Option<u64>,
    /// Receive buffer of the socket, such as 64KB
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    pub receive_buffer: Option<u64>,
}

/// How responses are verified.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Checking")]
pub struct Checking {
    /// Discard bodies in the kernel, unverified
    #[arg(long, conflicts_with_all = ["vary_by", "decode_every"])]
    pub discard: bool,
    /// A header whose value differs from response to response, and the body with it (repeatable)
    #[arg(long, value_name = "HEADER")]
    pub vary_by: Vec<String>,
    /// Decode every Nth of the bodies that cannot be compared
    #[arg(long, value_name = "N", default_value = "16", value_parser = count::<u32>)]
    pub decode_every: u32,
    /// Longest time to wait for a response
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = quantity::time)]
    pub timeout: f64,
    /// Longest time to wait for a connection, TLS included
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = quantity::time)]
    pub connect_timeout: f64,
    /// Longest time for requests that are in flight at the end
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = quantity::time)]
    pub drain: f64,
}

/// TLS and where load may go.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "TLS and other machines")]
pub struct Secure {
    /// Accept any certificate
    #[arg(long)]
    pub insecure: bool,
    /// Certificate authorities to trust instead of the system's, PEM
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub ca: Option<PathBuf>,
    /// A full handshake for each connection
    #[arg(long)]
    pub no_resumption: bool,
    /// Allow load on this host, which is not this machine (repeatable)
    #[arg(long, value_name = "HOST")]
    pub allow_remote: Vec<String>,
}

/// What this machine does.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "This machine")]
pub struct Machine {
    /// Threads; default: one per core, and at most one per connection
    #[arg(long, value_name = "N", value_parser = count::<u32>)]
    pub threads: Option<u32>,
    /// Cores to keep the threads on, such as 0,1
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = quantity::whole::<u32>)]
    pub cpus: Vec<u32>,
    /// Length of a slice of the time series; default: 1s, longer in runs of more than 10 minutes
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    pub slice: Option<f64>,
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value = "1", value_parser = quantity::whole::<u64>)]
    pub seed: u64,
}

/// Many machines.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Many machines")]
pub struct Many {
    #[command(flatten)]
    pub on: OnFlags,
    /// Nodes that send, each its share of the load; default: all of the cluster
    #[arg(long, value_name = "N", requires = "on", value_parser = count::<u32>)]
    pub nodes: Option<u32>,
}

/// Other questions.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Other questions")]
pub struct Other {
    /// Compare with another server in short alternating blocks: ratios with confidence intervals
    #[arg(long, value_name = "URL")]
    pub vs: Option<String>,
    /// Blocks of each side; default: 10
    #[arg(long, value_name = "N", value_parser = blocks, requires = "vs")]
    pub blocks: Option<u32>,
    /// Find the highest rate that keeps a limit such as p99=50ms. Requests come at random (--arrival constant: evenly spaced);
    /// -d is the longest time the search may take (default 15m)
    #[arg(long, value_name = "LIMIT", value_parser = super::capacity::limit, conflicts_with_all = ["vs", "rate", "poisson", "ramp", "steps", "think"])]
    pub find_capacity: Option<Limit>,
    /// Length of a block; default: 1s with --vs; with --find-capacity 3s or more
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    pub block_time: Option<f64>,
    /// Measure what a request costs the generator itself on this machine, and the rate that it can reach
    #[arg(long, conflicts_with_all = ["vs", "find_capacity", "ab_args", "on"])]
    pub calibrate: bool,
    /// A command line of ab, as the last argument, in quotes or not; flags of weigh come before it
    #[arg(long, value_name = "FLAGS", num_args = 0.., allow_hyphen_values = true, conflicts_with = "urls")]
    pub ab_args: Option<Vec<String>>,
}

/// Where results go.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// All evidence: percentiles, bytes, headers, threads
    #[arg(long, short)]
    pub verbose: bool,
    /// The results as JSON
    #[arg(long)]
    pub json: bool,
    /// Write the slices as CSV
    #[arg(long, value_name = "FILE", conflicts_with_all = ["vs", "find_capacity", "calibrate"])]
    pub csv: Option<PathBuf>,
    /// Write histograms in the HdrHistogram log format
    #[arg(long, value_name = "FILE", conflicts_with_all = ["vs", "find_capacity", "calibrate"])]
    pub hlog: Option<PathBuf>,
    /// Where to write plan and results; default: a new folder in weigh-runs/
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// No progress line
    #[arg(long, short)]
    pub quiet: bool,
}

/// A ratio needs two pairs.
fn blocks(text: &str) -> Result<u32, String> {
    count(text).ok().filter(|n| *n >= 2).ok_or_else(|| "give a whole number of at least 2".into())
}

fn read_rate(text: &str) -> Result<u64, String> {
    units::byte_rate(text).map_err(|_| "give bytes per second above zero, such as 50KB/s".into())
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("write it as 'Name: value'")?;
    let (name, value) = (name.trim(), value.trim());
    if !is_token(name) {
        return Err("a header name has no such characters; write it as 'Name: value'".into());
    }
    if value.bytes().any(|b| b < b' ' && b != b'\t' || b == 0x7f) {
        return Err("its value holds a line end or another control character".into());
    }
    Ok((name.to_owned(), value.to_owned()))
}
