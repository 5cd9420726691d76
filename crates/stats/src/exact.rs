//! How far apart two configurations are by an exact test, which holds whatever the noise is like.
//!
//! Without a difference, each round of one might as well be that of the other. So an order of their rounds is as probable
//! as it is frequent among all orders: by the signed-rank test within rounds (F. Wilcoxon, "Individual comparisons by
//! ranking methods", *Biometrics Bulletin* 1, 1945), and with few rounds, whose signs cannot be significant, by the
//! rank-sum test over all of them (H. B. Mann and D. R. Whitney, *Annals of Mathematical Statistics* 18, 1947). What a round
//! does to both makes the latter find less. Only runs of few comparisons have rounds enough for their correction.

/// From this many rounds on, signs within rounds can be significant in a table of three.
pub(crate) const PAIRED: usize = 8;

/// With more rounds, the noise is known well enough.
const MOST: usize = 36;

/// What an exact test says of first ÷ second, as logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Exact {
    /// The least and the greatest difference that is not significant.
    pub ends: (f64, f64),
    /// The probability of an order as uneven, if there were no difference.
    pub p: f64,
}

impl Exact {
    /// Of logarithms of the same rounds, at the level `p`; none if they have too few rounds for it, or very many.
    pub fn of(first: &[f64], second: &[f64], p: f64) -> Option<Exact> {
        let rounds = first.len();
        let tails = tails(rounds);
        let left_out = tails.partition_point(|tail| *tail <= p).checked_sub(1)?;
        let mut differences: Vec<f64> = match rounds < PAIRED {
            true => first.iter().flat_map(|a| second.iter().map(move |b| a - b)).collect(),
            false => {
                let within: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
                let means =
                    |(at, a): (usize, &f64)| within[..=at].iter().map(|b| (a + b) / 2.0).collect::<Vec<_>>();
                within.iter().enumerate().flat_map(means).collect()
            }
        };
        differences.sort_unstable_by(f64::total_cmp);
        let (below, to) =
            (differences.partition_point(|one| *one < 0.0), differences.partition_point(|one| *one <= 0.0));
        let of_one_side = below.max(differences.len() - to);
        let ends = (differences[left_out], differences[differences.len() - 1 - left_out]);
        Some(Exact { ends, p: tails[differences.len() - of_one_side].min(1.0) })
    }

    /// What is left of the interval of another test. If nothing is, one of the two found a difference, and it is right.
    pub fn within(&self, (low, high): (f64, f64)) -> (f64, f64) {
        let (least, most) = self.ends;
        match (least.max(low), most.min(high)) {
            both if both.0 <= both.1 => both,
            _ if least > 0.0 || most < 0.0 => self.ends,
            _ => (low, high),
        }
    }
}

/// By the number of differences on the other side, the probability of at most as many, to both sides; of more rounds than
/// [`MOST`] none.
fn tails(rounds: usize) -> Vec<f64> {
    let is_paired = rounds >= PAIRED;
    let differences = match is_paired {
        _ if rounds > MOST => return Vec::new(),
        true => rounds * (rounds + 1) / 2,
        false => rounds * rounds,
    };
    // By that number, the orders of rounds with it; all orders are equally probable.
    let mut orders = vec![0.0; differences + 1];
    orders[0] = 1.0;
    for rank in 1..=rounds {
        if is_paired {
            // A rank is on that side, or is not.
            (rank..=differences).rev().for_each(|at| orders[at] += orders[at - rank]);
        } else {
            // The Gaussian binomial coefficient: times (1 − q^(rounds + rank)) ÷ (1 − q^rank).
            (rounds + rank..=differences).rev().for_each(|at| orders[at] -= orders[at - rounds - rank]);
            (rank..=differences).for_each(|at| orders[at] += orders[at - rank]);
        }
    }
    let all = orders.iter().sum::<f64>();
    let sum = |sum: &mut f64, of: &f64| {
        *sum += 2.0 * of / all;
        Some(*sum)
    };
    orders.iter().scan(0.0, sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Orders of five and five, and signs of eight, with at most this many on the other side.
    #[test]
    fn the_tails_are_those_of_published_tables() {
        let orders = |rounds, all: f64| -> Vec<f64> {
            tails(rounds)[..7].iter().map(|tail| (tail * all / 2.0).round()).collect()
        };
        assert_eq!(orders(5, 252.0), [1.0, 2.0, 4.0, 7.0, 12.0, 19.0, 28.0]);
        assert_eq!(orders(8, 256.0), [1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 14.0]);
    }

    fn is_settled(of: Exact) -> bool {
        of.ends.0 > 0.0 || of.ends.1 < 0.0
    }

    #[test]
    fn the_ends_leave_out_none_exactly_where_the_order_is_improbable() {
        let row = |from: f64, rounds: u32| -> Vec<f64> {
            (0..rounds).map(|at| from + f64::from(at * 7 % 5) + 0.01 * f64::from(at)).collect()
        };
        for rounds in [5, 7, 8, 12] {
            for step in -20..=20 {
                let told = Exact::of(&row(0.003 + 0.3 * f64::from(step), rounds), &row(0.0, rounds), 0.01);
                let told = told.expect("rounds enough");
                assert_eq!(is_settled(told), told.p <= 0.01, "{rounds} {step}: {told:?}");
            }
        }
        assert!(Exact::of(&row(9.0, 5), &row(0.0, 5), 0.007).is_none(), "the least is 2 of 252");
        assert!(Exact::of(&row(9.0, 40), &row(0.0, 40), 0.05).is_none());
        // Equal ones are no difference.
        assert!(!is_settled(Exact::of(&row(0.0, 12), &row(0.0, 12), 0.05).unwrap()));
    }

    #[test]
    fn of_two_intervals_without_a_common_part_the_one_that_differs_holds() {
        let of = |low, high| Exact { ends: (low, high), p: 0.5 };
        assert_eq!(of(-0.1, 0.3).within((0.1, 0.5)), (0.1, 0.3));
        assert_eq!(of(0.2, 0.3).within((-0.4, 0.1)), (0.2, 0.3));
        assert_eq!(of(-0.2, 0.1).within((0.2, 0.4)), (0.2, 0.4));
    }
}
