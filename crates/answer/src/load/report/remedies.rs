//! Caveats as sentences, each with what would fix the cause.

use weigh_load::caveats::Caveat;
use weigh_model::units;

use crate::block::Block;
use crate::load::LoadCaveat;
use crate::load::document::Run;
use crate::load::report::fact::{seconds, whole};
use crate::text::clean;

/// Nodes named in a sentence.
const NAMED: usize = 3;

pub(super) fn blocks(run: &Run) -> Vec<Block> {
    list_caveats(&run.caveats)
}

pub(super) fn list_caveats(caveats: &[LoadCaveat]) -> Vec<Block> {
    if caveats.is_empty() {
        return Vec::new();
    }
    let points = caveats.iter().map(|caveat| {
        let (what, remedy) = describe_caveat(caveat);
        (format!("{}: {}", caveat.name(), clean(&what)), Some(remedy.to_owned()).filter(|r| !r.is_empty()))
    });
    vec![Block::Heading(2, "Caveats".into()), Block::Points(points.collect())]
}

/// The nodes that something holds for; nothing for the only one.
fn on(nodes: &[String]) -> String {
    let named = nodes.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match nodes.len() {
        0 => String::new(),
        all @ 0..=NAMED => format!(" ({}: {named})", if all == 1 { "node" } else { "nodes" }),
        all => format!(" (nodes: {named} and {} more)", all - NAMED),
    }
}

fn describe_caveat(caveat: &LoadCaveat) -> (String, &'static str) {
    match caveat {
        LoadCaveat::LostNode { node, why } => (
            format!("the agent on node {node} {why}; what it sent is missing from every figure"),
            "repeat the load, or ask for fewer nodes",
        ),
        LoadCaveat::Skew { seconds: skew, uncertainty } => (
            format!(
                "the nodes began within {} (± {}) of each other, so the first and the last moments are not from all of them",
                seconds(*skew),
                seconds(*uncertainty)
            ),
            "repeat it; if that does not help, the nodes or the network between them are busy",
        ),
        LoadCaveat::LowPriority { nice, nodes } => (
            format!(
                "the generator ran at nice {nice}{}: other processes went first, which the times include",
                on(nodes)
            ),
            "run it at nice 0; Ray's workers: RAY_worker_niceness=0",
        ),
        LoadCaveat::OtherResponses { node, why } => {
            (format!("node {node} got other responses than the first node: {why}"), "")
        }
        LoadCaveat::SaturatedClient { sign, nodes } => (
            format!("{}{}", Caveat::SaturatedClient { sign: *sign }.sentence(), on(nodes)),
            if nodes.is_empty() {
                "weigh load --calibrate shows the maximum of this machine"
            } else {
                "use more nodes"
            },
        ),
        LoadCaveat::WaitingClient { share, nodes } => {
            (format!("{}{}", Caveat::WaitingClient { share: *share }.sentence(), on(nodes)), "")
        }
        LoadCaveat::LateClient { seconds, nodes } => {
            (format!("{}{}", Caveat::LateClient { seconds: *seconds }.sentence(), on(nodes)), "")
        }
        LoadCaveat::LittlesLaw { in_flight, concurrency } => (
            format!(
                "rate × mean response time is {} requests in flight, but there were {concurrency} at all times (Little's law): rate or times are wrong",
                units::significant(*in_flight)
            ),
            "see whether something held up the generator, and repeat it before you use rate and times together",
        ),
        LoadCaveat::Dropped { dropped, scheduled } => (
            format!(
                "{} of {} scheduled requests were never sent: every connection was busy",
                whole(*dropped),
                whole(*scheduled)
            ),
            "use more connections (-c) if real clients would; otherwise the rate is above the server's capacity",
        ),
        LoadCaveat::Faults { faulted, sent } => {
            (format!("{} of {} requests failed; rates leave them out", whole(*faulted), whole(*sent)), "")
        }
        LoadCaveat::Status { request, status } => (
            format!("{request} returns {status}: this measures an error page"),
            "check the URL, headers (-H) and method (--method)",
        ),
        LoadCaveat::Unverified { request, why } => {
            (format!("{request} failed its check before the load: {why}"), "")
        }
        LoadCaveat::Uncompressed { request, content_type } => (
            format!("{request} ({content_type}) was sent uncompressed although compression was accepted"),
            "check the types, minimum length and HTTP version for which the server compresses",
        ),
        LoadCaveat::Sampled { request, decoded } => (
            format!(
                "{request} varies per response: {} bodies were decoded in full, the others not compared",
                whole(*decoded)
            ),
            "",
        ),
        LoadCaveat::Unproven { unproven } => (
            format!("{} responses were not decoded for lack of time", whole(*unproven)),
            "use a larger --decode-every, or a lower rate",
        ),
        LoadCaveat::Discarded => ("bodies were discarded unverified (--discard)".into(), ""),
        LoadCaveat::Http10 => (
            "HTTP/1.0, as ab uses: nginx does not compress it (gzip_http_version), and a response without \
             Content-Length closes the connection"
                .into(),
            "browsers use --http 1.1 or 2",
        ),
        LoadCaveat::FewResponses { completed } => (
            format!("only {} responses: percentiles above p99 are single responses", whole(*completed)),
            "run longer (-d, -n)",
        ),
        LoadCaveat::Interrupted => ("interrupted: figures cover the part that ran".into(), ""),
    }
}
