//! How far values lie from what their places say, without a model of the curve that they lie about.

use std::collections::BTreeMap;

/// The standard deviation of values around smooth curves over their places, one curve for each group: each value is compared with what lies between
/// its neighbours (T. Gasser, L. Sroka and C. Jennen-Steinmetz, "Residual variance and residual pattern in nonlinear regression", Biometrika 73
/// (1986)); two values of a group, with each other. `points`: group, place, value. Values at one place are compared with each other. None where no
/// group has two.
pub fn deviation_from_curves<G: Ord>(points: impl IntoIterator<Item = (G, f64, f64)>) -> Option<f64> {
    let mut groups: BTreeMap<G, Vec<(f64, f64)>> = BTreeMap::new();
    for (group, place, value) in points {
        groups.entry(group).or_default().push((place, value));
    }
    let mut squares = Vec::new();
    for group in groups.values_mut() {
        group.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        match group.as_slice() {
            [a, b] => squares.push((a.1 - b.1).powi(2) / 2.0),
            all => squares.extend(all.windows(3).map(|three| off_the_line(three[0], three[1], three[2]))),
        }
    }
    let count = squares.len();
    (count > 0).then(|| (squares.iter().sum::<f64>() / count as f64).sqrt())
}

/// The square of what the middle value is off the line between the others, as if each had its own error of variance 1.
fn off_the_line(before: (f64, f64), middle: (f64, f64), after: (f64, f64)) -> f64 {
    let range = after.0 - before.0;
    let share = if range > 0.0 { (middle.0 - before.0) / range } else { 0.5 };
    let off = before.1 * (1.0 - share) + after.1 * share - middle.1;
    off.powi(2) / ((1.0 - share).powi(2) + share.powi(2) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_curve_explains_is_no_deviation() {
        let curve = |at: u32| f64::from(at).powi(2) / 100.0;
        let smooth = (0..20).map(|at| ("a", f64::from(at), curve(at)));
        assert!(deviation_from_curves(smooth).unwrap() < 0.01);
        // Beside it, errors of 0.5 to both sides.
        let rough = (0..200).map(|at| {
            ("a", f64::from(at) / 10.0, f64::from(at) / 10.0 + if at % 4 < 2 { 0.5 } else { -0.5 })
        });
        let found = deviation_from_curves(rough).unwrap();
        assert!((found - 0.5).abs() < 0.12, "{found}");
    }

    #[test]
    fn groups_have_curves_of_their_own_and_one_value_tells_nothing() {
        let two = [("a", 1.0, 0.0), ("a", 9.0, 2.0), ("b", 5.0, 90.0)];
        assert_eq!(deviation_from_curves(two), Some(2f64.sqrt()));
        assert_eq!(deviation_from_curves([("a", 1.0, 0.0), ("b", 5.0, 90.0)]), None);
        // At one place values differ by their errors alone.
        assert!(deviation_from_curves([("a", 1.0, 0.0), ("a", 1.0, 3.0), ("a", 1.0, 0.0)]).unwrap() > 1.0);
    }
}
