//! The value size from which on compression pays, link by link.

use super::*;

/// A payload at one speed: item size, and the ids of no compression and of the setting that is significantly better, if
/// any.
struct Verdict {
    bytes: u64,
    pays: bool,
    cells: Vec<String>,
}

pub fn thresholds(evidence: &Evidence) -> Vec<Draft> {
    let Some(mix) = usual_mix(evidence) else { return Vec::new() };
    let mut drafts = Vec::new();
    for (runtime, groups) in by_runtime(evidence) {
        let mut parts = Vec::new();
        let mut cells: Vec<String> = Vec::new();
        let mut serializer = None;
        let judged: Vec<(&Group, Vec<Line>, Line)> =
            groups.iter().filter_map(|g| contenders(evidence, g, mix)).collect();
        for mbit in speeds(evidence) {
            let verdicts: Vec<Verdict> =
                judged.iter().map(|(g, lines, plain)| verdict(evidence, g, lines, plain, mbit)).collect();
            if verdicts.len() < 2 {
                continue;
            }
            parts.push((units::mbit(mbit), threshold(&verdicts)));
            cells.extend(verdicts.into_iter().flat_map(|v| v.cells));
            serializer = judged.first().and_then(|(_, _, l)| l.row.cell.serializer.clone());
        }
        if parts.is_empty() {
            continue;
        }
        cells.sort_unstable();
        cells.dedup();
        let with = serializer.map_or(String::new(), |s| format!(" after {s}"));
        let text = format!(
            "Compression{with} pays{} {}.",
            label::on_runtime(evidence, runtime),
            drawn_together(&parts).join("; "),
        );
        drafts.push(Draft::lead(text, cells));
    }
    drafts
}

/// No compression and the settings that are compared with it, with the reference's serializer.
fn contenders<'a>(
    evidence: &Evidence<'a>,
    group: &'a Group,
    mix: Mix,
) -> Option<(&'a Group, Vec<Line<'a>>, Line<'a>)> {
    let (_, peers) = peers(evidence, group)?;
    let mut lines = lines(evidence, group, mix);
    lines.retain(|l| peers.iter().any(|p| p.id() == l.row.id()));
    let plain = lines.iter().position(|l| l.row.cell.setting.codec == IDENTITY)?;
    let plain = lines.swap_remove(plain);
    (!lines.is_empty()).then_some((group, lines, plain))
}

fn verdict(evidence: &Evidence, group: &Group, lines: &[Line], plain: &Line, mbit: f64) -> Verdict {
    let best = lines.iter().min_by(|a, b| a.total(mbit).total_cmp(&b.total(mbit)));
    let id = |l: &Line| l.row.cell.id.clone();
    Verdict {
        bytes: item_bytes(evidence, group),
        pays: best.is_some_and(|best| best.clearly_below(plain, mbit)),
        cells: best.into_iter().chain([plain]).map(id).collect(),
    }
}

/// The size from which on it pays; verdicts ascend by size.
fn threshold(verdicts: &[Verdict]) -> String {
    let paying = verdicts.iter().filter(|v| v.pays).count();
    let tail = verdicts.iter().rev().take_while(|v| v.pays).count();
    let smallest = |from: usize| units::bytes(verdicts[from].bytes);
    match (paying, tail) {
        (0, _) => "for no size".to_string(),
        (n, _) if n == verdicts.len() => format!("for every size from {} up", smallest(0)),
        (n, tail) if n == tail => format!("from {} up", smallest(verdicts.len() - tail)),
        (n, _) => format!("for {n} of {}", units::count(verdicts.len(), "content", "contents")),
    }
}

/// Combines neighbouring speeds with the same verdict.
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
