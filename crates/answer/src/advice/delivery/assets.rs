//! Whether to precompress files, with which encoders, and how each server sends them.
//!
//! A file is read much more often than written, so encoding time hardly matters: a response costs its CPU time and the
//! time of its bytes on a visitor's line. Precompressed files of every encoder compete with the server's own filter and
//! with the file as it is, server by server and for each class of clients.

use weigh_model::cell::Subject;
use weigh_model::units;
use weigh_model::way::{By, ENCODER, WayKind};

use super::{
    Chosen, ENCODERS, PartialAdvice, codings, default_encoder, groups_of, is_as_it_is, method, plain_setting,
    recommended, simplicity,
};
use crate::advice::is_short;
use crate::exhibit::crossover::{size_end, way_name};
use crate::finding::delivery::label;
use crate::finding::delivery::sent::{Sent, bytes_of, crossovers, sent};
use crate::first::{distinct, grouped};
use crate::group::Group;
use crate::metric::delivery::{CODING, CPU};
use crate::report::advice::{Case, Sentence, StatementKind, ids};
use crate::report::exhibit::crossover::{Crossover, Pays};
use crate::report::question::{Groups, Question};
use crate::row::Row;

/// The most servers that a sentence names.
const NAMED: usize = 4;

/// One question for each server and content coding: what clients that take it get.
pub(super) fn questions(all: &Groups) -> Vec<Question> {
    let groups = groups_of(all, &Subject::ASSET);
    let servers = grouped(groups.iter().map(|at| (all.report.groups[*at].factor("server"), *at)));
    let mut questions = Vec::new();
    for (server, groups) in servers {
        let mut rows = groups.iter().flat_map(|group| &all.rows[*group]);
        if !rows.any(|row| precompressed(row).is_some()) {
            continue;
        }
        let codings = codings(all, &groups, codes);
        for at in 0..codings.len() {
            let key = |row: &'_ Row| {
                let encoded = Sent::of(row).filter(|_| codes(row, &codings[at..]));
                let plain =
                    plain_setting(row).filter(|row| is_as_it_is(row) && row.delivery.by == By::Server);
                let sent = encoded.or(plain)?;
                let encoder = precompressed(row).map(|(_, encoder)| encoder.to_owned());
                let is_default =
                    encoder.as_deref().is_none_or(|own| ENCODERS.iter().any(|(_, name)| *name == own));
                let rank = simplicity(sent.coding()) * 2 + usize::from(!is_default);
                Some(((method(&sent), encoder), name(&sent), rank))
            };
            let scope = format!("{}, clients that take {}", label::owned(server), codings[at]);
            questions.extend(Question::of(all, 2, scope, groups.clone(), key));
        }
    }
    questions
}

/// The coding of a precompressed file that the server sends, and its encoder.
fn precompressed(row: &Row) -> Option<(&str, &str)> {
    let sent = Sent::of(row)
        .filter(|sent| sent.delivery.kind == WayKind::PreEncoded && sent.delivery.by == By::Server)?;
    let coding = row.fact(CODING).filter(|_| row.get(CPU).is_some())?;
    let named = sent.row.cell.setting.options.get(ENCODER);
    Some((coding, named.map_or_else(|| default_encoder(coding), String::as_str)))
}

/// Whether the server sends it in one of these codings.
fn codes(row: &Row, codings: &[&str]) -> bool {
    let on_the_fly = || {
        let sent = plain_setting(row).filter(|sent| sent.delivery.by == By::Server)?;
        sent.coding().filter(|_| sent.delivery.kind == WayKind::OnTheFly)
    };
    let coding = precompressed(row).map(|(coding, _)| coding).or_else(on_the_fly);
    coding.is_some_and(|coding| codings.contains(&coding))
}

/// `gzip_static with zlib 9`, `gzip 6 on the fly`.
fn name(sent: &Sent) -> String {
    match precompressed(sent.row) {
        Some((_, encoder)) => format!("{} with {encoder}", sent.row.cell.setting.codec),
        None if sent.coding().is_some() => format!("{} on the fly", label::name(sent)),
        None => label::name(sent),
    }
}

/// The recommendation for files; none if no server sends both precompressed files and others.
pub(super) fn advise(case: &Case) -> Option<PartialAdvice> {
    let every =
        case.answers.iter().flat_map(|answer| answer.choices.iter().map(move |choice| (answer, choice)));
    let all: Vec<Chosen> = every.filter_map(|one| Chosen::of(case, one)).collect();
    let (pre, other): (Vec<&Chosen>, Vec<&Chosen>) =
        all.iter().partition(|one| precompressed(one.row.row).is_some());
    let place = |group: &Group| label::content(case.evidence, group.payload());
    let recommended = recommended(case, place);
    let usual = usual(case);
    let mut sentences = match pre.is_empty() {
        true if other.is_empty() => return None,
        true => {
            let servers = distinct(other.iter().map(|one| label::server(&one.row)));
            let text = format!("Do not precompress assets for {}.", units::list(&servers));
            vec![Sentence::new(StatementKind::Use, text, other.iter().flat_map(|one| one.cells.clone()))]
        }
        false => used(&pre),
    };
    sentences.extend(usual.iter().find_map(|one| gain(case, one)));
    let fly = on_the_fly(&usual, &pre);
    let has_size = fly.is_some();
    sentences.extend(fly);
    // What is not precompressed although other files are.
    sentences.extend(case.elsewhere(place).filter(|_| !pre.is_empty() && !other.is_empty() && !has_size));
    sentences.extend(limit(case, &all));
    Some(PartialAdvice { recommended, sentences, confidence: None })
}

