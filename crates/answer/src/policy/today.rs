//! What the site sends today to a class of clients: the row that tells what it costs, and its bytes.

use weigh_model::cell::Delivery;
use weigh_model::site::{Accept, Kind, Sample, Sent, Today};
use weigh_model::way::{By, CONFIG, WayKind};

use super::Ground;
use super::coded::{is_own, way_of};
use super::content::Item;
use crate::metric::delivery::{BODY, CODING};
use crate::report::Report;
use crate::row::Row;

/// What a class of clients gets of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer<'a> {
    /// The row that tells what it costs.
    pub row: &'a Row,
    /// Bytes of the body that the site answered with; none: those of the row.
    pub body: Option<f64>,
}

impl<'a> Answer<'a> {
    pub fn of(row: &'a Row) -> Answer<'a> {
        Answer { row, body: None }
    }

    /// Bytes of the body of a file.
    pub fn body(&self, item: &Item) -> f64 {
        self.body.unwrap_or_else(|| item.body(self.row))
    }
}

/// The rows of a file, with what the site's description says of today.
pub(super) struct Rows<'a, 'r> {
    pub all: &'r [&'a Row],
    /// The one that sends the file as it is.
    pub plain: &'a Row,
    /// Today's method of the kind.
    pub method: Option<&'r str>,
}

