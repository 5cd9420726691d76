//! From records to reports, on invented runs: nothing in them was measured.

use weigh_model::cell::Transport;
use weigh_model::link as measured;
use weigh_model::link::{LinkSpec, RoundTrip, Way};
use weigh_model::record::Record;

use super::fixture::negotiation::negotiated;
use super::fixture::{CellSpec, Figures, Lab, downloads, hostile, page_output, static_assets};
use super::*;
use crate::agree::{an_answer_is_short, evidence_is_plain, pictures_agree, statements_agree};
use crate::metric::delivery::is_not_encoded;
use crate::report::advice::Advice;
use crate::report::exhibit::crossover::Pays;
use crate::report::exhibit::fairness::{FairnessResult, SlowClientEffect};

fn row_of<'a>(report: &'a Report, id: &str) -> &'a Row {
    report.row(id).unwrap_or_else(|| panic!("{id} has no row"))
}

fn sentences<'a>(report: &'a Report, topic: &str) -> Vec<&'a str> {
    report.findings.iter().filter(|f| f.topic == topic).map(|f| f.text.as_str()).collect()
}

/// What is recommended to whom.
fn recommended(report: &Report) -> Vec<(&str, &str)> {
    let advice: &Advice = report.advice.as_ref().unwrap();
    advice.recommended.iter().map(|one| (one.scope.as_str(), one.name.as_str())).collect()
}

/// Changes the delivery of every visit to a cell.
fn change(lab: &mut Lab, id: &str, how: impl Fn(u32, &mut DeliveryVisit)) {
    for record in &mut lab.records {
        if let Record::Visit(visit) = record
            && visit.cell == id
        {
            how(visit.round, visit.delivery.as_mut().unwrap());
        }
    }
}

#[test]
fn the_parts_of_the_cpu_time_add_up_to_the_whole() {
    for lab in [page_output(), static_assets(), downloads()] {
        for row in lab.report().rows {
            let cpu = row.get(CPU).unwrap();
            let parts = row.value(SERVER_CPU).unwrap_or(0.0) + row.value(PHP_CPU).unwrap_or(0.0);
            assert!((cpu.value - parts).abs() < 1e-6 * parts, "{}", row.id());
            assert!(
                cpu.low.is_none_or(|low| low <= cpu.value) && cpu.high.is_none_or(|high| cpu.value <= high)
            );
            assert!(row.value("saving").unwrap() <= 1.0 && row.value("wire-bytes") >= row.value(BODY));
            let (rate, one) = (row.value(RATE).unwrap(), row.value(ONE_BY_ONE));
            assert!(one.is_none_or(|one| (rate * one - 1.0).abs() < 0.02), "{}", row.id());
        }
    }
}

#[test]
fn slow_clients_are_a_question_of_their_own() {
    let report = downloads().report();
    let fairness = &report.exhibits.fairness.as_ref().unwrap().0;
    assert!(report.rows.iter().all(|row| !row.cell.is_fairness()) && fairness.len() == 15);
    let outcome = |server: &str, way: &str, clients: u32| {
        let is_it = |f: &&FairnessResult| {
            f.cell.id == format!("photo-500k/{server}/php8.2/http~{clients}@8/php/{way}")
        };
        fairness.iter().find(is_it).unwrap().outcome
    };
    assert_eq!(outcome("apache", "readfile", 0), SlowClientEffect::Alone);
    assert_eq!(outcome("apache", "readfile", 4), SlowClientEffect::Kept);
    assert_eq!(outcome("apache", "readfile", 8), SlowClientEffect::Starved);
    assert_eq!(outcome("apache", "x-sendfile", 8), SlowClientEffect::Free);
}

