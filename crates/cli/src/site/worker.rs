//! What PHP keeps from one request to the next, in the words of a screen.

use weigh_model::site::{Site, WorkerMode};
use weigh_model::text::clean;
use weigh_model::units::{self, count};

use super::screen::wrapped;

/// The part of a screen; empty if nobody asked.
pub fn render(site: &Site) -> String {
    let Some(worker) = &site.worker else { return String::new() };
    let kept = |(page, keeps): (&str, &str)| format!("{page} keeps something of other requests: {keeps}.");
    let pages = worker.pages.iter().filter_map(|one| Some(kept((&one.page, one.keeps.as_deref()?))));
    let mut lines: Vec<String> = pages.map(|line| clean(&line)).collect();
    if lines.is_empty() {
        let pages = count(worker.pages.len(), "page shows", "pages show");
        lines.push(format!(
            "Worker mode: {pages} nothing of other requests, in {} of them. Counters of several workers are not seen: ask one.",
            worker.requests
        ));
    }
    lines.push(memory(worker));
    lines.iter().map(|line| wrapped(&[line])).collect::<String>() + "\n"
}

fn memory(worker: &WorkerMode) -> String {
    let Some([value, low, high]) = worker.bytes_per_request else {
        return "Whether its memory grows is not known: it may not be read, or there was no time (--budget)."
            .into();
    };
    let [value, low, high] = [value, low, high].map(units::trimmed_number);
    match worker.doubled_after().zip(worker.bytes) {
        Some((after, bytes)) => format!(
            "Memory grows by {value} bytes per request ({low} to {high}): {} now, twice that after {} requests. Restart its workers before.",
            units::bytes(bytes),
            units::significant(after),
        ),
        None => format!(
            "Memory does not grow, as far as was measured: {value} bytes per request ({low} to {high})."
        ),
    }
}
