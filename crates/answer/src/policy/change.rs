//! What a change of setups brings: amounts before and after.

use weigh_model::policy::{Amount, Change, ContentChange};
use weigh_model::site::{Kind, Site, Stratum};
use weigh_model::units;

use crate::money::{GB, HOUR, Weights};
use crate::policy::setup::{Exact, NS, Setup};
use crate::policy::uncertainty::{Quantity, Uncertainty};

/// The share by which responses of a kind are longer where that is said.
pub(crate) const LONGER: f64 = 0.005;

/// Hours of CPU time, with the application's where that is known.
pub(crate) const CORE_HOURS: Quantity = &|cpu, exact| (cpu / NS / HOUR, exact.made / HOUR);

/// Hours that visitors wait, for CPU time and the rest.
pub(crate) const WAIT_HOURS: Quantity = &|cpu, exact| (cpu / NS / HOUR, exact.wait / HOUR);

/// The hours of CPU time before and after.
pub(crate) fn core_hours(site: &Site, before: &Setup, after: &Setup) -> Amount {
    Uncertainty::new(site, before, after).amount(CORE_HOURS, false)
}

/// The amounts before and after, with intervals.
pub(crate) fn change(site: &Site, before: &Setup, after: &Setup) -> Change {
    let is_same = before.name == after.name && before.exact == after.exact;
    let uncertainty = Uncertainty::new(site, before, after);
    let amount = |of: Quantity| uncertainty.amount(of, is_same);
    let prices = Weights::prices(site);
    Change {
        wait_hours: amount(WAIT_HOURS),
        core_hours: amount(CORE_HOURS),
        worker_hours: amount(&|_, exact| (0.0, exact.workers / HOUR)),
        gb_out: amount(&|_, exact| (0.0, exact.sent / GB)),
        gb_stored: amount(&|_, exact| (0.0, exact.stored / GB)),
        cost: amount(&|cpu, exact| ((prices.wait + prices.core) * cpu / NS, exact.cost(&prices))),
    }
}

/// The amounts before and after of each stratum that was measured.
pub(crate) fn parts(site: &Site, before: &Setup, after: &Setup) -> Vec<ContentChange> {
    let of = |stratum: &Stratum| {
        let sum = |of: &dyn Fn(f64, &Exact) -> f64| {
            [before, after].map(|setup| {
                let own = setup.parts.iter().filter(|part| part.is_of(stratum));
                own.map(|part| of(part.cpu.as_ref().map_or(0.0, |cpu| cpu.value / NS), &part.exact)).sum()
            })
        };
        let part = ContentChange {
            content: stratum.name(),
            wait_hours: sum(&|cpu, exact| (cpu + exact.wait) / HOUR),
            core_hours: sum(&|cpu, exact| (cpu + exact.made) / HOUR),
            gb_out: sum(&|_, exact| exact.sent / GB),
            gb_stored: sum(&|_, exact| exact.stored / GB),
        };
        before.parts.iter().any(|part| part.is_of(stratum)).then_some(part)
    };
    Kind::ALL.into_iter().flat_map(|kind| site.of(kind)).filter_map(of).collect()
}

/// ` Responses are 3% to 6% longer than today.`, where those of every type and size are; none where some are not.
pub(crate) fn longer(parts: &[ContentChange]) -> Option<String> {
    let sent = || parts.iter().map(|part| part.gb_out).filter(|[before, _]| *before > 0.0);
    let shares = || sent().map(|[before, after]| after / before - 1.0);
    let (least, most) = (shares().reduce(f64::min)?, shares().reduce(f64::max)?);
    let (low, high) = (units::percent(least), units::percent(most));
    let range = if low == high { low } else { format!("{low} to {high}") };
    (least >= LONGER).then(|| format!(" Responses are {range} longer than today."))
}
