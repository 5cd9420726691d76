//! Whether a policy does what it predicts on two running servers: the same contents by their URLs, before and after. Response times are
//! those of a client; CPU time is not compared.

use weigh_model::policy::{Policy, Rule};
use weigh_model::site::{Accept, Kind, Site};

use super::Ground;
use super::coded::waiting;
use super::content::{self, Item};
use super::proof::{Compared, Proof, Sums, left, other_coding};
use super::setup::{Exact, Setup};
use super::wait::Weighted;
use crate::compare::page_loads::PairedLoads;
use crate::metric::delivery::SECONDS;
use crate::report::Report;
use crate::row::Row;

/// A sample file by two URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByUrl {
    pub kind: Kind,
    /// SHA-256 of the sample file that it stands for.
    pub sha256: String,
    /// The name of what the URL before sends, among the payloads of the run.
    pub before: String,
    /// That of the URL after.
    pub after: String,
}

/// Compares. `report` is a run in which each URL was requested once for each kind of client; `loads` are those of the page in a browser, over links, of a
/// proof that took this many seconds.
pub fn prove_urls(
    policy: &Policy,
    site: &Site,
    links: &[Weighted],
    pairs: &[ByUrl],
    report: &Report,
    (loads, seconds): (&[PairedLoads], f64),
) -> Proof {
    let ground = Ground::new(site, links, std::slice::from_ref(report), policy.objective.moment());
    let mut proof = Proof::of(policy, "requested", |proof, decision| {
        let urls = Urls {
            ground: &ground,
            report,
            kind: decision.kind,
            pairs: pairs.iter().filter(|pair| pair.kind == decision.kind).collect(),
        };
        let [before, after] = &urls.measured()?;
        let compared = Compared { site, decision, before, after };
        let others = urls.other_codings(&decision.rules);
        let lines = compared.lines(report.run.seconds, others.first());
        proof.lines.extend(lines.into_iter().filter(|line| line.amount != "CPU time"));
        proof.open.extend(others);
        proof.open.extend(compared.uncovered());
        Some(())
    });
    proof.open.extend(left(std::iter::once(report)));
    proof.add_loads(policy, loads, seconds);
    proof
}

/// The value of Accept-Encoding of clients that accept these codings.
pub fn accepted(codings: &[String]) -> String {
    if codings.is_empty() { "identity".to_owned() } else { codings.join(", ") }
}

/// The URLs of a kind of content.
struct Urls<'a> {
    ground: &'a Ground<'a>,
    report: &'a Report,
    kind: Kind,
    pairs: Vec<&'a ByUrl>,
}

impl<'a> Urls<'a> {
    /// The rows of what both URLs of a file send to a class of clients.
    fn rows(&self, item: &Item, client: &Accept) -> Option<[Option<&'a Row>; 2]> {
        let pair = self.pairs.iter().find(|pair| pair.sha256 == item.sample.sha256)?;
        let accept = accepted(&client.codings);
        let is_asked = |row: &Row| row.cell.delivery.as_ref().is_some_and(|d| d.accept == accept);
        let rows = self.report.rows.iter().filter(|row| is_asked(row));
        Some([&pair.before, &pair.after].map(|name| rows.clone().find(|row| row.cell.payload == *name)))
    }

    /// The amounts before and after; none if nothing was measured both times.
    fn measured(&self) -> Option<[Setup; 2]> {
        let items = content::items(self.ground.site, self.kind);
        let mut sums = Sums::default();
        for client in &self.ground.classes {
            let rows_of = |item: &Item| {
                let [before, after] = self.rows(item, client)?;
                before.zip(after)
            };
            // The response time takes the place of the CPU time, and has the application's in it.
            let of = |item: &Item, row: &Row| {
                let sent = item.body(row) * item.scale + item.head(row);
                let wait = waiting(self.ground, item, row, item.body(row), sent);
                (row.get(SECONDS).cloned(), Exact { wait, sent, ..Exact::default() })
            };
            sums.add(&items, client.share, &rows_of, &of);
        }
        sums.setups()
    }

    /// What is sent after the change in another coding than the policy says, one line each.
    fn other_codings(&self, rules: &[Rule]) -> Vec<String> {
        let items = content::items(self.ground.site, self.kind);
        let all = items.iter().flat_map(|item| self.ground.classes.iter().map(move |client| (item, client)));
        let other = |(item, client): (&Item, &Accept)| {
            let [_, after] = self.rows(item, client)?;
            other_coding(rules, item, &client.codings, after?)
        };
        all.filter_map(other).collect()
    }
}
