//! The measured rows of a site's sample files.

use weigh_model::cell::{Cell, Subject};
use weigh_model::site::{Accept, Kind, Sample, Site, Stratum};

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
    /// Bytes of a response that it stands for ÷ its own. What was measured of it counts in proportion.
    pub scale: f64,
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
                scale: 1.0,
            })
        })
        .collect()
}

/// The furthest that a file's bytes may be from those that it stands for; strata are narrower.
const SCALES: [f64; 2] = [0.1, 10.0];

/// The same files, those that were measured: together they stand for all requests of their strata, and in proportion for the bytes of the
/// others. Strata of which nothing was measured are not among them: [`super::coverage`] keeps what they weigh.
pub(crate) fn weighed<'a>(items: &[Item<'a>], is_measured: impl Fn(usize) -> bool) -> Vec<Item<'a>> {
    let sum = |stratum: &Stratum, is_in: &dyn Fn(usize) -> bool| {
        let own = (0..items.len()).filter(|at| std::ptr::eq(items[*at].stratum, stratum) && is_in(*at));
        let samples = own.map(|at| items[at].sample);
        samples.fold((0.0, 0.0), |(shares, bytes), one| {
            (shares + one.share, bytes + one.share * one.bytes as f64)
        })
    };
    let scaled = |at: usize| {
        let item = items[at];
        let (own, all) = (sum(item.stratum, &|at| is_measured(at)), sum(item.stratum, &|_| true));
        let times = 1.0 / own.0.max(f64::EPSILON);
        let mean = |(shares, bytes): (f64, f64)| bytes / shares.max(f64::EPSILON);
        let scale = if own == all { 1.0 } else { (mean(all) / mean(own)).clamp(SCALES[0], SCALES[1]) };
        let (requests, files, writes) = (item.requests * times, item.files * times, item.writes * times);
        Item { requests, files, writes, scale: if scale.is_finite() { scale } else { 1.0 }, ..item }
    };
    (0..items.len()).filter(|at| is_measured(*at)).map(scaled).collect()
}

/// Bytes per month that the site sends today of a stratum, and whether that is an upper bound: as counted, as the site answered, else those of the
/// content without a coding. Of values, the bytes in the store.
pub(crate) fn bytes_today(stratum: &Stratum, classes: &[Accept]) -> (f64, bool) {
    if let Some(sent) = stratum.sent_bytes {
        return (sent.value, false);
    }
    if stratum.kind == Kind::Value {
        return (stratum.bytes.value, true);
    }
    let asked = |sample: &Sample| -> Option<f64> {
        classes.iter().map(|client| Some(sample.sent_to(&client.codings)?.bytes as f64 * client.share)).sum()
    };
    let mean = |of: &dyn Fn(&Sample) -> Option<f64>| -> Option<f64> {
        let own = stratum.sample.iter().map(|sample| Some(of(sample)? * sample.share));
        own.sum::<Option<f64>>().filter(|_| !stratum.sample.is_empty())
    };
    let each = mean(&asked).map(|each| (each, false));
    let each = each.or_else(|| mean(&|sample| Some(sample.bytes as f64)).map(|each| (each, true)));
    let (each, is_bound) = each.unwrap_or((stratum.bytes.value / stratum.files.value.max(1.0), true));
    (each * stratum.requests.value, is_bound)
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

/// Whether a method of sending a file was left out for want of time.
pub(crate) fn is_cut_short(reports: &[Report], kind: Kind, sha256: &str) -> bool {
    let subject = subject(kind);
    reports.iter().any(|report| {
        let is_left = |name: &str| {
            report.unmeasured.iter().any(|id| id.strip_prefix(name).is_some_and(|rest| rest.starts_with('/')))
        };
        let is_sent = |name: &str| {
            report.rows.iter().any(|row| row.cell.subject == subject && row.cell.payload == name)
        };
        let mut own = report.payloads.iter().filter(|payload| payload.sha256 == sha256);
        own.any(|payload| is_left(&payload.name) && is_sent(&payload.name))
    })
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
