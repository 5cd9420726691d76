//! Studies that prove a policy: the site's sample with what is done today and with the policy, for each kind of client.

use std::path::Path;

use anyhow::Result;

use super::{as_files, block, cells, files, is_of_server, new, stored_today, today, with};
use crate::advise::located;
use weigh_answer::policy::Weighted;
use weigh_model::advised::ADVISED;
use weigh_model::policy::{Decision, Policy};
use weigh_model::site::{Accept, Kind, Site, Stratum};
use weigh_rig::server::Definition;
use weigh_run::forecast::visits_admitted;
use weigh_run::lab::FILE;
use weigh_run::study::{Precision, Study};
use weigh_run::subject::codec::study::CellBlock;
use weigh_run::subject::delivery::compared_seconds;
use weigh_run::subject::delivery::study::{DeliveryBlock, Served};

/// The studies that measure a policy beside what the site does today: one for each kind of client, and one of cached values. The
/// user's configuration is added to them where the site has one. `links` are those of the site's visitors.
///
/// # Errors
/// A file of the sample that has no place, or a kind that the server cannot send.
pub fn proofs(
    site: &Site,
    folder: &Path,
    policy: &Policy,
    server: Option<&Definition>,
    links: &[Weighted],
    seconds: f64,
) -> Result<Vec<(Option<Accept>, Study)>> {
    let changed: Vec<&Decision> = policy.decisions.iter().filter(|decision| !decision.keep).collect();
    let classes = site.classes();
    let clients: Vec<&Accept> = classes.iter().filter(|client| client.share >= Accept::LEAST_SHARE).collect();
    let sent = |client: &Accept| -> Result<Vec<DeliveryBlock>> {
        let mut sent = Vec::new();
        for decision in changed.iter().filter(|decision| decision.kind != Kind::Value) {
            let Some(server) = server else { continue };
            sent.push(compared(site, folder, decision, server, client)?);
            if decision.kind == Kind::Download {
                sent.extend(as_files(site, folder, server)?);
            }
        }
        sent.retain(|block| !block.content.is_empty());
        Ok(sent)
    };
    let sent = clients.iter().map(|client| sent(client)).collect::<Result<Vec<_>>>()?;
    let is_sent = sent.iter().any(|blocks| !blocks.is_empty());
    let values = changed.iter().find(|decision| decision.kind == Kind::Value);
    let values = values.map(|decision| stored(site, folder, decision)).transpose()?;
    let values = values.filter(|cells| !cells.content.is_empty());
    let parts = if is_sent { clients.len() } else { 0 } + usize::from(values.is_some());
    let on_link = if is_sent { MADE.max(seconds * LINK[0]).min(seconds * LINK[1]) } else { 0.0 };
    let rest = seconds - on_link;
    let part = (rest / parts.max(1) as f64).round().max(1.0);
    let mut found = Vec::new();
    for (at, (client, sent)) in clients.into_iter().zip(sent).enumerate().filter(|_| is_sent) {
        // Negotiation is the same whoever asks.
        let of = |block: &DeliveryBlock| DeliveryBlock {
            accept: Some(client.codings.join(", ")),
            negotiation: at == 0 && block.subject != Served::Download,
            ..block.clone()
        };
        let most = ((on_link / MADE) as usize).max(1);
        let over = OverLinks { site, folder, links, most, seconds: on_link };
        let over_link = sent.iter().find_map(|block| over.block(&of(block))).filter(|_| at == 0);
        let deliveries = sent.iter().map(of).collect();
        let own = proof(site, &format!("proof-{}", at + 1), part);
        found.push((Some(client.clone()), Study { deliveries, ..own }));
        if let Some(block) = over_link {
            let precision = Precision { max_rounds: LINK_ROUNDS, min_samples: 1, half_width: 0.05 };
            let own = new(site, "proof-link", on_link.round().max(1.0));
            found.push((Some(client.clone()), Study { deliveries: vec![block], precision, ..own }));
        }
    }
    if let Some(cells) = values {
        found.push((None, Study { cells: vec![cells], ..proof(site, "proof-values", part) }));
    }
    Ok(found)
}

/// Rounds of a proof at most: few configurations are compared, and each round makes their difference clearer.
const ROUNDS: u32 = 100;

/// A study of before and after.
fn proof(site: &Site, what: &str, seconds: f64) -> Study {
    let own = new(site, what, seconds);
    Study { precision: Precision { max_rounds: ROUNDS, ..own.precision }, ..own }
}

