//! Every request with its answer and verdict as a flat table.

use anyhow::Result;
use csv::Writer;
use serde::Serialize;

use super::super::super::csv::text;
use crate::analysis::delivery::model::{DeliveryAnalysis, Judged, NegotiationResult};

const HEAD: [&str; 23] = [
    "cell",
    "server",
    "runtime",
    "transport",
    "way",
    "purpose",
    "Accept-Encoding",
    "browser",
    "variant",
    "other variant",
    "If-None-Match",
    "Range",
    "If-Range",
    "status",
    "Content-Encoding",
    "Vary",
    "ETag",
    "Content-Length",
    "Content-Range",
    "body (bytes)",
    "body is",
    "quirk",
    "breaks a rule",
];

/// One row a request.
///
/// # Errors
/// The table cannot be written.
pub fn requests(analysis: &DeliveryAnalysis) -> Result<Vec<u8>> {
    let mut out = Writer::from_writer(Vec::new());
    out.write_record(HEAD)?;
    for one in &analysis.negotiations {
        for judged in &one.exchanges {
            out.write_record(row(one, judged))?;
        }
    }
    Ok(out.into_inner()?)
}

fn row(one: &NegotiationResult, Judged { ask, answer, quirk }: &Judged) -> [String; 23] {
    let field = |value: &Option<String>| text(value.as_deref().unwrap_or_default());
    [
        text(&one.cell),
        text(&one.server),
        text(&one.runtime),
        one.transport.name().to_owned(),
        text(&one.way),
        word(ask.purpose),
        field(&ask.accept),
        field(&ask.browser),
        field(&ask.variant),
        field(&ask.other),
        field(&ask.if_none_match),
        field(&ask.range),
        field(&ask.if_range),
        answer.status.to_string(),
        field(&answer.content_encoding),
        field(&answer.vary),
        field(&answer.etag),
        answer.content_length.map(|bytes| bytes.to_string()).unwrap_or_default(),
        field(&answer.content_range),
        answer.bytes.to_string(),
        word(answer.body),
        quirk.map(word).unwrap_or_default(),
        quirk.is_some_and(|quirk| quirk.is_wrong()).to_string(),
    ]
}

/// A value's name in JSON.
fn word(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}
