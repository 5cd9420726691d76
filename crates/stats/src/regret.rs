//! Regret: how much more a choice costs than the best one, if the choice is for several places (links of several
//! speeds, values of several sizes).

use crate::summary::quantile;

/// With this probability the true regret is at most [`regret_bound`].
pub const CONFIDENCE: f64 = 0.95;

/// The quantile over drawings for which [`CONFIDENCE`] holds in simulation, see docs/dev/SIMULATIONS.md.
const LEVEL: f64 = 0.95;

/// A choice: its measured figure, and its known additional cost at each place.
#[derive(Clone, Debug)]
pub struct Choice<'a> {
    pub figure: f64,
    /// The factor of the true figure in each drawing: [`crate::drawn_figures`].
    pub drawn: &'a [f64],
    /// The known cost, by place.
    pub known: Vec<f64>,
}

impl Choice<'_> {
    fn total(&self, drawing: Option<usize>, place: usize) -> f64 {
        self.figure * drawing.map_or(1.0, |drawing| self.drawn[drawing]) + self.known[place]
    }
}

/// Several choices, and the one that was made at each place.
#[derive(Clone, Debug)]
pub struct Chosen<'a> {
    pub all: Vec<Choice<'a>>,
    /// The index of the choice at each place.
    pub made: Vec<usize>,
}

/// The largest ratio over all places of the chosen cost to the lowest possible cost, minus 1: from the measured
/// figures, or in one drawing.
fn regret(of: &[Chosen], drawing: Option<usize>) -> f64 {
    let mut worst = 0.0f64;
    for chosen in of {
        for (place, made) in chosen.made.iter().enumerate() {
            let total = |choice: &Choice| choice.total(drawing, place);
            let best = chosen.all.iter().map(total).fold(f64::INFINITY, f64::min);
            worst = worst.max(total(&chosen.all[*made]) / best - 1.0);
        }
    }
    worst
}

/// The regret from the measured figures, without their uncertainty.
pub fn regret_by_figures(of: &[Chosen]) -> f64 {
    regret(of, None)
}

/// The upper bound of the regret of the choice, with a probability of [`CONFIDENCE`]: a high quantile of its regret
/// over the drawings, each compared with the drawing's own best. `None` without drawings, or with an impossible figure.
pub fn regret_bound(of: &[Chosen]) -> Option<f64> {
    let drawings = of.iter().flat_map(|chosen| &chosen.all).map(|choice| choice.drawn.len()).min()?;
    let regrets: Vec<f64> = (0..drawings).map(|drawing| regret(of, Some(drawing))).collect();
    quantile(&regrets, LEVEL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_place_counts() {
        let drawn = [1.0, 1.0, 0.5, 1.0];
        let steady = [1.0; 4];
        let choice = |figure, drawn, known: [f64; 2]| Choice { figure, drawn, known: known.to_vec() };
        let all = vec![choice(10.0, &steady, [1.0, 100.0]), choice(11.0, &drawn, [1.0, 88.0])];
        let chosen = |made: [usize; 2]| [Chosen { all: all.clone(), made: made.to_vec() }];
        assert!((regret_by_figures(&chosen([0, 1])) - 0.0).abs() < 1e-12);
        assert!((regret_by_figures(&chosen([0, 0])) - (110.0 / 99.0 - 1.0)).abs() < 1e-12);
        assert!((regret_by_figures(&chosen([1, 1])) - (12.0 / 11.0 - 1.0)).abs() < 1e-12);
        // In the third drawing the second is at 5.5 + 1, and the first takes 11.
        let bound = regret_bound(&chosen([0, 1])).unwrap();
        assert!(0.5 < bound && bound <= 11.0 / 6.5 - 1.0, "{bound}");
        assert!(regret_bound(&[]).is_none());
    }
}
