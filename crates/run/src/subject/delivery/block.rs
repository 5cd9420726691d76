//! One block of requests: the load that a cell asks for, and the visit that its result and the meters make.

use std::path::Path;

use weigh_load::fault::{HttpFault, HttpFaultKind};
use weigh_load::plan::{Check, Length, Limits, LoadPlan, Request, Stream, Tls};
use weigh_load::result::{ClassResult, LoadResult, Preflight, Times};
use weigh_stats::hist::Packed;

use super::forecast::preflights;
use super::meters::Metered;
use super::visit::DeliveryRequest;
use weigh_model::payload::Origin;
use weigh_model::record::DeliveryVisit;
use weigh_model::record::delivery::Switches;
use weigh_os::group::{Group, Usage, peak_bytes};

/// One of this many responses that are not compared byte for byte is decoded in full.
const DECODE_EVERY: u32 = 10;
/// A page of others is asked for again after this: a clock in it goes on meanwhile.
pub const AGAIN_SECONDS: f64 = 1.1;
/// What bodies may come to: the largest content, encoded badly.
const BODY_BYTES: u64 = 256 << 20;

/// The load for a request of the run: a closed loop or the cell's rate, verified, from one thread; the instances of a content in turn. Over a link every response has its own connection, as
/// a reader's first page has: handshake and slow start are in its time.
pub fn plan(asked: &DeliveryRequest<'_>, urls: Vec<String>, authority: Option<&Path>) -> LoadPlan {
    let delivery = asked.cell.delivery.as_ref();
    let accept = delivery.map_or("", |d| d.accept.as_str());
    let mut headers = vec![user_agent()];
    headers.extend((!accept.is_empty()).then(|| ("Accept-Encoding".to_owned(), accept.to_owned())));
    let seconds = asked.limit.as_secs_f64();
    // Of other content the bytes are known.
    let is_outside = matches!(asked.payload.origin, Origin::Url { .. });
    let name = &asked.payload.name;
    let request = |url| Request { name: name.clone(), headers: headers.clone(), url, ..Request::default() };
    LoadPlan {
        requests: urls.into_iter().map(request).collect(),
        streams: vec![Stream {
            arrival: delivery.and_then(|d| d.every_ms).map_or_else(|| "closed".into(), arrival),
            connections: delivery.map_or(1, |d| d.connections),
            keepalive: delivery.is_none_or(|d| d.link.is_none()),
            in_turn: true,
            ..Stream::default()
        }],
        tls: Tls {
            insecure: false,
            authorities: authority.map(|path| path.to_string_lossy().into_owned()),
            resumption: true,
        },
        length: Length { requests: Some(asked.requests), seconds: Some(seconds) },
        limits: Limits {
            request_seconds: seconds,
            drain_seconds: seconds,
            body_bytes: BODY_BYTES,
            decoded_bytes: BODY_BYTES.max(asked.payload.bytes),
            ..Limits::default()
        },
        preflights: delivery.map_or(1, |delivery| preflights(delivery, asked.requests)),
        again_seconds: if is_outside { AGAIN_SECONDS } else { 0.0 },
        check: Check::Verify { decode_every: DECODE_EVERY, vary_by: Vec::new() },
        slice_seconds: seconds.max(1.0),
        seed: asked.seed,
        ..LoadPlan::default()
    }
}

/// Requests at random times, one in this many milliseconds on average.
fn arrival(every_ms: u32) -> String {
    format!("poisson:{}", 1e3 / f64::from(every_ms))
}

/// The load that lets a server and `workers` that have just been started find their caches before a block: two requests for each worker. None where a block has
/// fewer requests than there are workers: their start is little beside such responses.
pub fn warm_up(block: &LoadPlan, workers: u32) -> Option<LoadPlan> {
    let (asked, workers) = (block.length.requests?, u64::from(workers));
    let requests = asked.min(2 * workers);
    let length = Length { requests: Some(requests), ..block.length };
    (asked >= workers).then(|| LoadPlan { length, ..block.clone() })
}

pub fn user_agent() -> (String, String) {
    ("User-Agent".into(), format!("weigh/{}", env!("CARGO_PKG_VERSION")))
}

pub fn requests_before(load: &LoadPlan) -> u64 {
    load.requests.len() as u64 * u64::from(weigh_load::engine::preflights(load))
}

/// The visit to a server that nobody meters, that of others say.
pub fn unmetered(result: LoadResult, load: &LoadPlan) -> DeliveryVisit {
    let visit = visit(result, load, Metered::default());
    DeliveryVisit {
        server_cpu_ns: None,
        server_user_ns: None,
        idle: None,
        switches: None,
        read_bytes: None,
        written_bytes: None,
        ..visit
    }
}

/// Puts down what was asked before the block to warm up; what went wrong with that went wrong.
pub fn after(visit: &mut DeliveryVisit, before: LoadResult, load: &LoadPlan) {
    let sent: u64 = before.classes.iter().map(|class| class.counts.sent).sum();
    visit.warmed = sent.saturating_add(requests_before(load));
    visit.faults.splice(0..0, before.faults);
}

