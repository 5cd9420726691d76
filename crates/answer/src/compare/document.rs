//! A comparison as blocks, for every format, and as Markdown for a pull request.

use weigh_model::text::clean;
use weigh_model::units;

use super::gate::{GateOutcome, Judged};
use super::{Change, Compared, Comparison, Method, Verdict, ratio_text};
use crate::block::{Block, more};
use crate::format::markdown;
use crate::load_view::LoadView;
use crate::metric::Better;
use crate::output::{Detail, Options};
use crate::table::{Grid, Kind, Tone, factor, field, remark};
use crate::text::json_name;

/// Configurations, changes and gates that a summary shows of each.
const FEW: usize = 12;

/// A smaller shift of all configurations is not worth a sentence.
const WORTH_SAYING: f64 = 0.02;

/// The whole comparison, the answer first. A summary has what differs, and counts the rest.
pub fn blocks(of: &Comparison, options: &Options) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(1, title(of)), Block::Answer(answer(of))];
    blocks.extend(gates(of, options));
    blocks.extend(environment(of, options));
    blocks.extend(results(of, options));
    blocks.extend(details(of, options));
    blocks
}

/// Everything, for a page; what forbids the comparison stands before it.
pub fn page_blocks(of: &Comparison) -> Vec<Block> {
    let mut blocks = blocks(of, &Options::default().whole());
    let forbidden: Vec<(String, Option<String>)> = of
        .forbidden()
        .map(|change| (format!("Not comparable: another {}.", clean(&change.what)), None))
        .collect();
    if !forbidden.is_empty() {
        blocks.insert(2, Block::Points(forbidden));
    }
    blocks.extend(loads_in_browser(&of.loads));
    blocks
}

/// Loads in a browser, where there are any.
pub fn loads_in_browser(loads: &[LoadView]) -> Vec<Block> {
    if loads.is_empty() {
        return Vec::new();
    }
    let how = "One load of each side that does not count. Bars: from when the browser wants a response until its first byte (light) and its last \
               (dark). Lines: FCP (green), LCP (orange) and load (grey).";
    vec![
        Block::Heading(2, "Loads in the browser".into()),
        Block::Remark(how.into()),
        Block::Loads(loads.to_vec()),
    ]
}

/// For a pull request: the answer and what differs; everything else is folded.
pub fn for_pull_request(of: &Comparison, options: &Options) -> String {
    let text = |blocks: &[Block], options: &Options| markdown::text(blocks, &[], options);
    let brief = Options { detail: Detail::Summary, ..options.clone() };
    let mut open = vec![Block::Heading(3, title(of)), Block::Answer(answer(of))];
    let unmet: Vec<&Judged> = of.gates.iter().filter(|judged| judged.outcome != GateOutcome::Pass).collect();
    open.extend((!unmet.is_empty()).then(|| Block::Table(gate_table(&unmet[..FEW.min(unmet.len())]))));
    open.extend(more(unmet.len().saturating_sub(FEW), "more gate", "more gates"));
    let differing = differing(of);
    open.extend((!differing.is_empty()).then(|| Block::Table(table(&differing[..FEW.min(differing.len())]))));
    open.extend(more(differing.len().saturating_sub(FEW), "more configuration", "more configurations"));
    let mut out = text(&open, &brief);
    let full = options.whole();
    let mut folded = environment(of, &full);
    folded.extend(gates(of, &full));
    folded.extend(results(of, &full));
    folded.extend(details(of, &full));
    out.push_str("<details>\n<summary>All configurations, environment and method</summary>\n\n");
    out.push_str(&text(&folded, &full));
    out.push_str("</details>\n");
    out
}

fn title(of: &Comparison) -> String {
    format!("{} against {}", clean(&of.b.name), clean(&of.a.name))
}

/// One sentence first: what got worse, better, or nothing.
fn answer(of: &Comparison) -> Vec<String> {
    let count = |verdict| of.rows.iter().filter(|row| row.verdict == verdict).count();
    let (worse, better) = (count(Verdict::Worse), count(Verdict::Better));
    let results = |n, word: &str| format!("{} {word}", units::count(n, "result is", "results are"));
    let first = match (worse, better) {
        _ if of.rows.is_empty() => "The two sides have no configuration in common.".to_owned(),
        (0, 0) => {
            format!("No significant difference in {}.", units::count(of.rows.len(), "result", "results"))
        }
        (0, n) => format!("{}, none worse.", results(n, "better")),
        (n, 0) => format!("{}, none better.", results(n, "worse")),
        (n, m) => format!("{}, {m} better.", results(n, "worse")),
    };
    let mut said = vec![first];
    said.extend(of.gates.first().map(|_| gate_sentence(&of.gates)));
    said.extend(of.findings().next().map(|row| format!("The largest: {}.", sentence(row))));
    said.extend(common(of));
    said
}

