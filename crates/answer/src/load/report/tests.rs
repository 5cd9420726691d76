use weigh_load::caveats::Sign;
use weigh_load::fault::{Difference, HttpFault, HttpFaultKind};
use weigh_load::plan::{Check, Length, LoadPlan, Request, Stream};
use weigh_load::result::{
    AgentResult, Checked, ClassResult, Client, FaultCount, Framing, LoadResult, Preflight, Slice,
};

use super::*;
use crate::load::{LoadCaveat, side_by_side};
use crate::text::columns;

fn plan(arrival: &str) -> LoadPlan {
    LoadPlan {
        requests: vec![Request {
            name: "/page".into(),
            url: "http://127.0.0.1/page".into(),
            headers: vec![("Accept-Encoding".into(), "gzip".into())],
            ..Request::default()
        }],
        streams: vec![Stream { arrival: arrival.into(), connections: 2, ..Stream::default() }],
        length: Length { requests: None, seconds: Some(10.0) },
        check: Check::Verify { decode_every: 16, vary_by: Vec::new() },
        ..LoadPlan::default()
    }
}

/// Ten seconds of 200 requests per second; the server sends hostile texts.
fn result(share: f64) -> LoadResult {
    let mut class = ClassResult { name: "all".into(), ..ClassResult::default() };
    class.counts.completed = 2000;
    class.counts.sent = 2001;
    class.counts.scheduled = 2001;
    class.counts.compared = 2000;
    class.counts.faulted = 1;
    class.counts.wire_bytes = 2_000_000;
    for ms in 1..=2000u64 {
        for hist in [&mut class.times.response, &mut class.times.service, &mut class.times.ttfb] {
            hist.record(ms * 1_000_000);
        }
    }
    let difference = Difference { offset: 1234, expected: "00ff".into(), got: "01ff".into() };
    let example = HttpFault {
        kind: HttpFaultKind::Mismatch,
        message: "another body".into(),
        difference: Some(difference),
    };
    let slice = |i: u32| Slice { start: f64::from(i), seconds: 1.0, completed: 200, ..Slice::default() };
    LoadResult {
        seconds: 10.0,
        classes: vec![class],
        slices: (0..10).map(slice).collect(),
        faults: vec![FaultCount {
            kind: HttpFaultKind::Mismatch,
            count: 1,
            request: "/page".into(),
            example,
        }],
        client: Client { user_seconds: share * 10.0, thread_shares: vec![share], ..Client::default() },
        preflights: vec![Preflight {
            request: "/page".into(),
            version: "HTTP/1.1".into(),
            status: 200,
            content_type: Some("text/html".into()),
            server: Some("evil\u{1b}[31m\u{202e}\r\n".into()),
            framing: Framing::Chunked,
            body_bytes: 20_000,
            decoded_bytes: Some(20_000),
            checked: Checked::Bytes,
            ..Preflight::default()
        }],
        ..LoadResult::default()
    }
}

fn shown(run: &Run, width: usize, detail: Detail) -> String {
    let options = Options { width, detail, ..Options::default() };
    terminal::text(&run_blocks(run, &options), &options)
}

#[test]
fn a_rate_that_the_generator_limited_is_not_called_the_server_s() {
    let free = shown(&Run::of(plan("closed"), result(0.3), false), 100, Detail::Summary);
    assert!(free.contains("200 requests/s\n") && !free.contains("SATURATED"), "{free}");
    let run = Run::of(plan("closed"), result(0.99), false);
    assert!(
        run.caveats
            .contains(&LoadCaveat::SaturatedClient { sign: Sign::Busy { share: 0.99 }, nodes: Vec::new() })
    );
    let busy = shown(&run, 100, Detail::Summary);
    assert!(busy.contains("limited by the client, not the server"), "{busy}");
    assert!(busy.contains("SATURATED-CLIENT"), "{busy}");
}

/// A load from three nodes: one at its limit, one lost.
fn from_nodes() -> Run {
    let of = |node: &str, began: f64, share: f64| {
        let (machine, result) = ("AMD EPYC, 2 CPUs".to_owned(), result(share));
        AgentResult { node: node.into(), machine, began, uncertainty: 0.001, result, lost: None }
    };
    let lost = Some("ended: node c was lost: it has not answered for 15 s".to_owned());
    let lost = AgentResult { lost, result: LoadResult::default(), ..of("c", 0.0, 0.0) };
    let all = side_by_side(vec![of("a", 0.0, 0.3), of("b", 0.08, 0.99), lost]).unwrap();
    Run::of(plan("closed"), all, false)
}

