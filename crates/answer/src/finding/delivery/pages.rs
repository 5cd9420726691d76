//! Pages that PHP makes: the cost of encoding, work that a filter in the server merely moves, PHP's own handler, and
//! pages in pieces.

use weigh_model::cell::Subject;
use weigh_model::units;
use weigh_model::way::By;

use crate::finding::delivery::label;
use crate::finding::delivery::sent::{
    OwnPage, SPOKEN_OF, Sent, Sentence, all, beside, details, first_leads, leading, marked, members,
    on_the_fly,
};
use crate::group::Group;
use crate::metric::delivery::{CONTENT, CPU, PHP_CPU, SERVER_CPU};
use crate::report::finding::{Draft, Evidence};
use crate::verdict::{differ, difference};

const DEFAULTS: [(&str, i32); 3] = [("zstd", 3), ("br", 4), ("deflate", 6)];
/// Sums this close mean the same work in another place.
const MOVED: f64 = 0.1;
/// CPU times this close are equal.
const SAME: f64 = 0.05;
/// Bytes by which two gzip streams of one content may differ because of their headers.
const HEAD: f64 = 32.0;
/// The option of a method that sends a page in pieces.
const PIECES: &str = "pieces";
/// Sentences on pieces at most.
const MOST: usize = 6;

/// The cost of encoding compared with sending the content uncompressed.
pub fn overhead_of_encoding(evidence: &Evidence) -> Vec<Draft> {
    let groups = leading(evidence, Subject::PAGE).into_iter().take(SPOKEN_OF);
    first_leads(groups.filter_map(|group| overhead(evidence, group)))
}

fn overhead<'a>(evidence: &Evidence<'a>, group: &'a Group) -> Option<Sentence> {
    let plain = marked(evidence, group, "reference")?;
    let base = plain.cpu()?;
    let mut ways: Vec<Sent> = marked(evidence, group, "gzip").into_iter().collect();
    for (coding, level) in DEFAULTS {
        let usual = on_the_fly(members(evidence, group), None)
            .into_iter()
            .filter(|way| way.coding() == Some(coding))
            .min_by_key(|way| way.level().map_or(0, |own| own.abs_diff(level)));
        ways.extend(usual);
    }
    let page = OwnPage::of(evidence);
    let part = |way: &Sent| {
        let (more, interval) = difference(way.cpu()?, base);
        let interval = if interval.low.is_finite() {
            units::ns_interval(more, Some(interval.low), Some(interval.high))
        } else {
            units::ns(more)
        };
        let share = page.as_ref().map_or(String::new(), |page| page.share(&[more]));
        let bytes = label::bytes_beside(way.bytes(), plain.bytes());
        Some(format!(" {} adds {interval} for {bytes}.{share}", label::way(way)))
    };
    let parts: Vec<String> = ways.iter().filter_map(part).collect();
    let text = format!(
        "Uncompressed, {} costs {} of CPU time per response; PHP only reads a file.{}",
        label::describe_group(evidence, group),
        units::ns(base.value),
        parts.concat()
    );
    let own = page.iter().map(|page| page.id.clone());
    (!parts.is_empty()).then(|| (text, [plain].iter().chain(&ways).map(Sent::own_id).chain(own).collect()))
}

/// Work that a filter in the server merely moves: the same coding at the same level, in PHP and in the server.
pub fn moved_work(evidence: &Evidence) -> Vec<Draft> {
    let groups = leading(evidence, Subject::PAGE).into_iter().take(SPOKEN_OF * 2);
    first_leads(groups.flat_map(|group| {
        let pairs = pairs(evidence, group).into_iter();
        pairs.filter_map(move |(php, server)| moved(evidence, group, &php, &server))
    }))
}

/// One pair per coding: the level nearest to 6 that both have.
fn pairs<'a>(evidence: &Evidence<'a>, group: &'a Group) -> Vec<(Sent<'a>, Sent<'a>)> {
    let by = |by| on_the_fly(members(evidence, group), Some(by));
    let (in_php, in_server) = (by(By::Php), by(By::Server));
    let mut found: Vec<(Sent, Sent)> = Vec::new();
    let mut both: Vec<(Sent, Sent)> = in_php
        .iter()
        .flat_map(|php| in_server.iter().map(move |server| (*php, *server)))
        .filter(|(php, server)| php.coding() == server.coding() && php.level() == server.level())
        .collect();
    both.sort_by_key(|(php, _)| php.level().map_or(0, |level| level.abs_diff(6)));
    for pair in both {
        if !found.iter().any(|known| known.0.coding() == pair.0.coding()) {
            found.push(pair);
        }
    }
    found
}

