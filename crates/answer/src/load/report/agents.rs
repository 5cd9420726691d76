//! The agents of a load from several nodes: when they started, and what each did.

use weigh_load::caveats::{Caveat, caveats};
use weigh_load::result::{AgentResult, Counts};
use weigh_model::units;

use crate::block::Block;
use crate::load::LoadCaveat;
use crate::load::document::{Run, has_closed};
use crate::load::report::fact::{parts, seconds};
use crate::output::{Detail, Options};
use crate::table::{Cell, Grid, Kind, factor, field, remark};

/// How many sent it and how far apart they began; none: one agent sent all.
pub(super) fn fact(run: &Run) -> Option<String> {
    let agents = &run.result.agents;
    let (skew, uncertainty) = run.result.skew()?;
    let lost = run.result.lost().count();
    let lost = if lost > 0 { format!("{lost} of them lost") } else { String::new() };
    let started = format!("started within {} (± {})", seconds(skew), seconds(uncertainty));
    Some(parts(&[units::count(agents.len(), "node", "nodes"), lost, started]))
}

/// One row an agent: with all evidence, and whenever one of them is not like the others.
pub(super) fn blocks(run: &Run, options: &Options) -> Vec<Block> {
    let is_odd = |caveat: &LoadCaveat| match caveat {
        LoadCaveat::LostNode { .. } | LoadCaveat::Skew { .. } => true,
        LoadCaveat::SaturatedClient { nodes, .. } | LoadCaveat::LateClient { nodes, .. } => !nodes.is_empty(),
        LoadCaveat::WaitingClient { nodes, .. } | LoadCaveat::LowPriority { nodes, .. } => !nodes.is_empty(),
        _ => false,
    };
    let is_wanted = options.detail == Detail::Full || run.caveats.iter().any(is_odd);
    if run.result.agents.is_empty() || !is_wanted {
        return Vec::new();
    }
    let has_closed = has_closed(&run.plan);
    let table = Grid::of(&run.result.agents, |agent| row(agent, has_closed));
    vec![Block::Heading(2, "Nodes".into()), Block::Table(table)]
}

fn row(agent: &AgentResult, has_closed: bool) -> Vec<(crate::table::Column, Cell)> {
    let result = &agent.result;
    let sum =
        |of: fn(&Counts) -> u64| result.classes.iter().map(|class| of(&class.counts)).sum::<u64>() as f64;
    let here = |number: f64| Cell::Number(agent.lost.is_none().then_some(number));
    let most = |shares: &[f64]| shares.iter().copied().reduce(f64::max);
    let percent = |share: Option<f64>| Cell::Number(share.map(|share| share * 100.0));
    let client = &result.client;
    let late = client.lateness.quantile(0.99).map(|late| late * 1e3);
    vec![
        factor("node", agent.node.as_str()),
        field("complete", "", Kind::Whole, 0, here(sum(|c| c.completed))),
        field("failed", "", Kind::Whole, 1, here(sum(|c| c.faulted))),
        field("dropped", "", Kind::Whole, 4, here(sum(|c| c.dropped))),
        field("rate", "1/s", Kind::Three, 0, here(sum(|c| c.completed) / result.seconds.max(1e-9))),
        field("began", "ms", Kind::Three, 2, here(agent.began * 1e3)),
        field("busiest thread", "%", Kind::Three, 0, percent(most(&client.thread_shares))),
        field("longest wait", "%", Kind::Three, 3, percent(most(&client.thread_waits))),
        field("late p99", "ms", Kind::Three, 3, Cell::Number(late)),
        remark("machine", 5, agent.machine.as_str()),
        remark("remarks", 0, remarks(agent, has_closed)),
    ]
}

fn remarks(agent: &AgentResult, has_closed: bool) -> String {
    if agent.lost.is_some() {
        return "LOST-NODE".into();
    }
    let mut codes: Vec<&str> = caveats(&agent.result, has_closed).iter().map(Caveat::code).collect();
    codes.dedup();
    codes.join(" ")
}