#[test]
fn slow_clients_alone_are_enough_for_an_answer() {
    let mut lab = downloads();
    lab.plan.cells.retain(Cell::is_fairness);
    let report = lab.report();
    assert!(report.rows.is_empty());
    let advice = report.advice.as_ref().unwrap();
    let said: Vec<&str> = advice.sentences.iter().map(|sentence| sentence.text.as_str()).collect();
    // Four rounds of each are no answer yet.
    let first = [
        "So far X-Sendfile for Apache.",
        "Not settled (4 of 5 rounds): measure again with a larger --budget.",
    ];
    assert_eq!(said[..2], first);
    assert!(advice.recommended.is_empty() && advice.ahead.len() == 1, "{advice:#?}");
    assert!(said.contains(
        &"8 slow clients on Apache: 0 of 8 PHP workers stay busy with X-Sendfile, 8 with readfile."
    ));
    statements_agree("slow clients", &report);
    an_answer_is_short("slow clients", &report);
}

#[test]
fn histograms_of_rounds_are_one() {
    let mut lab = page_output();
    let id = "prose-4m/nginx/php8.2/http/php/none";
    let slow = Packed::of(&{
        let mut hist = weigh_stats::hist::Hist::default();
        (0..20).for_each(|_| hist.record(2_000_000_000));
        hist
    });
    change(&mut lab, id, |round, visit| {
        if round == 3 {
            visit.response = slow.clone();
        }
    });
    let report = lab.report();
    let at = |metric| row_of(&report, id).value(metric).unwrap();
    assert_eq!(row_of(&report, id).count(REQUESTS), 140);
    // One round of seven is slow: its responses are the tail of all, and the median does not know of them.
    assert!(at("response-p99") > 1.9 && at("response-p50") < 0.1);
}

#[test]
fn a_group_is_a_content_a_server_a_runtime_and_a_transport() {
    let report = page_output().report();
    assert_eq!(report.groups.len(), 6);
    for group in &report.groups {
        assert!(group.reference().unwrap().ends_with("php/none"), "{group:?}");
        assert!(group.mark("gzip").unwrap().ends_with("php/ob_gzhandler:6"), "{group:?}");
        assert!(!group.front.is_empty() && group.cells.len() == 19);
        let reference = row_of(&report, group.reference().unwrap());
        assert!(reference.beside["reference"].value == 1.0 && reference.front);
    }
}

#[test]
fn every_sentence_names_rows() {
    let report = page_output().report();
    assert_eq!(report.findings[0].rank, 0);
    for finding in &report.findings {
        assert!(!finding.cells.is_empty(), "{}", finding.text);
        finding.cells.iter().for_each(|id| assert_eq!(row_of(&report, id).cell.id, *id));
    }
}

#[test]
fn a_filter_that_takes_less_is_said_to_do_so() {
    let mut lab = page_output();
    change(&mut lab, "prose-4m/apache/php8.2/http/server/gzip:6", |_, visit| {
        visit.server_cpu_ns = visit.server_cpu_ns.map(|ns| ns / 4);
    });
    let report = lab.report();
    let moves = sentences(&report, "moves")[0];
    assert!(moves.contains("In total, the filter needs 7") && moves.contains("% less CPU time ("), "{moves}");
}

#[test]
fn the_crossover_is_where_the_ratio_crosses_one() {
    let report = static_assets().report();
    let crossovers = &report.exhibits.crossovers.as_ref().unwrap().0;
    let of = |server: &str| crossovers.iter().find(|c| c.endpoint.server == server).unwrap();
    let (apache, nginx) = (of("apache"), of("nginx"));
    assert_eq!(
        (apache.on_the_fly.as_str(), apache.pre_encoded.as_str()),
        ("server/gzip:6", "server/type-map")
    );
    assert_eq!(apache.sizes.len(), 5);
    // On the fly takes 12 µs and 28.6 ns a byte, the look-up 70 µs: equal at about 2 KB.
    let Some(Pays::From { bytes, low, high }) = apache.cpu else { panic!("{:?}", apache.cpu) };
    assert!((1_500.0..2_500.0).contains(&bytes), "{bytes}");
    assert!(low.unwrap() < bytes && bytes < high.unwrap());
    assert!(matches!(nginx.cpu, Some(Pays::Everywhere { .. })), "{:?}", nginx.cpu);
}

