//! Exhibits: results that are not a table of metrics. Each is computed and presented in its file; its data are in
//! [`crate::report::exhibit`].

pub mod comparison;
pub mod crossover;
pub mod fairness;
pub mod links;
pub mod negotiation;
pub mod prediction;
pub(crate) mod present;
pub mod published;
pub mod stored;
pub mod waits;

use crate::exhibit::present::Exhibit;
use crate::report::exhibit::Exhibits;

impl Exhibits {
    /// Cells that are shown here and have no row.
    pub fn cells(&self) -> usize {
        self.fairness.as_ref().map_or(0, |fairness| fairness.0.len())
    }

    /// Those with content, in the order of reports.
    pub fn all(&self) -> Vec<&dyn Exhibit> {
        let all: [Option<&dyn Exhibit>; 8] = [
            self.links.as_ref().map(|e| e as &dyn Exhibit),
            self.crossovers.as_ref().map(|e| e as &dyn Exhibit),
            self.negotiations.as_ref().map(|e| e as &dyn Exhibit),
            self.waits.as_ref().map(|e| e as &dyn Exhibit),
            self.fairness.as_ref().map(|e| e as &dyn Exhibit),
            self.published.as_ref().map(|e| e as &dyn Exhibit),
            self.comparisons.as_ref().map(|e| e as &dyn Exhibit),
            self.computed_calls.as_ref().map(|e| e as &dyn Exhibit),
        ];
        all.into_iter().flatten().collect()
    }
}
