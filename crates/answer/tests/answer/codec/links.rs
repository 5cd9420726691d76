//! Total times over links and break-even bandwidths.

use weigh_answer::report::Report;
use weigh_model::study::Links;
use weigh_model::transfer::Connection;

use crate::codec::fixture::{Figures, Lab};
use weigh_answer::report::exhibit::links::{BreakEven, Mix, MixTotals};

const FAST: &str = "tree/php8.2/serialize/lz4";
const SMALL: &str = "tree/php8.2/serialize/zstd:9";
const REFERENCE: &str = "tree/php8.2/serialize/gzdeflate:6";
const PLAIN: &str = "tree/php8.2/serialize/identity";

/// lz4: 1 ms and 400 kB; zstd 9: 11 ms and 150 kB. A write breaks even where 250 kB, 259 kB in packets, take 10 ms: 207 Mbit/s.
fn lab() -> Lab {
    let cell = |setting| ("tree", "php8.2", Some("serialize"), setting);
    let figures =
        |encode: f64, decode: f64, bytes| Figures { encode: encode * 1e6, decode: decode * 1e6, bytes };
    Lab::new()
        .payload("tree", 500_000, 2)
        .links(&[10.0, 100.0, 1000.0, 25_000.0], &[1.0])
        .cell(cell("identity"), figures(0.9, 0.4, 1_000_000))
        .cell(cell("lz4"), figures(1.0, 0.5, 400_000))
        .cell(cell("gzdeflate:6"), figures(30.0, 3.0, 170_000))
        .cell(cell("zstd:9"), figures(11.0, 0.7, 150_000))
}

fn mix(report: &Report, mix: Mix) -> &MixTotals {
    report.exhibits.links.as_ref().unwrap().groups[0].mixes.iter().find(|l| l.mix == mix).unwrap()
}

#[test]
fn totals_of_known_settings() {
    let report = lab().report();
    let write = mix(&report, Mix::Write);
    let ids: Vec<&str> = write.totals.iter().map(|t| t.cell.as_str()).collect();
    assert_eq!(
        ids,
        [PLAIN, FAST, SMALL, REFERENCE],
        "the envelope from the fastest link on, then the reference"
    );
    let total = |id: &str, at: usize| write.totals.iter().find(|t| t.cell == id).unwrap().at[at];
    // Two items a pass: an operation takes half of it. 200 kB in 139 packets at 100 Mbit/s take 16.58 ms.
    let (mbit, ns, low, high) = total(FAST, 1);
    assert_eq!(mbit, 100.0);
    assert!((ns - 17.078e6).abs() < 0.01e6, "{ns}");
    assert!(low.is_none() && ns <= high.unwrap() && high.unwrap() - ns < 0.3e6, "{high:?}");
    // 75 kB in 52 packets at 10 Mbit/s take 62.16 ms.
    assert!((total(SMALL, 0).1 - 67.66e6).abs() < 0.1e6);
    let best: Vec<&str> = write.best.iter().map(|b| b.cell.as_str()).collect();
    assert_eq!(best, [SMALL, SMALL, FAST, FAST]);
    assert!(write.best.iter().all(|b| b.ties.is_empty()));
}

#[test]
fn a_mix_is_the_mean_over_its_operations() {
    let report = lab().report();
    let at = |m: Mix, id: &str| mix(&report, m).totals.iter().find(|t| t.cell == id).unwrap().at[2].1;
    for id in [FAST, REFERENCE] {
        let mean = (at(Mix::Write, id) + at(Mix::Read, id)) / 2.0;
        assert!((at(Mix::ReadsPerWrite(1.0), id) - mean).abs() < mean * 0.005);
    }
}

