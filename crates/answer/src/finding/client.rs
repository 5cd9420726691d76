//! The evidence of a study of clients.

pub mod advice;
pub mod beside;
pub mod coding;
pub mod cpu;
pub(crate) mod label;
pub mod memory;
pub mod rates;
pub mod values;

use weigh_model::client::Client;
use weigh_model::units;

use crate::finding::{Draft, Evidence};
use crate::group::Group;
use crate::row::Row;
use crate::subject::client::{CPU, PEAK, STORE_PSS, STORED};

/// The most works or stores of a topic.
const SPOKEN_OF: usize = 4;

/// The measuring program's own share in the measurement.
pub fn own_part(evidence: &Evidence) -> Vec<Draft> {
    let shares = candidates(evidence).filter_map(|c| Some((c.row.value("own-share")?, c.id())));
    let (shares, cells): (Vec<f64>, Vec<String>) = shares.unzip();
    if shares.is_empty() {
        return Vec::new();
    }
    let text = format!(
        "The benchmark loop itself takes {} of the workers' CPU time; all figures include it.",
        label::shares(&shares)
    );
    vec![Draft::detail(text, cells)]
}

/// A row with its client.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    row: &'a Row,
    client: &'a Client,
}

impl<'a> Candidate<'a> {
    fn of(row: &'a Row) -> Option<Candidate<'a>> {
        Some(Candidate { row, client: row.cell.client.as_ref()? })
    }

    fn id(&self) -> String {
        self.row.cell.id.clone()
    }
}

fn candidates<'a>(evidence: &Evidence<'a>) -> impl Iterator<Item = Candidate<'a>> {
    evidence.report.rows.iter().filter_map(Candidate::of)
}

/// One by its cell's id.
fn candidate<'a>(evidence: &Evidence<'a>, id: &str) -> Option<Candidate<'a>> {
    evidence.report.row(id).and_then(Candidate::of)
}

/// Those that do one work.
fn of_work<'a>(evidence: &Evidence<'a>, work: &'a Group) -> Vec<Candidate<'a>> {
    evidence.report.members(work).filter_map(Candidate::of).collect()
}

/// The rows that represent a work's stores and drivers: on the first runtime, without encoding.
fn members<'a>(evidence: &Evidence<'a>, work: &'a Group) -> Vec<Candidate<'a>> {
    let mut all = of_work(evidence, work);
    all.retain(|c| !c.client.encoded);
    let runtimes = evidence.plan.runtimes.iter().map(|runtime| &runtime.name);
    let first = runtimes.into_iter().find(|name| all.iter().any(|c| c.row.cell.runtime == **name));
    all.retain(|c| Some(&c.row.cell.runtime) == first);
    all
}

/// One sentence per content, on the first of its works that has one.
fn first_works(evidence: &Evidence, sentence: impl Fn(&Group) -> Option<Draft>) -> Vec<Draft> {
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

/// Sentences of which the first one leads.
fn first_leads(drafts: impl IntoIterator<Item = Draft>) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = drafts.into_iter().collect();
    if let Some(first) = drafts.first_mut() {
        first.lead = true;
    }
    drafts
}
