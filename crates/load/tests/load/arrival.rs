//! Arrival models by their texts: what is due when, as a whole and in parts.

use proptest::prelude::*;
use weigh_load::Nanos;
use weigh_load::arrival::{Due, Schedule, ThreadShare, parse, parse_for};

const SECOND: Nanos = 1_000_000_000;

fn part(index: u32, count: u32) -> ThreadShare {
    ThreadShare { index, count, slots: 4, seed: 7, seconds: None }
}

/// Everything that is due before an instant.
fn due_before(schedule: &mut dyn Schedule, end: Nanos) -> Vec<Nanos> {
    let next = || match schedule.next(end - 1) {
        Due::Now(instant) => Some(instant),
        _ => None,
    };
    std::iter::from_fn(next).collect()
}

fn instants(text: &str, part: &ThreadShare, end: Nanos) -> Vec<Nanos> {
    due_before(&mut *parse(text).unwrap().schedule(part), end)
}

/// The instants of all parts, in order.
fn union(text: &str, parts: u32, end: Nanos) -> Vec<Nanos> {
    let mut all: Vec<Nanos> = (0..parts).flat_map(|i| instants(text, &part(i, parts), end)).collect();
    all.sort_unstable();
    all
}

/// Texts of models whose instants have a closed formula, all at least 3 seconds long.
fn numbered() -> impl Strategy<Value = String> {
    let rate = || (1u32..40_000).prop_map(|hundredths| f64::from(hundredths) / 100.0);
    let steps = prop::collection::vec((rate(), 1u32..2500), 3..6);
    prop_oneof![
        rate().prop_map(|r| format!("constant:{r}")),
        (rate(), rate()).prop_map(|(a, b)| format!("ramp:{a}..{b},3.5s")),
        steps.prop_map(|steps| {
            let steps: Vec<String> = steps.iter().map(|(r, ms)| format!("{r}x{}ms", ms + 1000)).collect();
            format!("steps:{}", steps.join(","))
        }),
    ]
}