fn gate_sentence(gates: &[Judged]) -> String {
    let count = |outcome| gates.iter().filter(|judged| judged.outcome == outcome).count();
    let (failed, undecided, passed) =
        (count(GateOutcome::Fail), count(GateOutcome::Undecided), count(GateOutcome::Pass));
    format!("Gates: {failed} failed, {undecided} undecided, {passed} passed.")
}

fn sentence(row: &Compared) -> String {
    let ratio = match &row.ratio {
        Some(ratio) => ratio_text(ratio.value, ratio.low, ratio.high),
        None => units::times(row.quotient()),
    };
    let (a, b) = (row.unit.amount(row.a), row.unit.amount(row.b));
    clean(&format!("{} of {}: {a} before, {b} now, {ratio}", row.metric, row.configuration))
}

/// What all configurations have in common, said apart: it is not a finding of a configuration.
fn common(of: &Comparison) -> Vec<String> {
    if of.method == Method::Paired {
        return Vec::new();
    }
    let mut said = Vec::new();
    for quantity in of.quantities.iter().filter(|quantity| quantity.told) {
        if (quantity.shift - 1.0).abs() >= WORTH_SAYING {
            said.push(format!(
                "{} of all {} changed together by {}: the machine, or the program everywhere.",
                quantity.metric,
                units::count(quantity.configurations, "configuration", "configurations"),
                units::times(quantity.shift)
            ));
        }
    }
    if of.quantities.iter().any(|quantity| !quantity.told && quantity.configurations > 0) {
        said.push(format!(
            "With fewer than {} configurations, a change of the machine looks like one of the program; intervals allow \
             for that.",
            weigh_stats::ENOUGH
        ));
    }
    if !said.is_empty() {
        said.push("To tell them apart, measure both sides interleaved: weigh compare --paired.".into());
    }
    said
}

fn environment(of: &Comparison, options: &Options) -> Vec<Block> {
    if of.changes.is_empty() {
        return Vec::new();
    }
    let shown = shown(of.changes.len(), options);
    let changes = &of.changes[..shown];
    let table = Grid::toned(changes, |change: &Change| {
        let value = |text: &str| if text.is_empty() { "–".to_owned() } else { clean(text) };
        let note = if change.forbids { "not comparable" } else { "" };
        let fields = vec![
            factor("what", clean(&change.what)),
            factor("before", value(&change.a)),
            factor("now", value(&change.b)),
            remark("note", 0, note),
        ];
        (if change.forbids { Tone::Strong } else { Tone::Plain }, fields)
    });
    let mut blocks = vec![Block::Heading(2, "Not the same on both sides".into()), Block::Table(table)];
    blocks.extend(more(of.changes.len() - shown, "more change", "more changes"));
    blocks
}

fn shown(all: usize, options: &Options) -> usize {
    if options.detail == Detail::Full { all } else { FEW.min(all) }
}

fn gates(of: &Comparison, options: &Options) -> Vec<Block> {
    gate_blocks(&of.gates, options)
}

/// Gates as a section; nothing without gates.
pub fn gate_blocks(gates: &[Judged], options: &Options) -> Vec<Block> {
    if gates.is_empty() {
        return Vec::new();
    }
    let all: Vec<&Judged> = gates.iter().collect();
    let shown = shown(all.len(), options);
    let mut blocks = vec![Block::Heading(2, "Gates".into()), Block::Table(gate_table(&all[..shown]))];
    blocks.extend(more(all.len() - shown, "more gate", "more gates"));
    let remedies: Vec<(String, Option<String>)> = all[..shown]
        .iter()
        .filter_map(|judged| {
            Some((clean(&format!("{}: undecided", describe_judged(judged))), Some(judged.remedy.clone()?)))
        })
        .collect();
    blocks.extend((!remedies.is_empty()).then_some(Block::Points(remedies)));
    blocks
}

fn describe_judged(judged: &Judged) -> String {
    match judged.configuration.is_empty() {
        true => judged.gate.clone(),
        false => format!("{} at {}", judged.gate, judged.configuration),
    }
}

