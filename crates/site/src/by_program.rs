//! Files below the document root that the server hands to a program, such as downloads that PHP sends.

use std::collections::{HashMap, HashSet};

use super::private::STANDS_IN;
use weigh_model::site::{Figure, Kind, Sample, Stratum};
use weigh_rig::asker::{Asker, Question};
use weigh_run::subject::delivery::url;

/// The paths of sampled files that the server hands to a program, as a private instance with a stand-in tells: the site's own program may
/// send the very bytes of the file. `made`: digests of what has no file, for a script answers with it.
pub fn paths(asker: &Asker<'_>, strata: &[Stratum], made: &HashMap<String, String>) -> HashSet<String> {
    let files = strata.iter().filter(|stratum| matches!(stratum.kind, Kind::Asset | Kind::Download));
    let files = files.flat_map(|stratum| &stratum.sample).filter(|sample| !made.contains_key(&sample.sha256));
    let paths = files.map(|sample| format!("/{}", url::file(&sample.path)));
    let is_handed = |path: &String| {
        let reply = asker.ask(&Question { path, ..Question::default() });
        reply.is_ok_and(|reply| reply.body.starts_with(STANDS_IN))
    };
    paths.filter(is_handed).collect()
}

/// Files that a program sends are downloads, whatever their type: the question is who sends them.
pub fn take_for_downloads(strata: &mut Vec<Stratum>, by_program: &HashSet<String>) {
    let is_sent = |sample: &Sample| by_program.contains(&format!("/{}", url::file(&sample.path)));
    for mut stratum in std::mem::take(strata) {
        let all = stratum.sample.len();
        let is_asset = stratum.kind == Kind::Asset;
        let (sent, rest): (Vec<Sample>, Vec<Sample>) =
            std::mem::take(&mut stratum.sample).into_iter().partition(|s| is_asset && is_sent(s));
        let share = if sent.len() == all { 1.0 } else { sent.iter().map(|sample| sample.share).sum() };
        if !sent.is_empty() {
            strata.push(Stratum { kind: Kind::Download, ..part(&stratum, share, sent) });
        }
        if !rest.is_empty() || all == 0 {
            strata.push(part(&stratum, if rest.len() == all { 1.0 } else { 1.0 - share }, rest));
        }
    }
}

/// The share of a stratum that a part of its sample stands for.
fn part(stratum: &Stratum, share: f64, sample: Vec<Sample>) -> Stratum {
    let of = |figure: Figure| Figure { value: figure.value * share, ..figure };
    let own: f64 = sample.iter().map(|sample| sample.share).sum();
    let sample = sample.into_iter().map(|one| Sample { share: one.share / own.max(f64::EPSILON), ..one });
    Stratum {
        files: of(stratum.files),
        bytes: of(stratum.bytes),
        requests: of(stratum.requests),
        not_modified: stratum.not_modified.map(of),
        ranges: stratum.ranges.map(of),
        sent_bytes: stratum.sent_bytes.map(of),
        writes: stratum.writes.map(of),
        sample: sample.collect(),
        ..stratum.clone()
    }
}
