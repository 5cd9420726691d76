//! What blocks of deliveries expand to, what is left out, and why.

use super::*;
use crate::planner::{PlanOptions, build};
use crate::study::Study;
use crate::subject::delivery::forecast::{block_requests, preflights};
use weigh_model::payload::{Origin, Payload};
use weigh_model::plan::{Plan, Runtime, Server};
use weigh_model::protocol::{Levels, OptionDescription};
use weigh_model::way::{By, WayDescription, WayKind};

fn way(name: &str, kind: WayKind, subjects: &[&str], codings: &[&str]) -> WayDescription {
    let owned = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    let levels = (kind == WayKind::OnTheFly).then(|| Levels {
        min: 1,
        max: 9,
        default: 6,
        representative: vec![1, 6, 9],
    });
    WayDescription {
        name: name.into(),
        kind,
        codings: owned(codings),
        subjects: owned(subjects),
        levels,
        options: vec![],
        library: Some(format!("{name} 1.0")),
        nominal: vec![(6, 20.0)],
        ..WayDescription::default()
    }
}

fn inventory() -> Inventory {
    let mut brotli = way("br", WayKind::OnTheFly, &["page"], &["br"]);
    brotli.missing = Some("nginx has no brotli module".into());
    brotli.remedy = Some("apt install libnginx-mod-http-brotli-filter".into());
    let all = ["page", "asset", "download"];
    let mut plain = way("plain", WayKind::Plain, &all, &[]);
    plain.options = vec![OptionDescription {
        name: "buffering".into(),
        range: None,
        words: vec!["on".into(), "off".into()],
        about: String::new(),
    }];
    let nginx = ServerEntry {
        plan: Server { name: "nginx".into(), version: "1.22".into(), ..Server::default() },
        php: true,
        ways: vec![
            plain,
            way("gzip", WayKind::OnTheFly, &["page", "asset"], &["gzip"]),
            brotli,
            way("gzip_static", WayKind::PreEncoded, &["asset"], &["gzip"]),
            way("x-accel-redirect", WayKind::Offload, &["download"], &[]),
        ],
        ..ServerEntry::default()
    };
    let apache = ServerEntry {
        plan: Server { name: "apache".into(), version: "2.4".into(), ..Server::default() },
        php: true,
        tls: true,
        ways: vec![
            way("plain", WayKind::Plain, &all, &[]),
            way("gzip", WayKind::OnTheFly, &["page", "asset"], &["gzip"]),
            way("type-map", WayKind::PreEncoded, &["asset"], &["gzip", "br", "compress"]),
        ],
        ..ServerEntry::default()
    };
    let caddy = ServerEntry {
        plan: Server { name: "caddy".into(), ..Server::default() },
        missing: Some("caddy was not found".into()),
        remedy: Some("apt install caddy".into()),
        ..ServerEntry::default()
    };
    let php = RuntimeEntry {
        plan: Runtime { name: "php8.2".into(), version: "8.2.1".into(), ..Runtime::default() },
        ways: vec![
            way("none", WayKind::Plain, &["page"], &[]),
            way("gzip", WayKind::OnTheFly, &["page"], &["gzip", "deflate"]),
            way("readfile", WayKind::Plain, &["download"], &[]),
            way("x-accel-redirect", WayKind::Offload, &["download"], &[]),
        ],
        ..RuntimeEntry::default()
    };
    Inventory { servers: vec![nginx, apache, caddy], pools: vec![php], ..Inventory::default() }
}

fn study(block: &str) -> Study {
    let head =
        "schema = 1\nname = \"mine\"\ntitle = \"T\"\nquestion = \"Q?\"\nreading = \"R\"\n[[deliveries]]\n";
    Study::parse(&format!("{head}{block}"), "mine.toml").unwrap()
}

fn planned(block: &str, inventory: &Inventory, ask: &PlanOptions) -> Result<Plan> {
    build(&study(block), ask, inventory, &mut |name, _| {
        let origin = Origin::Synthetic { imitates: "text".into() };
        let (name, kind) = (name.trim_start_matches("corpus:").to_owned(), "html".into());
        let (blob, sha256) = ("blob".into(), "0".repeat(64));
        Ok(vec![Payload {
            name,
            kind,
            blob,
            sha256,
            bytes: 1_000_000,
            items: vec![1_000_000],
            origin,
            ..Payload::default()
        }])
    })
}

fn plan(block: &str) -> Plan {
    let plan = planned(block, &inventory(), &PlanOptions::default()).unwrap();
    plan.check().unwrap();
    plan
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.cells.iter().map(|c| c.id.as_str()).collect()
}