proptest! {
    #[test]
    fn parts_together_are_the_whole(text in numbered(), parts in 1u32..9) {
        let whole = union(&text, 1, 3 * SECOND);
        prop_assert_eq!(union(&text, parts, 3 * SECOND), whole);
    }

    #[test]
    fn numbered_instants_rise_from_the_start(text in numbered()) {
        let all = union(&text, 1, 3 * SECOND);
        prop_assert_eq!(all[0], 0);
        prop_assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn counts_follow_the_offered_rate(text in numbered(), ms in 1u64..3000) {
        let model = parse(&text).unwrap();
        // The rates are linear or change at whole milliseconds: the middle of each millisecond is its mean.
        let asked: f64 = (0..ms).map(|i| model.offered((i as f64 + 0.5) / 1e3).unwrap() / 1e3).sum();
        let count = union(&text, 1, ms * 1_000_000).len() as f64;
        prop_assert!((count - asked).abs() <= 1.0 + 1e-6, "{count} for {asked}");
    }

    #[test]
    fn nothing_is_due_after_the_run(text in numbered(), ms in 1u64..3000) {
        let run = ThreadShare { seconds: Some(ms as f64 / 1e3), ..part(0, 1) };
        let mut schedule = parse(&text).unwrap().schedule(&run);
        let all = due_before(&mut *schedule, 10 * SECOND);
        prop_assert_eq!(schedule.next(10 * SECOND), Due::Never);
        prop_assert_eq!(all, union(&text, 1, ms * 1_000_000));
    }

    #[test]
    fn poisson_instants_do_not_fall(rate in 1u32..2000, seed: u64, parts in 1u32..5) {
        let text = format!("poisson:{rate}");
        let run = ThreadShare { seed, ..part(parts - 1, parts) };
        let all = instants(&text, &run, 2 * SECOND);
        prop_assert!(all.windows(2).all(|pair| pair[0] <= pair[1]));
        prop_assert_eq!(instants(&text, &run, 2 * SECOND), all);
    }

    #[test]
    fn no_text_panics(text in "(closed|constant|poisson|ramp|steps)?:?[0-9a-z.,:=x]{0,20}") {
        if let Ok(model) = parse_for(&text, Some(1.0)) {
            let run = ThreadShare { seconds: Some(0.001), ..part(0, 1) };
            model.schedule(&run).next(0);
        }
    }
}

#[test]
fn the_nth_instant_of_a_constant_rate_has_no_rounding_of_others() {
    let all = instants("constant:3", &part(0, 1), 7200 * SECOND);
    assert_eq!(all.len(), 3 * 7200);
    assert_eq!(all[1], 333_333_333);
    assert_eq!(all[3 * 7199], 7199 * SECOND);
    assert_eq!(all[3 * 7199 + 2], 7199 * SECOND + 666_666_667);
}

#[test]
fn a_schedule_tells_when_the_next_is_due() {
    let mut schedule = parse("constant:10").unwrap().schedule(&part(1, 2));
    assert_eq!(schedule.next(0), Due::At(100_000_000));
    assert_eq!(schedule.next(450_000_000), Due::Now(100_000_000));
    assert_eq!(schedule.next(450_000_000), Due::Now(300_000_000));
    assert_eq!(schedule.next(450_000_000), Due::At(500_000_000));
    assert_eq!(schedule.next(500_000_000), Due::Now(500_000_000));
}

#[test]
fn ramps_and_steps_end() {
    // 100 per second on average, for 10 seconds; half of them in the faster third of it.
    let ramp = instants("ramp:50..150,10s", &part(0, 1), 20 * SECOND);
    assert_eq!(ramp.len(), 1000);
    assert!(ramp[999] < 10 * SECOND);
    let of_the_run = parse_for("ramp:50..150", Some(10.0)).unwrap();
    assert_eq!(due_before(&mut *of_the_run.schedule(&part(0, 1)), 20 * SECOND), ramp);
    assert_eq!((of_the_run.offered(5.0), of_the_run.offered(10.0)), (Some(100.0), Some(0.0)));
    let down: Vec<Nanos> = instants("ramp:150..50,10s", &part(0, 1), 20 * SECOND);
    assert_eq!(down.len(), 1000);
    assert!(down[499] < 5 * SECOND && ramp[499] > 5 * SECOND);

    let steps = instants("steps:100x10s,2.5x1s,200x500ms", &part(0, 1), 20 * SECOND);
    assert_eq!(steps.len(), 1000 + 2 + 101);
    assert_eq!(steps[1001] - steps[1000], 400_000_000);
    // Half a request of the second step is left over, and is due in the third.
    assert_eq!(steps[1003], 11 * SECOND + 2_500_000);
}

#[test]
fn poisson_counts_have_the_mean_and_the_variance_of_their_rate() {
    // 4000 windows of 100 ms at 200 per second over three parts: mean and variance of a count are both 20.
    let windows = 4000;
    let all = union("poisson:200", 3, windows * 100_000_000);
    let mut counts = vec![0.0f64; windows as usize];
    all.iter().for_each(|instant| counts[(instant / 100_000_000) as usize] += 1.0);
    let mean = counts.iter().sum::<f64>() / windows as f64;
    let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / (windows - 1) as f64;
    // Four standard errors: of the mean √(20/n), of the variance about 20·√(2/n).
    assert!((mean - 20.0).abs() < 4.0 * (20.0 / windows as f64).sqrt(), "{mean}");
    assert!((variance - 20.0).abs() < 4.0 * 20.0 * (2.0 / windows as f64).sqrt(), "{variance}");
}

#[test]
fn poisson_gaps_are_exponential_in_each_part() {
    let parts: Vec<Vec<Nanos>> =
        (0..2).map(|i| instants("poisson:100", &part(i, 2), 1000 * SECOND)).collect();
    for instants in &parts {
        let gaps: Vec<f64> = instants.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e9).collect();
        let above = |t: f64| gaps.iter().filter(|gap| **gap > t).count() as f64 / gaps.len() as f64;
        // 50 per second in each: a gap is over t with probability e^(−50t); n is about 50,000.
        for t in [0.001_f64, 0.02, 0.1] {
            let expected = (-50.0 * t).exp();
            let error = (expected * (1.0 - expected) / gaps.len() as f64).sqrt();
            assert!((above(t) - expected).abs() < 4.0 * error, "{t}: {} for {expected}", above(t));
        }
    }
    assert_ne!(parts[0], parts[1], "parts have streams of their own");
    let other = ThreadShare { seed: 8, ..part(0, 2) };
    assert_ne!(instants("poisson:100", &other, SECOND), instants("poisson:100", &part(0, 2), SECOND));
}

