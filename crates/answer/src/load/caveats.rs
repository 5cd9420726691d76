//! Caveats about a block's figures, typed, each with what would fix the cause.

use serde::{Deserialize, Serialize};
use weigh_load::caveats::{Caveat, Sign, by_node, off_littles_law, response};
use weigh_load::compare::unequal;
use weigh_load::plan::{Check, LoadPlan, Protocol, Stream};
use weigh_load::result::{AgentResult, Checked, Counts, LoadResult};
use weigh_load::verify::is_text_type;

use super::Figures;
use crate::load::document::has_closed;
use crate::text::tag_name;

/// With fewer responses, the 99th percentile is one of the ten slowest.
const FEW: u64 = 1000;
/// Seconds between the first and the last of several beginnings that are said; less is far below a slice.
const MOST_SKEW: f64 = 0.05;

/// A warning about a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum LoadCaveat {
    /// The agent on this node was lost in mid-load: what it sent is in no figure.
    LostNode {
        /// The node.
        node: String,
        /// How it ended.
        why: String,
    },
    /// The nodes did not start together, so the beginning and the end are not from all of them.
    Skew {
        /// The spread of their beginnings in seconds.
        seconds: f64,
        /// How far that may be off, in seconds.
        uncertainty: f64,
    },
    /// The generator ran at a lower priority than usual; the times include what went before it.
    LowPriority {
        /// The priority; 0 is the usual one.
        nice: i32,
        /// The nodes, if several sent the load.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        nodes: Vec<String>,
    },
    /// The server's responses before the load were others for this node than for the first one.
    OtherResponses {
        /// The node.
        node: String,
        /// What differs.
        why: String,
    },
    /// The generator, not the server, was the limit: the rate is not the server's rate.
    SaturatedClient {
        /// The sign of it.
        sign: Sign,
        /// The nodes it holds for, if several sent the load.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        nodes: Vec<String>,
    },
    /// A thread of the generator was ready but waited for a processor; the times include this.
    WaitingClient {
        /// The share of the block that the thread with the longest wait waited.
        share: f64,
        /// The nodes it holds for, if several sent the load.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        nodes: Vec<String>,
    },
    /// The rate was reached, but requests were sent late; the response times include this.
    LateClient {
        /// The 99th percentile of the lateness in seconds.
        seconds: f64,
        /// The nodes it holds for, if several sent the load.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        nodes: Vec<String>,
    },
    /// The rate × the mean response time is not the number of requests that were always in flight: by Little's law, one of
    /// the two is wrong.
    LittlesLaw {
        /// The mean number of requests in flight by the law.
        in_flight: f64,
        /// The requests in flight of the plan's closed model.
        concurrency: u64,
    },
    /// Scheduled requests were never sent: all connections were busy.
    Dropped {
        /// Requests that were not sent.
        dropped: u64,
        /// Scheduled requests.
        scheduled: u64,
    },
    /// Responses failed; they do not count in any rate.
    Faults {
        /// Failed responses.
        faulted: u64,
        /// Requests that were sent.
        sent: u64,
    },
    /// The status of this request's response is not 2xx, and the load was sent nevertheless.
    Status {
        /// The request.
        request: String,
        /// The status.
        status: u16,
    },
    /// A preflight failed: this request could not be verified.
    Unverified {
        /// The request.
        request: String,
        /// The reason.
        why: String,
    },
    /// Text was sent uncompressed although the request accepts content codings.
    Uncompressed {
        /// The request.
        request: String,
        /// Its Content-Type.
        content_type: String,
    },
    /// Bodies differ between responses: samples are decoded, instead of comparing every byte.
    Sampled {
        /// The request.
        request: String,
        /// Responses that were decoded in full, over all requests.
        decoded: u64,
    },
    /// Responses that should have been decoded were not, because memory or time was missing.
    Unproven {
        /// Responses that were not decoded.
        unproven: u64,
    },
    /// Bodies were discarded unverified, as requested.
    Discarded,
    /// HTTP/1.0, as requested: servers may respond differently than to a browser.
    Http10,
    /// Too few responses: the high percentiles are single responses.
    FewResponses {
        /// Completed responses.
        completed: u64,
    },
    /// The user stopped it early.
    Interrupted,
}

impl LoadCaveat {
    /// `LOST-NODE`.
    pub fn name(&self) -> String {
        match self {
            LoadCaveat::Http10 => "HTTP-1.0".to_owned(),
            other => tag_name(other, "code").to_uppercase(),
        }
    }
}