const PAGE: &str = "subject = \"page\"\ncontent = [\"corpus:p\"]\nruntimes = [\"php\"]\n";

#[test]
fn a_page_has_phps_ways_and_the_servers() {
    let plan =
        plan(&format!("{PAGE}servers = [\"nginx\"]\nways = [\"none\", \"gzip:6\", \"server/gzip:1..2\"]"));
    let place = "p/nginx/php8.2/http";
    let expected = ["php/none", "php/gzip:6", "server/gzip:1", "server/gzip:2"];
    assert_eq!(ids(&plan), expected.map(|way| format!("{place}/{way}")));
    assert_eq!(plan.cells[3].group(), place);
    let accepts: Vec<_> = plan.cells.iter().map(|c| c.delivery.as_ref().unwrap().accept.as_str()).collect();
    assert_eq!(accepts, ["gzip, deflate, br, zstd", "gzip, deflate", "gzip", "gzip"]);
    assert!(plan.cells.iter().all(|cell| cell.delivery.is_some()) && plan.exclusions.is_empty());
    assert_eq!((plan.runtimes[0].version.as_str(), plan.servers.len()), ("8.2.1", 1));
    assert_eq!(plan.servers[0].libraries["gzip"], "gzip 1.0");
    assert!(plan.cells[1].expected_seconds > 0.05, "a megabyte at 20 MB/s");
    assert!(plan.cells[0].expected_seconds < 0.005);
}

#[test]
fn factors_multiply_and_a_cell_twice_is_measured_once() {
    let block = format!(
        "{PAGE}servers = [\"apache\"]\nways = [\"none\", \"php/none\"]\ntransports = [\"http\", \"https\"]\nconnections = [1, 8]"
    );
    let plan = plan(&block);
    let places = ["http", "http*8", "https", "https*8"];
    assert_eq!(ids(&plan), places.map(|t| format!("p/apache/php8.2/{t}/php/none")));
}

#[test]
fn files_need_no_php_and_an_offload_needs_a_server_that_takes_it() {
    let files = "subject = \"asset\"\ncontent = [\"corpus:p\"]\nruntimes = [\"-\"]\n";
    let assets = plan(&format!("{files}servers = [\"*\"]\nways = [\"plain\", \"gzip:6\", \"gzip_static\"]"));
    let expected =
        ["nginx/-/http/server/plain", "nginx/-/http/server/gzip:6", "nginx/-/http/server/gzip_static"];
    let others = ["apache/-/http/server/plain", "apache/-/http/server/gzip:6"];
    let all: Vec<_> = expected.iter().chain(&others).map(|id| format!("p/{id}")).collect();
    assert_eq!(ids(&assets), all, "what one server lacks by its nature is no gap");
    assert_eq!(assets.exclusions.len(), 1, "caddy alone: {:?}", assets.exclusions);
    assert_eq!(assets.exclusions[0].remedy.as_deref(), Some("apt install caddy"));
    let files = "subject = \"download\"\ncontent = [\"corpus:p\"]\nruntimes = [\"php8.2\", \"-\"]\n";
    let downloads = plan(&format!(
        "{files}servers = [\"nginx\", \"apache\"]\nways = [\"readfile\", \"x-accel-redirect\"]"
    ));
    let ways = ["nginx/php8.2/http/php/readfile", "nginx/php8.2/http/php/x-accel-redirect"];
    let ways = ways.iter().chain(&["apache/php8.2/http/php/readfile"]).map(|id| format!("p/{id}"));
    assert_eq!(ids(&downloads), ways.collect::<Vec<_>>());
}

#[test]
fn the_servers_part_of_a_way_is_told_apart() {
    let site = |block: &str| {
        let plan = plan(block);
        plan.cells.iter().map(|c| c.delivery.as_ref().unwrap()).map(|d| d.site.clone()).collect::<Vec<_>>()
    };
    let on = |site: &str| {
        let (name, rest) = site.split_once(' ').unwrap_or((site, ""));
        let options = rest.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned()));
        let (codec, level) = name.split_once(':').map_or((name, None), |(c, l)| (c, l.parse().ok()));
        Some(Setting { codec: codec.into(), level, options: options.into_iter().collect() })
    };
    let pages = format!(
        "{PAGE}servers = [\"nginx\"]\nways = [\"none\", \"none,buffering=off\", \"php/gzip:6\", \"server/gzip:6\"]"
    );
    assert_eq!(site(&pages), [None, on("plain buffering=off"), None, on("gzip:6")]);
    let download =
        "subject = \"download\"\ncontent = [\"corpus:p\"]\nruntimes = [\"php\"]\nservers = [\"nginx\"]\n";
    assert_eq!(site(&format!("{download}ways = [\"x-accel-redirect\"]")), [on("x-accel-redirect")]);
    let asset = "subject = \"asset\"\ncontent = [\"corpus:p\"]\nruntimes = [\"-\"]\nservers = [\"apache\"]\n";
    let block = format!("{asset}ways = [\"type-map,coding=br\", \"type-map,encoder=zopfli\"]");
    assert_eq!(site(&block), [on("type-map"), on("type-map")], "how variants are made is not the server's");
    let accepts: Vec<_> = plan(&block).cells.iter().map(|c| c.delivery.clone().unwrap().accept).collect();
    assert_eq!(accepts, ["br", "gzip, br"]);
}