#[test]
fn a_closed_model_waits_for_an_end_and_thinks() {
    let mut users = parse("closed:think=0.5").unwrap().schedule(&part(0, 1));
    assert_eq!(due_before(&mut *users, SECOND), [0, 0, 0, 0]);
    assert_eq!(users.next(SECOND), Due::OnEnd);
    users.ended(SECOND);
    users.ended(SECOND + 1);
    assert_eq!(users.next(SECOND + 1), Due::At(SECOND + SECOND / 2));
    assert_eq!(users.next(2 * SECOND), Due::Now(SECOND + SECOND / 2));
    assert_eq!(users.next(2 * SECOND), Due::Now(SECOND + SECOND / 2 + 1));
    assert_eq!(users.next(2 * SECOND), Due::OnEnd);
}

#[test]
fn a_closed_model_without_thought_asks_at_once_until_the_run_ends() {
    let run = ThreadShare { slots: 2, seconds: Some(3.0), ..part(0, 1) };
    let mut users = parse("closed").unwrap().schedule(&run);
    assert_eq!(due_before(&mut *users, 1), [0, 0]);
    users.ended(SECOND);
    assert_eq!(users.next(SECOND), Due::Now(SECOND));
    assert_eq!(users.next(2 * SECOND), Due::OnEnd);
    users.ended(3 * SECOND);
    assert_eq!(users.next(3 * SECOND), Due::Never);
    assert_eq!(parse("closed").unwrap().schedule(&ThreadShare { slots: 0, ..run }).next(0), Due::Never);
}

#[test]
fn the_axes_of_a_model() {
    let open = |text: &str| parse(text).unwrap().is_open();
    assert!(!open("closed") && open("constant:1") && open("poisson:1"));
    assert_eq!(parse("closed").unwrap().offered(1.0), None);
    assert_eq!(parse("constant:2.5").unwrap().offered(1.0), Some(2.5));
    let steps = parse("steps:100x10s,200x10s").unwrap();
    assert_eq!([9.9, 10.0, 20.0].map(|s| steps.offered(s)), [Some(100.0), Some(200.0), Some(0.0)]);
}

#[test]
fn errors_name_the_text_what_is_wrong_and_the_forms() {
    let error = parse("poison:5").unwrap_err().to_string();
    assert_eq!(
        error,
        "arrival \"poison:5\": there is no model \"poison\"; the forms are closed, closed:think=500ms, \
         constant:200, poisson:200, ramp:100..1000, ramp:100..1000,60s, steps:100x10s,200x10s"
    );
    for (text, wrong) in [
        ("", "no model"),
        ("constant", "not a rate"),
        ("constant:0", "not a rate"),
        ("constant:-3", "not a rate"),
        ("constant:nan", "not a rate"),
        ("constant:inf", "not a rate"),
        ("constant:1e300", "not a rate"),
        ("poisson:0.0", "not a rate"),
        ("closed:5", "not a setting"),
        ("closed:think=-1", "think time"),
        ("closed:think=soon", "think time"),
        ("ramp:100", "write the first and the last rate"),
        ("ramp:0..100,1s", "not a rate"),
        ("ramp:1..100", "the length is unknown"),
        ("ramp:1..100,0s", "not a time above 0"),
        ("steps:", "not RATExTIME"),
        ("steps:100", "not RATExTIME"),
        ("steps:100x10s,", "not RATExTIME"),
        ("steps:100xs", "not a time"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.starts_with(&format!("arrival {text:?}: ")) && error.contains(wrong), "{error}");
        assert!(!error.contains('\n') && error.contains("the forms are"), "{error}");
    }
}
