//! Which pages are measured, and what a proof measures for each kind of client.

use super::*;
use weigh_content::defs::Definitions;
use weigh_model::policy::{Change, Decision, Encoder, Objective, Policy, Rule};
use weigh_model::site::{Accept, Figure, From, SCHEMA, Sample, Sources, Today, Visitors};
use weigh_rig::service::FolderDefinition;

/// A size of pages: the requests of all, and the share of each.
fn pages(from_bytes: u64, requests: f64, shares: &[f64]) -> Stratum {
    let sample = |(at, share): (usize, &f64)| Sample {
        path: format!("{from_bytes}-{at}.html"),
        bytes: from_bytes + 1,
        sha256: format!("{from_bytes:063x}{at}"),
        share: *share,
        sent: Vec::new(),
    };
    Stratum {
        kind: Kind::Page,
        format: "text/html".into(),
        from_bytes,
        to_bytes: None,
        files: Figure::counted(shares.len() as f64),
        bytes: Figure::counted(1.0),
        requests: Figure::counted(requests),
        not_modified: None,
        ranges: None,
        sent_bytes: None,
        writes: None,
        made_ms: None,
        saving: None,
        sample: shares.iter().enumerate().map(sample).collect(),
    }
}

pub fn site() -> Site {
    let accept = |codings: &[&str], share| Accept { codings: to_strings(codings), share, from: From::Given };
    Site {
        schema: SCHEMA,
        name: "shop".into(),
        looked: "2026-01-02".into(),
        sources: Sources { server: Some("nginx".into()), ..Sources::default() },
        visitors: Visitors {
            accept: vec![accept(&["zstd", "br", "gzip"], 0.7), accept(&["gzip"], 0.27), accept(&[], 0.03)],
            ..Visitors::default()
        },
        store_link: Default::default(),
        prices: Default::default(),
        limits: Default::default(),
        today: Vec::new(),
        strata: vec![
            pages(10_000, 90_000.0, &[0.4, 0.2, 0.2, 0.1, 0.1]),
            pages(50_000, 500.0, &[1.0]),
            pages(250_000, 700.0, &[0.9, 0.1]),
        ],
        loaded: Vec::new(),
        page_cache: Vec::new(),
        cacheable: Vec::new(),
        page_php: Vec::new(),
        worker: None,
    }
}

fn names(contents: &[String]) -> Vec<&str> {
    contents.iter().filter_map(|content| content.rsplit('/').next()).collect()
}

#[test]
fn each_size_has_a_page_before_any_has_two() {
    let chosen = files(&site(), Path::new("/x"), Kind::Page, &|_| true).unwrap();
    assert_eq!(names(&chosen), ["10000-0.html", "250000-0.html", "50000-0.html"]);
}

#[test]
fn of_pages_of_one_size_those_with_the_most_requests_are_chosen() {
    let mut site = site();
    site.strata.truncate(2);
    let chosen = files(&site, Path::new("/x"), Kind::Page, &|_| true).unwrap();
    assert_eq!(names(&chosen), ["10000-0.html", "50000-0.html", "10000-1.html"]);
}

#[test]
fn each_client_is_measured_with_what_the_policy_sends_it() {
    let decision = Decision {
        kind: Kind::Page,
        keep: false,
        text: "Send pages.".into(),
        today: "nothing".into(),
        rules: vec![
            Rule::new("zstd", Encoder::Php, "php/zstd:1"),
            Rule::new("gzip", Encoder::Server, "server/gzip:6"),
        ],
        method: None,
        needs: Vec::new(),
        change: Change::default(),
        parts: Vec::new(),
        at_rate: None,
        flips: Vec::new(),
    };
    let policy = Policy {
        schema: weigh_model::policy::SCHEMA,
        site: "shop".into(),
        site_sha256: "0".repeat(64),
        objective: Objective::Time,
        server: Some("nginx".into()),
        decisions: vec![decision],
        pool: None,
        page_cache: None,
        unsettled: Vec::new(),
        machines: Vec::new(),
        php: Vec::new(),
        total: Change::default(),
        loads: Vec::new(),
        coverage: Vec::new(),
        trial: None,
        gates: Vec::new(),
    };
    let servers = Definition::load(&Definitions::load(None).unwrap()).unwrap();
    let nginx = servers.iter().find(|definition| definition.name == "nginx").unwrap();
    // The larger pages have the most traffic now.
    let mut site = site();
    site.strata[2].requests = Figure::counted(70_000.0);
    let proofs = |link: &str| {
        let links = [(Definitions::load(None).unwrap().link(link).unwrap(), 1.0)];
        proofs(&site, Path::new("/x"), &policy, Some(nginx), &links, 60.0).unwrap()
    };
    let found = proofs("100mbit/20ms");
    let of = |(client, study): &(Option<Accept>, Study)| {
        let block = &study.deliveries[0];
        (client.as_ref().unwrap().codings.len(), block.accept.clone().unwrap(), block.ways.clone())
    };
    let (over, direct): (Vec<_>, Vec<_>) =
        found.iter().partition(|(_, study)| study.deliveries[0].links != ["-"]);
    let all: Vec<_> = direct.into_iter().map(of).collect();
    let [(_, over)] = &over[..] else { panic!("{over:?}") };
    assert_eq!(
        (over.deliveries[0].content.len(), over.deliveries[0].links.len()),
        (1, 1),
        "one file, one link"
    );
    let over = |link| {
        let found = proofs(link);
        let blocks = found.iter().flat_map(|(_, study)| &study.deliveries);
        blocks.filter(|block| block.links != ["-"]).map(|block| names(&block.content).join(" ")).collect()
    };
    let (quick, slow): (String, String) = (over("100mbit/20ms"), over("2mbit/10ms"));
    assert_eq!((&*quick, &*slow), ("250000-0.html", "10000-0.html"), "what there is time for");
    assert_eq!(
        all,
        [
            (3, "zstd, br, gzip".into(), vec!["zstd:1".to_owned()]),
            (1, "gzip".into(), vec!["server/advised".to_owned()]),
        ]
    );
}