/// The caveats of a block, the most serious first.
pub(super) fn find_caveats(
    plan: &LoadPlan,
    result: &LoadResult,
    figures: &Figures,
    interrupted: bool,
) -> Vec<LoadCaveat> {
    let mut found = of_agents(result);
    let counts = figures.total.counts;
    found.extend(by_node(result, has_closed(plan)).into_iter().map(|(caveat, nodes)| match caveat {
        Caveat::SaturatedClient { sign } => LoadCaveat::SaturatedClient { sign, nodes },
        Caveat::LateClient { seconds } => LoadCaveat::LateClient { seconds, nodes },
        Caveat::WaitingClient { share } => LoadCaveat::WaitingClient { share, nodes },
    }));
    found.extend(of_littles_law(plan, result, &counts));
    if counts.faulted > 0 {
        found.push(LoadCaveat::Faults { faulted: counts.faulted, sent: counts.sent });
    }
    if counts.dropped > 0 {
        found.push(LoadCaveat::Dropped { dropped: counts.dropped, scheduled: counts.scheduled });
    }
    found.extend(of_preflights(plan, result, counts.decoded));
    if result.unproven > 0 {
        found.push(LoadCaveat::Unproven { unproven: result.unproven });
    }
    if plan.check == Check::Discard {
        found.push(LoadCaveat::Discarded);
    }
    if plan.protocol == Protocol::Http10 {
        found.push(LoadCaveat::Http10);
    }
    if counts.completed < FEW && counts.completed > 0 {
        found.push(LoadCaveat::FewResponses { completed: counts.completed });
    }
    if interrupted {
        found.push(LoadCaveat::Interrupted);
    }
    found
}

/// The contradiction of rate, response times and concurrency, where the concurrency is known: in a closed model without
/// think time, with no agent lost. Of an open model, nothing records how many connections were busy.
fn of_littles_law(plan: &LoadPlan, result: &LoadResult, counts: &Counts) -> Option<LoadCaveat> {
    let is_known = plan.streams.iter().all(|stream| stream.arrival.trim() == "closed");
    if !is_known || result.lost().next().is_some() {
        return None;
    }
    let at_once = |stream: &Stream| match plan.protocol {
        Protocol::Http2 => u64::from(stream.connections) * u64::from(stream.streams_per_connection),
        Protocol::Http11 | Protocol::Http10 => u64::from(stream.connections),
    };
    let concurrency = plan.streams.iter().map(at_once).sum();
    let by_seconds = plan.length.seconds.map_or(1.0, |seconds| result.seconds / seconds);
    let by_requests = plan.length.requests.map_or(1.0, |requests| counts.sent as f64 / requests as f64);
    let blocks = by_seconds.max(by_requests).round().max(1.0);
    let skew = result.skew().map_or(0.0, |(seconds, _)| seconds * blocks * concurrency as f64);
    let unknown = (counts.faulted + counts.abandoned) as f64 * plan.limits.request_seconds + skew;
    let in_flight = off_littles_law(concurrency, &response(result), result.seconds, blocks, unknown)?;
    Some(LoadCaveat::LittlesLaw { in_flight, concurrency })
}

/// What only several agents can show, and their priority.
fn of_agents(result: &LoadResult) -> Vec<LoadCaveat> {
    let lost = |(node, why): (&str, &str)| LoadCaveat::LostNode { node: node.into(), why: why.into() };
    let mut found: Vec<LoadCaveat> = result.lost().map(lost).collect();
    let skew = result.skew().filter(|(seconds, _)| *seconds > MOST_SKEW);
    found.extend(skew.map(|(seconds, uncertainty)| LoadCaveat::Skew { seconds, uncertainty }));
    if result.client.nice > 0 {
        let is_slow = |agent: &&AgentResult| agent.result.client.nice > 0;
        let nodes = result.agents.iter().filter(is_slow).map(|agent| agent.node.clone()).collect();
        found.push(LoadCaveat::LowPriority { nice: result.client.nice, nodes });
    }
    for agent in &result.agents {
        let pairs = result.preflights.iter().zip(&agent.result.preflights);
        let why =
            pairs.filter(|(first, _)| first.checked != Checked::Samples).find_map(|(a, b)| unequal(a, b));
        let node = agent.node.clone();
        found.extend(why.map(|fault| LoadCaveat::OtherResponses { node, why: fault.message }));
    }
    found
}

fn of_preflights(plan: &LoadPlan, result: &LoadResult, decoded: u64) -> Vec<LoadCaveat> {
    let mut found = Vec::new();
    for seen in &result.preflights {
        let request = seen.request.clone();
        if let Some(fault) = &seen.fault {
            let why = format!("{}: {}", fault.kind.name(), fault.message);
            found.push(LoadCaveat::Unverified { request, why });
            continue;
        }
        if !(200..300).contains(&seen.status) {
            found.push(LoadCaveat::Status { request: request.clone(), status: seen.status });
        }
        let content_type = seen.content_type.clone().unwrap_or_default();
        if seen.content_encoding.is_none()
            && is_text_type(&content_type)
            && seen.body_bytes > 1024
            && offers(plan, &request)
        {
            found.push(LoadCaveat::Uncompressed { request: request.clone(), content_type });
        }
        if seen.checked == Checked::Samples && plan.check != Check::Discard {
            found.push(LoadCaveat::Sampled { request, decoded });
        }
    }
    found
}

/// Whether the request accepts a content coding.
fn offers(plan: &LoadPlan, request: &str) -> bool {
    let asked = plan.requests.iter().filter(|r| r.name == request).flat_map(|r| &r.headers);
    asked
        .filter(|(name, _)| name.eq_ignore_ascii_case("accept-encoding"))
        .any(|(_, value)| ["gzip", "br", "zstd", "deflate"].iter().any(|coding| value.contains(coding)))
}
