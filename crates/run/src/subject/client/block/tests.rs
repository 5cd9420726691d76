use super::*;

fn bins(values: &[(u64, u64)]) -> Bins {
    let count = values.iter().map(|v| v.1).sum();
    let (min, max) = (values[0].0, values[values.len() - 1].0);
    Bins { count, min, max, sum: 0, bins: values.to_vec() }
}

#[test]
fn the_histograms_of_workers_become_one() {
    let (a, b) = (bins(&[(10_000, 3), (20_000, 1)]), bins(&[(5_000_000, 4)]));
    let hist = packed([&a, &b].into_iter()).unwrap().unpack().unwrap();
    assert_eq!(hist.count(), 8);
    assert!((hist.quantile(0.25).unwrap() - 10e-6).abs() < 1e-6);
    assert!((hist.max().unwrap() - 5e-3).abs() < 5e-5);
    let wrong = Bins { count: 9, ..a };
    assert!(packed([&wrong].into_iter()).unwrap_err().contains("9 times"));
}

#[test]
fn short_calls_are_recovered_within_a_percent() {
    // The middles of PHP's bins: 16 ns wide, and 32 ns from 16 µs on.
    for (middle, ns) in [(696, 700.0), (42_288, 42_300.0)] {
        let one = Bins { min: 0, max: u64::MAX, ..bins(&[(middle, 100)]) };
        let hist = packed([&one].into_iter()).unwrap().unpack().unwrap();
        for q in [0.5, 0.999] {
            let said = hist.quantile(q).unwrap() * 1e9;
            assert!((said / ns - 1.0).abs() < 0.01, "{said} for {ns}");
        }
    }
}

#[test]
fn failures_are_put_together_by_their_words() {
    let fault = |message: &str, count| Failed { message: message.into(), count };
    let mut one: Done = serde_json::from_str(DONE).unwrap();
    one.faults = vec![fault("gone", 2), fault("full", 3)];
    let mut two = one.clone();
    two.faults = vec![fault("gone", 5)];
    assert_eq!(failed(&[one, two]), [fault("gone", 7), fault("full", 3)]);
}

const DONE: &str = r#"{"id":1,"began":1.0,"ended":2.0,"seconds":1.0,"cpu_user_ns":1,"cpu_system_ns":2,
        "writes":{"count":1,"failed":0},"reads":{"count":1,"failed":0,"hits":1,"misses":0,"wrong":0},
        "put":{"count":0,"min":0,"max":0,"sum":0,"bins":[]},"get":{"count":0,"min":0,"max":0,"sum":0,"bins":[]},
        "memory":{"begin":1,"end":1,"peak":1,"peak_real":1},"own_ns":300.0}"#;