/// With a script that minifies, with and without opcode cache.
fn with_scripts(lab: Lab) -> Lab {
    let stand = CellSpec {
        subject: "asset",
        payload: "library-54k",
        server: "apache",
        runtime: "php8.2",
        transport: Transport::Http,
        connections: 10,
    };
    let figures = |php: f64| Figures {
        body: 16_000,
        server: 100_000.0,
        php: Some(php),
        busy: 2.0,
        ..Figures::default()
    };
    lab.cell(stand, "php/minifier,opcache=on", WayKind::PreEncoded, Some("gzip"), figures(500_000.0)).cell(
        stand,
        "php/minifier,opcache=off",
        WayKind::PreEncoded,
        Some("gzip"),
        figures(8_900_000.0),
    )
}

#[test]
fn a_script_with_and_without_opcode_cache_stands_in_one_table_with_filter_and_file() {
    let lab = with_scripts(static_assets());
    let report = lab.report();
    let group = report
        .groups
        .iter()
        .find(|g| g.payload() == "library-54k" && g.factor("server") == "apache")
        .unwrap();
    let ways: Vec<String> = report.members(group).map(names::method).collect();
    let expected = [
        "uncompressed in Apache",
        "gzip 1 in Apache",
        "gzip 6 in Apache",
        "gzip 9 in Apache",
        "type-map in Apache",
        "minifier (opcache=on) in PHP (PHP 8.2)",
        "minifier (opcache=off) in PHP (PHP 8.2)",
    ];
    assert_eq!(ways, expected);
    assert!(report.members(group).all(|row| row.beside.contains_key("reference")), "beside the plain file");
    let mut alone = report.clone();
    alone.groups.retain(|group| group.payload() == "library-54k" && group.factor("server") == "apache");
    let options = crate::output::Options { detail: crate::output::Detail::Full, ..Default::default() };
    let full = crate::format::named("terminal").unwrap().render(&alone, &options).unwrap();
    let full = String::from_utf8(full[0].bytes.clone()).unwrap();
    let table = full.rsplit("library-54k from Apache, http, 10 connections").next().unwrap();
    for way in ["uncompressed in Apache", "gzip 6 in Apache", "type-map in Apache", "minifier"] {
        assert!(table.contains(way), "{way}: {full}");
    }
    assert!(recommended(&report).iter().all(|(_, name)| !name.contains("minifier")), "it is evidence");
}

/// Lets a way of encoding pass some contents over: they are sent as they are.
fn pass_over(lab: &mut Lab, way: &str, is_passed: impl Fn(u64) -> bool) {
    for record in &mut lab.records {
        let Record::Visit(visit) = record else { continue };
        if visit.cell.ends_with(way) && is_passed(visit.decoded_bytes) {
            visit.encoded_bytes = visit.decoded_bytes;
            let delivery = visit.delivery.as_mut().unwrap();
            delivery.preflight.content_encoding = None;
            delivery.server_cpu_ns = Some(30_000 * delivery.requests);
        }
    }
}

#[test]
fn what_a_filter_passes_over_is_on_no_side_of_before_against_on_the_fly() {
    let mut lab = static_assets();
    for level in [1, 6, 9] {
        // Two of the five are of types that are not in nginx's list.
        let way = format!("gzip:{level}");
        let is_it = |c: &&Cell| c.id.contains("/nginx/") && c.id.ends_with(&way);
        let id = lab.plan.cells.iter().find(is_it).unwrap().id.clone();
        let way = id.split_once('/').unwrap().1;
        pass_over(&mut lab, way, |bytes| bytes == 54_417 || bytes == 4_000_000);
    }
    let report = lab.report();
    let crossovers = &report.exhibits.crossovers.as_ref().unwrap().0;
    let nginx = crossovers.iter().find(|c| c.endpoint.server == "nginx").unwrap();
    let sizes: Vec<u64> = nginx.sizes.iter().map(|size| size.bytes).collect();
    assert_eq!(sizes, [256, 2_048, 500_000]);
    assert!(nginx.sizes.iter().all(|size| size.body > 0.9), "a file beside the file as it is: {nginx:#?}");
    let row = report.rows.iter().find(|r| is_not_encoded(r) && r.cell.setting.level == Some(6)).unwrap();
    assert_eq!(names::method(row), "gzip 6 in nginx, not encoded");
    assert!(
        sentences(&report, "smaller").iter().all(|text| !text.contains("-7")),
        "{:#?}",
        sentences(&report, "smaller")
    );
    let skipped = sentences(&report, "skipped");
    assert_eq!(skipped.len(), 3, "{skipped:#?}");
    assert!(skipped.iter().any(|text| {
        text.contains("gzip 6 in nginx sent library-54k") && text.contains("asset-4m uncompressed")
    }));
}

