//! A gate: a limit that a result must keep, as studies and command lines write it.

use anyhow::{Result, bail, ensure};
use serde::{Deserialize, Serialize};
use weigh_load::units;

use crate::text::{clean, covers};

/// A limit on a metric. Exactly one of the three limits is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// The metric's id: `cpu`, `encode`.
    pub metric: String,
    /// The largest change for the worse beside the baseline: `5%`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_worse_than: Option<String>,
    /// The largest value, with its unit: `50ms`, `20KB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<String>,
    /// The smallest value, for metrics of which more is better: `200`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<String>,
    /// Only configurations whose id matches; `*` stands for any text. Without one, a part of the id is enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
}

/// What a gate asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// At most this much worse than the baseline, as a share.
    NoWorseThan(f64),
    AtMost(Amount),
    AtLeast(Amount),
}

/// An amount with its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    Seconds(f64),
    Bytes(f64),
    /// A share, written in percent.
    Share(f64),
    /// A number without a unit.
    Number(f64),
}

impl Gate {
    /// Reads `cpu<=5%` (no more than 5% worse than the baseline), `p99<50ms` or `rate>200`.
    ///
    /// # Errors
    /// One line that says what a gate looks like.
    pub fn parse(text: &str) -> Result<Gate> {
        let shown = clean(text);
        let Some(at) = text.find(['<', '>']) else {
            bail!("{shown}: no gate; write p99<50ms, rate>200 or cpu<5%");
        };
        let (metric, rest) = text.split_at(at);
        let is_less = rest.starts_with('<');
        let amount = rest[1..].strip_prefix('=').unwrap_or(&rest[1..]).trim().to_owned();
        let mut gate = Gate { metric: metric.trim().to_owned(), ..Gate::default() };
        match (is_less, amount.ends_with('%')) {
            (true, true) => gate.no_worse_than = Some(amount),
            (true, false) => gate.at_most = Some(amount),
            (false, _) => gate.at_least = Some(amount),
        }
        gate.limit()?;
        Ok(gate)
    }

    /// What it asks for.
    ///
    /// # Errors
    /// It has no limit or several, or one that cannot be read; one line.
    pub fn limit(&self) -> Result<Limit> {
        let metric = clean(&self.metric);
        ensure!(!self.metric.trim().is_empty(), "a gate names its metric, as in metric = \"cpu\"");
        match (&self.no_worse_than, &self.at_most, &self.at_least) {
            (Some(share), None, None) => Ok(Limit::NoWorseThan(share_of(&metric, share)?)),
            (None, Some(amount), None) => Ok(Limit::AtMost(amount_of(&metric, amount)?)),
            (None, None, Some(amount)) => Ok(Limit::AtLeast(amount_of(&metric, amount)?)),
            _ => bail!("the gate of {metric} has one of no_worse_than, at_most and at_least"),
        }
    }

    /// Whether it is about a configuration.
    pub fn covers(&self, id: &str) -> bool {
        self.only.as_deref().is_none_or(|pattern| covers(pattern, id))
    }

    /// As one line: `cpu no worse than 5%`.
    pub fn words(&self) -> String {
        let limit = match (&self.no_worse_than, &self.at_most, &self.at_least) {
            (Some(share), ..) => format!("no worse than {share}"),
            (_, Some(amount), _) => format!("at most {amount}"),
            (_, _, amount) => format!("at least {}", amount.as_deref().unwrap_or_default()),
        };
        let only = self.only.as_ref().map_or(String::new(), |only| format!(" in {only}"));
        clean(&format!("{} {limit}{only}", self.metric))
    }
}

fn share_of(metric: &str, text: &str) -> Result<f64> {
    let number = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    match number.filter(|number| (0.0..1e4).contains(number)) {
        Some(percent) => Ok(percent / 100.0),
        None => bail!("the gate of {metric}: {} is no share; write 5%", clean(text)),
    }
}

fn amount_of(metric: &str, text: &str) -> Result<Amount> {
    let text = text.trim();
    if text.ends_with('%') {
        return share_of(metric, text).map(Amount::Share);
    }
    if let Some(number) = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0) {
        return Ok(Amount::Number(number));
    }
    if let Ok(bytes) = units::bytes(text) {
        return Ok(Amount::Bytes(bytes as f64));
    }
    match units::seconds(text) {
        Ok(seconds) if seconds >= 0.0 => Ok(Amount::Seconds(seconds)),
        _ => bail!("the gate of {metric}: {} is no amount; write 50ms, 20KB, 200 or 1%", clean(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_read_as_they_are_written() {
        let limit = |text: &str| Gate::parse(text).unwrap().limit().unwrap();
        assert_eq!(limit("cpu<5%"), Limit::NoWorseThan(0.05));
        assert_eq!(limit("cpu <= 2.5%"), Limit::NoWorseThan(0.025));
        assert_eq!(limit("p99<50ms"), Limit::AtMost(Amount::Seconds(0.05)));
        assert_eq!(limit("body-bytes<=20KB"), Limit::AtMost(Amount::Bytes(20_000.0)));
        assert_eq!(limit("rate>200"), Limit::AtLeast(Amount::Number(200.0)));
        for wrong in ["cpu", "cpu<", "<5%", "cpu<many", "cpu<-5%", "cpu<nan", "cpu<5%%"] {
            let said = Gate::parse(wrong).unwrap_err().to_string();
            assert!(!said.contains('\n'), "{wrong}: {said}");
        }
        let both = Gate {
            at_most: Some("1".into()),
            at_least: Some("1".into()),
            metric: "cpu".into(),
            ..Gate::default()
        };
        assert!(both.limit().is_err());
    }
}
