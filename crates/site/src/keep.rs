//! A second look: what the user gave in the file that stands there is kept, everything else is looked at again.

use weigh_model::site::{Figure, From, Limits, Prices, Site, Stratum, Visitors};

/// Puts the figures that the user gave into a new look; gives how many.
pub fn keep(earlier: &Site, site: &mut Site) -> usize {
    let mut kept = GivenFigures(0);
    site.name.clone_from(&earlier.name);
    visitors(&earlier.visitors, &mut site.visitors, &mut kept);
    kept.figure(&earlier.store_link.mbit, &mut site.store_link.mbit);
    kept.figure(&earlier.store_link.rtt_ms, &mut site.store_link.rtt_ms);
    prices(&earlier.prices, &mut site.prices, &mut kept);
    limits(&earlier.limits, &mut site.limits, &mut kept);
    for today in earlier.today.iter().filter(|today| today.from == From::Given) {
        site.today.retain(|other| other.kind != today.kind);
        site.today.push(today.clone());
        kept.0 += 1;
    }
    site.today.sort_by_key(|today| today.kind);
    for stratum in &mut site.strata {
        let key = |one: &Stratum| (one.kind, one.format.clone(), one.from_bytes);
        if let Some(former) = earlier.strata.iter().find(|former| key(former) == key(stratum)) {
            of_stratum(former, stratum, &mut kept);
        }
    }
    kept.0
}

struct GivenFigures(usize);

impl GivenFigures {
    fn figure(&mut self, earlier: &Figure, now: &mut Figure) {
        if earlier.from == From::Given {
            *now = *earlier;
            self.0 += 1;
        }
    }

    fn option(&mut self, earlier: &Option<Figure>, now: &mut Option<Figure>) {
        if let Some(figure) = earlier.filter(|figure| figure.from == From::Given) {
            *now = Some(figure);
            self.0 += 1;
        }
    }
}

fn visitors(earlier: &Visitors, now: &mut Visitors, kept: &mut GivenFigures) {
    // Shares belong together: one that was given keeps them all.
    if earlier.accept.iter().any(|one| one.from == From::Given) {
        now.accept.clone_from(&earlier.accept);
        kept.0 += 1;
    }
    if earlier.links.iter().any(|one| one.from == From::Given) {
        now.links.clone_from(&earlier.links);
        kept.0 += 1;
    }
    kept.figure(&earlier.new_connections, &mut now.new_connections);
    kept.figure(&earlier.slower_devices, &mut now.slower_devices);
    kept.option(&earlier.page_views, &mut now.page_views);
    kept.option(&earlier.peak, &mut now.peak);
    kept.option(&earlier.php_peak, &mut now.php_peak);
    kept.option(&earlier.php_peak_ms, &mut now.php_peak_ms);
}

fn prices(earlier: &Prices, now: &mut Prices, kept: &mut GivenFigures) {
    now.currency.clone_from(&earlier.currency);
    kept.figure(&earlier.core_hour, &mut now.core_hour);
    now.machines.clone_from(&earlier.machines);
    kept.0 += earlier.machines.len();
    kept.figure(&earlier.gb_out, &mut now.gb_out);
    kept.figure(&earlier.gb_month, &mut now.gb_month);
    kept.figure(&earlier.visitor_second, &mut now.visitor_second);
}

fn limits(earlier: &Limits, now: &mut Limits, kept: &mut GivenFigures) {
    kept.figure(&earlier.cores, &mut now.cores);
    kept.figure(&earlier.peak_share, &mut now.peak_share);
    kept.figure(&earlier.first_byte_ms, &mut now.first_byte_ms);
}

fn of_stratum(earlier: &Stratum, now: &mut Stratum, kept: &mut GivenFigures) {
    kept.figure(&earlier.files, &mut now.files);
    kept.figure(&earlier.bytes, &mut now.bytes);
    kept.figure(&earlier.requests, &mut now.requests);
    kept.option(&earlier.not_modified, &mut now.not_modified);
    kept.option(&earlier.ranges, &mut now.ranges);
    kept.option(&earlier.sent_bytes, &mut now.sent_bytes);
    kept.option(&earlier.writes, &mut now.writes);
    kept.option(&earlier.made_ms, &mut now.made_ms);
}
