//! The whole engine with the built-in target: what is sent, counted, dropped and aborted.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weigh_load::engine::Progress;
use weigh_load::plan::{Check, Length, LoadPlan, Protocol, Request, Stream};
use weigh_load::run;

use crate::bad_servers::load::PREFLIGHT;
use crate::calibration_target::Target;
use crate::plans::{self, counts, run as load};
use crate::server::{Server, Step, response};

fn request(target: &Target, path: &str) -> Request {
    let url = format!("http://{}{path}", target.address);
    Request { name: path.into(), url, class: "main".into(), ..Request::default() }
}

fn plan(requests: Vec<Request>, arrival: &str, connections: u32, n: Option<u64>) -> LoadPlan {
    LoadPlan {
        requests,
        streams: vec![Stream { arrival: arrival.into(), connections, ..Stream::default() }],
        length: Length { requests: n, seconds: n.is_none().then_some(0.5) },
        check: Check::Verify { decode_every: 10, vary_by: Vec::new() },
        threads: 2,
        slice_seconds: 0.05,
        seed: 7,
        ..LoadPlan::default()
    }
}

#[test]
fn a_rate_that_is_met_is_not_told_as_a_higher_one() {
    let target = Target::start();
    // Due at 0, 0.1, … 0.4 s: the schedule ends at 0.5 s, not with the last request.
    let result = load(&plan(vec![request(&target, "/bytes/10")], "constant:10", 1, None));
    let all = counts(&result);
    assert_eq!((all.scheduled, all.completed + all.dropped), (5, 5));
    assert!(result.seconds >= 0.5, "{} of 10 requests per second were due", 5.0 / result.seconds);
}

#[test]
fn as_many_requests_are_sent_as_asked_for_and_every_account_of_them_agrees() {
    let target = Target::start();
    let result = load(&plan(vec![request(&target, "/bytes/1000")], "closed", 7, Some(1001)));
    let all = counts(&result);
    assert_eq!((all.scheduled, all.sent, all.completed, all.compared), (1001, 1001, 1001, 1001));
    assert_eq!((all.faulted, all.dropped, all.connections), (0, 0, 7));
    assert_eq!((all.body_bytes, all.decoded_bytes), (1_001_000, 1_001_000));
    assert_eq!(all.wire_bytes, all.body_bytes + all.head_bytes);
    let times = &result.classes[0].times;
    for hist in [&times.ttfb, &times.transfer, &times.service, &times.response] {
        assert_eq!(hist.count(), 1001);
    }
    assert_eq!(times.connect.count(), 7);
    let sliced: u64 = result.slices.iter().map(|s| s.completed).sum();
    let histograms: u64 = result.slices.iter().map(|s| s.response.unpack().unwrap().count()).sum();
    assert_eq!((sliced, histograms), (1001, 1001));
    assert_eq!(result.slices.iter().map(|s| s.scheduled).sum::<u64>(), 1001);
}

#[test]
fn without_keepalive_every_request_has_a_connection_of_its_own() {
    let target = Target::start();
    let mut plan = plan(vec![request(&target, "/1k")], "closed", 4, Some(200));
    plan.streams[0].keepalive = false;
    let all = counts(&load(&plan));
    assert_eq!((all.completed, all.connections, all.faulted), (200, 200, 0));
}

#[test]
fn discarded_bodies_are_counted_and_not_compared() {
    let target = Target::start();
    let mut plan = plan(vec![request(&target, "/500k")], "closed", 3, Some(60));
    plan.check = Check::Discard;
    let all = counts(&load(&plan));
    assert_eq!((all.completed, all.compared, all.body_bytes), (60, 0, 60 * 512_000));
    assert_eq!(all.wire_bytes, all.body_bytes + all.head_bytes);
}

#[test]
fn a_download_is_given_up_where_it_should_be() {
    let target = Target::start();
    let mut plan = plan(vec![request(&target, "/bytes/9000000")], "closed", 2, Some(10));
    plan.streams[0].abandon_after = Some(100_000);
    let all = counts(&load(&plan));
    assert_eq!((all.abandoned, all.completed, all.faulted), (10, 0, 0));
    assert_eq!(all.connections, 10, "a connection with half a body on it is of no use");
    assert!(all.wire_bytes >= 1_000_000, "{}", all.wire_bytes);
    assert!(all.wire_bytes < 10 * 9_000_000, "{}", all.wire_bytes);
}

