//! From which value size on compression pays, link by link.

use crate::analysis::estimate::IDENTITY;
use crate::analysis::findings::{Draft, Evidence, mix_label};
use crate::analysis::links::Line;
use crate::analysis::model::{Group, Mix};
use weigh_model::units;

/// A payload at one speed: item size, and the ids of no compression and of the setting that beats it beyond
/// doubt, if one does.
struct Verdict {
    bytes: u64,
    pays: bool,
    cells: Vec<String>,
}

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let Some(mix) = evidence.usual_mix() else { return Vec::new() };
    let mut drafts = Vec::new();
    for (runtime, groups) in evidence.by_runtime() {
        let mut parts = Vec::new();
        let mut cells: Vec<String> = Vec::new();
        let mut serializer = None;
        let judged: Vec<(&Group, Vec<Line>, Line)> =
            groups.iter().filter_map(|g| contenders(evidence, g, mix)).collect();
        for mbit in evidence.speeds() {
            let verdicts: Vec<Verdict> =
                judged.iter().map(|(g, lines, plain)| verdict(evidence, g, lines, plain, mbit)).collect();
            if verdicts.len() < 2 {
                continue;
            }
            parts.push((units::mbit(mbit), threshold(&verdicts)));
            cells.extend(verdicts.into_iter().flat_map(|v| v.cells));
            serializer = judged.first().and_then(|(_, _, l)| evidence.cells[l.index].cell.serializer.clone());
        }
        if parts.is_empty() {
            continue;
        }
        cells.sort_unstable();
        cells.dedup();
        let with = serializer.map_or(String::new(), |s| format!(" after {s}"));
        let text = format!(
            "Compression{with} pays{} with {}: {}. Computed from measured parts.",
            evidence.on_runtime(runtime),
            mix_label(mix),
            drawn_together(&parts).join("; "),
        );
        drafts.push(Draft::lead(text, cells));
    }
    drafts
}

/// No compression and the settings beside it, with the reference's serializer.
fn contenders<'g>(evidence: &Evidence, group: &'g Group, mix: Mix) -> Option<(&'g Group, Vec<Line>, Line)> {
    let (_, peers) = evidence.peers(group)?;
    let mut lines = evidence.lines(group, mix);
    lines.retain(|l| peers.iter().any(|p| p.index == l.index));
    let plain = lines.iter().position(|l| evidence.cells[l.index].cell.setting.codec == IDENTITY)?;
    let plain = lines.swap_remove(plain);
    (!lines.is_empty()).then_some((group, lines, plain))
}

fn verdict(evidence: &Evidence, group: &Group, lines: &[Line], plain: &Line, mbit: f64) -> Verdict {
    let best = lines.iter().min_by(|a, b| a.total(mbit).total_cmp(&b.total(mbit)));
    let id = |l: &Line| evidence.cells[l.index].cell.id.clone();
    Verdict {
        bytes: evidence.item_bytes(group),
        pays: best.is_some_and(|best| best.clearly_below(plain, mbit)),
        cells: best.into_iter().chain([plain]).map(id).collect(),
    }
}

/// From which size on it pays; verdicts ascend by size.
fn threshold(verdicts: &[Verdict]) -> String {
    let paying = verdicts.iter().filter(|v| v.pays).count();
    let tail = verdicts.iter().rev().take_while(|v| v.pays).count();
    let smallest = |from: usize| units::bytes(verdicts[from].bytes);
    match (paying, tail) {
        (0, _) => "at no size measured".to_string(),
        (n, _) if n == verdicts.len() => format!("for every size measured, {} and up", smallest(0)),
        (n, tail) if n == tail => format!("from {} on", smallest(verdicts.len() - tail)),
        (n, _) => format!("for {n} of {}", units::count(verdicts.len(), "payload", "payloads")),
    }
}

/// Neighbouring speeds with the same verdict share one part.
fn drawn_together(parts: &[(String, String)]) -> Vec<String> {
    parts
        .chunk_by(|a, b| a.1 == b.1)
        .map(|run| match run {
            [(speed, verdict)] => format!("at {speed} {verdict}"),
            [(slowest, verdict), .., (fastest, _)] => format!("at {slowest} to {fastest} {verdict}"),
            [] => String::new(),
        })
        .collect()
}
