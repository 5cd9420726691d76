//! Rows of a study of deliveries, with how they are sent.

use std::ops::Deref;

use weigh_model::cell::{Delivery, Subject};
use weigh_model::payload::Origin;
use weigh_model::setting::Setting;
use weigh_model::units;
use weigh_model::way::{By, WayKind};

use crate::estimate::Estimate;
use crate::finding::delivery::label;
use crate::group::Group;
use crate::metric::delivery::{BODY, CODING, CPU};
use crate::report::exhibit::crossover::Crossover;
use crate::report::finding::{Draft, Evidence};
use crate::row::Row;
use crate::verdict::{Ratio, ratio_if};

/// The most groups of a topic; the others are only counted.
pub(crate) const SPOKEN_OF: usize = 4;

/// A sentence and the ids of the cells that it is based on.
pub(crate) type Sentence = (String, Vec<String>);

pub(crate) fn leads(sentences: impl IntoIterator<Item = Sentence>) -> Vec<Draft> {
    sentences.into_iter().map(|(text, cells)| Draft::lead(text, cells)).collect()
}

pub(crate) fn details(sentences: impl IntoIterator<Item = Sentence>) -> Vec<Draft> {
    sentences.into_iter().map(|(text, cells)| Draft::detail(text, cells)).collect()
}

pub(crate) fn first_leads(sentences: impl IntoIterator<Item = Sentence>) -> Vec<Draft> {
    let draft = |(at, (text, cells)): (usize, Sentence)| Draft::new(at == 0, text, cells);
    sentences.into_iter().enumerate().map(draft).collect()
}

/// The user's own page, measured with the study: a scale for costs.
pub(crate) struct OwnPage {
    pub(crate) id: String,
    /// Its median response time, nanoseconds.
    pub(crate) ns: f64,
}

impl OwnPage {
    /// None if none was measured: the page of a study only reads a file, and is not a scale.
    pub(crate) fn of(evidence: &Evidence) -> Option<OwnPage> {
        let is_own = |c: &Sent| {
            let payload = evidence.report.payload(&c.cell.payload);
            payload.is_some_and(|payload| matches!(payload.origin, Origin::Url { .. }))
        };
        let page = all(evidence, Subject::PAGE).into_iter().find(is_own)?;
        let ns = page.value("service-p50")? * 1e9;
        (ns > 0.0).then(|| OwnPage { id: page.own_id(), ns })
    }

    /// ` That is 2.2% of the 34.0 ms of your page.`, for the smallest and the largest of these times in nanoseconds.
    pub(crate) fn share(&self, times: &[f64]) -> String {
        let shares: Vec<f64> = times.iter().map(|ns| ns / self.ns).collect();
        format!(" That is {} of the {} of your page.", label::shares(&shares), units::ns(self.ns))
    }
}

/// A row with how it is sent.
#[derive(Clone, Copy)]
pub(crate) struct Sent<'a> {
    pub(crate) row: &'a Row,
    pub(crate) delivery: &'a Delivery,
}

impl Deref for Sent<'_> {
    type Target = Row;

    fn deref(&self) -> &Row {
        self.row
    }
}

impl<'a> Sent<'a> {
    pub(crate) fn of(row: &'a Row) -> Option<Sent<'a>> {
        Some(Sent { row, delivery: row.cell.delivery.as_ref()? })
    }

    pub(crate) fn own_id(&self) -> String {
        self.cell.id.clone()
    }

    pub(crate) fn setting(&self) -> &'a Setting {
        &self.row.cell.setting
    }

    pub(crate) fn level(&self) -> Option<i32> {
        self.cell.setting.level
    }

    pub(crate) fn bytes(&self) -> f64 {
        self.value(BODY).unwrap_or(0.0)
    }

    pub(crate) fn coding(&self) -> Option<&'a str> {
        self.row.fact(CODING)
    }

    pub(crate) fn cpu(&self) -> Option<&'a Estimate> {
        self.row.get(CPU)
    }

    pub(crate) fn cpu_or_0(&self) -> f64 {
        self.value(CPU).unwrap_or(0.0)
    }

    pub(crate) fn is_plain_setting(&self) -> bool {
        self.cell.setting.options.is_empty()
    }

    /// Ratio of a metric to that of another row.
    pub(crate) fn ratio_to(&self, other: &Sent, metric: &str) -> Option<Ratio> {
        ratio_if(self.get(metric), other.get(metric))
    }

    /// `5.1% more CPU time (4.2–6.0%)`: a response compared with one of another row.
    pub(crate) fn cost_beside(&self, other: &Sent) -> Option<String> {
        Some(label::change(&self.ratio_to(other, CPU)?, "CPU time"))
    }

    /// Server, transport and runtime are the same.
    pub(crate) fn is_beside(&self, other: &Sent) -> bool {
        self.delivery.server == other.delivery.server
            && self.delivery.transport == other.delivery.transport
            && self.cell.runtime == other.cell.runtime
    }

    /// The same method by the same party.
    pub(crate) fn is_way_of(&self, other: &Sent) -> bool {
        self.delivery.by == other.delivery.by && self.setting() == other.setting()
    }
}

