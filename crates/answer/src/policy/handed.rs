//! Downloads: who sends them. The methods that were measured on every sample file compete; workers that slow clients keep
//! busy decide where the costs are equal.

use weigh_model::policy::Need;
use weigh_model::site::{Kind, Today};

use super::Ground;
use super::coded::way_of;
use super::content;
use super::setup::{Exact, Part, Setup, Sum};
use super::today::has_failed;
use crate::exhibit::fairness::Outcome;
use crate::first::distinct;
use crate::row::Row;
use crate::subject::delivery::{BODY, CPU};

/// Every method that was measured on all sample files. Nothing competes with a server that sends the files itself; and where it was measured
/// whether today's method keeps workers busy, only methods do of which that was measured too.
pub(crate) fn setups(ground: &Ground) -> Vec<Setup> {
    let server = ground.site.sources.server.as_deref();
    let items = content::items(ground.site, Kind::Download);
    let rows_of =
        |item: &content::Item| content::rows(ground.reports, Kind::Download, &item.sample.sha256, server);
    let items = content::weighed(&items, |at| !rows_of(&items[at]).is_empty());
    let rows: Vec<Vec<&Row>> = items.iter().map(rows_of).collect();
    let today = ground.site.today(Kind::Download).map(Today::way);
    let is_by_server = today.is_some_and(|way| way.starts_with("server/"));
    let first = |way: &str| rows.iter().flatten().copied().find(|row| way_of(row) == way);
    let kept_today = today.and_then(first).and_then(|row| keeps_worker(ground, row));
    let setup = |way: &String| {
        let is_today = today == Some(way);
        let own = rows.iter().map(|rows| rows.iter().copied().find(|row| way_of(row) == *way));
        let own: Vec<&Row> = own.collect::<Option<_>>()?;
        let first = *own.first()?;
        let kept = keeps_worker(ground, first).filter(|_| kept_today.is_some());
        let is_measured_less = kept_today.is_some() && kept.is_none();
        let has_failed = is_today && items.iter().any(|item| has_failed(ground, item));
        if has_failed || (!is_today && (is_by_server || is_measured_less)) {
            return None;
        }
        let mut sum = Sum::default();
        for (item, row) in items.iter().zip(&own) {
            let sent = row.value(BODY).unwrap_or(item.sample.bytes as f64) * item.scale;
            let wait = ground.readers.seconds(sent, Kind::Download);
            let workers = if kept == Some(true) { wait } else { 0.0 };
            let fixed = ground.readers.seconds(0.0, Kind::Download);
            let exact = Exact { wait, fixed, sent, workers, ..Exact::default() }.times(item.requests);
            let cpu = row.get(CPU).map(|cpu| cpu.scaled(item.requests * item.scale));
            sum.add(Part::new(item, row, cpu, exact));
        }
        let name = match ground.site.today(Kind::Download).filter(|_| is_today) {
            Some(today) => today.about.clone(),
            None => format!("Send downloads with {}", crate::names::method(first)),
        };
        let method = Some(way.clone());
        let (cpu, exact, parts) = sum.totals();
        Some(Setup { name, rules: Vec::new(), method, needs: needs(first), is_today, cpu, exact, parts })
    };
    let ways = distinct(rows.iter().flatten().map(|row| way_of(row)));
    ways.iter().filter_map(setup).collect()
}

/// Whether slow clients keep a PHP worker busy with a method; none if it was not measured with slow clients.
fn keeps_worker(ground: &Ground, row: &Row) -> Option<bool> {
    let delivery = row.cell.delivery.as_ref()?;
    let results = ground.reports.iter().filter_map(|report| report.exhibits.fairness.as_ref());
    let mut same = results.flat_map(|slow| &slow.0).filter(|result| {
        let own = result.cell.delivery.as_ref();
        let is_alike = own.is_some_and(|d| d.server == delivery.server && d.by == delivery.by);
        is_alike && result.cell.setting == row.cell.setting && result.outcome != Outcome::Alone
    });
    same.next().map(|result| result.outcome != Outcome::Free)
}

/// Modules of the server that are not in its standard package.
fn needs(row: &Row) -> Vec<Need> {
    let needs_xsendfile = row.cell.delivery.as_ref().is_some_and(|delivery| delivery.server == "apache")
        && row.cell.setting.codec == "x-sendfile";
    let what = "mod_xsendfile".to_owned();
    let how = "apt install libapache2-mod-xsendfile".to_owned();
    needs_xsendfile.then_some(Need { what, how }).into_iter().collect()
}
