//! CPU time that the hypervisor took during a visit.

use serde::{Deserialize, Serialize};

use crate::caveat::Caveat;

/// A visit is marked if a larger share was stolen, and at least `CERTAIN` seconds.
pub const LIMIT: f64 = 0.05;
/// Below this many seconds the stolen time may be an error of counting: the meters count ticks of 10 ms.
const CERTAIN: f64 = 0.02;

/// CPU time of the processors that a run may use, over one visit, in seconds. All processes count; the resolution is 10
/// ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Steal {
    /// Seconds that the processors were busy.
    pub busy: f64,
    /// Seconds that were wanted but given to other guests by the hypervisor.
    pub stolen: f64,
    /// More than 5% of the two was stolen, and at least two ticks.
    pub marked: bool,
}

impl Steal {
    /// From these seconds; marked if the share is above the limit.
    pub fn of(busy: f64, stolen: f64) -> Steal {
        let steal = Steal { busy, stolen, marked: false };
        // The subtraction keeps an exact two ticks above the limit despite rounding.
        Steal { marked: steal.share() > LIMIT && stolen > CERTAIN - 1e-9, ..steal }
    }

    /// Stolen time ÷ wanted time, 0 to 1.
    pub fn share(&self) -> f64 {
        let wanted = self.busy + self.stolen;
        if wanted > 0.0 { self.stolen / wanted } else { 0.0 }
    }
}

/// The number of marked visits; none if no visit is marked.
pub(super) fn caveat<'v>(visits: impl ExactSizeIterator<Item = Option<&'v Steal>>) -> Option<Caveat> {
    let of = u32::try_from(visits.len()).unwrap_or(u32::MAX);
    let marked: Vec<f64> = visits.flatten().filter(|steal| steal.marked).map(Steal::share).collect();
    let most = marked.iter().copied().reduce(f64::max)?;
    Some(Caveat::StolenVisits { visits: u32::try_from(marked.len()).unwrap_or(u32::MAX), of, most })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_is_marked_beyond_the_limit_and_beyond_what_a_tick_may_be() {
        let marked = |busy, stolen| Steal::of(busy, stolen).marked;
        assert!(marked(0.3, 0.02));
        assert!(!marked(0.03, 0.01), "one tick may be a microsecond");
        assert!(!marked(2.0, 0.1), "4.8%");
        assert!(!marked(0.0, 0.0));
    }

    #[test]
    fn a_caveat_names_how_many_visits_and_the_worst() {
        let visits =
            [Some(Steal::of(0.25, 0.75)), None, Some(Steal::of(0.4, 0.1)), Some(Steal::of(0.4, 0.01))];
        let told = |visits: &[Option<Steal>]| caveat(visits.iter().map(Option::as_ref));
        assert_eq!(told(&visits), Some(Caveat::StolenVisits { visits: 2, of: 4, most: 0.75 }));
        assert_eq!(told(&visits[3..]), None);
    }
}
