//! Deliveries through the real scheduler, with a fake that answers as it is told.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use weigh_load::fault::{HttpFault, HttpFaultKind};
use weigh_load::result::FaultCount;
use weigh_model::caveat::Caveat;
use weigh_model::cell::{Cell, Delivery, Subject, Transport};
use weigh_model::plan::{Plan, Server};
use weigh_model::protocol::{FaultKind, Phase};
use weigh_model::record::fairness::Fairness;
use weigh_model::record::negotiation::{Answer, Body, Exchange, Negotiation};
use weigh_model::record::{DeliveryVisit, Record, StopReason, VisitRecord, caveats};
use weigh_model::setting::Setting;
use weigh_model::way::{By, WayKind};
use weigh_run::dir::RunDir;
use weigh_run::executor::{Executor, Failure, Version, VisitOrder};
use weigh_run::log;
use weigh_run::observer::Unobserved;
use weigh_run::run;
use weigh_run::subject::delivery::visit::{DeliveryRequest, record};

use crate::fake::{FakeClock, Lab, log_of};

mod cut;
mod negotiation;
mod slow;

/// What a way costs and gives, and what is wrong with it.
#[derive(Clone)]
struct Behaviour {
    cpu_ms: f64,
    bytes: u64,
    status: u16,
    wrong: bool,
    faults: Vec<FaultCount>,
}

fn way(cpu_ms: f64, bytes: u64) -> Behaviour {
    Behaviour { cpu_ms, bytes, status: 200, wrong: false, faults: Vec::new() }
}

#[derive(Clone)]
struct Fake {
    ways: BTreeMap<String, Behaviour>,
    clock: FakeClock,
    /// Cell and number of requests of each visit.
    asked: Rc<RefCell<Vec<(String, u64)>>>,
    version: &'static str,
    /// Cells that were asked for negotiation, and what a whole body is for them.
    negotiated: Rc<RefCell<Vec<String>>>,
    body: Body,
}

impl Executor for Fake {
    fn versions(&mut self, _plan: &Plan, _live: &[usize]) -> Vec<Version> {
        vec![Version::of("nginx", self.version.into())]
    }

    fn visit(&mut self, order: &VisitOrder<'_>) -> Result<VisitRecord, Failure> {
        let request = DeliveryRequest::of(order);
        assert!(request.blob.is_file(), "the content is there to be sent");
        let id = &request.cell.id;
        let before = self.asked.borrow().iter().filter(|(cell, _)| cell == id).count();
        self.asked.borrow_mut().push((id.clone(), request.requests));
        let way = &self.ways[id];
        let cpu_ns = way.cpu_ms * 1e6 * request.requests as f64 * (1.0 + 0.001 * (before % 3) as f64);
        let seconds = cpu_ns * 1.5 / 1e9;
        self.clock.advance(seconds);
        let mut visit = DeliveryVisit {
            requests: request.requests,
            seconds,
            server_cpu_ns: Some((cpu_ns / 4.0) as u64),
            php_cpu_ns: Some((cpu_ns * 3.0 / 4.0) as u64),
            body_bytes: way.bytes * request.requests,
            faults: way.faults.clone(),
            ..DeliveryVisit::default()
        };
        if request.cell.is_fairness() {
            visit.requests = 0;
            visit.fairness = Some(Fairness { due: 200, ..Fairness::default() });
        }
        visit.preflight.status = way.status;
        let digest = if way.wrong { "0".repeat(64) } else { request.payload.sha256.clone() };
        visit.preflight.decoded_sha256 = Some(digest);
        if request.negotiate {
            self.negotiated.borrow_mut().push(id.clone());
            let answer = Answer { status: 200, body: self.body, ..Answer::default() };
            let exchanges = vec![Exchange { answer, ..Exchange::default() }];
            visit.negotiation = Some(Box::new(Negotiation { exchanges, ended: None }));
        }
        Ok(record(visit, order))
    }
}

struct Rig {
    lab: Lab,
    fake: Fake,
}