#[test]
fn a_slow_reader_gets_its_body_whole() {
    let target = Target::start();
    let mut plan = plan(vec![request(&target, "/bytes/300000")], "closed", 2, Some(4));
    plan.streams[0].read_rate = Some(3_000_000);
    plan.streams[0].receive_buffer = Some(16 << 10);
    let result = load(&plan);
    let all = counts(&result);
    assert_eq!((all.completed, all.compared, all.body_bytes), (4, 4, 1_200_000));
    // Two connections with 3 MB/s cannot read 1.2 MB in less time, except for the portions that were available at once.
    assert!(result.seconds > 0.12, "{}", result.seconds);
}

#[test]
fn requests_come_by_weight_and_classes_are_counted_apart() {
    let target = Target::start();
    let mut light = request(&target, "/1k");
    light.weight = 3.0;
    let mut heavy = request(&target, "/16k");
    heavy.class = "heavy".into();
    let result = load(&plan(vec![light, heavy], "closed", 4, Some(4000)));
    let [main, heavy] = &result.classes[..] else { panic!("{} classes", result.classes.len()) };
    assert_eq!((main.name.as_str(), heavy.name.as_str()), ("main", "heavy"));
    assert_eq!(main.counts.completed + heavy.counts.completed, 4000);
    // Five standard deviations of a binomial distribution.
    assert!((heavy.counts.completed as f64 - 1000.0).abs() < 137.0, "{}", heavy.counts.completed);
    assert_eq!(heavy.counts.body_bytes, heavy.counts.completed * 16_384);
}

#[test]
fn requests_in_turn_come_equally_often_and_the_preflight_asks_as_often_as_it_is_told() {
    let target = Target::start();
    let sizes = [100, 200, 300, 400, 500];
    let requests = sizes.map(|bytes| Request {
        weight: 1.0 + f64::from(bytes),
        ..request(&target, &format!("/bytes/{bytes}"))
    });
    let mut plan = LoadPlan { preflights: 1, threads: 1, ..plan(requests.to_vec(), "closed", 2, Some(50)) };
    plan.streams[0].in_turn = true;
    let result = load(&plan);
    let all = counts(&result);
    assert_eq!(
        (all.completed, all.faulted, all.body_bytes),
        (50, 0, 10 * 1500),
        "drawn by weight, the longest come most often"
    );
    assert_eq!(weigh_load::engine::preflights(&plan), 1);
}

#[test]
fn one_connection_serves_two_servers_in_turn() {
    let (one, other) = (Target::start(), Target::start());
    let mut plan = plan(vec![request(&one, "/1k"), request(&other, "/1k")], "closed", 1, Some(100));
    plan.threads = 1;
    let all = counts(&load(&plan));
    assert_eq!((all.completed, all.faulted), (100, 0));
    assert!(all.connections > 20, "{} connections", all.connections);
}