#[test]
fn a_filter_that_encodes_nothing_is_compared_with_nothing() {
    let mut lab = static_assets();
    for level in [1, 6, 9] {
        pass_over(&mut lab, &format!("server/gzip:{level}"), |_| true);
    }
    let report = lab.report();
    assert!(report.exhibits.crossovers.is_none());
    let said = report
        .findings
        .iter()
        .find(|f| f.text.contains("saves CPU time") || f.text.contains("Precompressed"));
    assert!(said.is_none(), "{said:?}");
    let mut lab = page_output();
    for way in ["server/gzip:6", "server/gzip:1", "php/gzencode:6", "php/gzencode:1"] {
        pass_over(&mut lab, way, |_| true);
    }
    let report = lab.report();
    let about = report.findings.iter().filter(|f| f.topic != "skipped" && f.text.contains("gzip 6 in nginx"));
    assert_eq!(about.count(), 0, "no work was moved that nobody did: {:#?}", sentences(&report, "moves"));
}

#[test]
fn the_scripts_own_share_is_taken_out_of_both_sides_of_a_hand_over() {
    let stand = |payload| CellSpec {
        subject: "download",
        payload,
        server: "apache",
        runtime: "php8.2",
        transport: Transport::Http,
        connections: 10,
    };
    let figures = |server: f64, php: f64| Figures {
        body: 500_000,
        server,
        php: Some(php),
        busy: 2.0,
        ..Figures::default()
    };
    let lab = Lab::new("downloads", "Handing over")
        .payload("photo", "binary", 500_000)
        .cell(stand("photo"), "php/readfile", WayKind::Plain, None, figures(600e3, 160e3))
        .cell(stand("photo"), "php/x-sendfile", WayKind::Offload, None, figures(200e3, 65e3));
    let said = |report: &Report| {
        let frees = sentences(report, "frees");
        frees.iter().find(|text| text.contains("X-Sendfile instead of readfile")).unwrap().to_string()
    };
    let text = said(&lab.report());
    assert!(text.contains("PHP's CPU time falls from 159 µs to 64.8 µs (-59%)."), "{text}");
    let own = Figures { body: 1, ..figures(50e3, 60e3) };
    let lab =
        lab.payload("photo@1", "binary", 1).cell(stand("photo@1"), "php/readfile", WayKind::Plain, None, own);
    let report = lab.report();
    let text = said(&report);
    assert!(
        text.contains("PHP's CPU time beyond the script's own 59.8 µs falls from 99.6 µs to 4.98 µs (-95%)."),
        "{text}"
    );
    let finding = report.findings.iter().find(|finding| finding.text == text).unwrap();
    assert!(finding.cells.iter().any(|id| id.starts_with("photo@1/")), "{:?}", finding.cells);
    let pictures = (SHAPE.look.pictures)(&report);
    let drawn: Vec<&str> = pictures.iter().map(|picture| picture.stem.as_str()).collect();
    assert!(
        drawn.contains(&"downloads-01-photo") && !drawn.iter().any(|stem| stem.starts_with("downloads-02")),
        "{drawn:?}"
    );
    let row = report.rows.iter().find(|row| is_own_share(row)).unwrap();
    assert_eq!(
        (row.id(), (SHAPE.look.notes)(&report, row).as_slice()),
        ("photo@1/apache/php8.2/http*10/php/readfile", &["the script's own share".to_owned()][..])
    );
}

