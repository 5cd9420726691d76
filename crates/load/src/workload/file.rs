//! The request file in TOML, read strictly: `[[request]]` tables in order, and `[stream.NAME]` tables.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use toml::Spanned;

use super::build::{Body, Draft, Drafts};
use super::streams::StreamDraft;
use super::{MOST_REQUESTS, Wrong};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    #[serde(default)]
    request: Vec<Spanned<RequestTable>>,
    #[serde(default)]
    stream: BTreeMap<Spanned<String>, StreamTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RequestTable {
    url: String,
    name: Option<String>,
    method: Option<String>,
    #[serde(default)]
    headers: Headers,
    body: Option<String>,
    body_file: Option<String>,
    weight: Option<f64>,
    class: Option<String>,
    stream: Option<String>,
    range: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct StreamTable {
    arrival: Option<String>,
    rate: Option<Quantity>,
    connections: u32,
    streams_per_connection: Option<u32>,
    keepalive: Option<bool>,
    read_rate: Option<Quantity>,
    abandon_after: Option<Quantity>,
    receive_buffer: Option<Quantity>,
    range: Option<String>,
}

pub(super) fn drafts(text: &str) -> Result<Drafts, Wrong> {
    let line = |at: usize| 1 + text.as_bytes()[..at.min(text.len())].iter().filter(|b| **b == b'\n').count();
    let contents: Contents = toml::from_str(text).map_err(|e| {
        let first = e.message().lines().next().unwrap_or("not valid TOML").to_string();
        Wrong::new(e.span().map_or(0, |span| line(span.start)), first)
    })?;
    if contents.request.len() > MOST_REQUESTS {
        return Err(Wrong::new(0, format!("more than {MOST_REQUESTS} requests")));
    }
    // Tables come in the file's order: lines are counted once, from one to the next.
    let (mut seen, mut lines) = (0, 1);
    let mut requests = Vec::with_capacity(contents.request.len());
    for table in contents.request {
        let start = table.span().start.clamp(seen, text.len());
        lines += text.as_bytes()[seen..start].iter().filter(|b| **b == b'\n').count();
        seen = start;
        requests.push(table.into_inner().draft(lines)?);
    }
    let stream = |(name, table): (Spanned<String>, StreamTable)| {
        let line = line(name.span().start);
        table.draft(name.into_inner(), line)
    };
    Ok(Drafts { requests, streams: contents.stream.into_iter().map(stream).collect() })
}

impl RequestTable {
    fn draft(self, line: usize) -> Result<Draft, Wrong> {
        let body = match (self.body, self.body_file) {
            (Some(_), Some(_)) => {
                return Err(Wrong::new(line, "a request has a body or a body-file, not both"));
            }
            (Some(text), None) => Body::Text(text),
            (None, Some(path)) => Body::File(path),
            (None, None) => Body::Default,
        };
        Ok(Draft {
            line,
            url: self.url,
            name: self.name,
            method: self.method,
            headers: self.headers.0,
            body,
            weight: self.weight,
            class: self.class,
            stream: self.stream,
            range: self.range,
        })
    }
}

impl StreamTable {
    fn draft(self, name: String, line: usize) -> StreamDraft {
        let text = |quantity: Option<Quantity>| quantity.map(|q| q.0);
        StreamDraft {
            line,
            name,
            arrival: self.arrival,
            rate: text(self.rate),
            connections: self.connections,
            streams_per_connection: self.streams_per_connection,
            keepalive: self.keepalive,
            read_rate: text(self.read_rate),
            abandon_after: text(self.abandon_after),
            receive_buffer: text(self.receive_buffer),
            range: self.range,
        }
    }
}

/// A table of headers in the order in which it was written; a list of values is a header sent several times.
#[derive(Default)]
struct Headers(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Headers, D::Error> {
        deserializer.deserialize_map(HeadersVisitor)
    }
}

struct HeadersVisitor;

impl<'de> Visitor<'de> for HeadersVisitor {
    type Value = Headers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of headers")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Headers, A::Error> {
        let mut entries: Vec<(Spanned<String>, Values)> = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        // The reader hands tables out sorted by name.
        entries.sort_by_key(|(name, _)| name.span().start);
        let each = |(name, values): (Spanned<String>, Values)| {
            values.0.into_iter().map(move |value| (name.get_ref().clone(), value))
        };
        Ok(Headers(entries.into_iter().flat_map(each).collect()))
    }
}

/// One text, or a list of them.
struct Values(Vec<String>);

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Values, D::Error> {
        match toml::Value::deserialize(deserializer)? {
            toml::Value::String(one) => Ok(Values(vec![one])),
            toml::Value::Array(many) => many
                .into_iter()
                .map(|value| match value {
                    toml::Value::String(text) => Ok(text),
                    other => Err(not_a_header(&other)),
                })
                .collect::<Result<_, D::Error>>()
                .map(Values),
            other => Err(not_a_header(&other)),
        }
    }
}

fn not_a_header<E: Error>(value: &toml::Value) -> E {
    E::custom(format!("the value of a header is a text or a list of texts, not of type {}", value.type_str()))
}

/// A quantity with its unit, or a number without one.
struct Quantity(String);

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
        match toml::Value::deserialize(deserializer)? {
            toml::Value::String(text) => Ok(Quantity(text)),
            toml::Value::Integer(number) => Ok(Quantity(number.to_string())),
            toml::Value::Float(number) => Ok(Quantity(number.to_string())),
            other => Err(D::Error::custom(format!(
                "a quantity is a number or a text such as \"50KB\", not of type {}",
                other.type_str()
            ))),
        }
    }
}