fn gate_table(gates: &[&Judged]) -> Grid {
    Grid::toned(gates, |judged| {
        let tone = if judged.outcome == GateOutcome::Pass { Tone::Plain } else { Tone::Strong };
        let fields = vec![
            factor("gate", judged.gate.clone()),
            factor("configuration", clean(&judged.configuration)),
            factor("measured", judged.measured.clone()),
            remark("outcome", 0, json_name(judged.outcome)),
        ];
        (tone, fields)
    })
}

/// What differs, also at the level for tables.
fn differing(of: &Comparison) -> Vec<&Compared> {
    of.rows.iter().filter(|row| !matches!(row.verdict, Verdict::Same | Verdict::Untested)).collect()
}

fn results(of: &Comparison, options: &Options) -> Vec<Block> {
    let is_full = options.detail == Detail::Full;
    let rows: Vec<&Compared> = if is_full { of.rows.iter().collect() } else { differing(of) };
    let shown = shown(rows.len(), options);
    let mut blocks = Vec::new();
    if !rows.is_empty() {
        blocks.push(Block::Heading(2, "Configurations".into()));
        blocks.push(Block::Table(table(&rows[..shown])));
        blocks.extend(more(rows.len() - shown, "more configuration", "more configurations"));
    }
    let untested = of.rows.iter().filter(|row| row.verdict == Verdict::Untested).count();
    if untested > 0 {
        let results = units::count(untested, "result has", "results have");
        let or = if of.loads.is_empty() { "" } else { ", or two browsers with the first page differ" };
        blocks.push(Block::Remark(format!("{results} not been tested: too few rounds{or}.")));
    }
    blocks
}

fn table(rows: &[&Compared]) -> Grid {
    Grid::toned(rows, |row| {
        let change = row.ratio.map_or_else(
            || units::times(row.quotient()),
            |ratio| ratio_text(ratio.value, ratio.low, ratio.high),
        );
        let better = if row.better == Better::More { "more is better" } else { "" };
        let fields = vec![
            factor("configuration", clean(&row.configuration)),
            factor("metric", row.metric.clone()),
            field("before", "", Kind::Text, 3, row.unit.amount(row.a)),
            field("now", "", Kind::Text, 2, row.unit.amount(row.b)),
            field("now ÷ before", "", Kind::Text, 0, change),
            remark("verdict", 1, describe_verdict(row.verdict)),
            remark("note", 4, better),
        ];
        let tone = match row.verdict {
            Verdict::Worse | Verdict::Better => Tone::Strong,
            Verdict::Same | Verdict::Untested => Tone::Dim,
            Verdict::MaybeWorse | Verdict::MaybeBetter => Tone::Plain,
        };
        (tone, fields)
    })
}

fn describe_verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "worse",
        Verdict::Better => "better",
        Verdict::MaybeWorse => "perhaps worse",
        Verdict::MaybeBetter => "perhaps better",
        Verdict::Same => "no significant difference",
        Verdict::Untested => "not tested",
    }
}

fn details(of: &Comparison, options: &Options) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (side, name, ids) in [("A", &of.a.name, &of.only_a), ("B", &of.b.name, &of.only_b)] {
        if !ids.is_empty() {
            let shown = shown(ids.len(), options);
            blocks.push(Block::Heading(2, format!("Only in {} ({side})", clean(name))));
            blocks.push(Block::Points(ids[..shown].iter().map(|id| (clean(id), None)).collect()));
            blocks.extend(more(ids.len() - shown, "more configuration", "more configurations"));
        }
    }
    let spread =
        |quantity: &super::Quantity| format!("{} {}", quantity.metric, units::percent(quantity.spread));
    let how = match of.method {
        Method::Paired => "Both sides were measured in the same rounds.".to_owned(),
        Method::Runs => {
            let spreads: Vec<String> = of.quantities.iter().map(spread).collect();
            let spreads =
                if spreads.is_empty() { String::new() } else { format!(" ({})", units::list(&spreads)) };
            format!(
                "Ratios are relative to what all configurations have in common. Intervals have the variance within both runs and \
                 that from run to run{spreads}."
            )
        }
    };
    blocks.push(Block::Remark(format!(
        "{how} Corrected for {}. A: {}, {}. B: {}, {}.",
        units::count(of.comparisons, "comparison", "comparisons"),
        clean(&of.a.started),
        units::count(of.a.rounds as usize, "round", "rounds"),
        clean(&of.b.started),
        units::count(of.b.rounds as usize, "round", "rounds"),
    )));
    blocks
}