/// A page of 20 KB that costs 0.4 ms as it is and 0.75 ms more with zstd.
fn toy_page() -> Lab {
    let stand = CellSpec {
        subject: "page",
        payload: "page",
        server: "apache",
        runtime: "php8.2",
        transport: Transport::Http,
        connections: 1,
    };
    let figures = |body: u64, php: f64| Figures { body, server: 100e3, php: Some(php), ..Figures::default() };
    Lab::new("page-output", "Encoding a page")
        .payload("page", "html", 20_000)
        .cell(stand, "php/none", WayKind::Plain, None, figures(20_000, 300e3))
        .cell(stand, "php/gzencode:6", WayKind::OnTheFly, Some("gzip"), figures(6_500, 1_390e3))
        .cell(stand, "php/zstd:3", WayKind::OnTheFly, Some("zstd"), figures(6_000, 1_050e3))
        .end()
}

#[test]
fn costs_are_shares_of_the_users_own_page_and_never_of_a_toy() {
    let report = toy_page().report();
    let overhead = sentences(&report, "overhead")[0].to_owned();
    let beats = sentences(&report, "beats")[0].to_owned();
    // Fewer bytes are a share of bytes.
    let without_bytes = overhead.replace("67.5% fewer bytes", "").replace("70% fewer bytes", "");
    assert!(!without_bytes.contains('%') && !overhead.contains("your page"), "{overhead}");
    assert!(!beats.contains("your page"), "{beats}");
    let own = CellSpec {
        subject: "page",
        payload: "wordpress",
        server: "url",
        runtime: weigh_model::cell::NO_PHP,
        transport: Transport::Http,
        connections: 1,
    };
    let mut lab = toy_page().payload("wordpress", "html", 50_000);
    lab.plan.payloads.last_mut().unwrap().origin = Origin::Url { url: "http://127.0.0.1/blog/".into() };
    let lab = lab.cell(
        own,
        "server/identity",
        WayKind::Plain,
        None,
        Figures { body: 50_000, ..Figures::default() },
    );
    let mut lab = lab;
    let id = lab.plan.cells.last().unwrap().id.clone();
    let took = Packed::of(&{
        let mut hist = weigh_stats::hist::Hist::default();
        (0..20).for_each(|_| hist.record(34_000_000));
        hist
    });
    change(&mut lab, &id, |_, visit| {
        visit.service = took.clone();
        visit.server_cpu_ns = None;
    });
    let report = lab.report();
    let overhead = sentences(&report, "overhead")[0].to_owned();
    let beats = sentences(&report, "beats")[0].to_owned();
    assert!(
        overhead.contains("for 70% fewer bytes. That is 2.2% of the 34.0 ms of your page."),
        "{overhead}"
    );
    assert!(beats.contains(" That is 1% of the 34.0 ms of your page."), "{beats}");
    let of = |topic: &str| report.findings.iter().find(|f| f.topic == topic).unwrap().cells.contains(&id);
    assert!(of("overhead") && of("beats"), "they rest on it");
}

#[test]
fn a_rate_that_does_not_change_is_said_not_to() {
    let mut lab = downloads();
    for way in ["fpassthru", "readfile", "fread", "x-sendfile"] {
        change(&mut lab, &format!("photo-500k/apache/php8.2/http*10/php/{way}"), |_, visit| {
            visit.seconds = 0.02 * visit.requests as f64;
        });
    }
    let report = lab.report();
    let is_it = |text: &&&str| text.contains("X-Sendfile instead of readfile for photo-500k");
    let frees = sentences(&report, "frees");
    let text = frees.iter().find(is_it).unwrap();
    assert!(text.contains(": the same throughput (1.00–1.00×)."), "{text}");
    assert!(text.contains("Apache's CPU time falls") && text.contains("PHP's CPU time falls"), "{text}");
}

