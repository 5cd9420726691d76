//! What is advised of cached values: what today is, and for which of them a setup speaks.

use weigh_answer::policy::{NOT_ENCODED, decide};
use weigh_model::policy::Objective;
use weigh_model::site::{
    Figure, From, Kind, SCHEMA, Sample, Site, Sources, StoreLink, Stratum, Today, Visitors,
};

use crate::codec::fixture::{Figures, Lab};
use weigh_answer::policy::Decided;

/// Bytes of a small value and of a large one, and what gzdeflate leaves of one.
const SMALL: u64 = 800;
const LARGE: u64 = 14_000;
const LEFT: f64 = 0.25;

fn digest(at: u64) -> String {
    format!("{at:064x}")
}

/// Values of one form: how many, their bytes, bytes of one in the store, and whether one of them stands for them.
fn stratum(format: &str, keys: f64, bytes: u64, stored: f64, is_sampled: bool) -> Stratum {
    let sample = Sample { path: "value".into(), bytes, sha256: digest(bytes), share: 1.0, sent: Vec::new() };
    Stratum {
        kind: Kind::Value,
        format: format.into(),
        from_bytes: if bytes < 1000 { 0 } else { 10_000 },
        to_bytes: None,
        files: Figure::counted(keys),
        bytes: Figure::counted(keys * bytes as f64),
        requests: Figure::counted(keys * 1000.0),
        not_modified: None,
        ranges: None,
        sent_bytes: Some(Figure::counted(keys * stored)),
        writes: Some(Figure::counted(keys * 10.0)),
        saving: None,
        made_ms: None,
        sample: if is_sampled { vec![sample] } else { Vec::new() },
    }
}

fn decided(method: &str, strata: Vec<Stratum>) -> Decided {
    decided_over(1000.0, Objective::Money, method, strata)
}

/// With a link of this many Mbit/s to the store.
fn decided_over(mbit: f64, objective: Objective, method: &str, strata: Vec<Stratum>) -> Decided {
    let mut lab = Lab::new().payload("small", SMALL, 1).payload("large", LARGE, 1);
    for (payload, bytes) in lab.plan.payloads.iter_mut().zip([SMALL, LARGE]) {
        payload.sha256 = digest(bytes);
    }
    for (payload, bytes) in [("small", SMALL), ("large", LARGE)] {
        let figures = |encode, left: f64| Figures {
            encode: encode * bytes as f64,
            decode: encode * bytes as f64 / 5.0,
            bytes: (bytes as f64 * left) as u64,
        };
        lab = lab.cell((payload, "php", Some("serialize"), "identity"), figures(2.0, 1.0));
        lab = lab.cell((payload, "php", Some("serialize"), "gzdeflate:6"), figures(30.0, LEFT));
    }
    let about = "what was told of them".to_owned();
    let site = Site {
        schema: SCHEMA,
        name: "cache".into(),
        looked: "2026-01-02".into(),
        sources: Sources::default(),
        visitors: Visitors::default(),
        store_link: StoreLink { mbit: Figure::assumed(mbit), ..StoreLink::default() },
        prices: Default::default(),
        limits: Default::default(),
        today: vec![Today { kind: Kind::Value, method: method.into(), about, from: From::Measured }],
        strata,
        loaded: Vec::new(),
        page_cache: Vec::new(),
        cacheable: Vec::new(),
        page_php: Vec::new(),
        worker: None,
    };
    decide(&site, "", &[], vec![lab.report()], objective, NOT_ENCODED).unwrap()
}

/// GB in the store before, as decided.
fn before(decided: &Decided) -> f64 {
    decided.policy.decisions[0].change.gb_stored.before
}

const UNKNOWN: &str = "what that costs in CPU time was not measured";

#[test]
fn today_is_the_setup_that_keeps_as_many_bytes_as_the_store_has() {
    // Small ones plain, large ones compressed, as php-memcached does it.
    let large = LARGE as f64 * LEFT;
    let strata =
        vec![stratum("serialize", 300.0, SMALL, 800.0, true), stratum("serialize", 60.0, LARGE, large, true)];
    let mixed = decided("serialize+gzdeflate:6", strata);
    let counted = 300.0 * 800.0 + 60.0 * large;
    assert!((before(&mixed) * 1e9 / counted - 1.0).abs() < 0.01, "{} {counted}", before(&mixed));
    assert!(mixed.notes.iter().all(|note| !note.contains(UNKNOWN)), "{:?}", mixed.notes);
    // The same method, with every value compressed.
    let strata =
        vec![stratum("serialize", 300.0, SMALL, 200.0, true), stratum("serialize", 60.0, LARGE, large, true)];
    let all = decided("serialize+gzdeflate:6", strata);
    assert!((before(&all) * 1e9 / (300.0 * 200.0 + 60.0 * large) - 1.0).abs() < 0.01);
}

#[test]
fn a_method_that_does_not_agree_with_the_store_is_not_today_and_nothing_is_gained_from_it() {
    // Most bytes are plain, but the large ones are in a codec that no study has.
    for method in ["serialize", "unknown"] {
        let strata = vec![
            stratum("serialize", 300.0, SMALL, 800.0, true),
            stratum("serialize", 60.0, LARGE, 2000.0, true),
        ];
        let decided = decided(method, strata);
        let [decision] = &decided.policy.decisions[..] else { panic!("values alone") };
        assert!(decision.keep && decision.rules.is_empty(), "{method}");
        assert_eq!(decision.change.gb_stored.before, decision.change.gb_stored.after, "{method}");
        let notes = decided.notes.join("\n");
        assert!(
            notes.contains("Values take 360 KB in the store today") && notes.contains(UNKNOWN),
            "{notes}"
        );
    }
}

#[test]
fn a_setup_of_a_part_of_the_values_says_of_which() {
    let strata = vec![
        stratum("serialize", 100.0, SMALL, 800.0, true),
        stratum("compressed or encrypted", 100.0, 2400, 2400.0, false),
    ];
    let part = decided("serialize", strata);
    let text = &part.policy.decisions[0].text;
    assert!(text.contains("(for serialize, 25% of the bytes)"), "{text}");
    let whole = decided("serialize", vec![stratum("serialize", 100.0, SMALL, 800.0, true)]);
    assert!(!whole.policy.decisions[0].text.contains("(for"), "{:?}", whole.policy.decisions);
}

#[test]
fn the_link_to_the_store_is_a_figure_of_the_site_and_has_its_flip() {
    let strata = || vec![stratum("serialize", 60.0, LARGE, LARGE as f64, true)];
    let over = |mbit: f64| {
        let decided = decided_over(mbit, Objective::Time, "serialize", strata());
        decided.policy.decisions[0].clone()
    };
    let (fast, slow) = (over(10_000.0), over(10.0));
    assert!(fast.keep && !slow.keep, "{fast:?} {slow:?}");
    assert!(
        fast.flips.iter().any(|flip| flip.when.contains("the link to the store had")),
        "{:?}",
        fast.flips
    );
}