#[test]
fn a_load_from_several_nodes_says_what_each_did() {
    let run = from_nodes();
    // Two failed responses, and the node.
    assert_eq!((run.result.classes[0].counts.completed, run.faults()), (4000, 3));
    let text = shown(&run, 120, Detail::Summary);
    for part in [
        "3 nodes · 1 of them lost · started within 80.0 ms (± 2.00 ms)",
        "400 requests/s · limited by the client, not the server",
        "LOST-NODE: the agent on node c ended: node c was lost: it has not answered for 15 s; what it sent is missing",
        "SKEW: the nodes began within 80.0 ms (± 2.00 ms) of each other",
        "use more threads or another machine (node: b)",
        "SATURATED-CLIENT",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("node") && text.lines().any(|line| line.trim_start().starts_with("b ")), "{text}");
    let mut calm = run.clone();
    calm.result.agents.pop();
    calm.result.agents[1] = AgentResult { node: "b".into(), ..calm.result.agents[0].clone() };
    let calm = Run::of(calm.plan, calm.result, false);
    assert!(!shown(&calm, 120, Detail::Summary).contains("AMD EPYC"));
    assert!(shown(&calm, 200, Detail::Full).contains("AMD EPYC, 2 CPUs"));
}

#[test]
fn a_node_with_other_responses_or_a_low_priority_is_named() {
    let mut run = from_nodes();
    run.result.agents[1].result.preflights[0].status = 404;
    run.result.agents[1].result.client.nice = 5;
    run.result.client.nice = 5;
    let text = shown(&Run::of(run.plan, run.result, false), 200, Detail::Summary);
    assert!(text.contains("OTHER-RESPONSES: node b got other responses than the first node"), "{text}");
    assert!(text.contains("LOW-PRIORITY: the generator ran at nice 5 (node: b)"), "{text}");
}

#[test]
fn faults_and_uncompressed_text_are_spelled_out() {
    let run = Run::of(plan("closed"), result(0.3), true);
    assert_eq!(run.faults(), 1);
    let text = shown(&run, 110, Detail::Summary);
    for part in [
        "1 × mismatch; the first on /page: another body (at byte 1,234: expected 00ff, got 01ff)",
        "UNCOMPRESSED: /page (text/html) was sent uncompressed",
        "INTERRUPTED",
        "FAULTS: 1 of 2,001 requests failed",
        "▇",
    ] {
        let found = text.contains(part) || part == "▇" && text.contains('█');
        assert!(found, "{part}: {text}");
    }
}

#[test]
fn the_check_that_can_be_made_is_said() {
    let said = |checked| {
        let mut result = result(0.3);
        result.preflights[0].checked = checked;
        let text = shown(&Run::of(plan("closed"), result, false), 200, Detail::Summary);
        text.lines().find(|line| line.trim_start().starts_with("checked")).unwrap_or_default().to_owned()
    };
    assert!(said(Checked::Bytes).ends_with("every byte of every body"));
    assert!(said(Checked::Parts).ends_with("every byte of every body, except the parts that vary"));
    let samples = said(Checked::Samples);
    assert!(samples.contains("of one body in 16 full decode and plausible length"), "{samples}");
}

#[test]
fn response_and_service_time_are_two_in_an_open_model_alone() {
    let rows = |arrival: &str| {
        let text = shown(&Run::of(plan(arrival), result(0.3), false), 110, Detail::Summary);
        text.lines().filter(|l| l.starts_with("response ") || l.starts_with("service ")).count()
    };
    assert_eq!((rows("closed"), rows("constant:200")), (1, 2));
}

