//! What decisions rest on: the site with its visitors, and the measured rows of its sample files.

use std::rc::Rc;

use weigh_model::cell::{Cell, Delivery, Subject};
use weigh_model::page::Moment;
use weigh_model::policy::Rule;
use weigh_model::site::{Accept, Kind, Sample, Site, Stratum};

use super::page_waits::{PageWaits, SharedViews};
use super::rate::Rates;
use super::wait::{Readers, Weighted};
use crate::estimate::Estimate;
use crate::metric::codec::{DECODE, DECODED};
use crate::metric::delivery::CPU;
use crate::report::Report;
use crate::row::Row;

/// Bytes that a rule makes of a sample file of a kind; none: not known.
pub type Encoded<'e> = &'e dyn Fn(Kind, &Sample, &Rule) -> Option<u64>;

/// Knows of no file what a rule makes of it.
pub const NOT_ENCODED: Encoded<'static> = &|_, _, _| None;

/// What decisions rest on.
pub(crate) struct Ground<'a> {
    pub site: &'a Site,
    pub links: &'a [Weighted],
    /// What was measured of its sample files.
    pub reports: &'a [Report],
    pub readers: Readers,
    /// How long they wait for pages; none: no page was loaded in a browser.
    pub page_waits: Option<Rc<PageWaits>>,
    /// How views of pages are shared by this site's requests.
    pub shared: SharedViews,
    /// The classes of clients that ask its server.
    pub classes: Vec<Accept>,
    /// Whether it is known of all pages what the application takes to make them.
    pub knows_made: bool,
    /// What responses cost at the site's own rate.
    pub rate: Rates,
    /// What rules make of sample files.
    pub encoded: Encoded<'a>,
}

impl<'a> Ground<'a> {
    /// Where nothing is known of what rules make of sample files.
    pub fn new(site: &'a Site, links: &'a [Weighted], reports: &'a [Report], moment: Moment) -> Ground<'a> {
        let page_waits = PageWaits::new(site, links, moment).map(Rc::new);
        Ground::at(Rates::of(reports), page_waits, site, links, reports)
    }

    /// The same with CPU time at the site's rate, and with loads of pages, from another ground.
    pub fn at(
        rate: Rates,
        page_waits: Option<Rc<PageWaits>>,
        site: &'a Site,
        links: &'a [Weighted],
        reports: &'a [Report],
    ) -> Ground<'a> {
        let (readers, classes, knows_made) = (Readers::new(site, links), site.classes(), site.knows_made());
        let shared = page_waits.as_ref().map(|waits| waits.shared(site, links)).unwrap_or_default();
        let encoded = NOT_ENCODED;
        Ground { site, links, reports, readers, page_waits, shared, classes, knows_made, rate, encoded }
    }

    /// Seconds that a visitor waits for a response with `sent` bytes, of whose content this part is the body: in loads of pages, else for itself.
    pub fn wait(&self, stratum: &Stratum, part: f64, sent: f64) -> f64 {
        let of_page =
            |waits: &Rc<PageWaits>| waits.seconds((self.site, self.links, &self.shared), stratum, part);
        let in_page = self.page_waits.as_ref().and_then(of_page);
        in_page.unwrap_or_else(|| self.readers.seconds(sent, stratum.kind))
    }

    /// CPU nanoseconds per response at the rate of the site's busiest hour: those measured, times `scale`, and what the rate adds.
    pub fn cpu(&self, row: &Row, scale: f64) -> Option<Estimate> {
        row.get(CPU).map(|cpu| cpu.scaled(scale).shifted(self.rate.beyond(row)))
    }

    /// The reports that have a file, by the digest of its bytes, with its name there.
    pub fn payloads(&self, sample: &Sample) -> impl Iterator<Item = (&'a Report, &'a str)> {
        self.reports.iter().flat_map(move |report| {
            let same = report.payloads.iter().filter(move |payload| payload.sha256 == sample.sha256);
            same.map(move |payload| (report, payload.name.as_str()))
        })
    }

    /// Every row of a file.
    fn all_rows(&self, sample: &Sample) -> impl Iterator<Item = &'a Row> {
        self.payloads(sample)
            .flat_map(|(report, name)| report.rows.iter().filter(move |row| row.cell.payload == name))
    }

    /// What was measured of a file of a kind, with the site's server and one connection, one request after the other, on loopback.
    pub fn rows(&self, kind: Kind, sample: &Sample) -> Vec<&'a Row> {
        self.rows_over(kind, sample, None)
    }

    /// The same over a link.
    pub fn rows_over(&self, kind: Kind, sample: &Sample, link: Option<&str>) -> Vec<&'a Row> {
        let (subject, server) = (subject(kind), self.site.sources.server.as_deref());
        let is_meant = |cell: &Cell| {
            let is_here = |own: &str| server.is_none_or(|server| server == own);
            let is_alone =
                |d: &Delivery| d.link.as_deref() == link && d.connections == 1 && d.every_ms.is_none();
            cell.subject == subject && cell.delivery.iter().all(|d| is_here(&d.server) && is_alone(d))
        };
        self.all_rows(sample).filter(|row| is_meant(&row.cell)).collect()
    }

    /// Whether there are rows of a stratum's files.
    pub fn has_rows(&self, stratum: &Stratum) -> bool {
        stratum.sample.iter().any(|sample| !self.rows(stratum.kind, sample).is_empty())
    }

    /// Whether a method of sending a file was left out for want of time.
    pub fn is_cut_short(&self, kind: Kind, sample: &Sample) -> bool {
        let subject = subject(kind);
        self.payloads(sample).any(|(report, name)| {
            let mut left = report.unmeasured.iter().filter_map(|id| id.strip_prefix(name));
            let is_sent = |row: &Row| row.cell.subject == subject && row.cell.payload == name;
            left.any(|rest| rest.strip_prefix('/').is_some_and(|rest| !Delivery::has_rate(rest)))
                && report.rows.iter().any(is_sent)
        })
    }

    /// Nanoseconds that decoding a file from a content coding takes on this machine; 0 if no native codec of the coding was
    /// measured on it.
    pub fn decode_ns(&self, coding: &str, sample: &Sample) -> f64 {
        let codecs: &[&str] = match coding {
            "gzip" => &["zlib", "zlib-ng", "libdeflate"],
            "br" => &["brotli"],
            "zstd" => &["zstd"],
            _ => &[],
        };
        let native =
            self.all_rows(sample).filter(|row| row.cell.delivery.is_none() && row.cell.serializer.is_none());
        let known = native.filter(|row| codecs.contains(&row.cell.setting.codec.as_str()));
        let per_byte = known.filter_map(|row| Some(row.value(DECODE)? / row.value(DECODED)?.max(1.0)));
        per_byte.reduce(f64::max).unwrap_or(0.0) * sample.bytes as f64
    }
}

/// The kind of cell that stands for a kind of content.
pub(super) fn subject(kind: Kind) -> Subject {
    match kind {
        Kind::Asset => Subject::ASSET,
        Kind::Page => Subject::PAGE,
        Kind::Download => Subject::DOWNLOAD,
        Kind::Value => Subject::PHP_CODEC,
    }
}
