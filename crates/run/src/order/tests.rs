use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_round_holds_every_live_cell_once_and_the_quick_ones_first(
        expected in proptest::collection::vec(0.0..2.0f64, 1..40),
        dead in proptest::collection::vec(any::<proptest::sample::Index>(), 0..10),
        seed: u64, round in 1u32..50,
    ) {
        let dead: Vec<usize> = dead.iter().map(|d| d.index(expected.len())).collect();
        let live: Vec<usize> = (0..expected.len()).filter(|i| !dead.contains(i)).collect();
        let new: Vec<bool> = (0..expected.len()).map(|i| i % 2 == 0).collect();
        let order = order(&live, (&expected, &new), None, seed, round);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, live);
        prop_assert!(order.is_sorted_by_key(|&i| expected[i] > SLOW));
        let slow = order.iter().filter(|&&i| expected[i] > SLOW);
        let first: Vec<f64> = slow.clone().take_while(|&&i| new[i]).map(|&i| expected[i]).collect();
        prop_assert!(first.is_sorted(), "first visits go from the least slow on");
        prop_assert_eq!(slow.filter(|&&i| new[i]).count(), first.len(), "and before all others");
    }

    #[test]
    fn who_comes_first_does_not_depend_on_who_else_is_live(
        cells in 3usize..30, seed: u64, gone in any::<proptest::sample::Index>(),
    ) {
        let expected = vec![0.1; cells];
        let all: Vec<usize> = (0..cells).collect();
        let gone = gone.index(cells);
        let some: Vec<usize> = all.iter().copied().filter(|&i| i != gone).collect();
        let new = vec![true; cells];
        let mut whole = order(&all, (&expected, &new), None, seed, 1);
        whole.retain(|&i| i != gone);
        prop_assert_eq!(whole, order(&some, (&expected, &new), None, seed, 1));
    }
}

#[test]
fn the_seed_and_the_round_decide() {
    let (all, expected, new) = ((0..20).collect::<Vec<usize>>(), vec![0.1; 20], vec![true; 20]);
    let drawn = |seed, round| order(&all, (&expected, &new), None, seed, round);
    assert_eq!(drawn(7, 1), drawn(7, 1));
    assert_ne!(drawn(7, 1), drawn(7, 2));
    assert_ne!(drawn(7, 1), drawn(8, 1));
    assert_ne!(drawn(7, 1), all, "a drawn order is not the plan's");
}

#[test]
fn contents_that_come_first_in_the_plan_are_visited_first() {
    let (all, expected, new) = ((0..30).collect::<Vec<usize>>(), vec![0.1; 30], vec![true; 30]);
    let ranks: Vec<usize> = (0..30).map(|cell| cell % 3).collect();
    let found = order(&all, (&expected, &new), Some(&ranks), 1, 1);
    assert!(found.is_sorted_by_key(|&cell| ranks[cell]), "{found:?}");
    assert!(!found[..10].is_sorted(), "those of one content are drawn");
}