/// The crossover that represents each server: the one with the most sizes, gzip before others.
fn usual<'a>(case: &'a Case) -> Vec<&'a Crossover> {
    let servers = grouped(crossovers(case.evidence).iter().map(|c| (c.endpoint.server.as_str(), c)));
    let rank = |c: &&Crossover| (c.coding == "gzip", c.sizes.len());
    servers.into_iter().filter_map(|(_, all)| all.into_iter().rev().max_by_key(rank)).collect()
}

/// `Precompress assets with brotli 11 and zopfli, and serve them with gzip_static on nginx and type-map on Apache.`; in two sentences where it is long.
fn used(pre: &[&Chosen]) -> Vec<Sentence> {
    let names = distinct(pre.iter().filter_map(|one| Some(precompressed(one.row.row)?.1)));
    let by_server =
        grouped(pre.iter().map(|one| (label::server(&one.row), one.row.setting().codec.as_str())));
    let served = by_server.into_iter();
    let served = served.map(|(server, ways)| format!("{} on {server}", units::list(&distinct(ways))));
    let served: Vec<String> = served.collect();
    let (first, second) =
        (format!("Precompress assets with {}", units::list(&names)), label::some(&served, NAMED));
    let one = format!("{first}, and serve them with {second}.");
    let texts = match is_short(&one) {
        true => vec![one],
        false => vec![format!("{first}."), format!("Serve them with {second}.")],
    };
    let cells = || pre.iter().flat_map(|one| one.cells.clone());
    texts.into_iter().map(|text| Sentence::new(StatementKind::Use, text, cells())).collect()
}

/// The improvement on the median content by size, compared with what the site has today, else with the same server's filter.
fn gain(case: &Case, crossover: &Crossover) -> Option<Sentence> {
    let size = crossover.sizes.get(crossover.sizes.len() / 2)?;
    let pre = sent(case.evidence, &size.pre_encoded)?;
    let groups = &case.report().groups;
    let today = groups.iter().find(|group| group.has(pre.id()))?.mark("today");
    let beside = sent(case.evidence, today.unwrap_or(&size.on_the_fly))?;
    let name = match today {
        Some(_) => "what is sent today".to_owned(),
        None => format!("{} on the fly", label::name(&beside)),
    };
    let content = label::content(case.evidence, &size.payload);
    let change = label::change(&pre.ratio_to(&beside, CPU)?, "CPU time per request");
    let what = format!("{content} from {}", label::server(&pre));
    Some(Sentence::gain(&what, &name, &change, [pre.row, beside.row]))
}

/// Where encoding each response takes less CPU time: below a size, or on a whole server.
fn on_the_fly(usual: &[&Crossover], pre: &[&Chosen]) -> Option<Sentence> {
    // If precompression pays nowhere, that is the answer.
    let is_sent = |server: &str| pre.iter().any(|one| one.row.delivery.server == server);
    let place = |c: &&Crossover| match c.cpu? {
        Pays::From { bytes, low, high } => Some(format!(
            "on {} below {} ({} to {})",
            label::owned(&c.endpoint.server),
            units::bytes(bytes.round() as u64),
            size_end(low, "the smallest"),
            size_end(high, "the largest")
        )),
        Pays::Nowhere { .. } if !pre.is_empty() && !is_sent(&c.endpoint.server) => {
            Some(format!("on {}", label::owned(&c.endpoint.server)))
        }
        _ => None,
    };
    let found: Vec<(&Crossover, String)> = usual.iter().filter_map(|c| Some((*c, place(c)?))).collect();
    let way = way_name(&found.first()?.0.on_the_fly).replace(':', " ");
    let places: Vec<String> = found.iter().map(|(_, place)| place.clone()).collect();
    let cells =
        found.iter().flat_map(|(c, _)| &c.sizes).flat_map(|s| [s.pre_encoded.clone(), s.on_the_fly.clone()]);
    let text = format!("Less CPU time on the fly with {way}: {}.", label::some(&places, 2));
    Some(Sentence::new(StatementKind::Change, text, cells))
}

/// The sizes that it covers, and how certain it is.
fn limit(case: &Case, all: &[Chosen]) -> Option<Sentence> {
    let rows: Vec<&Row> = all.iter().flat_map(|one| case.chosen(one.answer, one.choice)).collect();
    let bytes: Vec<f64> = rows.iter().map(|row| bytes_of(case.evidence, &row.cell.payload) as f64).collect();
    let link = units::mbit(case.conditions.links[0].mbit);
    let sizes = label::range(&bytes, |bytes| units::bytes(bytes as u64));
    let text = format!(
        "Chosen by CPU time plus transfer at {link} (modelled) for files of {sizes}, each read many times per write."
    );
    (!rows.is_empty()).then(|| Sentence::new(StatementKind::Limit, text, ids(rows)))
}
