//! The highest sustained rate, with the steps of the search.

use weigh_load::capacity::{Capacity, Ended, Step, Verdict};
use weigh_model::units;

use super::{preflight, remedies};
use crate::block::Block;
use crate::load::document::Searched;
use crate::load::figures::Time;
use crate::output::Options;
use crate::table::{Column, Grid, Kind, Tone, field, remark};

pub(super) fn blocks(searched: &Searched, options: &Options) -> Vec<Block> {
    let mut blocks = preflight::blocks(&searched.closed, options);
    blocks.push(Block::Heading(2, "Capacity".into()));
    blocks.push(Block::Text(answer(&searched.capacity)));
    blocks.push(Block::Remark(format!(
        "Closed loop: {} connections reached {} requests/s.",
        searched.closed.plan.streams.iter().map(|s| s.connections).sum::<u32>(),
        units::significant(searched.closed.figures.total.achieved_per_second)
    )));
    blocks.push(Block::Heading(2, "Steps".into()));
    blocks.push(Block::Table(table(&searched.capacity)));
    blocks.extend(super::faults::blocks(&searched.closed));
    blocks.extend(remedies::list_caveats(&searched.closed.caveats));
    blocks
}

fn answer(capacity: &Capacity) -> String {
    let limit = limit(capacity);
    let rate = |rate: Option<f64>| units::significant(rate.unwrap_or(0.0));
    let (held, over) = (rate(capacity.held), rate(capacity.over));
    match capacity.ended {
        Ended::Found => format!("Capacity: {held} requests/s with {limit}; {over} exceeds it."),
        Ended::NothingHeld => format!("No rate meets {limit}, not even {over} requests/s."),
        Ended::NeverOver => {
            format!("Every rate that was tried is held with {limit}, up to {held} requests/s.")
        }
        Ended::Generator if capacity.held.is_none() => {
            format!(
                "The generator was the limit already at {over} requests/s: nothing is known of the server."
            )
        }
        Ended::Generator => format!(
            "At least {held} requests/s are held with {limit}; above, at {over}, the generator was the limit, not the server."
        ),
        Ended::Cold => {
            let least = if capacity.held.is_some() { &held } else { "no" };
            format!(
                "Undecided: {least} requests/s are known to be held with {limit}; at {over} the server was cold at the start of each step, and may hold it when warm."
            )
        }
        Ended::OutOfSteps => format!("The steps were used up: with {limit} {}.", known(capacity)),
        Ended::OutOfTime => {
            format!(
                "The time was used up: with {limit} {}. A longer search (-d) tells more.",
                known(capacity)
            )
        }
    }
}

/// What a search knows that did not come to its end.
fn known(capacity: &Capacity) -> String {
    let Capacity { held, over, ref steps, .. } = *capacity;
    let is_between =
        |step: &&Step| held.is_none_or(|held| step.rate > held) && over.is_none_or(|over| step.rate < over);
    let short = |is: fn(&Verdict) -> bool| {
        steps.iter().filter(is_between).filter(move |s| is(&s.verdict)).map(|s| s.rate)
    };
    let is_over = |v: &Verdict| !matches!(v, Verdict::Held | Verdict::Generator | Verdict::Cold);
    let most = short(|v| *v == Verdict::Held).max_by(f64::total_cmp);
    let least = short(is_over).min_by(f64::total_cmp);
    let rate = |rate: f64| units::significant(rate);
    let sure = match (held, over) {
        (Some(held), Some(over)) => {
            format!("the border is between {} and {} requests/s", rate(held), rate(over))
        }
        (Some(held), None) => {
            format!("{} requests/s are held, and no higher rate was shown not to be", rate(held))
        }
        (None, Some(over)) => {
            format!("{} requests/s are not held, and of lower rates none was tried long enough", rate(over))
        }
        (None, None) => "no rate was tried long enough".to_owned(),
    };
    match (most, least) {
        (Some(most), Some(least)) => {
            format!("{sure}; short steps held {}, and did not hold {}", rate(most), rate(least))
        }
        (Some(most), None) => format!("{sure}; a short step held {}", rate(most)),
        (None, Some(least)) => format!("{sure}; a short step did not hold {}", rate(least)),
        (None, None) => sure,
    }
}

fn limit(capacity: &Capacity) -> String {
    format!(
        "p{} within {}",
        units::trimmed_number(capacity.limit.quantile * 100.0),
        super::fact::seconds(capacity.limit.seconds)
    )
}

fn table(capacity: &Capacity) -> Grid {
    let mut steps: Vec<&Step> = capacity.steps.iter().collect();
    steps.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    Grid::toned(steps, |step| {
        let fields = vec![
            (Column::factor("offered", "1/s", Kind::Three), step.rate.into()),
            field("achieved", "1/s", Kind::Three, 0, step.achieved),
            (Column::factor("seconds", "", Kind::Three), step.seconds.into()),
            field("response", "ms", Kind::Three, 0, super::fact::milliseconds(Some(response(step)))),
            field("waiting", "mean", Kind::Three, 3, step.in_flight.map(|[_, second]| second)),
            remark("verdict", 0, in_words(step.verdict)),
        ];
        (if step.verdict == Verdict::Held { Tone::Strong } else { Tone::Plain }, fields)
    })
}

/// The limit's quantile in the second half, or a note that it is among requests without a response.
fn response(step: &Step) -> Time {
    step.response.map_or(Time::Beyond(step.lasted), Time::Took)
}

fn in_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Held => "held",
        Verdict::Slow => "too slow",
        Verdict::Behind => "fewer came than were due",
        Verdict::Growing => "more and more were waiting",
        Verdict::Dropped => "some were never sent",
        Verdict::Generator => "the generator was the limit",
        Verdict::Cold => "the server was cold at first",
    }
}
