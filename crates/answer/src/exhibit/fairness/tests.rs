//! What follows from workers and answers.

use super::*;

#[test]
fn an_outcome_follows_from_workers_and_answers() {
    let slow = |clients| Slow { clients, read_rate: 50_000, workers: 8, script_memory: 0, narrow: true };
    for (clients, busy, prompt, expected) in [
        (0, Some(0.0), 1.0, Outcome::Alone),
        (8, Some(0.0), 1.0, Outcome::Free),
        (4, Some(4.0), 1.0, Outcome::Kept),
        (8, Some(8.0), 0.01, Outcome::Starved),
        // More clients than workers can keep no more than all workers.
        (64, Some(8.0), 0.9, Outcome::Kept),
        // A pool that cannot be asked.
        (8, None, 1.0, Outcome::Free),
        (8, None, 0.1, Outcome::Starved),
    ] {
        assert_eq!(outcome(&slow(clients), busy, prompt), expected, "{clients} {busy:?} {prompt}");
    }
}