fn cell(server: &str, name: &str, expected_seconds: f64) -> Cell {
    let delivery = Delivery {
        server: server.into(),
        transport: Transport::Http,
        by: By::Server,
        kind: WayKind::OnTheFly,
        accept: "gzip".into(),
        connections: 1,
        instances: 1,
        ..Delivery::default()
    };
    let setting = Setting::bare(name);
    Cell {
        id: Cell::make_delivery_id("text", "-", &setting, &delivery),
        subject: Subject::ASSET,
        payload: "text".into(),
        runtime: "-".into(),
        setting,
        expected_seconds,
        delivery: Some(delivery),
        ..Cell::default()
    }
}

impl Rig {
    /// One cell a way, `SERVER/NAME`.
    fn new(ways: &[(&str, Behaviour)]) -> Rig {
        let mut lab = Lab::new(&[]);
        lab.plan.runtimes.clear();
        let mut behaviours = BTreeMap::new();
        for (place, behaviour) in ways {
            let (server, name) = place.split_once('/').unwrap();
            let cell = cell(server, name, behaviour.cpu_ms / 1e3);
            behaviours.insert(cell.id.clone(), behaviour.clone());
            lab.plan.cells.push(cell);
            if lab.plan.servers.iter().all(|s| s.name != server) {
                lab.plan.servers.push(Server {
                    name: server.into(),
                    version: "1".into(),
                    ..Server::default()
                });
            }
        }
        let fake = Fake {
            ways: behaviours,
            clock: lab.clock.clone(),
            asked: Rc::default(),
            version: "1",
            negotiated: Rc::default(),
            body: Body::Content,
        };
        Rig { lab, fake }
    }

    fn measure(&mut self, dir: &mut RunDir) -> anyhow::Result<weigh_run::RunOutcome> {
        run(dir, &mut self.fake, &self.lab.interrupt, &self.lab.clock, &mut Unobserved)
    }

    fn run(&mut self) -> Vec<Record> {
        let mut dir = self.lab.create();
        assert!(self.measure(&mut dir).unwrap().complete);
        drop(dir);
        log::read(&log_of(&self.lab.path())).unwrap().records
    }
}

fn visits(records: &[Record]) -> Vec<&VisitRecord> {
    fn visit(record: &Record) -> Option<&VisitRecord> {
        if let Record::Visit(visit) = record { Some(visit) } else { None }
    }
    records.iter().filter_map(visit).collect()
}

/// Why and after which round the cell of a way stopped.
fn stop(records: &[Record], way: &str) -> (u32, StopReason) {
    let stopped = |r: &Record| match r {
        Record::Stop { cell, round, reason } if cell.ends_with(way) => Some((*round, reason.clone())),
        _ => None,
    };
    records.iter().find_map(stopped).unwrap()
}

fn fault(records: &[Record]) -> (FaultKind, String) {
    let fault = |r: &Record| match r {
        Record::Fault { fault, .. } => Some((fault.kind, fault.message.clone())),
        _ => None,
    };
    records.iter().find_map(fault).unwrap()
}

#[test]
fn a_visit_is_recorded_with_its_cost_a_response() {
    let mut rig = Rig::new(&[("nginx/gzip", way(2.0, 100))]);
    rig.lab.plan.cells[0].keep = true;
    let records = rig.run();
    let visits = visits(&records);
    assert_eq!(stop(&records, "gzip"), (7, StopReason::Settled), "one sample a visit, seven asked for");
    let first = visits[0];
    assert_eq!((first.cell.as_str(), first.encoded_bytes), ("text/nginx/-/http/server/gzip", 100));
    assert_eq!(first.decoded_bytes, rig.lab.plan.payloads[0].bytes);
    let serve = &first.phases[&Phase::Serve];
    assert!((serve.cpu_ns[0] - 2e6).abs() < 10.0 && (serve.wall_ns[0] - 3e6).abs() < 10.0, "{serve:?}");
    let delivery = first.delivery.as_ref().unwrap();
    assert_eq!(u64::from(serve.batch), delivery.requests);
    assert!(delivery.php_cpu_ns > delivery.server_cpu_ns);
}

