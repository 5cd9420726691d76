//! The measured rows of a site's sample files.

use weigh_model::cell::{Cell, Subject};
use weigh_model::site::{Kind, Sample, Site, Stratum};

use crate::report::Report;
use crate::row::Row;

/// A sample file of a site, with the requests that it stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item<'a> {
    /// Its stratum.
    pub stratum: &'a Stratum,
    /// The file.
    pub sample: &'a Sample,
    /// Responses per month with content like it; of values, reads.
    pub requests: f64,
    /// Files like it.
    pub files: f64,
    /// Writes per month of content like it.
    pub writes: f64,
}

/// The sample files of a kind.
pub(crate) fn items(site: &Site, kind: Kind) -> Vec<Item<'_>> {
    site.of(kind)
        .flat_map(|stratum| {
            stratum.sample.iter().map(move |sample| Item {
                stratum,
                sample,
                requests: stratum.requests.value * sample.share,
                files: stratum.files.value * sample.share,
                writes: stratum.writes.map_or(0.0, |writes| writes.value) * sample.share,
            })
        })
        .collect()
}

/// The same files, those that were measured: together they stand for all requests of their strata, and a stratum of which
/// nothing was measured for none.
pub(crate) fn weighed<'a>(items: &[Item<'a>], is_measured: impl Fn(usize) -> bool) -> Vec<Item<'a>> {
    let known = || (0..items.len()).filter(|at| is_measured(*at));
    let share = |stratum: &Stratum| -> f64 {
        let own = known().filter(|at| std::ptr::eq(items[*at].stratum, stratum));
        own.map(|at| items[at].sample.share).sum()
    };
    let scaled = |at: usize| {
        let item = items[at];
        let times = 1.0 / share(item.stratum).max(f64::EPSILON);
        let (requests, files, writes) = (item.requests * times, item.files * times, item.writes * times);
        Item { requests, files, writes, ..item }
    };
    known().map(scaled).collect()
}

/// The kind of cell that stands for a kind of content that servers send.
pub(crate) fn subject(kind: Kind) -> Subject {
    match kind {
        Kind::Asset => Subject::ASSET,
        Kind::Page => Subject::PAGE,
        Kind::Download => Subject::DOWNLOAD,
        Kind::Value => Subject::PHP_CODEC,
    }
}

/// The rows of a file in all reports, by the digest of its bytes: what was measured of it with the site's server.
pub(crate) fn rows<'a>(
    reports: &'a [Report],
    kind: Kind,
    sha256: &str,
    server: Option<&str>,
) -> Vec<&'a Row> {
    rows_over(reports, kind, sha256, server, None)
}

/// The same over a link.
pub(crate) fn rows_over<'a>(
    reports: &'a [Report],
    kind: Kind,
    sha256: &str,
    server: Option<&str>,
    link: Option<&str>,
) -> Vec<&'a Row> {
    let subject = subject(kind);
    let is_meant = move |cell: &Cell| {
        let delivery = cell.delivery.as_ref();
        let is_here = |own: &str| server.is_none_or(|server| server == own);
        cell.subject == subject
            && delivery.is_none_or(|d| is_here(&d.server) && d.link.as_deref() == link && d.connections == 1)
    };
    let mut found = Vec::new();
    for report in reports {
        let same = report.payloads.iter().filter(|payload| payload.sha256 == sha256);
        for payload in same {
            let own = report.rows.iter().filter(|row| row.cell.payload == payload.name);
            found.extend(own.filter(|row| is_meant(&row.cell)));
        }
    }
    found
}
