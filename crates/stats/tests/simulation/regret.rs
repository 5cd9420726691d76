//! A choice for several links, made from measurements: how often its true regret exceeds the stated one.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use weigh_stats::{Choice, Chosen, drawn_figures, quantile, regret_bound, regret_by_figures};

use crate::noise::{Noise, observe};

/// The number of link speeds.
const SPEEDS: usize = 8;

/// The tolerances of the choice, one after the other, as `answer` uses them.
const TOLERANCES: [f64; 3] = [1.05, 1.10, 1.20];

/// How often the true regret exceeds the stated one.
#[derive(Clone, Copy, Debug)]
pub struct Violations {
    /// Stated: the bound over drawings.
    pub of_bound: f64,
    /// Stated: the tolerance of the choice.
    pub of_tolerance: f64,
    /// The median of the bounds.
    pub bound: f64,
}

/// Settings whose costs span this many powers of ten; a setting with a higher cost is smaller, roughly.
struct Settings {
    costs: Vec<f64>,
    /// By setting and speed.
    transfers: Vec<Vec<f64>>,
}

impl Settings {
    fn draw(count: usize, powers: f64, random: &mut ChaCha8Rng) -> Settings {
        let costs: Vec<f64> = (0..count).map(|_| 10f64.powf(powers * random.random::<f64>())).collect();
        let speeds: Vec<f64> = (0..SPEEDS).map(|speed| 10f64.powf(-1.0 + 0.55 * speed as f64)).collect();
        let mut transfers = |cost: &f64| {
            let bytes = 100.0 * cost.powf(-0.15) * (0.2 * (random.random::<f64>() - 0.5)).exp();
            speeds.iter().map(|speed| bytes / speed).collect()
        };
        let transfers = costs.iter().map(&mut transfers).collect();
        Settings { costs, transfers }
    }

    fn chosen<'a>(&self, figures: &[f64], drawn: &'a [Vec<f64>], made: &[usize]) -> [Chosen<'a>; 1] {
        let choice = |i: usize| {
            let drawn = drawn.get(i).map_or(&[][..], Vec::as_slice);
            Choice { figure: figures[i], drawn, known: self.transfers[i].clone() }
        };
        [Chosen { all: (0..figures.len()).map(choice).collect(), made: made.to_vec() }]
    }

    /// The fewest settings that stay within a tolerance by these figures: from the slowest link on, the one that covers
    /// most links.
    fn choose(&self, figures: &[f64], tolerance: f64) -> Vec<usize> {
        let total = |i: usize, speed: usize| figures[i] + self.transfers[i][speed];
        let all = 0..figures.len();
        let best = |speed: usize| all.clone().map(|i| total(i, speed)).fold(f64::INFINITY, f64::min);
        let mut made = Vec::new();
        while made.len() < SPEEDS {
            let reach = |i: usize| {
                (made.len()..SPEEDS).take_while(|speed| total(i, *speed) <= tolerance * best(*speed)).count()
            };
            let furthest = all.clone().max_by_key(|i| reach(*i)).expect("settings");
            let until = reach(furthest);
            made.extend(std::iter::repeat_n(furthest, until));
        }
        made
    }
}

/// Draws this many sets of settings, measures each in this many rounds, and chooses.
pub fn violations(
    noise: Noise,
    (count, powers): (usize, f64),
    rounds: usize,
    trials: usize,
    random: &mut ChaCha8Rng,
) -> Violations {
    let truths = figures_in_the_long_run(noise, count, rounds, random);
    let (mut of_bound, mut of_tolerance, mut bounds) = (0, 0, Vec::new());
    for trial in 0..trials {
        let settings = Settings::draw(count, powers, random);
        let seen = observe(noise, &settings.costs, rounds, random);
        let figures: Vec<f64> = seen.iter().map(|seen| quantile(seen, 0.1).expect("finite")).collect();
        let tolerance = TOLERANCES[trial % TOLERANCES.len()];
        let made = settings.choose(&figures, tolerance);
        let units: Vec<Vec<(u32, f64)>> =
            seen.iter().map(|seen| (1..).zip(seen.iter().copied()).collect()).collect();
        let drawn = drawn_figures(&units, 0.1, 1);
        let bound = regret_bound(&settings.chosen(&figures, &drawn, &made)).expect("drawings");
        let true_figures: Vec<f64> = settings.costs.iter().zip(&truths).map(|(cost, q)| cost * q).collect();
        let regret = regret_by_figures(&settings.chosen(&true_figures, &[], &made));
        of_bound += u32::from(regret > bound);
        of_tolerance += u32::from(regret > tolerance - 1.0);
        bounds.push(bound);
    }
    let share = |count: u32| f64::from(count) / trials as f64;
    Violations {
        of_bound: share(of_bound),
        of_tolerance: share(of_tolerance),
        bound: quantile(&bounds, 0.5).expect("trials"),
    }
}

/// The 0.1 quantile of what each of this many configurations with cost 1 shows in rounds of such runs.
fn figures_in_the_long_run(noise: Noise, count: usize, rounds: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
    let mut all = vec![Vec::new(); count];
    for _ in 0..3000 / rounds {
        let seen = observe(noise, &vec![1.0; count], rounds, random);
        all.iter_mut().zip(seen).for_each(|(all, seen)| all.extend(seen));
    }
    all.iter().map(|seen| quantile(seen, 0.1).expect("finite")).collect()
}
