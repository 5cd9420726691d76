//! A comparison of machines as blocks, for every format: the cheapest first.

use weigh_model::text::clean;
use weigh_model::units;
use weigh_stats::{ALLOWANCE, ROUNDS};

use super::{Configuration, Cost, Differing, Machine, Machines};
use crate::block::{Block, more};
use crate::output::{Detail, Options};
use crate::table::{Grid, Kind, Tone, factor, field, remark};
use crate::verdict::Ratio;

/// Configurations that a summary shows.
const FEW: usize = 6;

/// The whole comparison, the answer first. A summary has the first few configurations.
pub fn blocks(of: &Machines, options: &Options) -> Vec<Block> {
    let kinds: Vec<String> = of.machines.iter().map(|machine| clean(&machine.kind)).collect();
    let mut blocks = vec![
        Block::Heading(1, format!("{} on {}", clean(&of.study), units::list(&kinds))),
        Block::Answer(answer(of)),
        Block::Heading(2, "Machines".into()),
        Block::Table(machines(of)),
    ];
    let is_full = options.detail == Detail::Full;
    let shown = if is_full { of.configurations.len() } else { FEW.min(of.configurations.len()) };
    blocks.push(Block::Heading(2, "Configurations".into()));
    blocks.push(Block::Table(configurations(of, &of.configurations[..shown])));
    blocks.extend(more(of.configurations.len() - shown, "more configuration", "more configurations"));
    blocks.extend(list_not_compared(of, is_full));
    blocks.push(Block::Remark(method(of)));
    blocks
}

/// The recommendation, then each other machine, then what is missing for a better one.
fn answer(of: &Machines) -> Vec<String> {
    let Some((best, others)) = of.machines.split_first() else { return Vec::new() };
    let surely = |machine: &&Machine| machine.ratio.is_some_and(|ratio| ratio.claimed);
    let name = clean(&best.kind);
    let is_sure = others.iter().all(|machine| surely(&machine));
    let mut said = vec![match (is_sure, of.priced) {
        (true, true) => format!("{name} is the cheapest for this."),
        (true, false) => format!("{name} needs the least CPU time for this."),
        (false, true) => {
            format!("{name} costs the least here, but is not significantly cheaper than all others.")
        }
        (false, false) => {
            format!("{name} needs the least CPU time here, but not significantly less than all others.")
        }
    }];
    said.extend(others.iter().map(|machine| sentence(of, machine, &name)));
    if !of.priced {
        let prices = of.machines.iter().map(|machine| format!("--core-hour {}=PRICE", clean(&machine.kind)));
        let prices = prices.collect::<Vec<_>>().join(" ");
        said.push(format!("Which is the cheapest depends on the price of a core-hour: {prices}"));
    }
    said
}

fn sentence(of: &Machines, machine: &Machine, best: &str) -> String {
    let kind = clean(&machine.kind);
    let what = if of.priced { "price" } else { "CPU time" };
    let Some(ratio) = machine.ratio else {
        return format!("{kind}: too few rounds for a comparison with {best}.");
    };
    let by = units::times_interval(ratio.value, ratio.low, ratio.high);
    let sure = match (ratio.claimed, ratio.is_settled()) {
        (true, _) => String::new(),
        (false, true) => ", perhaps".into(),
        (false, false) => ", no significant difference".into(),
    };
    let dearer = |one: &&Configuration| {
        let of_machine = of.machines.iter().position(|other| other.kind == machine.kind);
        of_machine
            .and_then(|at| one.costs.get(at)?.ratio)
            .is_some_and(|ratio| ratio.claimed && ratio.value > 1.0)
    };
    let (dearer, all) = (of.configurations.iter().filter(dearer).count(), of.configurations.len());
    let even = machine.as_cheap_at.map_or(String::new(), |price| {
        format!(" It would cost as much at {} per core-hour.", units::significant(price))
    });
    format!(
        "{kind}: {by} the {what} of an operation{sure}; significantly more in {dearer} of {}.{even}",
        units::count(all, "configuration", "configurations")
    )
}

