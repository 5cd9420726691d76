//! Loads of clients that have the version before: the server sends deltas.

use weigh_codec::delta::{self, Coding};
use weigh_load::engine::Refusal;
use weigh_load::plan::{LoadPlan, Request};
use weigh_load::result::LoadResult;

use crate::bad_servers::load::{counts, load, plan, verify};
use crate::plans::noise;
use crate::server::{Server, Step, response};

const REQUESTS: u64 = 50;

/// The version before, and the one that is sent.
fn versions() -> (Vec<u8>, Vec<u8>) {
    let old = noise(20_000);
    let new = [&old[..7_000], b"a line that is new", &old[7_000..]].concat();
    (old, new)
}

/// Loads a server that sends one body in one coding, as a client that has this.
fn loaded(having: &[u8], coding: Coding, wire: Vec<u8>) -> Result<LoadResult, Refusal> {
    let fields =
        format!("Content-Encoding: {}\r\nVary: Accept-Encoding, Available-Dictionary\r\n", coding.name());
    let server = Server::start(move |_| vec![Step::Send(response(&fields, &wire))]);
    let mut plan = plan(server.address, verify());
    plan.length.requests = Some(REQUESTS);
    let headers = vec![("Accept-Encoding".into(), "gzip, br, zstd, dcb, dcz".into())];
    plan.requests = vec![Request { headers, dictionary: having.into(), ..plan.requests.remove(0) }];
    // As the process of the generator gets it.
    let text = serde_json::to_string(&plan).expect("plain data");
    load(&serde_json::from_str::<LoadPlan>(&text).expect("as it was written"))
}

#[test]
fn every_delta_is_verified_against_its_content() {
    let (old, new) = versions();
    for coding in Coding::ALL {
        let wire = delta::encode(coding, &old, &new, coding.best_level()).expect("it encodes");
        let result = loaded(&old, coding, wire.clone()).expect("a good preflight");
        let counts = counts(&result);
        assert_eq!((counts.completed, counts.faulted, counts.compared), (REQUESTS, 0, REQUESTS));
        assert_eq!(counts.body_bytes, REQUESTS * wire.len() as u64);
        assert_eq!(counts.decoded_bytes, REQUESTS * new.len() as u64);
        assert_eq!(result.preflights[0].content_encoding.as_deref(), Some(coding.name()));
    }
}

#[test]
fn a_delta_that_the_client_cannot_decode_stops_the_load() {
    let (old, new) = versions();
    for coding in Coding::ALL {
        let wire = delta::encode(coding, &old, &new, 9).expect("it encodes");
        for (having, said) in
            [(&new[..], "encoded against another dictionary"), (&[], "offered no dictionary")]
        {
            let refusal = loaded(having, coding, wire.clone()).expect_err("nothing to verify").to_string();
            assert!(refusal.contains(said), "{refusal}");
        }
    }
}

#[test]
fn requests_of_plans_without_dictionaries_are_read_and_written_as_before() {
    let text = serde_json::to_value(Request::default()).expect("plain data");
    assert!(text.get("dictionary").is_none());
    let read: Request = serde_json::from_value(text).expect("without the key");
    assert_eq!(read, Request::default());
}