/// The shares of a proof's time that responses over a link take at least and at most.
const LINK: [f64; 2] = [0.15, 0.3];
/// Seconds that it takes to make a link, to measure it, and to send a file over it before and after.
const MADE: f64 = 22.0;
/// Rounds over a link at most: its times vary little.
const LINK_ROUNDS: u32 = 10;

/// Proofs over links, in this many seconds.
struct OverLinks<'a> {
    site: &'a Site,
    folder: &'a Path,
    links: &'a [Weighted],
    /// Links at most: those that most visitors have.
    most: usize,
    seconds: f64,
}

impl OverLinks<'_> {
    /// The same over links: for the file with the most traffic of those that there is time for, else the smallest.
    fn block(&self, block: &DeliveryBlock) -> Option<DeliveryBlock> {
        let kind = match block.subject {
            Served::Asset => Kind::Asset,
            Served::Page => Kind::Page,
            Served::Download => return None,
        };
        let mut links: Vec<&Weighted> = self.links.iter().collect();
        links.sort_by(|a, b| b.1.total_cmp(&a.1));
        links.truncate(self.most);
        let files =
            self.site.of(kind).flat_map(|stratum| stratum.sample.iter().map(move |sample| (stratum, sample)));
        let named = files.filter_map(|(stratum, sample)| {
            let name = format!("{FILE}{}", located(self.site, self.folder, kind, &sample.path).ok()?);
            let traffic = sample.bytes as f64 * sample.share * stratum.requests.value;
            let visits: f64 = links.iter().map(|(link, _)| compared_seconds(link, sample.bytes)).sum();
            let round = visits * visits_admitted();
            // What lasts too long is the less wanted the longer it lasts.
            let rank = if round <= self.seconds { (true, traffic) } else { (false, -round) };
            (block.content.contains(&name) && stratum.is_worth_encoding()).then_some((name, rank))
        });
        let (first, _) = named.max_by(|(_, a), (_, b)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)))?;
        let links: Vec<String> = links.iter().map(|(link, _)| link.name.clone()).collect();
        let about = format!("{} over {}", block.about, links.join(", "));
        Some(DeliveryBlock { about, content: vec![first], links, negotiation: false, ..block.clone() })
    }
}

/// The block of a decision for a client: before and after.
fn compared(
    site: &Site,
    folder: &Path,
    decision: &Decision,
    server: &Definition,
    client: &Accept,
) -> Result<DeliveryBlock> {
    let kind = decision.kind;
    let today = today(site, kind).filter(|way| kind != Kind::Download || !is_of_server(way));
    let php = decision.by_php(&client.codings).map(str::to_owned);
    let own = decision.method.clone().or(php);
    let in_lab = own.is_some();
    let (subject, runtime, by) = match kind {
        Kind::Page => (Served::Page, "php", "php/"),
        Kind::Download => (Served::Download, "php", "php/"),
        Kind::Asset | Kind::Value => (Served::Asset, "-", "server/"),
    };
    let advised = if kind == Kind::Page { format!("server/{ADVISED}") } else { ADVISED.to_owned() };
    let after = own.map_or(advised, |own| own.strip_prefix(by).unwrap_or(&own).to_owned());
    // The site's own configuration tells what is done today, unless the policy's method is measured in the lab's.
    let is_needed = |_: &String| in_lab || site.sources.server_config.is_none();
    let ways = with(vec![after], today.filter(is_needed), by);
    // The files that the policy was made from: of assets, those that encoding makes smaller have places of their own.
    let content = match kind {
        Kind::Asset => [
            files(site, folder, kind, &Stratum::is_worth_encoding)?,
            files(site, folder, kind, &|stratum| !stratum.is_worth_encoding())?,
        ]
        .concat(),
        _ => files(site, folder, kind, &|_| true)?,
    };
    Ok(block(server, kind.plural(), subject, content, runtime, ways))
}

/// The cells of cached values: before and after, and the serializers alone.
fn stored(site: &Site, folder: &Path, decision: &Decision) -> Result<CellBlock> {
    let (serializer, codec) = stored_today(site).unwrap_or(("serialize".into(), "identity".into()));
    let (mut serializers, mut codecs) = (vec![serializer], vec!["identity".to_owned(), codec]);
    for rule in &decision.rules {
        serializers.extend(rule.serializer.clone());
        codecs.push(rule.method.clone());
    }
    for all in [&mut serializers, &mut codecs] {
        all.sort();
        all.dedup();
    }
    let content = files(site, folder, Kind::Value, &|_| true)?;
    Ok(cells("cached values, before and after", content, "php", serializers, codecs))
}