/// The content of each block by the clients that it is asked as, of assets of a site with a configuration of its own.
fn classes_asked(site: &Site) -> Vec<(String, usize)> {
    let servers = Definition::load(&Definitions::load(None).unwrap()).unwrap();
    let nginx = servers.iter().find(|definition| definition.name == "nginx").unwrap();
    let found = by_class(site, Path::new("/x"), nginx, Kind::Page).unwrap();
    found.into_iter().map(|block| (block.accept.unwrap_or_default(), block.content.len())).collect()
}

#[test]
fn the_sites_own_configuration_is_asked_as_each_class_that_may_get_something_else() {
    let mut site = site();
    assert_eq!(classes_asked(&site), [], "there is no configuration to ask");
    site.sources.server_config = Some("/x/nginx.conf".into());
    // Those who accept all that browsers do are asked for anyway, and those who accept nothing get content as it is.
    assert_eq!(classes_asked(&site), [("gzip".to_owned(), 3)]);
    let sent = |accept: &[&str], bytes| weigh_model::site::Sent {
        accept: to_strings(accept),
        coding: "gzip".into(),
        bytes,
        method: None,
        vary: false,
        cache_control: None,
    };
    for stratum in &mut site.strata {
        stratum.sample[0].sent = vec![sent(&["zstd", "br", "gzip"], 100), sent(&["gzip"], 100)];
    }
    site.strata[1].sample[0].sent[1].bytes = 101;
    assert_eq!(classes_asked(&site), [("gzip".to_owned(), 1)], "one file is sent in another length");
    site.visitors.tls = false;
    assert_eq!(classes_asked(&site), [("gzip".to_owned(), 1)]);
    site.today = vec![Today {
        kind: Kind::Page,
        method: "php/zlib.output_compression:6".into(),
        about: "gzip in PHP".into(),
        from: From::Configured,
    }];
    assert_eq!(classes_asked(&site), [], "PHP encodes");
}

#[test]
fn files_are_chosen_until_their_strata_cover_the_kind() {
    let mut site = site();
    // Eight sizes with the same traffic: six pages are the most.
    site.strata = (1..=8u64).map(|at| pages(at * 1000, 8000.0 / at as f64, &[1.0])).collect();
    assert_eq!(chosen(&site, Kind::Page, &|_| true).len(), 6);
    // Five are needed for 95% of the bytes.
    site.strata = (0..7)
        .map(|at| pages(10_000 + at, [30.0, 25.0, 20.0, 15.0, 7.0, 2.0, 1.0][at as usize], &[0.6, 0.4]))
        .collect();
    let found = chosen(&site, Kind::Page, &|_| true);
    assert_eq!(
        found.iter().map(|one| one.bytes).collect::<Vec<_>>(),
        [10_001, 10_002, 10_003, 10_004, 10_005]
    );
    // A stratum of large pages that few ask for has its place by its bytes.
    site.strata = vec![pages(1_000, 10_000.0, &[0.5, 0.5]), pages(900_000, 10.0, &[1.0])];
    let found = chosen(&site, Kind::Page, &|_| true);
    assert_eq!(found[..2].iter().map(|one| one.bytes).collect::<Vec<_>>(), [1_001, 900_001]);
}

#[test]
fn cached_values_are_measured_with_what_they_have_today_if_a_study_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let tried = |method: &str| {
        let mut site = site();
        let value = Stratum { kind: Kind::Value, format: "igbinary".into(), ..pages(1000, 10.0, &[1.0]) };
        site.strata.push(value);
        let about = "what was told".into();
        site.today = vec![Today { kind: Kind::Value, method: method.into(), about, from: From::Measured }];
        let all = studies(&site, folder.path(), None, 60.0).unwrap();
        let cells = all.iter().find(|one| one.name.ends_with("-values")).unwrap().cells.first().unwrap();
        (cells.serializers.join(" "), cells.codecs.join(" "))
    };
    let (usual, codecs) = ("serialize igbinary".to_owned(), to_strings(&VALUE_CODECS).join(" "));
    for method in ["unknown", "serialize", "igbinary+zstd:3", "serialize+lz4"] {
        assert_eq!(tried(method), (usual.clone(), codecs.clone()), "{method}");
    }
    assert_eq!(tried("serialize+gzcompress:6"), (usual.clone(), format!("{codecs} gzcompress:6")));
    assert_eq!(tried("msgpack+zstd:9"), (format!("{usual} msgpack"), format!("{codecs} zstd:9")));
}

