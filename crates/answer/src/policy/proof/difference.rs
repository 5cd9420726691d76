//! The difference between what a policy predicts and what was measured, and what it means.

use weigh_model::policy::Amount;
use weigh_model::site::Kind;
use weigh_model::units;

use super::{Line, WAIT};

/// How far from its prediction an amount may be, in shares of the amount before, or of that after if it is larger: half of the change that is
/// predicted, but no less than the first and no more than the second.
const NEAR: [f64; 2] = [0.02, 0.05];
/// How much more or less than for the policy something takes in a proof that is named as the cause.
const OTHER: f64 = 0.1;
/// More rounds than this many times those that were measured are none that somebody waits for.
const MOST: f64 = 1000.0;
/// Seconds of a proof above which rounds say less than hours.
const LONG: f64 = 3600.0;

/// What became of a prediction.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// More than predicted, by more than the margin and both intervals.
    Worse,
    /// The intervals of prediction and measurement are too wide to tell.
    #[default]
    Undecided,
    /// Less than predicted, by both intervals.
    Better,
    /// As predicted: the difference and its interval are within the margin.
    Held,
}

impl Verdict {
    pub(super) fn words(self) -> &'static str {
        match self {
            Verdict::Worse => "worse than predicted",
            Verdict::Undecided => "undecided",
            Verdict::Better => "better than predicted",
            Verdict::Held => "held",
        }
    }
}

/// Which side of a change is another than for the policy.
pub(super) fn cause(line: &Line) -> Option<String> {
    let more = |(measured, predicted): (f64, f64)| {
        let share = (measured - predicted) / predicted;
        (share.is_finite() && share.abs() > OTHER).then_some(share)
    };
    let words = |side: &str, share: f64| {
        let than = if share > 0.0 { "more" } else { "less" };
        format!("{side} the change it was {} {than} than for the policy", units::percent(share.abs()))
    };
    let before = more((line.measured.before, line.predicted.before)).map(|share| words("before", share));
    let after = more((line.measured.after, line.predicted.after)).map(|share| words("after", share));
    let sides: Vec<String> = before.into_iter().chain(after).collect();
    (!sides.is_empty()).then(|| sides.join(", "))
}

/// An amount before and after, with both intervals of the share that it changes by.
pub(super) fn amount([before, after]: [f64; 2], share: Option<[f64; 2]>) -> Amount {
    let (low, high) = (share.map(|[low, _]| low), share.map(|[_, high]| high));
    Amount { before, after, low, high, rounds_low: low, rounds_high: high }
}

/// The same where its interval is that share alone.
pub(super) fn exactly(amounts @ [before, after]: [f64; 2]) -> Amount {
    amount(amounts, (before > 0.0).then(|| [(after - before) / before; 2]))
}

/// A prediction beside what was measured, in rounds that took this many seconds; `cause` tells why it did not hold.
pub(in super::super) fn line(
    (kind, metric, amount): (Kind, &'static str, String),
    predicted: Amount,
    measured: Amount,
    (rounds, seconds): (usize, f64),
    cause: impl FnOnce(&Line) -> Option<String>,
) -> Option<Line> {
    let difference = Difference::of(&predicted, &measured)?;
    let (verdict, modelled) = (difference.verdict(), metric == WAIT);
    let line = Line { kind, metric, amount, predicted, measured, modelled, verdict, remark: None };
    let remark = match verdict {
        Verdict::Undecided => Some(difference.decided_by(rounds, seconds)),
        Verdict::Worse | Verdict::Better => cause(&line),
        Verdict::Held => None,
    };
    Some(Line { remark, ..line })
}

/// Measured − predicted change, in shares of the amount before. Its interval is made of both (G. Y. Zou and A. Donner, Statistics in Medicine
/// 27 (2008): the method of variance estimates recovery).
struct Difference {
    value: f64,
    /// How far the interval reaches down and up by what was measured, and by the prediction; infinite: not known.
    measured: [f64; 2],
    predicted: [f64; 2],
    margin: f64,
}

impl Difference {
    /// None: there was nothing before.
    fn of(predicted: &Amount, measured: &Amount) -> Option<Difference> {
        let (said, seen) = (predicted.share()?, measured.share()?);
        let reach = |end: Option<f64>, share: f64| end.map_or(f64::INFINITY, |end| (end - share).abs());
        let near = (said.abs() / 2.0).clamp(NEAR[0], NEAR[1]);
        Some(Difference {
            value: seen - said,
            measured: [reach(measured.rounds_low, seen), reach(measured.rounds_high, seen)],
            predicted: [reach(predicted.rounds_high, said), reach(predicted.rounds_low, said)],
            margin: near * (1.0 + said.max(seen)).max(1.0),
        })
    }

    fn verdict(&self) -> Verdict {
        let reach = |at: usize| self.measured[at].hypot(self.predicted[at]);
        let (low, high) = (self.value - reach(0), self.value + reach(1));
        if low > self.margin {
            Verdict::Worse
        } else if low >= -self.margin && high <= self.margin {
            Verdict::Held
        } else if high < 0.0 {
            Verdict::Better
        } else {
            Verdict::Undecided
        }
    }

    fn decided_by(&self, rounds: usize, seconds: f64) -> String {
        let widest = |reach: [f64; 2]| reach[0].max(reach[1]);
        let (own, of_policy) = (widest(self.measured), widest(self.predicted));
        let gap = (self.value.abs() - self.margin).abs();
        if !own.is_finite() {
            return "what was measured has no interval: a longer proof would (weigh prove --budget)".into();
        }
        if of_policy >= gap {
            let reach = if of_policy.is_finite() {
                format!("the prediction reaches {} to each side", points(of_policy))
            } else {
                "the policy gives no interval".into()
            };
            return format!("{reach}: a new policy from more rounds would decide it (weigh advise --budget)");
        }
        let times = own.powi(2) / (gap.powi(2) - of_policy.powi(2));
        if times > MOST {
            return "it lies at the limit of what counts as held".into();
        }
        let more = ((times - 1.0).max(0.1) * rounds as f64).ceil();
        let budget = (seconds * times.max(1.1)).ceil();
        if budget > LONG {
            let hours = (budget / 3600.0).ceil();
            return format!(
                "it lies near the limit of what counts as held: a proof of {hours} hours would decide it"
            );
        }
        format!("about {more} more rounds would decide it: weigh prove --budget {budget}s")
    }
}

/// `3.1 points`.
fn points(share: f64) -> String {
    format!("{} points", units::significant(share * 100.0))
}