/// Puts down what memory server and PHP have, and what each worker has had at most.
pub fn remember(visit: &mut DeliveryVisit, server: Group, php: Option<Group>) {
    let (server, memory) = (server.memory(), php.and_then(|group| group.memory()));
    visit.server_pss = server.map(|memory| memory.pss);
    visit.server_private = server.map(|memory| memory.private);
    visit.server_anonymous = server.map(|memory| memory.anonymous);
    visit.php_pss = memory.map(|memory| memory.pss);
    visit.php_private = memory.map(|memory| memory.private);
    visit.php_anonymous = memory.map(|memory| memory.anonymous);
    let workers = php.map(|group| group.workers()).unwrap_or_default();
    visit.worker_peaks = workers.into_iter().filter_map(peak_bytes).collect();
}

/// What a visit has of the generator's result, of one class's times and of the meters. `of_block` cuts a total down to the block's part.
pub fn base(
    result: LoadResult,
    times: &Times,
    metered: &Metered,
    of_block: impl Fn(u64) -> u64,
) -> DeliveryVisit {
    let (client, server, php) = (&result.client, metered.server_net(), metered.php_net());
    DeliveryVisit {
        seconds: result.seconds,
        server_cpu_ns: Some(of_block(server.cpu_ns)),
        php_cpu_ns: php.map(|php| of_block(php.cpu_ns)),
        server_user_ns: Some(of_block(server.user_ns)),
        php_user_ns: php.map(|php| of_block(php.user_ns)),
        idle: Some(metered.idle(&of_block)),
        client_cpu_ns: ((client.user_seconds + client.system_seconds) * 1e9) as u64,
        client_share: client.thread_shares.iter().copied().fold(0.0, f64::max),
        ttfb: Packed::of(&times.ttfb),
        service: Packed::of(&times.service),
        response: Packed::of(&times.response),
        written_bytes: metered.sum(|usage| usage.write_bytes).map(of_block),
        faults: result.faults,
        preflight: result.preflights.into_iter().next().unwrap_or_default(),
        ..DeliveryVisit::default()
    }
}

/// The visit. The meters' readings are cut down to the block's share of the responses that they saw.
pub fn visit(mut result: LoadResult, load: &LoadPlan, metered: Metered) -> DeliveryVisit {
    let classes = std::mem::take(&mut result.classes);
    let ClassResult { counts, times, .. } = classes.into_iter().next().unwrap_or_default();
    let saw = counts.sent.saturating_add(requests_before(load));
    let share = counts.completed as f64 / saw as f64;
    let of_block = |total: u64| (total as f64 * share).round() as u64;
    let switches = |of: fn(&Usage) -> Option<u64>| metered.sum(of).map_or(0, of_block);
    DeliveryVisit {
        requests: counts.completed,
        metered: saw,
        wire_bytes: counts.wire_bytes,
        head_bytes: counts.head_bytes,
        body_bytes: counts.body_bytes,
        decoded_bytes: counts.decoded_bytes,
        compared: counts.compared,
        decoded: counts.decoded,
        switches: Some(Switches {
            voluntary: switches(|usage| Some(usage.voluntary)),
            involuntary: switches(|usage| Some(usage.involuntary)),
        }),
        read_bytes: metered.sum(|usage| usage.read_bytes).map(of_block),
        ..base(result, &times, &metered, of_block)
    }
}

/// The first preflight that did not bring what was asked for, with why; none where each brought its instance. `digests` are those of the
/// instances, hexadecimal SHA-256.
pub fn wrong(preflights: &[Preflight], digests: &[String]) -> Option<Preflight> {
    let is_wrong = |(seen, digest): &(&Preflight, &String)| {
        seen.fault.is_some()
            || !(200..300).contains(&seen.status)
            || seen.decoded_sha256.as_ref() != Some(digest)
    };
    let at = preflights.iter().zip(digests).position(|pair| is_wrong(&pair))?;
    let mut seen = preflights[at].clone();
    if seen.fault.is_none() && (200..300).contains(&seen.status) {
        let message = format!("what came is not instance {} of {}", at + 1, digests.len());
        seen.fault = Some(HttpFault::new(HttpFaultKind::Mismatch, message));
    }
    Some(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_in_the_place_of_another_is_wrong() {
        let seen = |digest: &str| Preflight {
            status: 200,
            decoded_sha256: Some(digest.into()),
            ..Preflight::default()
        };
        let digests: Vec<String> = ["a", "b"].map(str::to_owned).into();
        assert_eq!(wrong(&[seen("a"), seen("b")], &digests), None);
        let swapped = wrong(&[seen("a"), seen("a")], &digests).and_then(|seen| seen.fault).unwrap();
        assert_eq!(swapped.kind, HttpFaultKind::Mismatch);
        assert_eq!(swapped.message, "what came is not instance 2 of 2");
        let refused =
            wrong(&[seen("a"), Preflight { status: 503, ..Preflight::default() }], &digests).unwrap();
        assert_eq!((refused.status, refused.fault), (503, None), "its status says why");
        assert_eq!(wrong(&[seen("x")], &[]), None, "without a family the payload's digest is compared");
    }
}