/// Blocks at a rate: what they send, how, and how far apart requests are.
fn rated(site: &Site) -> Vec<(Served, usize, Vec<String>, Vec<u32>)> {
    let servers = Definition::load(&Definitions::load(None).unwrap()).unwrap();
    let nginx = servers.iter().find(|definition| definition.name == "nginx").unwrap();
    let blocks =
        deliveries(site, Path::new("/x"), nginx).unwrap().into_iter().filter(|block| block.every_ms != [0]);
    blocks.map(|own| (own.subject, own.content.len(), own.ways, own.every_ms)).collect()
}

#[test]
fn a_file_of_each_kind_is_measured_at_the_rate_of_the_site_too() {
    let mut site = site();
    let mut more = |kind, format: &str| {
        let own = Stratum { kind, format: format.into(), ..pages(20_000, 900.0, &[0.5, 0.5]) };
        site.strata.push(own);
    };
    more(Kind::Asset, "text/css");
    more(Kind::Asset, "image/png");
    more(Kind::Download, "application/pdf");
    let both = |plain: &str, coded: &str| vec![plain.to_owned(), coded.to_owned()];
    let handed = both("readfile", "x-accel-redirect");
    let all = |ms| {
        [
            (Served::Asset, 1, both("plain", "gzip:6"), vec![ms]),
            (Served::Asset, 1, vec!["plain".to_owned()], vec![ms]),
            (Served::Page, 1, both("none", "zlib.output_compression:6"), vec![ms]),
            (Served::Download, 1, handed.clone(), vec![ms]),
        ]
    };
    assert_eq!(rated(&site), all(100), "nobody counted");
    for (peak, ms) in [(2.0, 100), (40.0, 25), (5000.0, 1)] {
        site.visitors.peak = Some(Figure::counted(peak));
        assert_eq!(rated(&site), all(ms), "{peak}");
    }
}

#[test]
fn what_the_site_does_today_is_measured_to_the_end() {
    let today =
        |kind, method: &str| Today { kind, method: method.into(), about: String::new(), from: From::Given };
    let site = Site {
        today: vec![today(Kind::Download, "php/readfile"), today(Kind::Value, "igbinary+zstd:1")],
        ..site()
    };
    let delivery = |by: &str, kind: &str| {
        format!(
            r#"{{"server": "nginx", "transport": "http", "by": "{by}", "kind": "{kind}", "accept": "gzip", "connections": 1}}"#
        )
    };
    let cell = |subject: &str, serializer: &str, codec: &str, delivery: &str| -> Cell {
        let text = format!(
            r#"{{"id": "one", "subject": "{subject}", "payload": "one", "runtime": "php8.2", "serializer": {serializer},
                "setting": {codec}, "expected_seconds": 1.0, "delivery": {delivery}}}"#
        );
        serde_json::from_str(&text).unwrap()
    };
    let setting = |codec: &str| format!(r#"{{"codec": "{codec}", "level": null}}"#);
    let sent = |subject, codec: &str, by| {
        is_today(&site, &cell(subject, "null", &setting(codec), &delivery(by, "plain")))
    };
    assert!(sent("download", "readfile", "php") && !sent("download", "x-accel-redirect", "php"));
    assert!(sent("page", CONFIG, "server") && !sent("page", "readfile", "php"));
    let stored = |serializer: &str, level| {
        let setting = format!(r#"{{"codec": "zstd", "level": {level}}}"#);
        is_today(&site, &cell("php-codec", serializer, &setting, "null"))
    };
    assert!(stored("\"igbinary\"", 1) && !stored("\"igbinary\"", 3) && !stored("\"serialize\"", 1));
}

/// lighttpd looks for a variant before it knows whether there is one: a file that was not packed yet would be answered with 404.
#[test]
fn variants_are_tried_where_a_file_without_one_is_sent_all_the_same() {
    let servers = Definition::load(&Definitions::load(None).unwrap()).unwrap();
    let has_variants = |name: &str| {
        let server = servers.iter().find(|one| one.name == name).unwrap();
        assets(server, &site().classes()).iter().any(|asked| {
            let way = asked.split([':', ',']).next().unwrap();
            server.ways.iter().any(|row| row.name == way && row.kind == WayKind::PreEncoded)
        })
    };
    assert!(["nginx", "apache", "caddy"].into_iter().all(has_variants));
    assert!(!has_variants("lighttpd"));
}
