//! The flags of `weigh load`, under the headings of its help.

use std::path::PathBuf;

use weigh_load::capacity::Limit;
use weigh_load::units;

/// Flags of `weigh load`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// What to load: http or https. Several are mixed in equal parts
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
    pub other: Other,
    #[command(flatten)]
    pub output: Output,
}

/// How much.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "How much")]
pub struct Load {
    /// Connections over all threads: 10, and with a rate up to 100
    #[arg(long, short, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub connections: Option<u32>,
    /// Requests in all
    #[arg(long, short = 'n', value_name = "N", value_parser = many, allow_negative_numbers = true)]
    pub requests: Option<u64>,
    /// How long: 10s, 2m; 10s where neither is given
    #[arg(long, short, value_name = "TIME", value_parser = span, allow_negative_numbers = true)]
    pub duration: Option<f64>,
    /// Requests in flight on one connection (HTTP/2)
    #[arg(long, value_name = "N", default_value = "1", value_parser = count, allow_negative_numbers = true)]
    pub streams: u32,
}

/// When requests are due.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "When (without one of these: as soon as the last response is there)")]
#[group(id = "arrival_model", multiple = false)]
pub struct Arrival {
    /// So many requests a second, evenly
    #[arg(long, value_name = "R", value_parser = rate, allow_negative_numbers = true, group = "arrival_model")]
    pub rate: Option<f64>,
    /// So many requests a second on average, independent of each other
    #[arg(long, value_name = "R", value_parser = rate, allow_negative_numbers = true, group = "arrival_model")]
    pub poisson: Option<f64>,
    /// From one rate to another, as 100..1000
    #[arg(long, value_name = "A..B", group = "arrival_model")]
    pub ramp: Option<String>,
    /// One rate after another: 100,200,400 in equal parts, or 100x10s,200x5s
    #[arg(long, value_name = "R,R…", group = "arrival_model")]
    pub steps: Option<String>,
    /// A pause of each connection after its response
    #[arg(long, value_name = "TIME", value_parser = span, allow_negative_numbers = true, group = "arrival_model")]
    pub think: Option<f64>,
    /// The model in full, as constant:200 or poisson:200
    #[arg(long = "arrival", value_name = "TEXT", group = "arrival_model")]
    pub text: Option<String>,
}

/// What is sent.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "What is sent")]
pub struct Request {
    /// HTTP version: 1.1, 2, or 1.0 as ab speaks it
    #[arg(long, value_name = "VERSION", default_value = "1.1", value_parser = ["1.0", "1.1", "2"])]
    pub http: String,
    /// A connection for each request
    #[arg(long)]
    pub no_keepalive: bool,
    /// The method: GET, and POST with a body
    #[arg(long, short = 'X', value_name = "METHOD")]
    pub method: Option<String>,
    /// A header, as 'Name: value' (repeatable)
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
    /// A part of the content, as 0-65535
    #[arg(long, value_name = "RANGE")]
    pub range: Option<String>,
    /// Requests with weights and classes (TOML), or a list of URLs
    #[arg(long, value_name = "FILE", conflicts_with_all = ["urls", "body", "body_file"])]
    pub requests_file: Option<PathBuf>,
    /// What paths in the file are relative to
    #[arg(long, value_name = "URL", requires = "requests_file")]
    pub base: Option<String>,
}

/// What kind of clients.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Slow clients")]
pub struct Clients {
    /// Each connection reads so fast, as 50KB/s
    #[arg(long, value_name = "RATE", value_parser = units::byte_rate)]
    pub read_rate: Option<u64>,
    /// Downloads are given up after so much body, as 1MB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub abandon_after: Option<u64>,
    /// Receive buffer of the socket, as 64KB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub receive_buffer: Option<u64>,
}

/// What becomes of responses.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Checking")]
pub struct Checking {
    /// Look at no body: the kernel drops them
    #[arg(long, conflicts_with_all = ["vary_by", "decode_every"])]
    pub discard: bool,
    /// A header whose value, and bodies with it, differ from response to response (repeatable)
    #[arg(long, value_name = "HEADER")]
    pub vary_by: Vec<String>,
    /// Decode one in so many of the bodies that cannot be compared
    #[arg(long, value_name = "N", default_value = "16", value_parser = count)]
    pub decode_every: u32,
    /// The longest wait for a response
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = span)]
    pub timeout: f64,
    /// The longest wait for a connection, TLS included
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = span)]
    pub connect_timeout: f64,
    /// How long requests in flight at the end may take
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = span)]
    pub drain: f64,
}

