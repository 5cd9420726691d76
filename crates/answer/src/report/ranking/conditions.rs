//! The conditions of a ranking, and their text: `goal=time,link=10:40:1,connection=new,reads=10`. The text is the same
//! on the command line and in the address of a page.

use std::fmt;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use weigh_model::site::Prices;
use weigh_model::study::Links;
use weigh_model::suggest::nearest_hint;
use weigh_model::text::clean;
use weigh_model::transfer::{Connection, Path};

use crate::money::{GB, HOUR, Weights};
use crate::report::{OverLink, Report};
use crate::text::json_name;

/// What is to be least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// The time of an operation: CPU time and the time on the link.
    #[default]
    Time,
    /// The price of CPU time, bytes, and of the time that visitors wait.
    Money,
}

/// A link, and the share of operations over it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LinkShare {
    /// Mbit/s.
    pub mbit: f64,
    /// The round trip in milliseconds.
    pub rtt_ms: f64,
    /// Its share, compared with those of the others.
    pub share: f64,
}

/// Under which configurations are ranked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Conditions {
    /// What is to be least.
    pub goal: Goal,
    /// At least one link.
    pub links: Vec<LinkShare>,
    /// The connection of an operation.
    pub connection: Connection,
    /// Reads per write.
    pub reads: f64,
    /// The price of a core for an hour.
    pub core_hour: f64,
    /// The price of 10⁹ bytes sent.
    pub gb: f64,
    /// The price of a second that a visitor waits.
    pub second: f64,
    /// How many users share each link evenly.
    #[serde(skip, default = "one")]
    pub sharing: f64,
}

fn one() -> f64 {
    1.0
}

/// Where a study names no link: that of a visitor.
const VISITOR: LinkShare = LinkShare { mbit: 10.0, rtt_ms: 40.0, share: 1.0 };
const SECOND: f64 = 1e9;
/// The number of operations that a price is for.
pub const OPERATIONS: f64 = 1e6;
/// The largest number that is taken.
const MOST: f64 = 1e9;

impl Conditions {
    /// The usual ones of a report: those of its study; where that names no link, over the measured link that is in the middle by speed.
    pub fn of(report: &Report) -> Conditions {
        let usual = Conditions::usual(report.study.links.as_ref());
        let speed = |link: &OverLink| {
            let measured = link.measured.down.as_ref().map(|rate| rate.measured_kbps);
            let mbit = measured.or(link.asked.down_kbps)? / 1e3;
            Some(LinkShare { mbit, rtt_ms: link.asked.rtt_ms, share: 1.0 })
        };
        let mut links: Vec<LinkShare> = report.links.iter().filter_map(speed).collect();
        links.retain(|link| link.mbit > 0.0 && link.mbit.is_finite() && link.rtt_ms >= 0.0);
        links.sort_by(|a, b| a.mbit.total_cmp(&b.mbit));
        match links.get(links.len() / 2).filter(|_| report.study.links.is_none()) {
            Some(link) => Conditions { links: vec![*link], ..usual },
            None => usual,
        }
    }

    /// The usual ones of a study.
    pub fn usual(links: Option<&Links>) -> Conditions {
        let mbit = links.and_then(usual_mbit);
        let own = |(links, mbit): (&Links, f64)| LinkShare { mbit, rtt_ms: links.rtt_ms, share: 1.0 };
        let link = links.zip(mbit).map_or(VISITOR, own);
        // Prices are assumed as for a site; a reader sets their own.
        let prices = Prices::default();
        Conditions {
            goal: Goal::Time,
            links: vec![link],
            connection: links.map_or(Connection::Warm, |links| links.connection),
            // A study of links that names no reads is about writes.
            reads: links.map_or(10.0, |links| usual_reads(links).unwrap_or(0.0)),
            core_hour: prices.core_hour.value,
            gb: prices.gb_out.value,
            second: prices.visitor_second.value,
            sharing: links.map_or(1.0, |links| f64::from(links.concurrency)),
        }
    }