#[test]
fn break_even_lies_where_the_costs_are_equal() {
    let report = lab().report();
    let write = mix(&report, Mix::Write);
    let chain: Vec<(&str, &str)> =
        write.break_even.iter().map(|b| (b.fast.as_str(), b.slow.as_str())).collect();
    assert_eq!(chain, [(PLAIN, FAST), (FAST, SMALL)]);
    let crossing = &write.break_even[1];
    assert!((crossing.mbit - 207.2).abs() < 2.0, "{crossing:?}");
    assert!(crossing.low <= crossing.mbit && crossing.mbit <= crossing.high && crossing.high < 217.0);
    assert!(write.break_even[0].mbit > write.break_even[1].mbit, "from the fastest link to the slowest");
}

/// If the times do not differ significantly, the crossing has no upper end, and JSON carries that.
#[test]
fn an_unsettled_crossing_has_no_upper_end() {
    let cell = |setting| ("tree", "php8.2", Some("serialize"), setting);
    let figures = |encode, bytes| Figures { encode, decode: 1.0, bytes };
    let lab = Lab::new()
        .payload("tree", 1000, 1)
        .links(&[10.0], &[])
        .cell_with(cell("lz4"), figures(1000.0, 500), |round| 1.0 + f64::from(round) / 50.0)
        .cell_with(cell("zstd:1"), figures(1010.0, 400), |round| 1.2 - f64::from(round) / 50.0);
    let report = lab.report();
    let crossing = &mix(&report, Mix::Write).break_even[0];
    assert!(crossing.high.is_infinite() && crossing.low > 0.0, "{crossing:?}");
    let json = serde_json::to_string(crossing).unwrap();
    let back: BreakEven = serde_json::from_str(&json).unwrap();
    assert!(back.high.is_infinite());
    // At a slow link the smaller one is ahead whatever the noise; at the fastest they are tied.
    let fast =
        Lab { plan: lab.plan.clone(), records: lab.records.clone(), rounds: 9 }.links(&[1e6], &[]).report();
    assert_eq!(mix(&fast, Mix::Write).best[0].ties.len(), 1);
    assert!(mix(&report, Mix::Write).best[0].ties.is_empty());
}

/// Nothing is known of how one visit would repeat: it ties with everything.
#[test]
fn one_visit_wins_nothing() {
    let mut lab = Lab::new().payload("tree", 1000, 1).links(&[1e6], &[]);
    for (setting, ns) in [("lz4", 100.0), ("snappy", 104.0), ("zstd:1", 200.0)] {
        lab = lab.planned("tree", "php8.2", None, setting);
        lab.visit(1, Figures { encode: ns, decode: ns, bytes: 400 });
    }
    for record in &mut lab.records {
        if let weigh_model::record::Record::Visit(visit) = record {
            visit.phases.values_mut().for_each(|s| {
                s.cpu_ns.truncate(1);
                s.wall_ns.truncate(1);
            });
        }
    }
    let report = lab.report();
    let best = &mix(&report, Mix::Write).best[0];
    // With too few rounds, equality is not claimed either.
    assert_eq!((best.cell.as_str(), best.ties.len()), ("tree/php8.2/-/lz4", 0));
}

/// 140 KB are four windows and 50 KB three: on a new connection the half millisecond of the fourth pays for a zstd that takes 0.3 ms longer even on the
/// fastest link, where bytes ÷ bandwidth says that nothing does.
#[test]
fn a_round_trip_more_is_worth_its_time_on_the_fastest_link() {
    let cell = |setting| ("tree", "php8.2", Some("serialize"), setting);
    let lab = |connection| {
        let mut lab = Lab::new()
            .payload("tree", 140_000, 1)
            .links(&[100.0, 10_000.0, 100_000.0], &[1.0])
            .cell(cell("identity"), Figures { encode: 1e5, decode: 1e5, bytes: 140_000 })
            .cell(cell("zstd:3"), Figures { encode: 4e5, decode: 2e5, bytes: 50_000 });
        lab.plan.study.links.as_mut().unwrap().connection = connection;
        lab.report()
    };
    let best = |report: &Report| -> Vec<String> {
        mix(report, Mix::Write)
            .best
            .iter()
            .map(|best| best.cell.replace("tree/php8.2/serialize/", ""))
            .collect()
    };
    assert_eq!(best(&lab(Connection::Warm)), ["zstd:3", "identity", "identity"]);
    for connection in [Connection::New, Connection::Idle] {
        let report = lab(connection);
        assert_eq!(best(&report), ["zstd:3", "zstd:3", "zstd:3"]);
        assert!(mix(&report, Mix::Write).break_even.is_empty());
    }
}