/// TLS and where load may go.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "TLS and other machines")]
pub struct Secure {
    /// Take any certificate
    #[arg(long)]
    pub insecure: bool,
    /// Authorities to trust in place of the system's, PEM
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub ca: Option<PathBuf>,
    /// A full handshake for each connection
    #[arg(long)]
    pub no_resumption: bool,
    /// A host that is not this machine and may be loaded, spelled out (repeatable)
    #[arg(long, value_name = "HOST")]
    pub allow_remote: Vec<String>,
}

/// This machine's part.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "This machine")]
pub struct Machine {
    /// Threads; default: one a core, and at most one a connection
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub threads: Option<u32>,
    /// Processors to keep the threads on, as 0,1
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub cpus: Vec<u32>,
    /// Length of a slice of the time series; default: 1s, and more in a run of over 10 minutes
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub slice: Option<f64>,
    /// Seed of everything drawn
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,
}

/// Other questions.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Other questions")]
pub struct Other {
    /// Another server, in short blocks that alternate: the ratios, with their intervals
    #[arg(long, value_name = "URL")]
    pub vs: Option<String>,
    /// Blocks of each side: 10
    #[arg(long, value_name = "N", value_parser = blocks, requires = "vs")]
    pub blocks: Option<u32>,
    /// The highest rate at which the response time stays within a limit, as p99=50ms. Visitors are independent of each other
    /// (--arrival constant: evenly spaced); -d is the longest that it may take (15m)
    #[arg(long, value_name = "LIMIT", value_parser = super::capacity::limit, conflicts_with_all = ["vs", "rate", "poisson", "ramp", "steps", "think"])]
    pub find_capacity: Option<Limit>,
    /// Length of a block: 1s with --vs; with --find-capacity at least 3s, longer near the answer
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub block: Option<f64>,
    /// What a request costs the generator itself on this machine: the rate above which it is the limit
    #[arg(long, conflicts_with_all = ["vs", "find_capacity", "ab_args"])]
    pub calibrate: bool,
    /// Everything after this is ab's own command line, in quotes or not; flags of ours come before it
    #[arg(long, value_name = "FLAGS", num_args = 0.., allow_hyphen_values = true, conflicts_with = "urls")]
    pub ab_args: Option<Vec<String>>,
}

/// Where results go.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// Everything: percentiles, bytes, headers, threads
    #[arg(long, short)]
    pub verbose: bool,
    /// The results as JSON
    #[arg(long)]
    pub json: bool,
    /// The slices as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Histograms in the HdrHistogram log format
    #[arg(long, value_name = "FILE")]
    pub hlog: Option<PathBuf>,
    /// Where plan and results are kept; default: a new folder in weigh-runs/
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// No line while it runs
    #[arg(long, short)]
    pub quiet: bool,
}

fn count(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| "give a whole number above zero".into())
}

/// A ratio needs two pairs.
fn blocks(text: &str) -> Result<u32, String> {
    count(text).ok().filter(|n| *n >= 2).ok_or_else(|| "give two blocks or more".into())
}

fn many(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| "give a whole number above zero".into())
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|r: &f64| r.is_finite() && *r > 0.0 && *r <= 1e8);
    rate.ok_or_else(|| "give requests a second, above zero".into())
}

fn span(text: &str) -> Result<f64, String> {
    units::seconds(text)
        .ok()
        .filter(|s| *s > 0.0)
        .ok_or_else(|| "give a time above zero, as 10s, 500ms or 2m".into())
}

fn size(text: &str) -> Result<u64, String> {
    match units::bytes(text)? {
        0 => Err("give a size above zero, as 64KB".into()),
        size => Ok(size),
    }
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("write it as 'Name: value'")?;
    let (name, value) = (name.trim(), value.trim());
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err("its name holds what no header's name may; write it as 'Name: value'".into());
    }
    if value.bytes().any(|b| b < b' ' && b != b'\t' || b == 0x7f) {
        return Err("its value holds a line end or another control character".into());
    }
    Ok((name.to_owned(), value.to_owned()))
}