/// A server that answers after a while, one connection at a time.
fn slow_server(delay: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            std::thread::spawn(move || {
                let mut request = [0; 4096];
                while stream.read(&mut request).is_ok_and(|n| n > 0) {
                    std::thread::sleep(delay);
                    if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

#[test]
fn what_was_due_and_never_sent_is_dropped() {
    let mut request = request(&Target::start(), "/");
    request.url = format!("http://{}/", slow_server(Duration::from_millis(50)));
    let mut plan = plan(vec![request], "constant:200", 1, None);
    plan.threads = 1;
    let result = load(&plan);
    let all = counts(&result);
    assert_eq!(all.scheduled, 100, "200 a second for half a second");
    assert_eq!(all.sent + all.dropped, 100);
    assert_eq!(all.completed, all.sent, "what was sent is drained");
    assert!(all.dropped >= 80, "{} dropped", all.dropped);
    let times = &result.classes[0].times;
    assert!(
        times.response.quantile(1.0) > times.service.quantile(1.0),
        "the wait for the connection counts as response time and not as service time"
    );
}

#[test]
fn what_does_not_answer_by_the_end_is_a_fault_of_its_own() {
    let server = Server::start(|number| match number {
        ..PREFLIGHT => vec![Step::Send(response("", b"ok"))],
        _ => vec![Step::Wait(Duration::from_secs(30))],
    });
    let mut plan = plans::gets(Protocol::Http11, &format!("http://{}/", server.address), 2);
    // Sending ends with the third connection, for which no request is left.
    plan.streams[0].connections = 3;
    plan.limits.drain_seconds = 0.05;
    let result = load(&plan);
    let all = counts(&result);
    assert_eq!((all.completed, all.faulted), (0, 2));
    assert_eq!(result.faults[0].kind.name(), "timeout");
    assert!(result.faults[0].example.message.contains("after the end"), "{:?}", result.faults);
}

#[test]
fn an_end_that_is_asked_for_is_no_fault() {
    let target = Target::start();
    let mut plan = plan(vec![request(&target, "/1k")], "closed", 2, None);
    plan.length.seconds = Some(600.0);
    let stop = AtomicBool::new(false);
    let has_begun = |progress: &Progress| !progress.is_preflight && progress.completed > 0;
    let result = run(&plan, &mut |p| stop.store(has_begun(p), Ordering::Relaxed), &stop).unwrap();
    let all = counts(&result);
    assert!(all.completed > 0);
    assert_eq!((all.faulted, all.dropped, all.completed), (0, 0, all.sent));
    assert!(result.seconds < 600.0, "{}", result.seconds);
}

#[test]
fn a_run_ends_with_its_schedules_where_nothing_else_ends_it() {
    let target = Target::start();
    let mut plan = plan(vec![request(&target, "/1k")], "steps:100x0.2s,200x0.1s", 4, Some(1_000_000));
    for connections in [4, 1] {
        plan.streams[0].connections = connections;
        let all = counts(&load(&plan));
        assert_eq!((all.scheduled, all.completed + all.dropped), (40, 40));
    }
}

#[test]
fn a_ramp_takes_the_length_of_the_run() {
    let target = Target::start();
    let all = counts(&load(&plan(vec![request(&target, "/1k")], "ramp:100..300", 8, None)));
    assert!((99..=101).contains(&all.scheduled), "{} in half a second at 200 on average", all.scheduled);
}

#[test]
fn nothing_is_sent_where_nobody_listens() {
    let target = Target::start();
    let mut request = request(&target, "/1k");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    request.url = format!("http://{free}/");
    let refusal =
        run(&plan(vec![request], "closed", 2, Some(10)), &mut |_| {}, &AtomicBool::new(false)).unwrap_err();
    assert!(refusal.to_string().contains("connect-refused"), "{refusal}");
}

#[test]
fn a_plan_that_makes_no_sense_is_refused_in_one_line() {
    let target = Target::start();
    let good = plan(vec![request(&target, "/1k")], "closed", 1, Some(1));
    let refused = |change: &dyn Fn(&mut LoadPlan)| {
        let mut bad = good.clone();
        change(&mut bad);
        run(&bad, &mut |_| {}, &AtomicBool::new(false)).unwrap_err().to_string()
    };
    let lines = [
        (refused(&|p| p.requests.clear()), "no requests"),
        (refused(&|p| p.streams[0].arrival = "constant:0".into()), "constant:0"),
        (refused(&|p| p.requests[0].stream = 3), "stream"),
        (refused(&|p| p.length.requests = None), "no end"),
        (refused(&|p| p.requests[0].url = "ftp://127.0.0.1/".into()), "ftp"),
        (refused(&|p| p.requests[0].method = "GET /".into()), "method"),
        (refused(&|p| p.requests[0].headers.push(("X".into(), "a\r\nb".into()))), "line end"),
    ];
    for (line, word) in lines {
        assert!(line.contains(word) && !line.contains('\n'), "{line}");
    }
}