#[test]
fn a_first_block_is_short_and_the_next_ones_are_as_long_as_was_measured() {
    let mut rig = Rig::new(&[("nginx/gzip", way(2.0, 100)), ("nginx/slow", way(900.0, 90))]);
    rig.run();
    let asked = rig.fake.asked.borrow().clone();
    let of = |way: &str| asked.iter().filter(|(c, _)| c.ends_with(way)).map(|(_, n)| *n).collect::<Vec<_>>();
    let quick = of("gzip");
    assert_eq!((quick[0], quick[1]), (50, 134), "0.4 s of 8 ms at most, then of the 3 ms that were seen");
    assert!(of("slow").iter().all(|n| *n == 1));
}

#[test]
fn what_another_way_of_the_same_place_beats_is_visited_no_more() {
    let mut rig = Rig::new(&[
        ("nginx/good", way(1.0, 100)),
        ("nginx/bad", way(5.0, 110)),
        ("apache/elsewhere", way(5.0, 110)),
    ]);
    let records = rig.run();
    let by = "text/nginx/-/http/server/good".to_owned();
    assert_eq!(stop(&records, "bad"), (5, StopReason::Dominated { by }));
    assert!(!matches!(stop(&records, "elsewhere").1, StopReason::Dominated { .. }), "another server's");
}

#[test]
fn content_that_decodes_to_something_else_is_a_fault_and_no_number() {
    let mut wrong = way(1.0, 100);
    wrong.wrong = true;
    let mut rig = Rig::new(&[("nginx/wrong", wrong), ("nginx/right", way(1.0, 100))]);
    let records = rig.run();
    assert_eq!(fault(&records).0, FaultKind::RoundTrip);
    assert_eq!(stop(&records, "wrong"), (1, StopReason::Fault));
    assert!(visits(&records).iter().all(|v| v.cell.ends_with("right")));
}

#[test]
fn an_answer_of_another_kind_is_a_fault_with_its_status() {
    let mut refused = way(1.0, 100);
    refused.status = 500;
    let (kind, message) = fault(&Rig::new(&[("nginx/refused", refused)]).run());
    assert_eq!(kind, FaultKind::Response);
    assert!(message.contains("500") && message.contains("nginx"), "{message}");
}

fn counted(kind: HttpFaultKind, count: u64) -> FaultCount {
    FaultCount { kind, count, request: "text".into(), example: HttpFault::new(kind, "it was told to") }
}

#[test]
fn a_wrong_body_in_the_block_is_a_fault_and_a_few_lost_responses_are_a_caveat() {
    let mut mismatch = way(1.0, 100);
    mismatch.faults.push(counted(HttpFaultKind::Mismatch, 1));
    assert_eq!(fault(&Rig::new(&[("nginx/x", mismatch)]).run()).0, FaultKind::RoundTrip);
    let mut lossy = way(1.0, 100);
    lossy.faults.push(counted(HttpFaultKind::Reset, 2));
    let records = Rig::new(&[("nginx/x", lossy)]).run();
    let visits = visits(&records);
    assert!(visits.len() > 1 && !records.iter().any(|r| matches!(r, Record::Caveat { cell: Some(_), .. })));
    let lost = caveats(&visits);
    let requests = visits.iter().map(|v| v.delivery.as_ref().unwrap().requests + 2).sum();
    let (faulted, example) = (2 * visits.len() as u64, "it was told to".to_owned());
    assert_eq!(lost, [Caveat::FaultyResponses { faulted, requests, example }], "of all visits, once a cell");
    let mut dead = way(1.0, 100);
    dead.faults.push(counted(HttpFaultKind::Reset, 1_000_000));
    assert_eq!(fault(&Rig::new(&[("nginx/x", dead)]).run()).0, FaultKind::Crash);
}

#[test]
fn one_response_that_is_not_there_at_its_deadline_is_a_fault() {
    let mut late = way(1.0, 100);
    late.faults.push(counted(HttpFaultKind::Timeout, 1));
    assert_eq!(fault(&Rig::new(&[("nginx/x", late)]).run()).0, FaultKind::Timeout);
}

#[test]
fn a_server_of_another_version_ends_the_run() {
    let mut rig = Rig::new(&[("nginx/gzip", way(1.0, 100))]);
    rig.fake.version = "2";
    let mut dir = rig.lab.create();
    let error = rig.measure(&mut dir).unwrap_err().to_string();
    assert_eq!(error, "nginx was 1 when this run was planned and is 2 now; start a new run");
}
