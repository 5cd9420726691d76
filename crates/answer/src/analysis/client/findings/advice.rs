//! How well a call can be computed from its parts, where the measurement corrects the model's advice, and the usual break-even.

use crate::analysis::client::findings::{Evidence, label};
use crate::analysis::client::model::{Advice, BreakEvenAt, Prediction};
use crate::analysis::findings::Draft;
use weigh_model::units;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts: Vec<Draft> =
        evidence.computed.break_even.iter().filter_map(|b| at(evidence, b)).collect();
    drafts.extend(predicted(evidence));
    drafts.extend(evidence.computed.advice.iter().filter_map(|a| corrected(evidence, a)));
    if let Some(first) = drafts.first_mut() {
        first.lead = true;
    }
    drafts
}

/// Where the model and the measurement pick different settings beyond doubt.
fn corrected(evidence: &Evidence, advice: &Advice) -> Option<Draft> {
    let (model, measured) = (evidence.cell(&advice.model)?, evidence.cell(&advice.measured)?);
    let lost = advice.lost.filter(|_| advice.corrected)?;
    let text = format!(
        "For {} of {} ({}) the model picks {}, and {} was measured to be quickest of {}: the model's pick takes {} its time. Go by the measurement.",
        advice.operation.words(),
        label::content(evidence, &model.result.cell.payload),
        label::place(&model),
        label::setting(&model.result.cell),
        label::setting(&measured.result.cell),
        units::count(advice.settings as usize, "setting", "settings"),
        units::times_interval(lost.ratio, lost.low, lost.high)
    );
    Some(Draft::lead(text, vec![advice.model.clone(), advice.measured.clone()]))
}

/// One sentence a link: how far measured calls are from computed ones.
fn predicted(evidence: &Evidence) -> Vec<Draft> {
    let mut links: Vec<&str> = Vec::new();
    let all = &evidence.computed.predictions;
    for name in all.iter().filter_map(|p| p.link.as_deref()) {
        if !links.contains(&name) {
            links.push(name);
        }
    }
    let of_link = |link: &str| {
        let of: Vec<&Prediction> = all.iter().filter(|p| p.link.as_deref() == Some(link)).collect();
        let ratios: Vec<f64> = of.iter().filter_map(|p| p.ratio).collect();
        let middle = weigh_stats::median(&ratios)?;
        let text = format!(
            "Over {link} a call takes {} the time that the model says (median of {}, {}).",
            units::times(middle),
            units::count(ratios.len(), "call", "calls"),
            label::range(&ratios, units::times)
        );
        Some(Draft::detail(text, of.iter().map(|p| p.cell.clone()).collect()))
    };
    links.into_iter().filter_map(of_link).collect()
}

/// The usual two settings on one link.
fn at(evidence: &Evidence, pair: &BreakEvenAt) -> Option<Draft> {
    let (first, second) = (evidence.cell(&pair.first)?, evidence.cell(&pair.second)?);
    let names = (label::setting(&first.result.cell), label::setting(&second.result.cell));
    let break_even = match pair.computed_mbit {
        Some(mbit) => format!("computed to break even at {}", units::mbit(mbit)),
        None => "computed to have no break-even".to_owned(),
    };
    let measured = pair.measured?;
    let verdict = match pair.agrees {
        Some(true) => "as computed",
        Some(false) => "the other way round than computed",
        None => "which does not settle the order",
    };
    let text = format!(
        "{} and {} are {break_even} for {} of {}; over {} ({}) the first takes {} the time of the second by the model and {} as measured, {verdict}.",
        names.0,
        names.1,
        pair.operation.words(),
        label::content(evidence, &first.result.cell.payload),
        pair.link,
        units::mbit(pair.mbit),
        units::times(pair.computed),
        units::times_interval(measured.ratio, measured.low, measured.high)
    );
    Some(Draft::detail(text, vec![pair.first.clone(), pair.second.clone()]))
}