fn machines(of: &Machines) -> Grid {
    Grid::toned(of.machines.iter().enumerate(), |(at, machine)| {
        let fields = vec![
            factor("kind", clean(&machine.kind)),
            field("core-hour", "", Kind::Three, 2, machine.core_hour),
            field("÷ cheapest", "", Kind::Text, 0, ratio_text(machine.ratio.as_ref())),
            field("as cheap at", "", Kind::Three, 3, machine.as_cheap_at),
            remark("note", 1, note(at, machine.ratio.as_ref())),
            remark("machine", 4, clean(&machine.machine)),
        ];
        (if at == 0 { Tone::Strong } else { Tone::Plain }, fields)
    })
}

fn ratio_text(ratio: Option<&Ratio>) -> String {
    ratio.map_or_else(String::new, |ratio| units::times_interval(ratio.value, ratio.low, ratio.high))
}

fn note(at: usize, ratio: Option<&Ratio>) -> &'static str {
    match ratio {
        None if at == 0 => "cheapest",
        Some(ratio) if (ratio.rounds as usize) >= ROUNDS => {
            match (ratio.claimed, ratio.is_settled(), ratio.value > 1.0) {
                (true, _, true) => "dearer",
                (true, _, false) => "cheaper",
                (false, true, true) => "perhaps dearer",
                (false, true, false) => "perhaps cheaper",
                (false, false, _) => "no significant difference",
            }
        }
        _ => "too few rounds",
    }
}

fn configurations(of: &Machines, shown: &[Configuration]) -> Grid {
    let lines = shown
        .iter()
        .flat_map(|one| of.machines.iter().zip(&one.costs).enumerate().map(move |line| (one, line)));
    Grid::toned(lines, |(one, (at, (machine, cost))): (&Configuration, (usize, (&Machine, &Cost)))| {
        let end = |end: Option<f64>| end.map(|ns| ns / 1e6);
        let fields = vec![
            factor("configuration", clean(&one.id)),
            factor("kind", clean(&machine.kind)),
            field("CPU", "ms", Kind::Three, 1, cost.cpu_ns / 1e6),
            field("95% low", "ms", Kind::Three, 5, end(cost.low)),
            field("95% high", "ms", Kind::Three, 5, end(cost.high)),
            field("price", "per million", Kind::Three, 0, cost.per_million),
            field("÷ cheapest", "", Kind::Text, 2, ratio_text(cost.ratio.as_ref())),
            remark("note", 3, if at == 0 { "" } else { note(at, cost.ratio.as_ref()) }),
        ];
        (if at == 0 { Tone::Strong } else { Tone::Plain }, fields)
    })
}

/// What is not compared, and what else differs.
fn list_not_compared(of: &Machines, is_full: bool) -> Vec<Block> {
    let mut blocks = Vec::new();
    let shown = |all: usize| if is_full { all } else { FEW.min(all) };
    if !of.changes.is_empty() {
        let some = &of.changes[..shown(of.changes.len())];
        let value = |text: &str| if text.is_empty() { "–".to_owned() } else { clean(text) };
        let best = of.machines.first().map_or("", |machine| machine.kind.as_str());
        blocks.push(Block::Heading(2, format!("Not the same as on {}", clean(best))));
        blocks.push(Block::Table(Grid::of(some, |Differing { kind, change }| {
            vec![
                factor("kind", clean(kind)),
                factor("what", clean(&change.what)),
                factor("there", value(&change.b)),
                factor("cheapest", value(&change.a)),
            ]
        })));
        blocks.extend(more(of.changes.len() - some.len(), "more difference", "more differences"));
    }
    if !of.left_out.is_empty() {
        let some = &of.left_out[..shown(of.left_out.len())];
        blocks.push(Block::Heading(2, "Not on all machines".into()));
        blocks.push(Block::Points(some.iter().map(|id| (clean(id), None)).collect()));
        blocks.extend(more(of.left_out.len() - some.len(), "more configuration", "more configurations"));
    }
    blocks
}

fn method(of: &Machines) -> String {
    let operation = of.reads.map_or_else(String::new, |reads| {
        format!("An operation is a write and {} reads, in their shares. ", units::trimmed_number(reads))
    });
    let price = if of.priced { "A price is that of the CPU time: cores that wait cost more. " } else { "" };
    format!(
        "{operation}{price}The first line of a machine is the median of its configurations. Intervals have the variance within the runs, and a \
         standard deviation of {} for what varies between two runs and between two machines of a kind. Corrected for all machines and \
         configurations.",
        units::percent(ALLOWANCE)
    )
}
