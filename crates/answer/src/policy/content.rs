//! A site's sample files, and what they stand for.

use weigh_model::site::{Accept, Kind, Sample, Site, Stratum};

use super::Ground;
use crate::metric::delivery::BODY;
use crate::row::Row;

/// A sample file of a site, with the requests that it stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item<'a> {
    pub stratum: &'a Stratum,
    pub sample: &'a Sample,
    /// Responses per month with content like it; of values, reads.
    pub requests: f64,
    pub files: f64,
    /// Writes per month of content like it.
    pub writes: f64,
    /// Bytes of a response that it stands for ÷ its own. What was measured of it counts in proportion.
    pub scale: f64,
}

impl Item<'_> {
    /// Bytes of the body that a row sends of it.
    pub fn body(&self, row: &Row) -> f64 {
        row.value(BODY).unwrap_or(self.sample.bytes as f64)
    }

    /// Bytes that a row sends beside the body.
    pub fn head(&self, row: &Row) -> f64 {
        row.value("wire-bytes").map_or(0.0, |wire| wire - self.body(row))
    }
}

/// The sample files of a kind.
pub(crate) fn items(site: &Site, kind: Kind) -> Vec<Item<'_>> {
    let samples = site.of(kind).flat_map(|stratum| stratum.sample.iter().map(move |one| (stratum, one)));
    let items = samples.map(|(stratum, sample)| Item {
        stratum,
        sample,
        requests: stratum.requests.value * sample.share,
        files: stratum.files.value * sample.share,
        writes: stratum.writes.map_or(0.0, |writes| writes.value) * sample.share,
        scale: 1.0,
    });
    items.collect()
}

/// The furthest that a file's bytes may be from those that it stands for; strata are narrower.
const SCALES: [f64; 2] = [0.1, 10.0];

/// The same files, those that were measured: together they stand for all requests of their strata, and in proportion for the bytes of the
/// others. Strata without any measurement are not among them: [`super::coverage`] keeps what they weigh.
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

/// The sample files of a kind whose rows are wanted, with these: as [`weighed`].
pub(crate) fn measured<'a>(
    ground: &Ground<'a>,
    kind: Kind,
    is_wanted: impl Fn(&Row) -> bool,
) -> Vec<(Item<'a>, Vec<&'a Row>)> {
    let items = items(ground.site, kind);
    let wanted = |item: &Item| -> Vec<&'a Row> {
        ground.rows(kind, item.sample).into_iter().filter(|row| is_wanted(row)).collect()
    };
    let rows: Vec<Vec<&Row>> = items.iter().map(wanted).collect();
    let weighed = weighed(&items, |at| !rows[at].is_empty());
    weighed.into_iter().zip(rows.into_iter().filter(|rows| !rows.is_empty())).collect()
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
