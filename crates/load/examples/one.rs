use weigh_load::{engine::*, plan::*};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let url = a[1].clone();
    let plan = LoadPlan {
        requests: vec![Request {
            name: "r".into(),
            url: url.clone(),
            method: "GET".into(),
            headers: vec![],
            body: vec![],
            weight: 1.0,
            class: "main".into(),
            stream: 0,
        }],
        streams: vec![Stream {
            name: "main".into(),
            arrival: a[2].clone(),
            connections: a[3].parse().unwrap(),
            streams_per_connection: 1,
            keepalive: a.get(6).map(|s| s.as_str()) != Some("close"),
            read_rate: None,
            abandon_after: None,
            receive_buffer: None,
        }],
        protocol: Protocol::Http11,
        tls: Tls { insecure: true, authorities: None, resumption: true },
        length: Length { requests: None, seconds: Some(a[4].parse().unwrap()) },
        limits: Limits::default(),
        check: if a[5] == "discard" {
            Check::Discard
        } else {
            Check::Verify { decode_every: 100, vary_by: vec![] }
        },
        threads: 1,
        cpus: vec![1],
        slice_seconds: 1.0,
        seed: 1,
    };
    let rest = url.strip_prefix("http://").unwrap();
    let (auth, path) = rest.split_once('/').unwrap();
    let arsenal = Arsenal::of(&plan, |_| {
        Ok((
            Endpoint { address: auth.parse().unwrap(), tls: None, authority: auth.into() },
            format!("/{path}"),
        ))
    })
    .unwrap();
    let r = run(&plan, &arsenal, &mut |p| eprintln!("{p:?}"), &Default::default()).unwrap();
    let c = &r.classes[0];
    println!(
        "{:?}\nfaults {:?}\nseconds {} rate {}",
        c.counts,
        r.faults,
        r.seconds,
        c.counts.completed as f64 / r.seconds
    );
    println!(
        "cpu user {:.3} sys {:.3} per100k {:.3} shares {:?} rss {}",
        r.client.user_seconds,
        r.client.system_seconds,
        (r.client.user_seconds + r.client.system_seconds) / c.counts.completed as f64 * 1e5,
        r.client.thread_shares,
        r.client.peak_rss_bytes
    );
    for (n, h) in [
        ("connect", &c.times.connect),
        ("ttfb", &c.times.ttfb),
        ("transfer", &c.times.transfer),
        ("service", &c.times.service),
        ("response", &c.times.response),
        ("late", &r.client.lateness),
    ] {
        println!(
            "{n:10} n={} p50 {:?} p99 {:?} p99.9 {:?} max {:?}",
            h.count(),
            h.quantile(0.5),
            h.quantile(0.99),
            h.quantile(0.999),
            h.max()
        );
    }
}
