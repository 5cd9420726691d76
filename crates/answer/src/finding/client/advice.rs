//! How accurately calls can be computed from their parts, where the measurement contradicts the model's choice, and the
//! usual break-even.

use weigh_model::units;

use crate::finding::client::clients::{candidate, first_leads};
use crate::finding::client::label;
use crate::first::grouped;
use crate::names;
use crate::report::exhibit::prediction::{
    Advice, BreakEvenAt, ComputedCalls, Operation, Prediction, StoredBytes,
};
use crate::report::finding::{Draft, Evidence};

/// The break-evens, the distances of measured calls from computed ones, and where the two choose different settings.
pub fn computed_and_measured(evidence: &Evidence) -> Vec<Draft> {
    let Some(calls) = &evidence.report.exhibits.computed_calls else { return Vec::new() };
    let mut drafts: Vec<Draft> = calls.break_even.iter().filter_map(|b| usual_pair(evidence, b)).collect();
    drafts.extend(predicted(calls));
    drafts.extend(stored(calls));
    drafts.extend(calls.advice.iter().filter_map(|a| corrected(evidence, a)));
    first_leads(drafts)
}

/// Where the model and the measurement choose significantly different settings.
fn corrected(evidence: &Evidence, advice: &Advice) -> Option<Draft> {
    let (model, measured) = (candidate(evidence, &advice.model)?, candidate(evidence, &advice.measured)?);
    let lost = advice.lost.filter(|_| advice.corrected)?;
    let text = format!(
        "{} of {} ({}): the model picks {}, measured {} is the fastest of {}. The model's pick takes {} as long: go by the measurement.",
        advice.operation.words(),
        label::content(evidence, &model.row.cell.payload),
        label::describe_client(&model),
        label::setting(&model.row.cell),
        label::setting(&measured.row.cell),
        units::count(advice.settings as usize, "setting", "settings"),
        label::interval(&lost)
    );
    Some(Draft::lead(text, vec![advice.model.clone(), advice.measured.clone()]))
}

/// One sentence per link: the distance of measured calls from computed ones.
fn predicted(calls: &ComputedCalls) -> Vec<Draft> {
    let links = grouped(calls.predictions.iter().filter_map(|p| Some((p.link.as_deref()?, p))));
    let of_link = |(link, of): (&str, Vec<&Prediction>)| {
        let ratios: Vec<f64> = of.iter().filter_map(|p| p.ratio).collect();
        let middle = weigh_stats::median(&ratios)?;
        let trips: Vec<f64> = of.iter().map(|p| p.round_trip * 1e9).collect();
        let workers: Vec<f64> = of.iter().map(|p| f64::from(p.workers)).collect();
        let text = format!(
            "Over {link} ({} round trip, workers: {}), calls take {} the modelled time (median of {}, {}).",
            label::range(&trips, units::ns),
            label::range(&workers, units::trimmed_number),
            units::times(middle),
            units::count(ratios.len(), "call", "calls"),
            label::range(&ratios, units::times)
        );
        Some(Draft::detail(text, of.iter().map(|p| p.cell.clone()).collect()))
    };
    links.into_iter().filter_map(of_link).collect()
}

/// The time of driver and store, for studies that compute totals over links: one sentence per driver, store and runtime
/// with both calls.
fn stored(calls: &ComputedCalls) -> Vec<Draft> {
    let drivers = grouped(
        calls
            .stored
            .iter()
            .map(|of| ((of.store.as_str(), of.driver.as_str(), of.runtime.as_str(), of.workers), of)),
    );
    let sentence = |((store, driver, runtime, _), of): &((&str, &str, &str, u32), Vec<&StoredBytes>)| {
        let find = |operation: Operation| of.iter().find(|of| of.operation == operation);
        let (put, get) = (find(Operation::Put)?, find(Operation::Get)?);
        let rate = |of: &StoredBytes| units::significant(of.ns_per_byte);
        let text = format!(
            "{} ({}): a write takes {} and {} ns per stored byte, a read {} and {} ns. \
             In a study's [links]: write_ns_per_byte and read_ns_per_byte.",
            names::store_and_driver((store, driver)),
            label::runtime(runtime),
            units::ns(put.fixed_ns),
            rate(put),
            units::ns(get.fixed_ns),
            rate(get),
        );
        Some(Draft::detail(text, put.cells.clone()))
    };
    drivers.iter().filter_map(sentence).collect()
}

/// The usual two settings on one link.
fn usual_pair(evidence: &Evidence, pair: &BreakEvenAt) -> Option<Draft> {
    let (first, second) = (candidate(evidence, &pair.first)?, candidate(evidence, &pair.second)?);
    let names = format!("{} and {}", label::setting(&first.row.cell), label::setting(&second.row.cell));
    let content = label::content(evidence, &first.row.cell.payload);
    let break_even = match pair.computed_mbit {
        Some(mbit) => format!("the modelled break-even is {}", units::mbit(mbit)),
        None => "the model has no break-even".to_owned(),
    };
    let verdict = match pair.agrees {
        Some(true) => "; the measurement agrees",
        Some(false) => "; the measurement disagrees",
        None => "",
    };
    let text = format!(
        "{names}, {} of {content}: {break_even}. Over {} ({}) the first takes {} as long as modelled, {} as measured{verdict}.",
        pair.operation.words(),
        pair.link,
        units::mbit(pair.mbit),
        units::times(pair.computed),
        crate::label::ratio(&pair.measured?)
    );
    Some(Draft::detail(text, vec![pair.first.clone(), pair.second.clone()]))
}