#[test]
fn published_rows_stand_beside_ours_and_disagreements_are_told() {
    let mut lab = page_output();
    change(&mut lab, "prose-4m/apache/php8.2/http/php/zstd:1", |_, visit| visit.seconds *= 100.0);
    let report = lab.report();
    let table = report.exhibits.published.as_ref().unwrap();
    assert_eq!((table.runtime.as_str(), table.rows.len()), ("php8.2", 9), "zstd 22 was not measured");
    let of = |column: &str| table.agreements.iter().find(|a| a.column == column).unwrap();
    let bytes = of("bytes");
    assert_eq!((bytes.pairs, bytes.same, bytes.undecided), (36, 36, 0), "{bytes:#?}");
    assert_eq!(bytes.rank, Some(1.0));
    let seconds = of("mean s");
    assert!(
        seconds.disagreements.iter().all(|d| d.labels.0 == "zstd 1" || d.labels.1 == "zstd 1"),
        "{seconds:#?}"
    );
    assert!(!seconds.disagreements.is_empty() && seconds.rank.unwrap() < 1.0);
    assert!(sentences(&report, "published").iter().any(|text| text.contains("Not so in mean s: ")));
    let row = table.rows.iter().find(|row| row.published.label == "zstd 3").unwrap();
    let cell = row_of(&report, &row.cell);
    assert_eq!(row.here, [cell.value(BODY), cell.value(SECONDS)]);
}

#[test]
fn rates_and_times_that_contradict_the_connections_are_a_caveat() {
    let id = "prose-4m/nginx/php8.2/http/php/none";
    let caveat = |edit: fn(&mut DeliveryVisit)| {
        let mut lab = page_output();
        change(&mut lab, id, |round, visit| {
            if round > 4 {
                edit(visit)
            }
        });
        let report = lab.report();
        let little = |row: &Row| row.caveats.iter().find(|c| matches!(c, Caveat::LittlesLaw { .. })).cloned();
        let others = report.rows.iter().filter(|row| row.cell.id != id);
        assert_eq!(others.filter_map(little).count(), 0, "one connection each, always busy");
        little(row_of(&report, id))
    };
    assert_eq!(caveat(|_| ()), None);
    assert_eq!(caveat(|visit| visit.seconds *= 1.05), None, "within a tenth");
    let Some(Caveat::LittlesLaw { in_flight, connections: 1, visits: 3, of: 7 }) =
        caveat(|visit| visit.seconds *= 2.0)
    else {
        panic!("nothing was in flight half of the time");
    };
    assert!((in_flight - 0.5).abs() < 0.01, "{in_flight}");
    assert!(caveat(|visit| visit.seconds /= 2.0).is_some(), "more than there are connections");
    assert_eq!(
        caveat(|visit| {
            visit.seconds *= 2.0;
            visit.faults.push(weigh_load::result::FaultCount {
                kind: weigh_load::fault::HttpFaultKind::Timeout,
                count: 1,
                request: "page".into(),
                example: weigh_load::fault::HttpFault::new(
                    weigh_load::fault::HttpFaultKind::Timeout,
                    "no answer",
                ),
            });
        }),
        None,
        "what failed may have been in flight all the time"
    );
}

#[test]
fn a_busy_generator_few_rounds_and_faults_are_caveats() {
    let mut lab = page_output();
    let id = "prose-4m/nginx/php8.2/http/php/none";
    change(&mut lab, id, |round, visit| {
        visit.client_share = 0.99;
        if round == 2 {
            visit.faults.push(weigh_load::result::FaultCount {
                kind: weigh_load::fault::HttpFaultKind::Status,
                count: 3,
                request: "page".into(),
                example: weigh_load::fault::HttpFault {
                    kind: weigh_load::fault::HttpFaultKind::Status,
                    message: "status 502".into(),
                    difference: None,
                },
            });
        }
    });
    let cell = row_of(&lab.report(), id).clone();
    assert_eq!(cell.count("faulted"), 3);
    let has = |what: fn(&Caveat) -> bool| cell.caveats.iter().any(what);
    assert!(has(|c| matches!(c, Caveat::GeneratorLimit { share } if *share == 0.99)));
    assert!(has(
        |c| matches!(c, Caveat::FaultyResponses { faulted: 3, requests: 143, example } if example == "status 502")
    ));
    lab.records.retain(|record| matches!(record, Record::Visit(visit) if visit.round == 1));
    let report = lab.report();
    assert!(report.rows.iter().all(|row| row.caveats.contains(&Caveat::FewSamples { samples: 1 })));
    assert!(report.rows.iter().all(|row| row.beside.is_empty()), "one round has no interval");
}

