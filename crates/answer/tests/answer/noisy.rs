//! What reports of runs on a noisy machine say of configurations that cost the same, and of one that costs more.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::drawn::{Template, says_an_order, shares};
use crate::noise::Noise;
use crate::stored;

/// Sentences are found to say an order as it is written, and what is open says none.
#[test]
fn an_order_is_known_by_its_words() {
    for text in
        ["25% less encode time (20–30%)", "3.2× the CPU time (2.9–3.5)", "level 9 beats level 1 on links"]
    {
        assert!(says_an_order(text), "{text}");
    }
    assert!(!says_an_order("no significant difference in encode time (0.9–1.1×)"));
}

/// All configurations of a group cost the same: no sentence, mark, front or choice says otherwise.
#[test]
fn of_equal_configurations_nothing_says_that_they_differ() {
    let template = Template::of(stored::records("cache-levels"));
    for noise in [Noise::Calm, Noise::TwoModesHalf] {
        let wrong = shares(&template, noise, 1.0, (5, 6), &mut ChaCha8Rng::seed_from_u64(3));
        assert!(wrong[..5].iter().all(|share| *share <= 0.2), "{noise:?}: {wrong:?}");
    }
}

#[test]
fn what_costs_more_is_marked() {
    let template = Template::of(stored::records("cache-levels"));
    for (noise, factor, rounds) in [(Noise::TwoModesMost, 2.0, 5), (Noise::TwoModesHalf, 1.2, 12)] {
        let found = shares(&template, noise, factor, (rounds, 3), &mut ChaCha8Rng::seed_from_u64(4))[5];
        assert!(found >= 0.8, "{noise:?}: {found}");
    }
}
