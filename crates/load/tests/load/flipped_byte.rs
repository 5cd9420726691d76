//! One wrong byte in one of many responses is found and reported correctly.

use weigh_load::fault::HttpFaultKind;
use weigh_load::plan::{Check, Length, LoadPlan, Request, Stream};
use weigh_load::result::LoadResult;

use crate::flip::{Flip, FlipServer};
use crate::plans;

const REQUESTS: u64 = 2000;

fn load(server: &FlipServer, check: Check) -> LoadResult {
    let plan = LoadPlan {
        requests: vec![Request {
            name: "body".into(),
            url: format!("http://{}/", server.address),
            ..Request::default()
        }],
        streams: vec![Stream { connections: 4, ..Stream::default() }],
        length: Length { requests: Some(REQUESTS), seconds: None },
        check,
        threads: 2,
        ..LoadPlan::default()
    };
    plans::run(&plan)
}

fn body() -> Vec<u8> {
    (0..4096).map(|n| b' ' + (n * 7 % 95) as u8).collect()
}

#[test]
fn one_wrong_byte_is_one_fault_with_its_place() {
    for (offset, mask) in [(0, 1), (1777, 0x80), (4095, 4)] {
        let flip = Flip { response: 1234, offset, mask };
        let result = load(&FlipServer::start(body(), flip).unwrap(), verify());
        let counts = result.classes[0].counts;
        assert_eq!((counts.completed, counts.faulted), (REQUESTS - 1, 1), "{flip:?}");
        let [fault] = &result.faults[..] else { panic!("{flip:?}: {:?}", result.faults) };
        assert_eq!((fault.kind, fault.count), (HttpFaultKind::Mismatch, 1));
        let shown = fault.example.difference.as_ref().unwrap();
        let (expected, got) = flip.bytes(&body());
        assert_eq!(shown.offset, offset as u64);
        let length = 32.min(expected.len());
        assert_eq!((shown.expected.as_str(), shown.got.as_str()), (&expected[..length], &got[..length]));
    }
}

#[test]
fn a_server_without_a_wrong_byte_has_no_fault_and_one_that_is_not_looked_at_has_none_either() {
    let never = Flip { response: u64::MAX, offset: 0, mask: 1 };
    assert_eq!(load(&FlipServer::start(body(), never).unwrap(), verify()).faults, []);
    let once = Flip { response: 1234, ..never };
    assert_eq!(load(&FlipServer::start(body(), once).unwrap(), Check::Discard).faults, []);
}

fn verify() -> Check {
    Check::Verify { decode_every: 16, vary_by: Vec::new() }
}
