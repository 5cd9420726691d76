//! The generator's own use of resources, and counts of bytes.

use weigh_load::result::Client;
use weigh_model::units;

use crate::block::Block;
use crate::load::document::Run;
use crate::load::figures::Time;
use crate::load::report::fact::{Fact, facts, parts, seconds, whole};
use crate::output::{Detail, Options};

pub(super) fn client(run: &Run, options: &Options) -> Vec<Block> {
    let figures = &run.figures.client;
    let client = &run.result.client;
    let each = figures
        .cpu_seconds_per_request
        .map_or(String::new(), |s| format!("{} of CPU per request", seconds(s)));
    let mut rows: Vec<Fact> = vec![(
        "generator",
        parts(&[
            each,
            format!("{} of a core", units::percent(figures.cores)),
            format!("busiest thread {}", units::percent(figures.busiest_thread)),
            format!("{} of memory", units::bytes(client.peak_rss_bytes)),
        ]),
    )];
    if options.detail == Detail::Full {
        rows.extend(more(run, client));
    }
    let mut blocks = vec![Block::Heading(2, "Client cost".into())];
    blocks.extend(facts(&rows, options));
    blocks
}

fn more(run: &Run, client: &Client) -> Vec<Fact> {
    let threads: Vec<String> = client.thread_shares.iter().map(|s| units::percent(*s)).collect();
    let mut rows = vec![
        (
            "CPU",
            format!(
                "{} in user mode, {} in the kernel",
                seconds(client.user_seconds),
                seconds(client.system_seconds)
            ),
        ),
        ("threads", threads.join(", ")),
    ];
    if let Some(late) = &run.figures.client.lateness {
        let time = |percent| match late.percentile(percent) {
            Some(Time::Took(time)) => seconds(time),
            _ => "–".to_owned(),
        };
        rows.push((
            "lateness",
            format!("median {}, 99% within {}, at most {}", time(50.0), time(99.0), time(100.0)),
        ));
    }
    rows
}

/// Every count of bytes, for readers who want to check the sums.
pub(super) fn bytes(run: &Run, options: &Options) -> Vec<Block> {
    let total = &run.figures.total;
    let counts = &total.counts;
    let framing = counts.wire_bytes.saturating_sub(counts.head_bytes + counts.body_bytes);
    let line = |bytes: u64, rate: f64| format!("{} bytes · {}/s", whole(bytes), units::bytes(rate as u64));
    let rows = [
        ("sent", format!("{} bytes", whole(counts.sent_bytes))),
        ("received", line(counts.wire_bytes, total.wire_bytes_per_second)),
        ("… heads", format!("{} bytes", whole(counts.head_bytes))),
        ("… bodies", line(counts.body_bytes, total.body_bytes_per_second)),
        ("… the rest", format!("{} bytes of framing and incomplete responses", whole(framing))),
        ("decoded", line(counts.decoded_bytes, total.decoded_bytes_per_second)),
    ];
    let mut blocks = vec![Block::Heading(2, "Bytes".into())];
    blocks.extend(facts(&rows, options));
    blocks
}
