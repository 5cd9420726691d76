//! Which files of the sample are measured, as contents of a study.

use std::path::Path;

use anyhow::Result;
use weigh_model::site::{Kind, Sample, Site, Stratum};

use crate::advise::located;
use weigh_run::lab::FILE;

/// Files of a kind that are measured, where there are as many: the fewest, and the most that it takes to cover the kind.
const FILES: [usize; 2] = [10, 16];
/// The same of pages: each has every method of PHP and of the server, and pages of one size are much alike.
const PAGES: [usize; 2] = [3, 6];
/// The same of cached values: each has every serializer with every codec.
const VALUES: [usize; 2] = [6, 9];
/// The share of a kind's requests and of its bytes that the measured strata have together, where the most files are enough for that.
const COVERED: f64 = 0.95;

/// The sample files of a kind as contents of a study, each once.
pub(super) fn files(
    site: &Site,
    folder: &Path,
    kind: Kind,
    is_meant: &dyn Fn(&Stratum) -> bool,
) -> Result<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    for sample in chosen(site, kind, is_meant) {
        let content = content(site, folder, kind, sample)?;
        if !found.contains(&content) {
            found.push(content);
        }
    }
    Ok(found)
}

/// A sample file as the content of a study.
pub(super) fn content(site: &Site, folder: &Path, kind: Kind, sample: &Sample) -> Result<String> {
    Ok(format!("{FILE}{}", located(site, folder, kind, &sample.path)?))
}

/// The sample files of a kind that are measured: one of each stratum, the strata with the largest shares of requests and bytes first, until they have
/// [`COVERED`] of both; then further ones up to the fewest.
pub(super) fn chosen<'s>(site: &'s Site, kind: Kind, is_meant: &dyn Fn(&Stratum) -> bool) -> Vec<&'s Sample> {
    let [fewest, most] = match kind {
        Kind::Page => PAGES,
        Kind::Value => VALUES,
        Kind::Asset | Kind::Download => FILES,
    };
    let strata: Vec<(&Stratum, [f64; 2])> = site
        .of(kind)
        .filter(|stratum| is_meant(stratum))
        .map(|stratum| (stratum, amounts(stratum)))
        .collect();
    let sum = |at: usize| strata.iter().map(|(_, own)| own[at]).sum::<f64>().max(f64::MIN_POSITIVE);
    let sums = [sum(0), sum(1)];
    let weight = |own: &[f64; 2]| own[0] / sums[0] + own[1] / sums[1];
    let traffic = |sample: &Sample| sample.share * sample.bytes as f64;
    let mut firsts = Vec::new();
    let mut others = Vec::new();
    for (stratum, own) in &strata {
        let mut files: Vec<&Sample> = stratum.sample.iter().collect();
        files.sort_by(|a, b| traffic(b).total_cmp(&traffic(a)).then_with(|| a.path.cmp(&b.path)));
        let all: f64 = files.iter().map(|file| traffic(file)).sum();
        let mut files =
            files.into_iter().map(|file| (file, *own, weight(own) * traffic(file) / all.max(1.0)));
        firsts.extend(files.next().map(|(file, own, _)| (file, own, weight(&own))));
        others.extend(files.map(|(file, _, weight)| (file, [0.0; 2], weight)));
    }
    for list in [&mut firsts, &mut others] {
        list.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| a.0.path.cmp(&b.0.path)));
    }
    let mut covered = [0.0; 2];
    let mut found = Vec::new();
    for (file, own, _) in firsts.into_iter().chain(others) {
        let is_covered = (0..2).all(|at| covered[at] >= COVERED * sums[at]);
        if found.len() >= most || (is_covered && found.len() >= fewest) {
            break;
        }
        (0..2).for_each(|at| covered[at] += own[at]);
        found.push(file);
    }
    found
}

/// Requests and bytes per month of a stratum; of values, keys and their bytes.
fn amounts(stratum: &Stratum) -> [f64; 2] {
    let mean: f64 = stratum.sample.iter().map(|sample| sample.share * sample.bytes as f64).sum();
    match stratum.kind {
        Kind::Value => [stratum.files.value, stratum.sent_bytes.unwrap_or(stratum.bytes).value],
        _ => {
            let requests = stratum.requests.value;
            [requests, stratum.sent_bytes.map_or(requests * mean, |sent| sent.value)]
        }
    }
}