/// The larger setting takes a window more. It waits for it on fast links, and saves time between the two speeds alone.
#[test]
fn two_settings_may_break_even_twice() {
    let cell = |setting| ("tree", "php8.2", Some("serialize"), setting);
    let mut lab = Lab::new()
        .payload("tree", 20_000, 1)
        .links(&[1.0, 1000.0, 100_000.0], &[])
        .cell(cell("lz4"), Figures { encode: 1e5, decode: 1e5, bytes: 15_000 })
        .cell(cell("zstd:3"), Figures { encode: 2e5, decode: 1e5, bytes: 14_000 });
    lab.plan.study.links.as_mut().unwrap().connection = Connection::New;
    let report = lab.report();
    let even: Vec<(&str, &str)> = mix(&report, Mix::Write)
        .break_even
        .iter()
        .map(|even| (&even.fast[even.fast.len() - 3..], &even.slow[even.slow.len() - 3..]))
        .collect();
    assert_eq!(even, [("d:3", "lz4"), ("lz4", "d:3")]);
    // 11 packets are two windows: the second waits 0.5 ms less nine packets of 12,000 bits, and 0.1 ms of encoding and 1,052 bytes are in between.
    let first = &mix(&report, Mix::Write).break_even[0];
    let waiting = |mbit: f64| 0.5 - 9.0 * 12.0 / mbit;
    let lost = waiting(first.mbit) + 8.416 / first.mbit - 0.1;
    assert!(lost.abs() < 0.005, "{first:?}: {lost}");
    assert!(first.low < first.mbit && first.mbit < first.high);
    let best: Vec<&str> = mix(&report, Mix::Write).best.iter().map(|b| &b.cell[b.cell.len() - 3..]).collect();
    assert_eq!(best, ["d:3", "d:3", "d:3"]);
    assert!(first.mbit < 1000.0 && mix(&report, Mix::Write).break_even[1].mbit > 1.0);
}

/// 32 workers have a 32nd each, and what driver and store take for each byte is as good as a slower link.
#[test]
fn who_shares_the_link_and_what_the_store_takes_is_in_totals_and_said() {
    let total = |change: fn(&mut Links)| {
        let mut lab = lab();
        change(lab.plan.study.links.as_mut().unwrap());
        let report = lab.report();
        let totals = &mix(&report, Mix::Read).totals;
        let of = totals.iter().find(|t| t.cell == FAST).unwrap().at[2].1;
        (of, report.exhibits.links.unwrap().assumed)
    };
    let (alone, assumed) = total(|_| {});
    assert_eq!(
        assumed,
        "a round trip of 500 µs and one worker on a warm connection; driver and store are left out"
    );
    // 200 kB at 1 Gbit/s: 1.6576 ms in 139 packets.
    let (shared, assumed) = total(|links| links.concurrency = 32);
    assert!((shared - alone - 31.0 * 1.6576e6).abs() < 0.01e6, "{alone} {shared}");
    assert!(assumed.contains("32 workers that share the link"), "{assumed}");
    let (stored, assumed) = total(|links| links.read_ns_per_byte = Some(0.5));
    assert!((stored - alone - 0.1e6).abs() < 1.0, "{alone} {stored}");
    assert!(assumed.ends_with("driver and store take 0.500 ns per byte of a read"), "{assumed}");
}

#[test]
fn no_links_no_totals() {
    let report = Lab::new()
        .payload("tree", 1000, 1)
        .cell(("tree", "php8.2", None, "lz4"), Figures { encode: 1.0, decode: 1.0, bytes: 1 })
        .report();
    assert!(report.exhibits.links.is_none());
}
