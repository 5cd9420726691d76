//! Stored runs whose times are replaced by draws with known costs: what their reports say of configurations that cost the
//! same, and of one that costs more. `make bench-simulation` counts it over many reports, the tests over a few.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use regex::Regex;
use weigh_answer::report::{Report, RunFacts};
use weigh_model::plan::Plan;
use weigh_model::record::{Record, VisitRecord};

use crate::noise::{Noise, observe};
use weigh_answer::report::ranking::{Conditions, Ranking};

/// A stored run of codecs.
pub struct Template {
    plan: Plan,
    /// A visit of each configuration, in the plan's order.
    visits: Vec<VisitRecord>,
    /// By configuration the number of its group, and the place in it.
    places: Vec<(usize, usize)>,
}

/// What a report says about configurations that cost the same, and of the second one of each group, which may not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Says {
    /// A sentence says that one takes more or less time.
    pub sentence: bool,
    /// A table marks one.
    pub mark: bool,
    /// A front has a second place.
    pub front: bool,
    /// The choice for the least CPU time excludes one.
    pub choice: bool,
    /// Something else is called better on a faster link.
    pub link: bool,
    /// The share of dearer configurations that tables mark as dearer than the reference.
    pub found: f64,
}

impl Template {
    /// Of the visits of a stored run.
    pub fn of((plan, records): (Plan, Vec<Record>)) -> Template {
        let mut first: BTreeMap<String, VisitRecord> = BTreeMap::new();
        for record in records {
            if let Record::Visit(visit) = record {
                first.entry(visit.cell.clone()).or_insert(visit);
            }
        }
        let visits: Vec<VisitRecord> =
            plan.cells.iter().filter_map(|cell| first.get(&cell.id).cloned()).collect();
        let mut groups: Vec<(String, usize)> = Vec::new();
        let place = |visit: &VisitRecord| {
            let group = plan.cells.iter().find(|cell| cell.id == visit.cell).map(|cell| cell.group());
            let group = group.unwrap_or_default();
            let at = groups.iter().position(|known| known.0 == group).unwrap_or_else(|| {
                groups.push((group, 0));
                groups.len() - 1
            });
            groups[at].1 += 1;
            (at, groups[at].1 - 1)
        };
        let places = visits.iter().map(place).collect();
        Template { plan, visits, places }
    }

    /// Whether the configuration is the one of its group that may cost more.
    fn is_dearer(&self, id: &str) -> bool {
        self.visits.iter().zip(&self.places).any(|(visit, place)| visit.cell == id && place.1 == 1)
    }

    /// The report of a run in which the second configuration of each group costs `factor` times as much as the others, and
    /// each group another amount.
    pub fn report(&self, noise: Noise, factor: f64, rounds: usize, random: &mut ChaCha8Rng) -> Report {
        let cost = |(group, at): &(usize, usize)| {
            1e6 * 5f64.powi(*group as i32) * if *at == 1 { factor } else { 1.0 }
        };
        let costs: Vec<f64> = self.places.iter().map(cost).collect();
        let phases: Vec<_> = self.visits.iter().flat_map(|visit| visit.phases.keys().copied()).collect();
        let drawn: BTreeMap<_, Vec<Vec<f64>>> =
            phases.into_iter().map(|phase| (phase, observe(noise, &costs, rounds, random))).collect();
        let mut records = Vec::new();
        for (place, round) in (1..=rounds as u32).enumerate() {
            for (at, visit) in self.visits.iter().enumerate() {
                let mut visit = VisitRecord { round, ..visit.clone() };
                for (phase, samples) in &mut visit.phases {
                    let ns = drawn[phase][at][place];
                    samples.cpu_ns.iter_mut().chain(&mut samples.wall_ns).for_each(|sample| *sample = ns);
                }
                records.push(Record::Visit(visit));
            }
        }
        records.push(Record::End { at: 0, rounds: rounds as u32, seconds: 60.0 });
        Report::of(&RunFacts::default(), &self.plan, &records)
    }

    /// What the report says.
    pub fn says(&self, report: &Report) -> Says {
        let mut says = Says::default();
        let mut dearer = Vec::new();
        for row in &report.rows {
            for ratio in row.beside.values() {
                match self.is_dearer(row.id()) {
                    true => dearer.push(ratio.is_settled() && ratio.value > 1.0),
                    false => says.mark |= ratio.is_settled(),
                }
            }
        }
        says.found = dearer.iter().filter(|found| **found).count() as f64 / dearer.len().max(1) as f64;
        says.front = report.groups.iter().any(|group| group.front.len() > 1);
        says.sentence = report.findings.iter().any(|finding| says_an_order(&finding.text));
        let ranking = Ranking::of(report);
        let usual = Conditions::of(report);
        let of_cpu = usual.with("goal=money,core-hour=1,gb=0,second=0").expect("conditions");
        says.choice = ranking.answers(&of_cpu).iter().any(|answer| {
            let candidates = ranking.candidates(answer.question, &of_cpu);
            answer.choices.iter().any(|choice| {
                let is_rival =
                    |at: &usize| choice.works.iter().all(|work| candidates[*at].costs[*work].is_some());
                (0..candidates.len()).filter(is_rival).any(|at| !choice.tied.contains(&at))
            })
        });
        says.link = report.advice.iter().flat_map(|advice| &advice.sentences).any(|sentence| {
            sentence.text.starts_with("Better on other links") && sentence.text.contains(" from ")
        });
        says
    }
}

/// Whether a sentence says that one of two times is longer.
pub fn says_an_order(text: &str) -> bool {
    const ORDERS: &str =
        r"% (less|more) (encode|decode|CPU) |× the (encode|decode|CPU) |beats level| beats? |\bdoes so on";
    Regex::new(ORDERS).expect("valid").is_match(text)
}

/// Shares over reports: of wrong sentences, marks, fronts, choices and links, and of what is found.
pub fn shares(
    of: &Template,
    noise: Noise,
    factor: f64,
    (rounds, reports): (usize, usize),
    random: &mut ChaCha8Rng,
) -> [f64; 6] {
    let mut sum = [0.0; 6];
    for _ in 0..reports {
        let says = of.says(&of.report(noise, factor, rounds, random));
        let wrong =
            [says.sentence, says.mark, says.front, says.choice, says.link].map(u8::from).map(f64::from);
        sum.iter_mut().zip(wrong.into_iter().chain([says.found])).for_each(|(sum, one)| *sum += one);
    }
    sum.map(|sum| sum / reports as f64)
}
