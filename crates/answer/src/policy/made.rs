//! What a page takes to be made, beside what encoding adds to it: so that a gain is seen in proportion.

use weigh_model::site::{Kind, Stratum};
use weigh_model::units;

use super::Ground;
use super::content::rows;
use super::setup::{NS, Setup};

/// `The application takes 12 ms per page; encoding adds 0.6 ms.` None where the site's file does not say what a page takes, or nothing
/// was measured without encoding.
pub fn beside(ground: &Ground, plain: &Setup, chosen: &Setup) -> Option<String> {
    let server = ground.site.sources.server.as_deref();
    let is_measured = |stratum: &&Stratum| {
        let mut sample = stratum.sample.iter();
        sample.any(|one| !rows(ground.reports, Kind::Page, &one.sha256, server).is_empty())
    };
    let strata: Vec<&Stratum> = ground.site.of(Kind::Page).filter(is_measured).collect();
    let requests: f64 = strata.iter().map(|stratum| stratum.requests.value).sum();
    let made: f64 =
        strata.iter().map(|one| Some(one.made_ms?.value * one.requests.value)).sum::<Option<_>>()?;
    (requests > 0.0).then_some(())?;
    let added = (chosen.cpu.value - plain.cpu.value) / requests / NS * 1e3;
    let ms = |value: f64| format!("{} ms", units::trimmed_number(value));
    let adds = if added > 0.0 { format!("adds {}", ms(added)) } else { "adds nothing".into() };
    Some(format!("The application takes {} per page; encoding {adds}.", ms(made / requests)))
}