#[test]
fn a_search_that_ends_by_the_clock_says_what_it_knows() {
    use weigh_load::capacity::{Capacity, Ended, Limit, Step, Verdict};
    let step = |rate: f64, verdict: Verdict| {
        let (seconds, lasted) = (5.0, 5.0);
        let (response, in_flight) = (Some(0.02), None);
        Step { rate, seconds, achieved: rate, response, lasted, in_flight, decides: false, verdict }
    };
    let steps = vec![step(40.0, Verdict::Held), step(20.0, Verdict::Held), step(50.0, Verdict::Slow)];
    let limit = Limit { quantile: 0.99, seconds: 0.05 };
    let searched = |held, over| {
        let capacity = Capacity { limit, held, over, ended: Ended::OutOfTime, steps: steps.clone() };
        let closed = Run::of(plan("closed"), result(0.3), false);
        format!(
            "{:?}",
            capacity::blocks(&crate::load::document::Searched { closed, capacity }, &Options::default())
        )
    };
    let short = searched(None, None);
    let said = "no rate was tried long enough; short steps held 40.0, and did not hold 50.0. A longer";
    assert!(short.contains(said), "{short}");
    let none = searched(None, Some(50.0));
    assert!(
        none.contains(
            "50.0 requests/s are not held, and of lower rates none was tried long enough; a short step held 40.0"
        ),
        "{none}"
    );
    let some = searched(Some(45.0), Some(50.0));
    assert!(some.contains("the border is between 45.0 and 50.0 requests/s. A longer"), "{some}");
}

/// Every kind of result that tables show.
#[test]
fn every_table_fits_whole_and_says_what_it_leaves_out() {
    use weigh_load::calibrate::{Calibration, Ceiling, Load};
    use weigh_load::capacity::{Capacity, Ended, Limit, Step, Verdict};
    let options = Options { detail: Detail::Full, ..Options::default() };
    let run = || Run::of(plan("constant:200"), result(0.3), false);
    let (mut several, mut times) = (run(), 0);
    several.figures.classes = ["light", "a-class-with-a-very-long-name"]
        .map(|name| crate::load::figures::ClassFigures { name: name.into(), ..several.figures.total.clone() })
        .to_vec();
    for run in [&run(), &several, &hardly_answering()] {
        times += crate::fits::tables("a run", &run_blocks(run, &options));
    }
    let block = |_, _| Ok::<_, ()>(result(0.3));
    let comparison = weigh_load::compare::compare(6, 1, block).unwrap();
    let compared = crate::load::document::Compared { a: run(), b: hardly_answering(), comparison };
    times += crate::fits::tables("two sides", &compare::blocks(&compared, &options));
    let step = |rate: f64, seconds: f64| Step {
        rate,
        seconds,
        achieved: rate,
        response: None,
        lasted: 12.3,
        in_flight: Some([1.0, 2.0]),
        decides: true,
        verdict: Verdict::Growing,
    };
    let steps = vec![step(1000.0, 2.0), step(1000.0, 10.0), step(1001.0, 10.0), step(125_432.1, 10.0)];
    let limit = Limit { quantile: 0.99, seconds: 0.1 };
    let capacity = Capacity { limit, held: Some(1000.0), over: None, ended: Ended::OutOfTime, steps };
    let searched = crate::load::document::Searched { closed: run(), capacity };
    times += crate::fits::tables("capacity", &capacity::blocks(&searched, &options));
    let load = |threads| Load {
        body_bytes: 1_000_000,
        verified: true,
        keepalive: false,
        threads,
        shares_cores: true,
    };
    let ceilings = [1, 16].map(|threads| Ceiling::of(load(threads), &[result(0.3)])).to_vec();
    times += crate::fits::tables("ceilings", &calibration::blocks(&Calibration { ceilings }));
    assert!(times > 8, "{times}");
}

#[test]
fn what_a_server_says_moves_no_cursor_and_fits() {
    for width in [40, 60, 100, 200] {
        let text = shown(&Run::of(plan("closed"), result(0.3), false), width, Detail::Full);
        assert!(text.contains("evil") && !text.contains(['\u{1b}', '\u{202e}', '\r']), "{text}");
        for line in text.lines() {
            assert!(columns(line) <= width, "at {width}: {line}");
        }
    }
}

/// One request in a hundred is answered, in 7 ms; half of the others fault, and half are never sent.
fn hardly_answering() -> Run {
    let mut class = ClassResult { name: "all".into(), ..ClassResult::default() };
    class.counts.scheduled = 1000;
    class.counts.sent = 505;
    class.counts.completed = 10;
    class.counts.faulted = 495;
    class.counts.dropped = 495;
    (0..10).for_each(|_| class.times.response.record(7_000_000));
    let response = weigh_stats::hist::Packed::coarse(&class.times.response);
    let slice = Slice { seconds: 14.0, completed: 10, faulted: 495, response, ..Slice::default() };
    let mut plan = plan("constant:100");
    plan.limits.drain_seconds = 4.0;
    let result = LoadResult { seconds: 14.0, classes: vec![class], slices: vec![slice], ..result(0.3) };
    Run::of(plan, result, false)
}

