//! A call computed from its parts beside the call as measured: coding time, stored bytes over the link's bandwidth, one round trip.

use weigh_stats::break_even_bandwidth;

use crate::analysis::client::compare::{Paired, paired};
use crate::analysis::client::costs::Costs;
use crate::analysis::client::model::{Advice, BreakEvenAt, ClientResult, LinkResult, Operation, Prediction};
use crate::analysis::cost::Cost;
use weigh_model::plan::Plan;
use weigh_model::setting::Setting;

/// Bits a second of a Mbit/s, in bytes a nanosecond.
const BYTES_A_NS: f64 = 1e6 / 8.0 / 1e9;
/// The two settings whose break-even everybody asks for: a codec by a part of its name, and the level.
const USUAL: [(&[&str], i32); 2] = [(&["zstd"], 3), (&["gz", "zlib"], 6)];

/// What the model has to say.
pub(super) struct Computed {
    pub predictions: Vec<Prediction>,
    pub advice: Vec<Advice>,
    pub break_even: Vec<BreakEvenAt>,
}

/// One call of one cell.
struct Call<'a> {
    at: usize,
    prediction: Prediction,
    cost: &'a Cost,
}

/// Computes every call of cells that encode or that a link is before. `costs` and `cells` stand side by side.
pub(super) fn find(plan: &Plan, links: &[LinkResult], costs: &[Costs], cells: &[ClientResult]) -> Computed {
    let mut calls: Vec<Call> = Vec::new();
    for (at, (costs, result)) in costs.iter().zip(cells).enumerate() {
        let Some(client) = &result.cell.client else { continue };
        let link = client.link.as_ref().and_then(|name| named(links, name));
        if !client.encoded && link.is_none() {
            continue;
        }
        let both = [Operation::Put, Operation::Get].into_iter();
        calls.extend(both.filter_map(|operation| call(at, operation, link, costs, result)));
    }
    let groups = groups(&calls, cells);
    Computed {
        advice: groups.iter().filter_map(|group| advice(plan, group)).collect(),
        break_even: groups.iter().filter_map(|group| break_even(plan, links, group, cells)).collect(),
        predictions: calls.into_iter().map(|call| call.prediction).collect(),
    }
}

fn call<'a>(
    at: usize,
    operation: Operation,
    link: Option<&LinkResult>,
    costs: &'a Costs,
    result: &ClientResult,
) -> Option<Call<'a>> {
    let (coding, cost, times) = match operation {
        Operation::Put => (&costs.encode, costs.put_mean.as_ref()?, result.put?),
        Operation::Get => (&costs.decode, costs.get_mean.as_ref()?, result.get?),
    };
    let coding = coding.as_ref().map_or(0.0, Cost::time);
    let bytes = result.stored_bytes.unwrap_or(0) as f64;
    let transfer = link.map_or(0.0, |link| bytes / (link.mbit(operation) * BYTES_A_NS));
    let round_trip = link.map_or(0.0, |link| link.round_trip() * 1e6);
    let predicted = coding + transfer + round_trip;
    let measured = cost.clone().scaled(1e-9).quantity();
    let prediction = Prediction {
        cell: result.cell.id.clone(),
        link: link.map(|link| link.asked.name.clone()),
        operation,
        coding: coding / 1e9,
        transfer: transfer / 1e9,
        round_trip: round_trip / 1e9,
        predicted: predicted / 1e9,
        measured,
        p50: times.p50,
        ratio: (predicted > 0.0 && predicted.is_finite()).then(|| measured.value * 1e9 / predicted),
    };
    predicted.is_finite().then_some(Call { at, prediction, cost })
}

fn named<'a>(links: &'a [LinkResult], name: &str) -> Option<&'a LinkResult> {
    links.iter().find(|link| link.asked.name == name)
}

/// Calls that differ in serializer and setting alone.
fn groups<'a, 'b>(calls: &'b [Call<'a>], cells: &[ClientResult]) -> Vec<Vec<&'b Call<'a>>> {
    let mut groups: Vec<(String, Vec<&Call>)> = Vec::new();
    for call in calls {
        let key = format!("{}/{:?}", cells[call.at].cell.group(), call.prediction.operation);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(call),
            None => groups.push((key, vec![call])),
        }
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

fn advice(plan: &Plan, group: &[&Call]) -> Option<Advice> {
    let least = |of: fn(&Call) -> f64| {
        group.iter().min_by(|a, b| of(a).total_cmp(&of(b))).filter(|_| group.len() > 1).copied()
    };
    let (model, measured) = (least(|c| c.prediction.predicted)?, least(|c| c.prediction.measured.value)?);
    let differ = model.at != measured.at;
    let lost = differ.then(|| paired(Some(model.cost), Some(measured.cost), plan.seed)).flatten();
    Some(Advice {
        link: model.prediction.link.clone(),
        operation: model.prediction.operation,
        settings: group.len() as u32,
        model: model.prediction.cell.clone(),
        measured: measured.prediction.cell.clone(),
        corrected: lost.is_some_and(|lost| lost.relative.ratio > 1.0 && lost.is_settled()),
        lost: lost.map(|lost| lost.relative),
    })
}

/// The usual two settings with the same serializer on a link.
fn break_even(
    plan: &Plan,
    links: &[LinkResult],
    group: &[&Call],
    cells: &[ClientResult],
) -> Option<BreakEvenAt> {
    let link = group.first()?.prediction.link.as_ref()?;
    let mbit = named(links, link)?.mbit(group.first()?.prediction.operation);
    let is_of = |setting: &Setting, (names, level): (&[&str], i32)| {
        setting.options.is_empty()
            && setting.level == Some(level)
            && names.iter().any(|name| setting.codec.contains(name))
    };
    let find = |usual, serializer: Option<&Option<String>>| {
        group.iter().copied().find(|call| {
            let cell = &cells[call.at].cell;
            is_of(&cell.setting, usual) && serializer.is_none_or(|s| *s == cell.serializer)
        })
    };
    let first = find(USUAL[0], None)?;
    let second = find(USUAL[1], Some(&cells[first.at].cell.serializer))?;
    let bytes = |call: &Call| cells[call.at].stored_bytes.map(|bytes| bytes as f64);
    let computed_mbit = break_even_bandwidth(
        first.prediction.coding,
        bytes(first)?,
        second.prediction.coding,
        bytes(second)?,
    );
    let computed = first.prediction.predicted / second.prediction.predicted;
    let measured = paired(Some(first.cost), Some(second.cost), plan.seed);
    let settled = measured.filter(Paired::is_settled);
    Some(BreakEvenAt {
        link: link.clone(),
        operation: first.prediction.operation,
        mbit,
        first: first.prediction.cell.clone(),
        second: second.prediction.cell.clone(),
        computed_mbit: computed_mbit.map(|bytes| bytes * 8.0 / 1e6),
        computed,
        measured: measured.map(|measured| measured.relative),
        agrees: settled.map(|measured| (measured.relative.ratio < 1.0) == (computed < 1.0)),
    })
}
