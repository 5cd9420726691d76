//! What follows from workers and answers.

use super::*;

#[test]
fn light_requests_without_an_answer_count_in_their_percentiles() {
    let mut hist = Hist::default();
    hist.record_n(2_000_000, 60);
    let packed = [Packed::of(&hist)];
    let times = |unanswered| light_times(packed.iter(), unanswered).unwrap();
    let near = |time: Option<f64>| (time.unwrap() / 0.002 - 1.0).abs() < 0.01;
    assert!(near(times(0).p50) && near(times(0).p99));
    assert!(near(times(40).p50) && times(40).p99.is_none());
    assert_eq!(times(40).percentiles.iter().map(|(percent, _)| *percent).collect::<Vec<_>>(), [50]);
    assert!(times(140).p50.is_none() && times(140).percentiles.is_empty());
}

#[test]
fn an_outcome_follows_from_workers_and_answers() {
    let slow = |clients| Slow { clients, read_rate: 50_000, workers: 8, script_memory: 0, narrow: true };
    for (clients, busy, prompt, expected) in [
        (0, Some(0.0), 1.0, SlowClientEffect::Alone),
        (8, Some(0.0), 1.0, SlowClientEffect::Free),
        (4, Some(4.0), 1.0, SlowClientEffect::Kept),
        (8, Some(8.0), 0.01, SlowClientEffect::Starved),
        // More clients than workers can keep no more than all workers.
        (64, Some(8.0), 0.9, SlowClientEffect::Kept),
        // A pool that cannot be asked.
        (8, None, 1.0, SlowClientEffect::Free),
        (8, None, 0.1, SlowClientEffect::Starved),
    ] {
        assert_eq!(outcome(&slow(clients), busy, prompt), expected, "{clients} {busy:?} {prompt}");
    }
}