impl<'a> Rows<'a, '_> {
    /// What these clients get of a file; none: it is not known. What the site itself answered is sent, whatever else is said of today.
    pub fn answer(&self, sample: &Sample, client: &Accept) -> Option<Answer<'a>> {
        let Some(sent) = sample.sent_to(&client.codings) else { return self.of_class(client) };
        Some(Answer { row: self.of_answer(sent, client)?, body: Some(sent.bytes as f64) })
    }

    /// The row of the method that the site answered with; none: what made the answer is not known.
    fn of_answer(&self, sent: &Sent, client: &Accept) -> Option<&'a Row> {
        let coding = Some(sent.coding.as_str()).filter(|coding| *coding != "identity");
        let is_alike = |row: &&Row| row.fact(CODING) == coding;
        let own = || self.of_configuration(client).filter(is_alike).map(|own| self.in_lab(own));
        let is_equal =
            |row: &&Row| is_alike(row) && !is_own(row) && row.value(BODY) == Some(sent.bytes as f64);
        let named = self.named(sent.method.as_deref()).filter(is_alike);
        named
            .or_else(own)
            .or_else(|| self.named(self.method).filter(is_alike))
            .or_else(|| Some(self.plain).filter(is_alike))
            .or_else(|| self.all.iter().copied().find(is_equal))
    }

    /// What clients get that the site was not asked as.
    fn of_class(&self, client: &Accept) -> Option<Answer<'a>> {
        let named = self.named(self.method);
        let is_by_php = self.method.is_some_and(|method| method.starts_with("php/"));
        if !self.all.iter().any(|row| is_own(row)) || (is_by_php && named.is_some()) {
            // What PHP does is PHP's, whatever the server's configuration says.
            return self.taken(named?, client);
        }
        let Some(own) = self.of_configuration(client) else {
            return client.codings.is_empty().then_some(Answer::of(self.plain));
        };
        Some(Answer { row: self.in_lab(own), body: own.value(BODY) })
    }

    /// The row of a method of the lab's.
    fn named(&self, method: Option<&str>) -> Option<&'a Row> {
        let method = method?;
        self.all.iter().copied().find(|row| !is_own(row) && way_of(row) == method)
    }

    /// What the site's own configuration sends to these clients. What it chose of more codings, it chooses of fewer with that one among them.
    fn of_configuration(&self, client: &Accept) -> Option<&'a Row> {
        let own = || self.all.iter().copied().filter(|row| is_own(row));
        let is_offered = |row: &&Row| {
            client.codings.iter().all(|coding| list_offered_codings(row).any(|one| one == coding))
        };
        let is_exact =
            |row: &&Row| list_offered_codings(row).all(|one| client.codings.iter().any(|own| own == one));
        let offered = || own().filter(is_offered);
        offered().find(is_exact).or_else(|| offered().find(|row| is_taken(row, client)))
    }

    /// A method of one content coding, for clients that may not accept it: who takes gzip from nobody takes files as they are. What clients get
    /// that accept other codings than its own is not known.
    fn taken(&self, row: &'a Row, client: &Accept) -> Option<Answer<'a>> {
        let is_plain = client.codings.is_empty() || row.fact(CODING) == Some("gzip");
        let row = if is_taken(row, client) { Some(row) } else { is_plain.then_some(self.plain) };
        row.map(Answer::of)
    }

    /// What an answer of the site's own configuration costs: what the method that sends the same costs in the lab's configuration, in which all other
    /// methods are measured. Else the difference between the two configurations, such as a log that one of them writes, would count as
    /// a gain of a method.
    fn in_lab(&self, own: &'a Row) -> &'a Row {
        let same = |row: &&Row| row.fact(CODING) == own.fact(CODING);
        let is_equal = |row: &&Row| same(row) && row.value(BODY) == own.value(BODY);
        let kind = |row: &Row| row.cell.delivery.as_ref().map(|delivery| (delivery.by, delivery.kind));
        // Files that were encoded beforehand cost the same whatever encoded them.
        let is_before =
            |row: &&Row| same(row) && kind(row).is_some_and(|(_, kind)| kind == WayKind::PreEncoded);
        // A filter that the configuration switches on for some types alone is another than the one that stands for the kind.
        let is_filter =
            |row: &&Row| !is_own(row) && kind(row) == Some((By::Server, WayKind::OnTheFly)) && is_equal(row);
        let named = self.named(self.method).filter(|row| is_equal(row) || is_before(row));
        let filter = || self.all.iter().copied().find(is_filter);
        named.or(Some(self.plain).filter(same)).or_else(filter).unwrap_or(own)
    }
}

/// Whether clients accept what a row sends.
fn is_taken(row: &Row, client: &Accept) -> bool {
    row.fact(CODING).is_none_or(|coding| client.codings.iter().any(|own| own == coding))
}

/// Whether configurations that a report names, by their ids, are of what the site sends of a file today.
pub(super) fn names_today<'r>(
    ground: &Ground<'r>,
    (kind, sample): (Kind, &Sample),
    ids: impl Fn(&'r Report) -> Vec<&'r str>,
) -> bool {
    let own = format!("server/{CONFIG}");
    let ways = [Some(own.as_str()), ground.site.today(kind).map(Today::way)];
    // Behind the method, clients may be named.
    let is_way = |rest: &str| {
        let id = rest.split(' ').next().unwrap_or_default();
        ways.iter().flatten().any(|way| id.ends_with(way))
    };
    ground.payloads(sample).any(|(report, name)| {
        let rests = ids(report).into_iter().filter_map(|id| id.strip_prefix(name)?.strip_prefix('/'));
        rests.filter(|rest| !Delivery::has_rate(rest)).any(is_way)
    })
}

/// Whether what the site sends of a file today was measured with failures: then it is not known.
pub(super) fn has_failed(ground: &Ground, item: &Item) -> bool {
    names_today(ground, (item.stratum.kind, item.sample), failed)
}

/// The ids of what failed.
pub(super) fn failed(report: &Report) -> Vec<&str> {
    report.faults.iter().map(|fault| fault.cell.as_str()).collect()
}

/// The ids of what did not fit into the budget.
pub(super) fn left(report: &Report) -> Vec<&str> {
    report.unmeasured.iter().map(String::as_str).collect()
}

/// The content codings that a row's requests offered.
fn list_offered_codings(row: &Row) -> impl Iterator<Item = &str> {
    let accept = row.cell.delivery.as_ref().map_or("", |delivery| delivery.accept.as_str());
    accept.split(',').map(str::trim).filter(|one| !["", "identity", "deflate"].contains(one))
}