/// Every row of a kind of thing.
pub(crate) fn all<'a>(evidence: &Evidence<'a>, subject: Subject) -> Vec<Sent<'a>> {
    evidence.report.rows.iter().filter(|row| row.cell.subject == subject).filter_map(Sent::of).collect()
}

pub(crate) fn members<'a>(evidence: &Evidence<'a>, group: &'a Group) -> Vec<Sent<'a>> {
    evidence.report.members(group).filter_map(Sent::of).collect()
}

pub(crate) fn sent<'a>(evidence: &Evidence<'a>, id: &str) -> Option<Sent<'a>> {
    Sent::of(evidence.report.row(id)?)
}

/// A marked row of a group: its `reference`, which is the uncompressed content, or its `gzip`.
pub(crate) fn marked<'a>(evidence: &Evidence<'a>, group: &Group, mark: &str) -> Option<Sent<'a>> {
    sent(evidence, group.mark(mark)?)
}

pub(crate) fn crossovers<'a>(evidence: &Evidence<'a>) -> &'a [Crossover] {
    evidence.report.exhibits.crossovers.as_ref().map_or(&[], |crossovers| &crossovers.0)
}

pub(crate) fn bytes_of(evidence: &Evidence, payload: &str) -> u64 {
    evidence.report.payload(payload).map_or(0, |payload| payload.size())
}

/// The groups of a kind of content that get a sentence of their own, the most informative first: that of the published
/// table, then those with the most cells, then those of the largest content. Of groups that differ only in the link
/// there is one, that without a link if measured, because the CPU cost of a response hardly depends on it.
pub(crate) fn leading<'a>(evidence: &Evidence<'a>, subject: Subject) -> Vec<&'a Group> {
    let is_of = |group: &&Group| {
        group.cells.first().and_then(|id| sent(evidence, id)).is_some_and(|c| c.cell.subject == subject)
    };
    let but_link = |group: &Group| {
        let mut key = group.key.clone();
        key.remove("link").map_or((false, key.clone()), |_| (true, key))
    };
    let mut groups: Vec<&Group> = Vec::new();
    for group in evidence.report.groups.iter().filter(is_of) {
        let (has_link, key) = but_link(group);
        match groups.iter_mut().find(|known| but_link(known).1 == key) {
            Some(known) if but_link(known).0 && !has_link => *known = group,
            Some(_) => {}
            None => groups.push(group),
        }
    }
    let table = evidence.report.exhibits.published.as_ref();
    groups.sort_by_key(|g| {
        let published = table.is_some_and(|table| {
            g.runtime() == table.runtime && table.rows.iter().any(|row| g.has(&row.cell))
        });
        (!published, usize::MAX - g.cells.len(), u64::MAX - bytes_of(evidence, g.payload()))
    });
    groups
}

/// Rows that encode each response, without options, and are not sent in pieces; without those whose filter did not
/// encode the content.
pub(crate) fn on_the_fly<'a>(mut rows: Vec<Sent<'a>>, by: Option<By>) -> Vec<Sent<'a>> {
    rows.retain(|c| {
        c.delivery.kind == WayKind::OnTheFly
            && c.coding().is_some()
            && c.is_plain_setting()
            && by.is_none_or(|by| c.delivery.by == by)
            && c.cpu().is_some()
    });
    rows
}

/// The same cell except for one factor, which `same` leaves open.
pub(crate) fn beside<'a>(
    evidence: &Evidence<'a>,
    of: Sent<'a>,
    same: impl Fn(&Sent) -> bool,
) -> Vec<Sent<'a>> {
    all(evidence, of.cell.subject.clone())
        .into_iter()
        .filter(|c| c.cell.id != of.cell.id && c.cell.payload == of.cell.payload)
        .filter(|c| c.delivery.connections == of.delivery.connections)
        .filter(|c| c.delivery.link == of.delivery.link && same(c))
        .collect()
}
