//! What a decision changes: amounts before and after.

use serde::{Deserialize, Serialize};

/// Amounts per month before and after.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Hours that visitors wait, over all responses.
    pub wait_hours: Amount,
    /// Hours of CPU time of server and PHP.
    pub core_hours: Amount,
    /// Hours that PHP workers are busy with making pages, and with sending; zero if it was not measured.
    #[serde(default)]
    pub worker_hours: Amount,
    /// GB (10⁹ bytes) of traffic out.
    pub gb_out: Amount,
    /// GB of memory of stored values.
    pub gb_stored: Amount,
    /// The sum at the site's prices, in its currency.
    pub cost: Amount,
}

/// What a decision changes of content of one type and size: amounts per month, today and with the policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename = "Part", deny_unknown_fields)]
pub struct ContentChange {
    /// The type and size: `text/css, 10 KB to 50 KB`.
    pub content: String,
    /// Hours that visitors wait.
    pub wait_hours: [f64; 2],
    /// Hours of CPU time of server and PHP.
    pub core_hours: [f64; 2],
    /// GB (10⁹ bytes) of traffic out.
    pub gb_out: [f64; 2],
    /// GB of memory of stored values.
    pub gb_stored: [f64; 2],
}

/// An amount before and after, with the 95% interval of the share that it changes by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Amount {
    /// Today.
    pub before: f64,
    /// With the policy.
    pub after: f64,
    /// Lower end of (after − before) ÷ before, from the uncertainty of the rounds, the sample and the counts of requests; null: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Lower end from the rounds alone: what a proof on the same sample is compared with; null: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds_low: Option<f64>,
    /// Upper end from the rounds alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds_high: Option<f64>,
}

impl Change {
    pub(super) fn amounts_mut(&mut self) -> [&mut Amount; 6] {
        let Change { wait_hours, core_hours, worker_hours, gb_out, gb_stored, cost } = self;
        [wait_hours, core_hours, worker_hours, gb_out, gb_stored, cost]
    }
}

impl Amount {
    /// (after − before) ÷ before; null if there was nothing before.
    pub fn share(&self) -> Option<f64> {
        (self.before > 0.0).then(|| (self.after - self.before) / self.before)
    }

    /// The same change beside this much more, which stays.
    pub fn beside(&self, more: f64) -> Amount {
        let part = self.before / (self.before + more).max(f64::MIN_POSITIVE);
        let end = |end: Option<f64>| end.map(|end| end * part);
        Amount {
            before: self.before + more,
            after: self.after + more,
            low: end(self.low),
            high: end(self.high),
            rounds_low: end(self.rounds_low),
            rounds_high: end(self.rounds_high),
        }
    }
}