#[test]
fn what_is_not_here_is_left_out_with_its_remedy() {
    let excluded = |block: &str| {
        let plan = plan(&format!("{PAGE}{block}"));
        plan.exclusions.iter().map(|e| (e.reason.clone(), e.remedy.clone())).collect::<Vec<_>>()
    };
    let module = excluded("servers = [\"nginx\"]\nways = [\"none\", \"br:4\"]");
    let remedy = Some("apt install libnginx-mod-http-brotli-filter".into());
    assert_eq!(module, [("nginx has no brotli module".into(), remedy)]);
    let tls = excluded("servers = [\"nginx\"]\nways = [\"none\"]\ntransports = [\"https\"]");
    assert_eq!(tls[0].0, "nginx does not send over TLS here");
    let nobody = excluded("servers = [\"apache\"]\nways = [\"gzip_static\"]");
    assert_eq!(nobody[0].0, "no method `gzip_static` for a page on apache");
    let bare = Inventory { pools: vec![], ..inventory() };
    let block = format!("{PAGE}servers = [\"nginx\"]\nways = [\"none\"]");
    let plan = planned(&block, &bare, &PlanOptions::default()).unwrap();
    assert_eq!(plan.exclusions[0].remedy.as_deref(), Some("apt install php-fpm"));
}

#[test]
fn a_level_that_one_server_lacks_is_left_out_there_and_wrong_where_all_lack_it() {
    let mut here = inventory();
    here.servers[1].ways[1].levels = None;
    let block = format!("{PAGE}servers = [\"nginx\", \"apache\"]\nways = [\"server/gzip:6\"]");
    let plan = planned(&block, &here, &PlanOptions::default()).unwrap();
    assert_eq!(ids(&plan), ["p/nginx/php8.2/http/server/gzip:6"]);
    assert_eq!(plan.exclusions[0].reason, "gzip has no levels");
    let alone = block.replace("\"nginx\", ", "");
    assert_eq!(
        planned(&alone, &here, &PlanOptions::default()).unwrap_err().to_string(),
        "gzip has no levels"
    );
}

#[test]
fn what_takes_too_long_is_left_out_with_the_budget_that_would_do() {
    let ask = PlanOptions { budget_seconds: Some(0.1), ..PlanOptions::default() };
    let block = format!("{PAGE}servers = [\"nginx\"]\nways = [\"none\", \"php/gzip:6\"]");
    let plan = planned(&block, &inventory(), &ask).unwrap();
    assert_eq!(ids(&plan), ["p/nginx/php8.2/http/php/none"]);
    assert!(plan.exclusions[0].remedy.as_ref().unwrap().contains("--budget 1"), "{:?}", plan.exclusions);
}

#[test]
fn typing_errors_name_the_nearest() {
    let mut all_here = inventory();
    all_here.servers.retain(|s| s.missing.is_none());
    let error = |block: &str| {
        let block = format!("{PAGE}{block}");
        planned(&block, &all_here, &PlanOptions::default()).unwrap_err().to_string()
    };
    let way = error("servers = [\"nginx\"]\nways = [\"gzipp\"]");
    assert_eq!(way, "no method `gzipp`; did you mean `gzip`?");
    let server = error("servers = [\"ngin\"]\nways = [\"none\"]");
    assert_eq!(server, "no server `ngin`; did you mean `nginx`?");
    let level = error("servers = [\"nginx\"]\nways = [\"gzip:10\"]");
    assert_eq!(level, "gzip has levels 1 to 9, not 10");
    assert!(WayRequest::parse("perl/x").unwrap_err().to_string().contains("php/NAME or server/NAME"));
    assert!(WayRequest::parse("set:x").unwrap_err().to_string().contains("no sets"));
    let stepped = WayRequest::parse("php/zstd:-5..22/3").unwrap();
    assert_eq!((stepped.by, stepped.request.name.as_str()), (Some(By::Php), "zstd"));
    assert_eq!(WayRequest::parse("zstd:1..9/4").unwrap().by, None);
}

