//! Whether a policy does what it predicts on two running servers: the same contents by their URLs, before and after. Response times are
//! those of a client; CPU time is not compared.

use weigh_model::policy::{Policy, Rule};
use weigh_model::site::{Kind, Site};

use super::Ground;
use super::coded::waiting;
use super::content::{self, Item};
use super::proof::{Compared, Proof, Sums, left, other_coding};
use super::setup::{Exact, Setup};
use super::wait::Weighted;
use crate::report::Report;
use crate::row::Row;
use crate::subject::delivery::{BODY, SECONDS};

/// A sample file by two URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByUrl {
    /// The kind of content.
    pub kind: Kind,
    /// SHA-256 of the sample file that it stands for.
    pub sha256: String,
    /// The name of what the URL before sends, among the payloads of the run.
    pub before: String,
    /// That of the URL after.
    pub after: String,
}

/// Compares. `report` is a run in which each URL was requested once for each kind of client.
pub fn prove_urls(
    policy: &Policy,
    site: &Site,
    links: &[Weighted],
    pairs: &[ByUrl],
    report: &Report,
) -> Proof {
    let seconds = report.run.seconds;
    let reports = std::slice::from_ref(report);
    let ground = Ground::new(site, links, reports);
    let mut proof = Proof::default();
    let mut is_open = false;
    for decision in policy.decisions.iter().filter(|decision| !decision.keep) {
        let kind = decision.kind;
        let own: Vec<&ByUrl> = pairs.iter().filter(|pair| pair.kind == kind).collect();
        let Some((before, after)) = measured(&ground, kind, &own) else {
            proof.open.push(format!("{}: before and after were not both requested.", kind.plural()));
            is_open = true;
            continue;
        };
        let compared = Compared { site, decision, before: &before, after: &after };
        let others = others(&ground, kind, &own, &decision.rules);
        let lines = compared.lines(seconds, others.first());
        proof.lines.extend(lines.into_iter().filter(|line| line.amount != "CPU time"));
        proof.open.extend(others);
        proof.open.extend(compared.uncovered());
    }
    proof.open.extend(left(reports.iter()));
    proof.judge(is_open);
    proof
}

/// The row of what a URL sends to clients that accept these codings.
fn row<'r>(report: &'r Report, payload: &str, codings: &[String]) -> Option<&'r Row> {
    let accept = accepted(codings);
    let is_it = |row: &&Row| {
        row.cell.payload == payload && row.cell.delivery.as_ref().is_some_and(|d| d.accept == accept)
    };
    report.rows.iter().find(is_it)
}

/// The value of Accept-Encoding of clients that accept these codings.
pub fn accepted(codings: &[String]) -> String {
    if codings.is_empty() { "identity".to_owned() } else { codings.join(", ") }
}

/// The amounts before and after; none if nothing was measured both times.
fn measured(ground: &Ground, kind: Kind, pairs: &[&ByUrl]) -> Option<(Setup, Setup)> {
    let report = ground.reports.first()?;
    let items = content::items(ground.site, kind);
    let pair_of = |item: &Item| pairs.iter().find(|pair| pair.sha256 == item.sample.sha256);
    let mut sums = Sums::default();
    for client in &ground.classes {
        let rows_of = |item: &Item| {
            let pair = pair_of(item)?;
            Some((row(report, &pair.before, &client.codings)?, row(report, &pair.after, &client.codings)?))
        };
        // The response time takes the place of the CPU time, and has the application's in it.
        let of = |item: &Item, row: &Row| {
            let body = row.value(BODY).unwrap_or(item.sample.bytes as f64);
            let head = row.value("wire-bytes").map_or(0.0, |wire| wire - body);
            let sent = body * item.scale + head;
            let wait = waiting(ground, kind, item, row, sent);
            (row.get(SECONDS).cloned(), Exact { wait, sent, ..Exact::default() })
        };
        sums.add(&items, client.share, &rows_of, &of);
    }
    sums.setups()
}

/// What is sent after the change in another coding than the policy says, one line each.
fn others(ground: &Ground, kind: Kind, pairs: &[&ByUrl], rules: &[Rule]) -> Vec<String> {
    let Some(report) = ground.reports.first() else { return Vec::new() };
    let items = content::items(ground.site, kind);
    let mut found = Vec::new();
    for item in &items {
        let Some(pair) = pairs.iter().find(|pair| pair.sha256 == item.sample.sha256) else { continue };
        for client in &ground.classes {
            let Some(row) = row(report, &pair.after, &client.codings) else { continue };
            found.extend(other_coding(rules, item, &client.codings, row));
        }
    }
    found
}