    /// These with what a text changes: keys and values as [`Conditions`] prints them, in any order, each at most once.
    ///
    /// # Errors
    /// One line: the key or value that is wrong, and what is possible.
    pub fn with(&self, text: &str) -> Result<Conditions, String> {
        let mut changed = self.clone();
        let mut known = Vec::new();
        for pair in text.split(',').filter(|pair| !pair.trim().is_empty()) {
            let Some((key, value)) = pair.trim().split_once('=') else {
                return Err(format!("`{}`: not KEY=VALUE, such as reads=10", clean(pair)));
            };
            if known.contains(&key) {
                return Err(format!("`{}` is given twice", clean(key)));
            }
            known.push(key);
            changed.set(key, value).map_err(|why| format!("{}={}: {why}", clean(key), clean(value)))?;
        }
        Ok(changed)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "goal" => self.goal = named(value).ok_or("time or money")?,
            "link" => self.links = value.split('+').map(str::parse).collect::<Result<_, _>>()?,
            "connection" => self.connection = named(value).ok_or("warm, idle or new")?,
            "reads" => self.reads = number(value)?,
            "core-hour" => self.core_hour = number(value)?,
            "gb" => self.gb = number(value)?,
            "second" => self.second = number(value)?,
            _ => return Err(format!("no such condition{}", nearest_hint(key, KEYS.iter().copied()))),
        }
        Ok(())
    }

    /// The shares of one write and one read in an operation; nothing is written if no contender's writes are known.
    pub fn shares(&self, writes_are_known: bool) -> (f64, f64) {
        if writes_are_known && self.reads.is_finite() {
            (1.0 / (1.0 + self.reads), self.reads / (1.0 + self.reads))
        } else {
            (0.0, 1.0)
        }
    }

    /// Nanoseconds of this many bytes on the link, in the mean over the links.
    pub fn transfer_ns(&self, bytes: f64) -> f64 {
        let all: f64 = self.links.iter().map(|link| link.share).sum();
        let over = |link: &LinkShare| {
            let path = Path::shared(link.mbit, link.rtt_ms, self.sharing);
            link.share / all * path.transfer_ns(bytes, self.connection)
        };
        self.links.iter().map(over).sum()
    }

    /// What a nanosecond of CPU time is worth in the unit of totals, and what this wait and these bytes are.
    pub fn value(&self, wait_ns: f64, bytes: f64) -> (f64, f64) {
        match self.goal {
            Goal::Time => (1.0, wait_ns),
            Goal::Money => {
                let weights = self.weights();
                let known = OPERATIONS * (weights.wait * wait_ns / SECOND + weights.sent * bytes);
                (OPERATIONS * (weights.wait + weights.core) / SECOND, known)
            }
        }
    }

    fn weights(&self) -> Weights {
        Weights { wait: self.second, core: self.core_hour / HOUR, sent: self.gb / GB, stored: 0.0 }
    }
}

const KEYS: [&str; 7] = ["goal", "link", "connection", "reads", "core-hour", "gb", "second"];

/// What has this name in JSON.
fn named<T: DeserializeOwned>(name: &str) -> Option<T> {
    serde_json::from_value(name.into()).ok()
}

fn number(text: &str) -> Result<f64, String> {
    let is_possible = |number: &f64| (0.0..=MOST).contains(number);
    text.parse().ok().filter(is_possible).ok_or_else(|| "not a number from 0 to 1000000000".into())
}

impl FromStr for LinkShare {
    type Err = String;

