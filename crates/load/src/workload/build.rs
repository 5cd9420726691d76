//! From what a file says to what a plan holds: defaults filled in, URLs made absolute, everything checked.

use std::collections::HashMap;
use std::path::Path;

use url::Url;

use super::headers::{check, ranged, with_defaults};
use super::streams::{StreamDraft, Streams};
use super::{Defaults, MOST_BODIES, Workload, Wrong, read_bounded};
use crate::escape::shown;
use crate::plan::Request;
use crate::target::{Location, parse_url};

/// What a file says.
#[derive(Default)]
pub(super) struct Drafts {
    pub(super) requests: Vec<Draft>,
    pub(super) streams: Vec<StreamDraft>,
}

/// A request as written.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) line: usize,
    pub(super) url: String,
    pub(super) name: Option<String>,
    pub(super) method: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Body,
    pub(super) weight: Option<f64>,
    pub(super) class: Option<String>,
    pub(super) stream: Option<String>,
    pub(super) range: Option<String>,
}

/// Where a body comes from.
#[derive(Default)]
pub(super) enum Body {
    #[default]
    Default,
    Text(String),
    /// A path from the file's folder.
    File(String),
}

/// Builds the workload; body files are found from `folder`.
pub(super) fn workload(drafts: Drafts, folder: &Path, defaults: &Defaults) -> Result<Workload, Wrong> {
    if drafts.requests.is_empty() {
        return Err(Wrong::new(0, "there is no request in it"));
    }
    let streams = Streams::of(&drafts, defaults)?;
    let base = defaults.base.as_deref().map(parse_url).transpose();
    let base = base.map_err(|e| Wrong::new(0, format!("the base: {e}")))?;
    let mut bodies = Bodies { folder, files: HashMap::new(), bytes: 0 };
    let mut requests = Vec::with_capacity(drafts.requests.len());
    let mut names = Names::default();
    for draft in drafts.requests {
        let line = draft.line;
        let wrong = |what: String| Wrong::new(line, what);
        let (url, path) = absolute(&draft.url, base.as_ref()).map_err(wrong)?;
        let body = bodies.of(&draft, defaults).map_err(wrong)?;
        let (stream, range) = streams.find(draft.stream.as_deref()).map_err(wrong)?;
        let mut headers = draft.headers;
        ranged(&mut headers, draft.range.as_deref().or(range)).map_err(wrong)?;
        with_defaults(&mut headers, &defaults.headers);
        let class = draft.class.or(draft.stream).unwrap_or_else(|| defaults.class.clone());
        let weight = draft.weight.unwrap_or(1.0);
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(wrong(format!("weight {weight} is not above 0")));
        }
        let method = draft.method.unwrap_or_else(|| defaults.method.clone());
        let name = names.of(draft.name, &method, &path).map_err(wrong)?;
        let request = Request { name, url, method, headers, body, weight, class, stream };
        check(&request).map_err(wrong)?;
        requests.push(request);
    }
    Ok(Workload { requests, streams: streams.all })
}

/// An absolute URL without fragment, and its path and query.
fn absolute(text: &str, base: Option<&Url>) -> Result<(String, String), String> {
    let url = match base {
        Some(base) => base.join(text).map_err(|e| format!("{}: no URL: {e}", shown(text.as_bytes())))?,
        None => parse_url(text).map_err(|e| e.to_string())?,
    };
    let location = Location::of(&url, text).map_err(|e| e.to_string())?;
    let mut url = url;
    url.set_fragment(None);
    Ok((url.into(), location.path))
}

/// Bodies, each file read once.
struct Bodies<'a> {
    folder: &'a Path,
    files: HashMap<String, Vec<u8>>,
    bytes: u64,
}

impl Bodies<'_> {
    fn of(&mut self, draft: &Draft, defaults: &Defaults) -> Result<Vec<u8>, String> {
        let body = match &draft.body {
            Body::Default => defaults.body.clone(),
            Body::Text(text) => text.clone().into_bytes(),
            Body::File(path) => match self.files.get(path) {
                Some(bytes) => bytes.clone(),
                None => {
                    let bytes = read_bounded(&self.folder.join(path))
                        .map_err(|e| format!("body-file {path:?}: {e}"))?;
                    self.files.insert(path.clone(), bytes.clone());
                    bytes
                }
            },
        };
        self.bytes += body.len() as u64;
        if self.bytes > MOST_BODIES {
            return Err(format!("with this body all together are more than {MOST_BODIES} bytes"));
        }
        Ok(body)
    }
}

/// Names that differ: of what is written, a second one is an error; what is made from a URL is numbered.
#[derive(Default)]
struct Names(HashMap<String, usize>);

impl Names {
    fn of(&mut self, written: Option<String>, method: &str, path: &str) -> Result<String, String> {
        if let Some(name) = written {
            if name.is_empty() || name.chars().any(char::is_control) {
                return Err(format!("{name:?} is no name: it is empty or has a control character in it"));
            }
            return match self.0.insert(name.clone(), 1) {
                None => Ok(name),
                Some(_) => Err(format!("a request before has the name {name:?} already")),
            };
        }
        let plain = if method == "GET" { path.to_string() } else { format!("{method} {path}") };
        let mut number = self.0.get(&plain).copied().unwrap_or(0);
        loop {
            number += 1;
            let name = if number == 1 { plain.clone() } else { format!("{plain} ({number})") };
            let is_new = number == 1 || !self.0.contains_key(&name);
            if is_new {
                self.0.insert(plain, number);
                self.0.entry(name.clone()).or_insert(1);
                return Ok(name);
            }
        }
    }
}
