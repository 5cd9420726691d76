//! The HdrHistogram log format, version 1.3, as its reference implementation writes it: one line per interval, an
//! optional tag, the histogram in the compressed V2 encoding. Times are nanoseconds; the third column is their maximum
//! in milliseconds.
//!
//! Lines without a tag are slices (response times of all classes). Lines with a tag hold the whole run: `CLASS/PHASE`.

use core::time::Duration;
use std::fmt::Write;

use anyhow::{Result, anyhow};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use weigh_load::result::{ClassResult, LoadResult};
use weigh_stats::hist::Hist;

/// Nanoseconds per unit of the column for people.
const MILLISECOND: f64 = 1e6;
const LEGEND: &str =
    "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"";

/// The log of a block that started this many seconds after the Unix epoch.
///
/// # Errors
/// A slice's histogram cannot be read.
pub fn log(result: &LoadResult, began: f64) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    builder.with_max_value_divisor(MILLISECOND);
    {
        let mut writer = builder.begin_log_with(&mut body, &mut serializer)?;
        let mut line = |hist: &Hist, start: f64, length: f64, tag: Option<&str>| {
            let tag = tag.and_then(Tag::new);
            let (start, length) =
                (Duration::from_secs_f64(start.max(0.0)), Duration::from_secs_f64(length.max(0.0)));
            let written = writer.write_histogram(hist.inner(), start, length, tag);
            written.map_err(|e| anyhow!("a histogram cannot be written: {e:?}"))
        };
        for slice in &result.slices {
            let hist = slice.response.unpack().map_err(anyhow::Error::msg)?;
            line(&hist, slice.start, slice.seconds, None)?;
        }
        for class in &result.classes {
            for (phase, hist) in phases(class).into_iter().filter(|(_, hist)| hist.count() > 0) {
                line(hist, 0.0, result.seconds, Some(&tag(&class.name, phase)))?;
            }
        }
    }
    // The reference's readers look for the version first; the crate's own header follows as comment lines.
    let mut out = String::from("#[Histogram log format version 1.3]\n");
    let _ = writeln!(out, "#[StartTime: {began:.3} (seconds since epoch)]\n{LEGEND}");
    for line in String::from_utf8(body)?.lines().filter(|line| !line.starts_with('#')) {
        out.push_str(line);
        out.push('\n');
    }
    Ok(out.into_bytes())
}

fn phases(class: &ClassResult) -> [(&'static str, &Hist); 6] {
    let times = &class.times;
    [
        ("response", &times.response),
        ("service", &times.service),
        ("ttfb", &times.ttfb),
        ("transfer", &times.transfer),
        ("connect", &times.connect),
        ("tls", &times.tls),
    ]
}

/// A tag must not contain a comma, blank or line end.
fn tag(class: &str, phase: &str) -> String {
    let safe = class.chars().map(|c| if c == ',' || c.is_whitespace() || c.is_control() { '_' } else { c });
    format!("{}/{phase}", safe.collect::<String>())
}