#[test]
fn a_link_is_named_with_what_it_was_measured_as() {
    let mut lab = page_output();
    let spec = LinkSpec::parse("9mbit/170ms").unwrap();
    let is_over = |cell: &Cell| cell.id.starts_with("page-50k/nginx/php8.2/http/");
    let over: Vec<String> =
        lab.plan.cells.iter().filter(|cell| is_over(cell)).map(|c| c.id.clone()).collect();
    let trip = RoundTrip { expected_ms: 170.0, median_ms: 171.0, mad_ms: 0.1, p99_ms: 172.0, exchanges: 30 };
    let measured =
        measured::Measured { round_trip: Some(trip), ..measured::Measured::nothing(Way::Netem, Vec::new()) };
    for id in &over {
        change(&mut lab, id, |_, visit| visit.link = Some(Box::new(measured.clone())));
    }
    for cell in lab.plan.cells.iter_mut().filter(|cell| over.contains(&cell.id)) {
        cell.delivery.as_mut().unwrap().link = Some(spec.name.clone());
    }
    lab.plan.links.push(spec);
    let report = lab.report();
    let group = report.groups.iter().find(|group| group.factor("link") == "9mbit/170ms").unwrap();
    assert_eq!((SHAPE.look.title)(&report, group), "page-50k from nginx, PHP 8.2, http, over 9mbit/170ms");
    let about = (SHAPE.look.about)(&report, group).pop().unwrap();
    assert!(about.starts_with("The link 9mbit/170ms (netem), measured (asked): round trip 171 ms (170 ms)."));
    let reader = sentences(&report, "reader");
    assert!(
        reader[0].starts_with(
            "Over 9mbit/170ms (9 Mbit/s, round trip 170 ms), page-50k from nginx is complete after"
        ),
        "{reader:?}"
    );
    assert_eq!(reader.len(), 1);
    assert!(reader[0].ends_with(" the modelled ones."), "{reader:?}");
    // The handshake, the request and, for more than ten packets, what a window waits: 171 ms less nine packets of 1.333 ms.
    let waits = &report.exhibits.waits.as_ref().unwrap().0;
    assert_eq!(waits.len(), over.len());
    for wait in waits {
        assert_eq!((wait.set_up, wait.round_trip, wait.connections), (0.171, 0.171, 1));
        let packets = (wait.bytes / 1448.0).ceil();
        let waiting = [0.0, 159.0, 159.0 + 145.667][wait.windows as usize - 1];
        let transfer = (wait.bytes + 52.0 * packets) * 8.0 / 9e6 + waiting / 1e3;
        assert!((wait.transfer - transfer).abs() < 1e-6, "{wait:?}: {transfer}");
        assert!((wait.computed - 0.342 - transfer - wait.cpu).abs() < 1e-6 && wait.cpu > 0.0, "{wait:?}");
    }
    assert!(waits.iter().any(|wait| wait.windows == 3) && waits.iter().any(|wait| wait.windows == 1));
}

#[test]
fn nothing_measured_is_no_answer() {
    let mut lab = hostile();
    lab.records.clear();
    let report = lab.report();
    assert!(report.rows.is_empty() && report.groups.is_empty() && report.findings.is_empty());
    assert_eq!(report.unmeasured.len(), lab.plan.cells.len());
}

#[test]
fn the_same_records_give_the_same_report() {
    let text = |lab: Lab| serde_json::to_string(&lab.report()).unwrap();
    assert_eq!(text(static_assets()), text(static_assets()));
}

mod formats;

#[test]
fn no_two_statements_disagree_and_all_are_plain() {
    let with_scripts = with_scripts(static_assets());
    for (name, lab) in [
        ("pages", page_output()),
        ("toy", toy_page()),
        ("assets", static_assets()),
        ("scripts", with_scripts),
        ("downloads", downloads()),
        ("negotiated", negotiated()),
    ] {
        let report = lab.report();
        statements_agree(name, &report);
        an_answer_is_short(name, &report);
        pictures_agree(name, &report);
        evidence_is_plain(name, &report);
        let recommends = report.advice.is_some_and(|advice| !advice.recommended.is_empty());
        assert!(recommends, "{name}: {:?}", lab.report().advice);
    }
}
