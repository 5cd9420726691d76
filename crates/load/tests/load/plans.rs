//! Plans for tests.

use weigh_load::plan::{Check, Length, Limits, LoadPlan, Protocol, Request, Stream, Tls};

/// So many GETs of one URL in a closed model over two connections.
pub fn gets(protocol: Protocol, url: &str, requests: u64) -> LoadPlan {
    LoadPlan {
        requests: vec![Request {
            name: "page".into(),
            url: url.into(),
            method: "GET".into(),
            headers: vec![("Accept-Encoding".into(), "gzip".into())],
            body: Vec::new(),
            weight: 1.0,
            class: "pages".into(),
            stream: 0,
        }],
        streams: vec![Stream {
            name: "all".into(),
            arrival: "closed".into(),
            connections: 2,
            streams_per_connection: 1,
            keepalive: true,
            read_rate: None,
            abandon_after: None,
            receive_buffer: None,
        }],
        protocol,
        tls: Tls { insecure: false, authorities: None, resumption: true },
        length: Length { requests: Some(requests), seconds: None },
        limits: Limits { request_seconds: 20.0, drain_seconds: 20.0, ..Limits::default() },
        check: Check::Verify { decode_every: 1, vary_by: Vec::new() },
        threads: 1,
        cpus: Vec::new(),
        slice_seconds: 1.0,
        seed: 1,
    }
}
