//! What visitors ask for per month, and where that is known from: counted in a log, or assumed from the pages' own links or the
//! published mix.

use std::collections::HashMap;

use super::log;
use weigh_model::site::From;

pub const MONTH_DAYS: f64 = 365.25 / 12.0;

/// Requests for something, per month.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hits {
    pub requests: f64,
    /// Their bytes as sent; zero if they are not counted.
    pub bytes: f64,
    /// Responses with status 304.
    pub not_modified: f64,
    pub ranges: f64,
}

impl Hits {
    /// Requests per month. Redirects, empty responses, errors and `HEAD` are none of them.
    pub fn per_month(hits: &log::Hits, factor: f64) -> Hits {
        let hits = Hits {
            requests: hits.whole as f64,
            bytes: (hits.bytes - hits.other_bytes) as f64,
            not_modified: hits.not_modified as f64,
            ranges: hits.partial as f64,
        };
        hits.times(factor)
    }

    /// Each figure of these with that of others.
    fn with(&self, others: &Hits, figure: impl Fn(f64, f64) -> f64) -> Hits {
        Hits {
            requests: figure(self.requests, others.requests),
            bytes: figure(self.bytes, others.bytes),
            not_modified: figure(self.not_modified, others.not_modified),
            ranges: figure(self.ranges, others.ranges),
        }
    }

    pub fn add(&mut self, others: &Hits) {
        *self = self.with(others, |a, b| a + b);
    }

    pub fn subtract(&mut self, others: &Hits) {
        // What is a rounding error is nothing.
        *self = self.with(others, |all, some| if all - some > all * 1e-9 { all - some } else { 0.0 });
    }

    pub fn times(&self, factor: f64) -> Hits {
        self.with(self, |all, _| all * factor)
    }

    /// Whether anything was asked for.
    pub fn any(&self) -> bool {
        self.requests + self.not_modified + self.ranges > 0.0
    }
}

#[derive(Clone, Debug)]
pub struct RequestsByPath {
    /// By path below the site's root, without a slash at the begin and without a query.
    pub paths: HashMap<String, Hits>,
    pub from: From,
}

impl RequestsByPath {
    /// What is asked of a path; nothing if it is not known.
    pub fn of(&self, path: &str) -> Hits {
        self.paths.get(path).copied().unwrap_or_default()
    }
}