    fn from_str(text: &str) -> Result<LinkShare, String> {
        let form = "a link is Mbit/s:milliseconds:share, such as 10:40:1";
        let mut parts = text.split(':').map(|part| number(part).map_err(|_| form));
        let mut next = || parts.next().transpose();
        let (mbit, rtt_ms, share) = (next()?, next()?, next()?);
        match (mbit, rtt_ms, share.unwrap_or(1.0), parts.next()) {
            (Some(mbit), Some(rtt_ms), share, None) if mbit > 0.0 && share > 0.0 => {
                Ok(LinkShare { mbit, rtt_ms, share })
            }
            _ => Err(form.into()),
        }
    }
}

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (goal, connection) = (json_name(self.goal), json_name(self.connection));
        let link = |link: &LinkShare| format!("{}:{}:{}", link.mbit, link.rtt_ms, link.share);
        let links: Vec<String> = self.links.iter().map(link).collect();
        write!(f, "goal={goal},link={},connection={connection},reads={}", links.join("+"), self.reads)?;
        write!(f, ",core-hour={},gb={},second={}", self.core_hour, self.gb, self.second)
    }
}

/// The usual reads per write: those of the study, otherwise the given number nearest to ten.
pub fn usual_reads(links: &Links) -> Option<f64> {
    let distance = |reads: &f64| (reads.max(0.1) / 10.0).ln().abs();
    let nearest = || reads_per_write(links).min_by(|a, b| distance(a).total_cmp(&distance(b)));
    links.usual_reads.filter(|reads| reads.is_finite() && *reads >= 0.0).or_else(nearest)
}

/// The usual link speed in Mbit/s: that of the study, otherwise the middle one.
pub(crate) fn usual_mbit(links: &Links) -> Option<f64> {
    let mut speeds = speeds_of(links);
    speeds.sort_by(f64::total_cmp);
    links
        .usual_mbit
        .filter(|mbit| mbit.is_finite() && *mbit > 0.0)
        .or_else(|| speeds.get(speeds.len() / 2).copied())
}

/// The reads per write that a study requests, if they are possible.
pub(crate) fn reads_per_write(links: &Links) -> impl Iterator<Item = f64> {
    links.reads_per_write.iter().copied().filter(|reads| reads.is_finite() && *reads >= 0.0)
}

/// The link speeds in Mbit/s that a study requests, if they are possible.
pub(crate) fn speeds_of(links: &Links) -> Vec<f64> {
    links.mbit.iter().copied().filter(|speed| speed.is_finite() && *speed > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use crate::report::ranking::conditions::*;

    #[test]
    fn a_text_changes_what_it_names_and_is_read_as_it_is_printed() {
        let usual = Conditions::usual(None);
        let own = usual.with("link=1.6:150:0.3+10:40, goal=money,reads=0,connection=new").unwrap();
        assert_eq!(own.links[1], LinkShare { mbit: 10.0, rtt_ms: 40.0, share: 1.0 });
        assert_eq!((own.goal, own.reads, own.gb), (Goal::Money, 0.0, usual.gb));
        assert_eq!(usual.with(&own.to_string()).unwrap(), own);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |text: &str| Conditions::usual(None).with(text).unwrap_err();
        assert_eq!(wrong("read=3"), "read=3: no such condition; did you mean `reads`?");
        assert_eq!(wrong("reads"), "`reads`: not KEY=VALUE, such as reads=10");
        assert_eq!(wrong("reads=1,reads=2"), "`reads` is given twice");
        for text in
            ["reads=-1", "reads=NaN", "gb=inf", "link=0:1:1", "link=1", "link=1:2:3:4", "link=", "goal=fun"]
        {
            assert!(wrong(text).starts_with(text), "{}", wrong(text));
        }
    }

    #[test]
    fn time_is_money_at_its_price() {
        let of = |text: &str| Conditions::usual(None).with(text).unwrap();
        assert_eq!(of("goal=time").value(7.0, 1e9), (1.0, 7.0));
        // 3600 s of a core cost 2, a GB 3: a nanosecond and a byte, a million times.
        let (per_ns, known) = of("goal=money,core-hour=2,gb=3,second=0").value(1e9, 1e9);
        assert!((per_ns - 1e6 * 2.0 / 3600.0 / 1e9).abs() < 1e-18 && (known - 3e6).abs() < 1e-6);
        let (_, waited) = of("goal=money,core-hour=0,gb=0,second=5").value(1e9, 1e9);
        assert!((waited - 5e6).abs() < 1e-6);
    }
}
