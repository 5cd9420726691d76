//! The figures of all rounds: by case and tool, and the table of their medians.

use std::collections::BTreeMap;

use weigh_stats::median;

use crate::common::progress;
use crate::tool::{Case, Tool};

/// One visit's figures.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    /// CPU seconds of the client per 100,000 completed requests.
    pub cpu: f64,
    /// The kernel's part of them, 0 to 1.
    pub kernel: f64,
    /// Completed requests per second.
    pub rate: f64,
}

/// Visits by case, tool and round; a round that failed is none.
#[derive(Debug, Default)]
pub struct Figures(BTreeMap<(usize, Tool), Vec<Option<Visit>>>);

impl Figures {
    /// Adds the next round's visit of a tool.
    pub fn push(&mut self, case: usize, tool: Tool, visit: Option<Visit>) {
        self.0.entry((case, tool)).or_default().push(visit);
    }

    /// Whether a tool was asked at all.
    pub fn has(&self, case: usize, tool: Tool) -> bool {
        self.of(case, tool).iter().any(Option::is_some)
    }

    /// The CPU time of two tools in the rounds in which both ended well.
    pub fn pairs(&self, case: usize, ours: Tool, peer: Tool) -> Vec<(f64, f64)> {
        let both = self.of(case, ours).iter().zip(self.of(case, peer));
        both.filter_map(|(a, b)| Some((a.as_ref()?.cpu, b.as_ref()?.cpu))).collect()
    }

    /// Prints medians over rounds on stderr.
    pub fn print(&self, cases: &[Case]) {
        progress(
            "CPU seconds of the client per 100,000 requests (the kernel's part), and requests per second; medians",
        );
        for (at, case) in cases.iter().enumerate() {
            progress(case.name);
            for tool in case.tools.iter().filter(|t| self.has(at, **t)) {
                let values = |what: fn(&Visit) -> f64| {
                    let all: Vec<f64> = self.of(at, *tool).iter().flatten().map(what).collect();
                    median(&all).unwrap_or(f64::NAN)
                };
                let (cpu, kernel, rate) = (values(|v| v.cpu), values(|v| v.kernel), values(|v| v.rate));
                let name = tool.name();
                progress(&format!("  {name:<16} {cpu:>8.3} ({:>3.0}%) {rate:>9.0}", kernel * 100.0));
            }
        }
    }

    fn of(&self, case: usize, tool: Tool) -> &[Option<Visit>] {
        self.0.get(&(case, tool)).map(Vec::as_slice).unwrap_or_default()
    }
}