#[test]
fn each_link_is_a_place_of_its_own() {
    let mut linked = inventory();
    for text in ["4g", "100mbit/20ms"] {
        let spec = weigh_content::defs::Definitions::load(None).unwrap().link(text).unwrap();
        linked.links.insert(text.to_owned(), spec);
    }
    let block = format!(
        "{PAGE}servers = [\"nginx\"]\nways = [\"none\"]\nnegotiation = true\nlinks = [\"-\", \"4g\", \"100mbit/20ms\"]"
    );
    let plan = planned(&block, &linked, &PlanOptions::default()).unwrap();
    plan.check().unwrap();
    let places = ["http", "http@4g", "http@100mbit/20ms"].map(|place| format!("p/nginx/php8.2/{place}"));
    assert_eq!(ids(&plan), places.clone().map(|place| format!("{place}/php/none")));
    assert_eq!(plan.cells.iter().map(Cell::group).collect::<Vec<_>>(), places);
    assert_eq!(plan.links.iter().map(|link| link.name.as_str()).collect::<Vec<_>>(), ["4g", "100mbit/20ms"]);
    let asks: Vec<bool> = plan.cells.iter().map(|c| c.delivery.as_ref().unwrap().negotiation).collect();
    assert_eq!(asks, [true, false, false]);
    let seconds: Vec<f64> = plan.cells.iter().map(|c| c.expected_seconds).collect();
    assert!(seconds[1] > 0.9 && seconds[2] < seconds[1] && seconds[0] < seconds[2], "{seconds:?}");
}

#[test]
fn requests_at_a_rate_are_a_place_of_their_own() {
    let block = format!("{PAGE}servers = [\"nginx\"]\nways = [\"none\"]\nevery_ms = [0, 20, 200]");
    let plan = planned(&block, &inventory(), &PlanOptions::default()).unwrap();
    plan.check().unwrap();
    let places = ["http", "http%20ms", "http%200ms"].map(|place| format!("p/nginx/php8.2/{place}"));
    assert_eq!(ids(&plan), places.clone().map(|place| format!("{place}/php/none")));
    assert_eq!(plan.cells.iter().map(Cell::group).collect::<Vec<_>>(), places);
    let has_rate = plan.cells.iter().map(|cell| Delivery::has_rate(cell.id.strip_prefix("p/").unwrap()));
    assert_eq!(has_rate.collect::<Vec<_>>(), [false, true, true]);
    // Blocks of 0.4 s, with eight requests at least; a preflight has one request, which leaves caches as cold as they are.
    let deliveries: Vec<&Delivery> = plan.cells.iter().filter_map(|cell| cell.delivery.as_ref()).collect();
    let requests: Vec<u64> =
        deliveries.iter().zip([0.001, 0.02, 0.2]).map(|(d, s)| block_requests(s, d)).collect();
    assert_eq!(requests, [400, 20, 8]);
    assert_eq!(deliveries.iter().map(|d| preflights(d, 8)).collect::<Vec<_>>(), [3, 1, 1]);
}

#[test]
fn links_and_rates_that_cannot_be_are_refused() {
    let refused = |block: &str| {
        let head = "schema = 1\nname = \"mine\"\ntitle = \"T\"\nquestion = \"Q?\"\nreading = \"R\"\n[[deliveries]]\n";
        let text =
            format!("{head}content = [\"corpus:p\"]\nruntimes = [\"php\"]\nservers = [\"nginx\"]\n{block}");
        format!("{:#}", Study::parse(&text, "mine.toml").unwrap_err())
    };
    let slow =
        "subject = \"download\"\nways = [\"readfile\"]\nlinks = [\"4g\"]\n[deliveries.slow]\nclients = [8]";
    assert!(refused(slow).contains("slow clients and `links` exclude each other"), "{}", refused(slow));
    let none = "subject = \"page\"\nways = [\"none\"]\nlinks = []";
    assert!(refused(none).contains("`links`"), "{}", refused(none));
    let rate = |ms: &str| refused(&format!("subject = \"page\"\nways = [\"none\"]\nevery_ms = [{ms}]"));
    assert!(rate("2000").contains("every_ms = 2000: give 0 to 1000") && rate("").contains("`every_ms`"));
    let quick =
        "subject = \"page\"\nways = [\"none\"]\nnegotiation = true\n[deliveries.quick]\nlinks = [\"4g\"]";
    assert!(refused(quick).contains("asked for without a link"), "{}", refused(quick));
}
