//! One file as an example: what it costs on the fly and encoded before.

use crate::analysis::delivery::findings::{Evidence, crossing, label};
use crate::analysis::delivery::model::SizeRatio;
use crate::analysis::findings::Draft;
use weigh_model::units;

/// The example where no table was published: the median transfer size of a script is near it.
const USUAL: u64 = 50_000;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let wanted = evidence.plan.study.published_delivery.as_ref().map(|table| evidence.bytes(&table.payload));
    let wanted = wanted.filter(|bytes| *bytes > 0).unwrap_or(USUAL) as f64;
    let distance = |size: &&SizeRatio| {
        let far = (size.bytes.max(1) as f64 / wanted).ln().abs();
        (far * 1e6) as u64
    };
    let sentences = crossing::chosen(evidence).into_iter().filter_map(|crossover| {
        let size = crossover.sizes.iter().min_by_key(distance)?;
        let (fly, pre) = (evidence.cell(&size.on_the_fly)?, evidence.cell(&size.pre_encoded)?);
        let (cpu, rate) = (size.cpu?, size.rate?);
        let text = format!(
            "On {}, a response with {} ({}) takes {} of CPU time with {} and {} with {}: {} the CPU time on the fly, and {} the rate from the file encoded before.",
            crossing::stand(crossover),
            label::content(evidence, &size.payload),
            units::bytes(size.bytes),
            units::ns(fly.result.cpu_ns()?),
            label::name(&fly),
            units::ns(pre.result.cpu_ns()?),
            label::name(&pre),
            units::times_interval(cpu.ratio, cpu.low, cpu.high),
            units::times_interval(rate.ratio, rate.low, rate.high),
        );
        Some((text, vec![fly.id(), pre.id()]))
    });
    let mut drafts: Vec<Draft> = sentences.map(|(text, cells)| Draft::detail(text, cells)).collect();
    if let Some(first) = drafts.first_mut() {
        first.lead = true;
    }
    drafts
}
