//! Streams: those that a file declares, and the one that requests share which name none.

use std::collections::{HashMap, HashSet};

use super::build::Drafts;
use super::{Defaults, Wrong};
use crate::plan::Stream;
use crate::{arrival, units};

/// A stream as written.
pub(super) struct StreamDraft {
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) arrival: Option<String>,
    pub(super) rate: Option<String>,
    pub(super) connections: u32,
    pub(super) streams_per_connection: Option<u32>,
    pub(super) keepalive: Option<bool>,
    pub(super) read_rate: Option<String>,
    pub(super) abandon_after: Option<String>,
    pub(super) receive_buffer: Option<String>,
    pub(super) range: Option<String>,
}

/// The streams that are asked for.
pub(super) struct Streams {
    pub(super) all: Vec<Stream>,
    /// Index, and the range that requests of it ask for.
    by_name: HashMap<String, (u32, Option<String>)>,
}

impl Streams {
    pub(super) fn of(drafts: &Drafts, defaults: &Defaults) -> Result<Streams, Wrong> {
        let used: HashSet<&str> = drafts.requests.iter().filter_map(|r| r.stream.as_deref()).collect();
        let mut streams = Streams { all: Vec::new(), by_name: HashMap::new() };
        if drafts.requests.iter().any(|r| r.stream.is_none()) {
            streams.all.push(defaults.stream.clone());
        }
        for draft in &drafts.streams {
            let wrong = |what: String| Wrong::new(draft.line, format!("stream {:?}: {what}", draft.name));
            if draft.name == defaults.stream.name {
                return Err(wrong("this is the name of the shared one; choose another".into()));
            }
            if !used.contains(draft.name.as_str()) {
                return Err(wrong(format!("no request is in it; give one stream = {:?}", draft.name)));
            }
            let index = streams.all.len() as u32;
            streams.all.push(draft.stream(defaults).map_err(wrong)?);
            streams.by_name.insert(draft.name.clone(), (index, draft.range.clone()));
        }
        Ok(streams)
    }

    /// Index and range of the stream of that name; none: the shared one.
    pub(super) fn find(&self, name: Option<&str>) -> Result<(u32, Option<&str>), String> {
        let Some(name) = name else { return Ok((0, None)) };
        let found = self.by_name.get(name).map(|(index, range)| (*index, range.as_deref()));
        found.ok_or_else(|| format!("there is no stream {name:?}; declare it as [stream.{name}]"))
    }
}

impl StreamDraft {
    fn stream(&self, defaults: &Defaults) -> Result<Stream, String> {
        let arrival = match (&self.arrival, &self.rate) {
            (Some(_), Some(_)) => return Err("it has an arrival or a rate, not both".into()),
            (Some(text), None) => text.clone(),
            (None, Some(rate)) => format!("constant:{rate}"),
            // Not the shared one's: its rate would be offered twice.
            (None, None) => "closed".into(),
        };
        arrival::parse_for(&arrival, defaults.seconds).map_err(|e| e.to_string())?;
        let above_zero = |key: &str, number: u64| match number {
            0 => Err(format!("{key} has to be above 0")),
            number => Ok(number),
        };
        above_zero("connections", self.connections.into())?;
        above_zero("streams-per-connection", self.streams_per_connection.unwrap_or(1).into())?;
        let size = |key: &str, text: &Option<String>| {
            let bytes =
                text.as_deref().map(|text| units::bytes(text).and_then(|bytes| above_zero(key, bytes)));
            bytes.transpose().map_err(|e| format!("{key}: {e}"))
        };
        let receive_buffer = size("receive-buffer", &self.receive_buffer)?;
        let receive_buffer = receive_buffer.map(u32::try_from).transpose();
        Ok(Stream {
            name: self.name.clone(),
            arrival,
            connections: self.connections,
            streams_per_connection: self
                .streams_per_connection
                .unwrap_or(defaults.stream.streams_per_connection),
            keepalive: self.keepalive.unwrap_or(defaults.stream.keepalive),
            read_rate: self
                .read_rate
                .as_deref()
                .map(units::byte_rate)
                .transpose()
                .map_err(|e| format!("read-rate: {e}"))?,
            abandon_after: size("abandon-after", &self.abandon_after)?,
            receive_buffer: receive_buffer.map_err(|_| "receive-buffer: more than 4 GB".to_string())?,
        })
    }
}
