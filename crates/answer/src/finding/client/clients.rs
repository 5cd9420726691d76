//! Rows of a study of clients, and the works that they do.

use weigh_model::client::Client;

use crate::group::Group;
use crate::report::finding::{Draft, Evidence};
use crate::row::Row;

/// The most works or stores of a topic.
pub(crate) const SPOKEN_OF: usize = 4;

/// A row with its client.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub(crate) row: &'a Row,
    pub(crate) client: &'a Client,
}

impl<'a> Candidate<'a> {
    pub(crate) fn of(row: &'a Row) -> Option<Candidate<'a>> {
        Some(Candidate { row, client: row.cell.client.as_ref()? })
    }

    pub(crate) fn id(&self) -> String {
        self.row.cell.id.clone()
    }
}

pub(crate) fn candidates<'a>(evidence: &Evidence<'a>) -> impl Iterator<Item = Candidate<'a>> {
    evidence.report.rows.iter().filter_map(Candidate::of)
}

/// One by its cell's id.
pub(crate) fn candidate<'a>(evidence: &Evidence<'a>, id: &str) -> Option<Candidate<'a>> {
    evidence.report.row(id).and_then(Candidate::of)
}

/// Those that do one work.
pub(crate) fn of_work<'a>(evidence: &Evidence<'a>, work: &'a Group) -> Vec<Candidate<'a>> {
    evidence.report.members(work).filter_map(Candidate::of).collect()
}

/// The rows that represent a work's stores and drivers: on the first runtime, without encoding.
pub(crate) fn members<'a>(evidence: &Evidence<'a>, work: &'a Group) -> Vec<Candidate<'a>> {
    let mut all = of_work(evidence, work);
    all.retain(|c| !c.client.encoded);
    let runtimes = evidence.plan.runtimes.iter().map(|runtime| &runtime.name);
    let first = runtimes.into_iter().find(|name| all.iter().any(|c| c.row.cell.runtime == **name));
    all.retain(|c| Some(&c.row.cell.runtime) == first);
    all
}

/// One sentence per content, on the first of its works that has one.
pub(crate) fn first_works(evidence: &Evidence, sentence: impl Fn(&Group) -> Option<Draft>) -> Vec<Draft> {
    let mut said: Vec<&str> = Vec::new();
    let mut drafts = Vec::new();
    for work in &evidence.report.groups {
        if !said.contains(&work.payload())
            && let Some(draft) = sentence(work)
        {
            said.push(work.payload());
            drafts.push(draft);
        }
    }
    drafts
}

pub(crate) fn first_leads(drafts: impl IntoIterator<Item = Draft>) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = drafts.into_iter().collect();
    if let Some(first) = drafts.first_mut() {
        first.lead = true;
    }
    drafts
}
