//! A proof as blocks of text.

use weigh_model::policy::Amount;
use weigh_model::units;

use super::super::by_url::accepted;
use super::super::document::interval;
use super::{Line, Proof, Verdict};
use crate::block::Block;
use crate::compare::document::loads_in_browser;
use crate::table::Grid;
use crate::text::clean;

/// How many predictions held, and what was predicted and measured, a line each.
pub fn proof_answer(proof: &Proof) -> Vec<Block> {
    let counted: Vec<&Line> = proof.lines.iter().filter(|line| !line.modelled).collect();
    if counted.is_empty() {
        return vec![nothing(proof)];
    }
    vec![Block::Answer(vec![summary(proof, &counted)]), Block::Table(table(&mut counted.iter().copied()))]
}

fn nothing(proof: &Proof) -> Block {
    let why =
        proof.open.first().map_or("no decision was measured before and after.".into(), |open| clean(open));
    Block::Text(format!("Nothing to prove: {why}"))
}

fn change(amount: &Amount) -> String {
    let rounds = Amount { low: amount.rounds_low, high: amount.rounds_high, ..*amount };
    amount.share().map_or_else(|| "–".to_owned(), |share| interval(share, &rounds))
}

fn table(lines: &mut dyn Iterator<Item = &Line>) -> Grid {
    let mut table = Grid::list(&["", "predicted", "measured", ""]);
    for line in lines {
        let verdict = if line.modelled { "modelled, not counted" } else { line.verdict.words() };
        table.line(&[line.name(), change(&line.predicted), change(&line.measured), verdict.to_owned()]);
    }
    table
}

pub fn proof_document(proof: &Proof) -> Vec<Block> {
    let table = table(&mut proof.lines.iter());
    let counted: Vec<&Line> = proof.lines.iter().filter(|line| !line.modelled).collect();
    let mut blocks = Vec::new();
    if counted.is_empty() {
        blocks.push(nothing(proof));
    }
    if !proof.lines.is_empty() {
        blocks.push(Block::Answer(vec![summary(proof, &counted)]));
        blocks.push(Block::Table(table));
        let remark = |line: &&Line| {
            Some(format!("{}: {}, {}.", line.name(), line.verdict.words(), clean(line.remark.as_ref()?)))
        };
        let remarks: Vec<String> = counted.iter().filter_map(remark).collect();
        blocks.extend(remarks.into_iter().map(Block::Text));
    }
    if !proof.clients.is_empty() {
        let mut table = Grid::list(&["measured for clients that accept", "requests", "traffic", "CPU time"]);
        for one in &proof.clients {
            let clients = format!("{}, {}", one.kind.plural(), clean(&accepted(&one.accept)));
            table.line(&[clients, units::percent(one.share), change(&one.traffic), change(&one.core_hours)]);
        }
        blocks.push(Block::Table(table));
    }
    let (asked, broken) = proof.negotiated;
    if asked > 0 {
        let kept = asked - broken.min(asked);
        let but = if proof.broken.is_empty() {
            String::new()
        } else {
            format!(" In others, {}.", units::list(&proof.broken))
        };
        blocks.push(Block::Text(format!("Negotiation: RFC 9110 in {kept} of {asked} requests.{but}")));
    }
    blocks.extend(proof.answers.iter().map(|answers| Block::Text(clean(&answers.text()))));
    blocks.extend(Some(&proof.load).filter(|load| !load.is_empty()).cloned().map(Block::Remark));
    blocks.extend(proof.open.iter().map(|open| Block::Remark(format!("Not proved: {}", clean(open)))));
    blocks
}

/// The same as a page, with the loads in the browser.
pub fn proof_page(proof: &Proof, site: &str) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(1, format!("Proof of a policy for {}", clean(site)))];
    blocks.extend(proof_document(proof));
    blocks.extend(loads_in_browser(&proof.loads));
    blocks
}

/// `5 of 6 predictions held or better, 1 undecided.`
fn summary(proof: &Proof, counted: &[&Line]) -> String {
    let count = |verdict: Verdict| counted.iter().filter(|line| line.verdict == verdict).count();
    let held = count(Verdict::Held) + count(Verdict::Better);
    let mut text =
        format!("{held} of {} held or better", units::count(counted.len(), "prediction", "predictions"));
    for verdict in [Verdict::Worse, Verdict::Undecided] {
        let count = count(verdict);
        if count > 0 {
            text += &format!(", {count} {}", verdict.words());
        }
    }
    let begin = if proof.worse { "Worse than before: do not use this policy as it is. " } else { "" };
    format!("{begin}{text}.")
}
