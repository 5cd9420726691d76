//! Workloads as users write them: a request file in TOML, or a list of URLs, becomes the requests and streams of a
//! plan. A file is checked in full before anything is sent; this module does not resolve names or connect.

mod build;
mod draft;

use std::io::ErrorKind;
use std::path::Path;

use crate::plan::{Request, Stream};
use crate::regular;

/// The largest request file or body file; a larger one is taken for a mistake.
const MOST_BYTES: u64 = 16 << 20;
/// The most bytes of all bodies together: every thread keeps them in memory.
const MOST_BODIES: u64 = 64 << 20;
const MOST_REQUESTS: usize = 100_000;

/// The requests and streams of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// In the file's order; never empty.
    pub requests: Vec<Request>,
    /// The streams with requests; if the shared one has requests, it is the first.
    pub streams: Vec<Stream>,
}

/// Defaults for what a file does not set.
#[derive(Clone, Debug, PartialEq)]
pub struct Defaults {
    /// The base of relative URLs.
    pub base: Option<String>,
    pub method: String,
    /// Headers of every request; a header of the same name in the file replaces them.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The class of requests in the shared stream. In a named stream, the class is the stream's name.
    pub class: String,
    /// The stream of requests that name no stream.
    pub stream: Stream,
    /// The length of the run, if known: some arrival models need it.
    pub seconds: Option<f64>,
}

impl Default for Defaults {
    fn default() -> Defaults {
        Defaults {
            base: None,
            method: "GET".into(),
            headers: Vec::new(),
            body: Vec::new(),
            class: "default".into(),
            stream: Stream { name: "default".into(), connections: 10, ..Stream::default() },
            seconds: None,
        }
    }
}

/// A workload that cannot be read: one line with the file, the line, what is wrong, and what to write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WorkloadError(String);

/// An error in a line of a file, from 1; 0: no particular line.
struct Wrong {
    line: usize,
    what: String,
}

impl Wrong {
    fn new(line: usize, what: impl Into<String>) -> Wrong {
        Wrong { line, what: what.into() }
    }

    fn within(self, whence: &str) -> WorkloadError {
        // The parser repeats names as they are in the file, with any characters.
        let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
        let what: String = self.what.chars().map(shown).collect();
        match self.line {
            0 => WorkloadError(format!("{whence}: {what}")),
            line => WorkloadError(format!("{whence}, line {line}: {what}")),
        }
    }
}

/// Reads a file: TOML if its name ends in `.toml`, otherwise a list of URLs. Body files are relative to it.
///
/// # Errors
/// As [`WorkloadError`] says.
pub fn read(path: &Path, defaults: &Defaults) -> Result<Workload, WorkloadError> {
    let whence = path.display().to_string();
    let bytes = read_bounded(path).map_err(|what| WorkloadError(format!("{whence}: {what}")))?;
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(WorkloadError(format!("{whence}: not text in UTF-8")));
    };
    parse(&text, path, defaults)
}

/// Reads the text of a file of that name.
///
/// # Errors
/// As [`WorkloadError`] says.
pub fn parse(text: &str, path: &Path, defaults: &Defaults) -> Result<Workload, WorkloadError> {
    let is_toml = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
    let drafts = if is_toml { draft::from_toml(text) } else { draft::from_list(text) };
    let folder = path.parent().unwrap_or(Path::new(""));
    let built = drafts.and_then(|drafts| build::workload(drafts, folder, defaults));
    built.map_err(|wrong| wrong.within(&path.display().to_string()))
}

/// The workload of a few URLs, as given on a command line.
///
/// # Errors
/// The URL that cannot be requested.
pub fn of_urls(urls: &[String], defaults: &Defaults) -> Result<Workload, WorkloadError> {
    let requests = urls.iter().map(|url| draft::Draft { url: url.clone(), ..draft::Draft::default() });
    let drafts = draft::Drafts { requests: requests.collect(), ..draft::Drafts::default() };
    build::workload(drafts, Path::new(""), defaults).map_err(|wrong| WorkloadError(wrong.what))
}

fn read_bounded(path: &Path) -> Result<Vec<u8>, String> {
    regular::read(path, MOST_BYTES).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => format!("larger than the limit ({MOST_BYTES} bytes)"),
        _ => format!("cannot be read: {error}"),
    })
}
