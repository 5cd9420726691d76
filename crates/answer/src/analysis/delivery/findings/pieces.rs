//! What flushing a page in pieces does to the first byte, to CPU time and to bytes.

use crate::analysis::delivery::findings::{Candidate, Evidence, label};
use crate::analysis::findings::Draft;
use weigh_model::cell::Subject;

/// The option of a way that sends a page in pieces.
const PIECES: &str = "pieces";
/// Sentences at most.
const MOST: usize = 6;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut found: Vec<(u64, Draft)> = Vec::new();
    for cut in evidence.all(Subject::Page) {
        let Some(pieces) = cut.setting().options.get(PIECES).filter(|pieces| *pieces != "1") else {
            continue;
        };
        let Some(whole) = at_once(evidence, cut) else { continue };
        let Some(text) = sentence(evidence, &cut, &whole, pieces) else { continue };
        found.push((cut.result.decoded_bytes, Draft::detail(text, vec![cut.id(), whole.id()])));
    }
    found.sort_by_key(|(bytes, _)| u64::MAX - bytes);
    let mut drafts: Vec<Draft> = found.into_iter().map(|(_, draft)| draft).take(MOST).collect();
    if let Some(first) = drafts.first_mut() {
        first.lead = true;
    }
    drafts
}

/// The same way with the page at once.
fn at_once<'a>(evidence: &Evidence<'a>, cut: Candidate<'a>) -> Option<Candidate<'a>> {
    let same_but = |other: &Candidate| {
        let mut options = cut.setting().options.clone();
        options.remove(PIECES);
        let mut others = other.setting().options.clone();
        let is_whole = others.remove(PIECES).is_none_or(|pieces| pieces == "1");
        is_whole
            && others == options
            && other.setting().codec == cut.setting().codec
            && other.level() == cut.level()
            && other.result.cell.group() == cut.result.cell.group()
            && other.delivery.by == cut.delivery.by
    };
    evidence.beside(cut, same_but).into_iter().next()
}

fn sentence(evidence: &Evidence, cut: &Candidate, whole: &Candidate, pieces: &str) -> Option<String> {
    let (early, late) = (cut.result.ttfb.as_ref()?, whole.result.ttfb.as_ref()?);
    let ratio = cut.costs.cpu.as_ref()?.ratio_to(whole.costs.cpu.as_ref()?)?;
    let group = evidence.groups.iter().find(|g| g.name == cut.result.cell.group())?;
    Some(format!(
        "Flushed in {pieces} pieces, the first byte of {} comes after {} instead of {} (median) with {}, for {} the CPU time and {}.",
        label::place(evidence, group),
        label::seconds(early.p50),
        label::seconds(late.p50),
        label::way(whole),
        label::ratio(&ratio),
        label::bytes_beside(cut.bytes(), whole.bytes())
    ))
}
