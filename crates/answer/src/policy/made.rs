//! A decision with its setups.

use weigh_model::site::Kind;

use crate::policy::coded::MeasuredStratum;
use crate::policy::setup::{Rest, Setup};

/// A decision with its setups.
pub(super) struct Made<'a> {
    pub kind: Kind,
    pub today: Option<Setup>,
    pub chosen: Setup,
    /// The names of those that are equal to it, itself among them.
    pub equal: Vec<String>,
    /// Whether there were enough rounds to compare the setups.
    pub has_rounds: bool,
    /// What a page takes to be made, beside what encoding adds to it: so that a gain is seen in proportion.
    pub beside: Option<String>,
    /// The strata with a measurement.
    pub told: Vec<MeasuredStratum<'a>>,
    /// What the content takes that was not measured, before and after.
    pub unmeasured: [Rest; 2],
}

impl Made<'_> {
    /// Everything as it is today; none: that is not known.
    pub fn before(&self) -> Option<Setup> {
        self.today.clone().map(|today| today.with_rest(&self.unmeasured[0]))
    }

    /// Everything as it was chosen.
    pub fn after(&self) -> Setup {
        self.chosen.clone().with_rest(&self.unmeasured[1])
    }
}