#[test]
fn where_one_in_a_hundred_is_answered_no_percentile_is_a_number() {
    let run = hardly_answering();
    let text = shown(&run, 200, Detail::Full);
    let response = text.lines().find(|line| line.starts_with("response ")).unwrap();
    assert_eq!(response.matches("> 14,000").count(), 5, "median to the largest: {text}");
    assert!(response.contains("990"), "how many were not answered: {response}");
    let within = text.split("Responses within").nth(1).unwrap();
    assert_eq!(within.matches("> 14,000").count(), crate::load::figures::PERCENTILES.len(), "{text}");

    let json = serde_json::to_value(&run).unwrap();
    let response = &json["figures"]["total"]["response"];
    assert!(response["median"].is_null(), "{response}");
    assert_eq!(
        response["percentiles"][0],
        serde_json::json!({"percent": 50.0, "seconds": null, "beyond": 14.0})
    );

    let csv = String::from_utf8(csv::slices(&run.plan, &run.result).unwrap()).unwrap();
    let row: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(row[8..], [">14.000"; 5], "{csv}");
}

#[test]
fn times_of_a_server_that_answers_all_have_no_column_for_the_others() {
    let mut all = result(0.3);
    all.classes[0].counts.faulted = 0;
    let text = shown(&Run::of(plan("constant:200"), all, false), 200, Detail::Full);
    assert!(!text.contains("unanswered") && !text.contains("> "), "{text}");
}

#[test]
fn a_rate_that_was_met_is_not_the_generator_s_limit() {
    let mut late = result(0.1);
    late.seconds = 10.0;
    late.classes[0].times = Default::default();
    late.classes[0].counts =
        weigh_load::result::Counts { scheduled: 50, sent: 50, completed: 50, ..Default::default() };
    (0..50).for_each(|_| late.classes[0].times.response.record(2_000_000));
    late.client.lateness.record(4_000_000);
    let text = shown(&Run::of(plan("constant:5"), late, false), 110, Detail::Summary);
    assert!(text.contains("5.00 requests/s · of 5.00 scheduled\n"), "{text}");
    assert!(
        text.contains("LATE-CLIENT: the rate was met") && !text.contains("limited by the client"),
        "{text}"
    );
}

#[test]
fn a_rate_and_times_that_contradict_the_concurrency_are_a_caveat() {
    // 200 responses per second of 50 ms: 10 in flight.
    let of = |plan: LoadPlan, result: LoadResult| {
        let caveats = Run::of(plan, result, false).caveats;
        caveats.into_iter().find(|caveat| matches!(caveat, LoadCaveat::LittlesLaw { .. }))
    };
    let closed = |arrival: &str, connections: u32| {
        let plan = plan(arrival);
        let stream = Stream { connections, ..plan.streams[0].clone() };
        LoadPlan { streams: vec![stream], ..plan }
    };
    let mut steady = result(0.3);
    let class = &mut steady.classes[0];
    (class.counts.faulted, class.times) = (0, Default::default());
    (0..2000).for_each(|_| class.times.response.record(50_000_000));
    for (arrival, connections, is_off) in [
        ("closed", 10, false),
        ("closed", 11, false),
        ("closed", 12, true),
        ("closed", 20, true),
        ("closed", 8, true),
        ("closed:think=50ms", 20, false),
        ("constant:200", 20, false),
    ] {
        let off = of(closed(arrival, connections), steady.clone());
        assert_eq!(off.is_some(), is_off, "{arrival}, {connections}: {off:?}");
    }
    let run = Run::of(closed("closed", 20), steady.clone(), false);
    let text = shown(&run, 100, Detail::Summary);
    assert!(text.contains("LITTLES-LAW") && text.contains("20 at all times"), "{text}");
    // Connections that wait for the last response of a short block, and requests that failed.
    let blocks = LoadPlan { length: Length { requests: None, seconds: Some(0.2) }, ..closed("closed", 12) };
    assert_eq!(of(blocks, steady.clone()), None);
    steady.classes[0].counts.faulted = 5;
    assert_eq!(of(closed("closed", 20), steady), None);
}