fn moved(evidence: &Evidence, group: &Group, php: &Sent, server: &Sent) -> Option<Sentence> {
    let hand = label::server(server);
    let parts = |of: &Sent| {
        let (php, server) = (of.value(PHP_CPU)?, of.value(SERVER_CPU)?);
        Some(format!(
            "{} takes {} in PHP and {} in {hand}",
            label::way(of),
            units::ns(php),
            units::ns(server)
        ))
    };
    let (filter, script) = (server.cpu()?, php.cpu()?);
    let ratio = server.ratio_to(php, CPU)?;
    let verdict = if ratio.low >= 1.0 - MOVED && ratio.high <= 1.0 + MOVED {
        let times = units::times_interval(ratio.value, ratio.low, ratio.high);
        let total = if ratio.holds_one() { "stays the same" } else { "changes little" };
        format!("The work moves from PHP to {hand}; the total {total}: {times}")
    } else if differ(filter, script) {
        format!("In total, the filter needs {}", label::change(&ratio, "CPU time"))
    } else {
        format!("In total, {}", label::ratio(&ratio))
    };
    let text = format!(
        "{}: {}. {}. {verdict}.",
        label::describe_group(evidence, group),
        parts(php)?,
        parts(server)?
    );
    Some((text, vec![php.own_id(), server.own_id()]))
}

/// Whether PHP's own handler differs from gzencode().
pub fn own_handler(evidence: &Evidence) -> Vec<Draft> {
    let groups = leading(evidence, Subject::PAGE).into_iter().take(SPOKEN_OF);
    details(groups.flat_map(|group| {
        let members = members(evidence, group);
        let of = |name: &str| -> Vec<Sent> {
            let is_it = |c: &&Sent| c.delivery.by == By::Php && c.setting().codec == name;
            members.iter().filter(is_it).filter(|c| c.is_plain_setting()).copied().collect()
        };
        let encoders = of("gzencode");
        let beside = |handler: &Sent| {
            let level = handler.level().unwrap_or(6);
            let encoder = encoders.iter().find(|c| c.level() == Some(level))?;
            handler_beside(evidence, group, handler, encoder)
        };
        of("ob_gzhandler").iter().filter_map(beside).collect::<Vec<_>>()
    }))
}

fn handler_beside(evidence: &Evidence, group: &Group, handler: &Sent, encoder: &Sent) -> Option<Sentence> {
    let ratio = handler.ratio_to(encoder, CPU)?;
    let same_bytes = (handler.bytes() - encoder.bytes()).abs() <= HEAD;
    let alike = match (same_bytes, differ(handler.cpu()?, encoder.cpu()?)) {
        (true, false) if (ratio.value - 1.0).abs() <= SAME => "equals",
        (true, false) => "does not differ significantly from",
        _ => "differs from",
    };
    let text = format!(
        "{}: {} {alike} {}. CPU time is {}, with {}.",
        label::describe_group(evidence, group),
        label::way(handler),
        label::way(encoder),
        units::times_interval(ratio.value, ratio.low, ratio.high),
        label::bytes_beside(handler.bytes(), encoder.bytes())
    );
    Some((text, vec![handler.own_id(), encoder.own_id()]))
}

/// The effect of flushing a page in pieces on the first byte, CPU time and bytes.
pub fn flushed_in_pieces(evidence: &Evidence) -> Vec<Draft> {
    let cut = all(evidence, Subject::PAGE).into_iter().filter_map(|cut| {
        let pieces = cut.setting().options.get(PIECES).filter(|pieces| *pieces != "1")?;
        let sentence = pieces_beside(evidence, &cut, &at_once(evidence, cut)?, pieces)?;
        Some((cut.count(CONTENT), sentence))
    });
    let mut found: Vec<(u64, Sentence)> = cut.collect();
    found.sort_by_key(|(bytes, _)| u64::MAX - bytes);
    first_leads(found.into_iter().map(|(_, sentence)| sentence).take(MOST))
}

/// The same method with the page as a whole.
fn at_once<'a>(evidence: &Evidence<'a>, cut: Sent<'a>) -> Option<Sent<'a>> {
    let same_but = |other: &Sent| {
        let mut options = cut.setting().options.clone();
        options.remove(PIECES);
        let mut others = other.setting().options.clone();
        let is_whole = others.remove(PIECES).is_none_or(|pieces| pieces == "1");
        is_whole
            && others == options
            && other.setting().codec == cut.setting().codec
            && other.level() == cut.level()
            && other.is_beside(&cut)
            && other.delivery.by == cut.delivery.by
    };
    beside(evidence, cut, same_but).into_iter().next()
}

fn pieces_beside(evidence: &Evidence, cut: &Sent, whole: &Sent, pieces: &str) -> Option<Sentence> {
    let (early, late) = (cut.value("first-byte-p50")?, whole.value("first-byte-p50")?);
    let cost = cut.cost_beside(whole)?;
    let group = evidence.report.groups.iter().find(|group| group.has(cut.id()))?;
    let text = format!(
        "Flushed in {pieces} pieces, {} with {}: first byte after {} instead of {} (median). That costs {cost} and {}.",
        label::describe_group(evidence, group),
        label::way(whole),
        label::seconds(early),
        label::seconds(late),
        label::bytes_beside(cut.bytes(), whole.bytes())
    );
    Some((text, vec![cut.own_id(), whole.own_id()]))
}
