//! Caveats in words, each with what would mend it.

use weigh_load::caveats::Caveat;

use super::whole;
use crate::document::Block;
use crate::load::{LoadCaveat, Run};
use crate::text::clean;

pub(super) fn blocks(run: &Run) -> Vec<Block> {
    of(&run.caveats)
}

/// Caveats of one block or of several.
pub(super) fn of(caveats: &[LoadCaveat]) -> Vec<Block> {
    if caveats.is_empty() {
        return Vec::new();
    }
    let points = caveats.iter().map(|caveat| {
        let (what, remedy) = words(caveat);
        (format!("{}: {}", caveat.name(), clean(&what)), Some(remedy.to_owned()).filter(|r| !r.is_empty()))
    });
    vec![Block::Heading(2, "Bear in mind".into()), Block::Points(points.collect())]
}

fn words(caveat: &LoadCaveat) -> (String, &'static str) {
    match caveat {
        LoadCaveat::SaturatedClient { sign } => {
            (Caveat::SaturatedClient { sign: *sign }.sentence(), "weigh load --calibrate tells the ceiling of this machine")
        }
        LoadCaveat::WaitingClient { share } => (Caveat::WaitingClient { share: *share }.sentence(), ""),
        LoadCaveat::LateClient { seconds } => (Caveat::LateClient { seconds: *seconds }.sentence(), ""),
        LoadCaveat::Dropped { dropped, scheduled } => (
            format!("{} of {} requests that were due were never sent: every connection was busy", whole(*dropped), whole(*scheduled)),
            "more connections (-c), if the server's users would open them; else the rate is above what it can do",
        ),
        LoadCaveat::Faults { faulted, sent } => {
            (format!("{} of {} requests faulted; they are in no rate", whole(*faulted), whole(*sent)), "")
        }
        LoadCaveat::Status { request, status } => (
            format!("{request} is answered with {status}: this measures an error page"),
            "check the URL, and what the server needs (-H, --method)",
        ),
        LoadCaveat::Unverified { request, why } => (format!("{request} could not be looked at before the load: {why}"), ""),
        LoadCaveat::Uncompressed { request, content_type } => (
            format!("{request} is {content_type}, and came uncompressed although codings were offered"),
            "the server may compress this type only from some length or HTTP version on, or not at all",
        ),
        LoadCaveat::Sampled { request, decoded } => (
            format!("{request} differs from response to response: {} bodies were decoded in full, the others not compared", whole(*decoded)),
            "",
        ),
        LoadCaveat::Unproven { unproven } => (
            format!("{} responses should have been decoded and were not, for want of time", whole(*unproven)),
            "a larger --decode-every, or fewer requests a second",
        ),
        LoadCaveat::Discarded => ("no body was looked at, as --discard asks".into(), ""),
        LoadCaveat::Http10 => (
            "HTTP/1.0, as ab speaks it: nginx does not compress for it (gzip_http_version), and a response without \
             Content-Length ends its connection"
                .into(),
            "--http 1.1 is what browsers meet",
        ),
        LoadCaveat::FewResponses { completed } => {
            (format!("{} responses: percentiles beyond the 99th are single responses", whole(*completed)), "a longer run (-d, -n)")
        }
        LoadCaveat::Interrupted => ("ended early by the user; the figures are of the part that ran".into(), ""),
    }
}
