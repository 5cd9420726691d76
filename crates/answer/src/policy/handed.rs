//! Downloads: who sends them. The methods that were measured on every sample file compete; workers that slow clients keep
//! busy decide where the costs are equal.

use weigh_model::policy::Need;
use weigh_model::site::{Kind, Today};

use super::Ground;
use super::coded::way_of;
use super::content::{self, Item};
use super::setup::{Exact, FileAmounts, Setup};
use super::today::has_failed;
use crate::first::distinct;
use crate::report::exhibit::fairness::SlowClientEffect;
use crate::row::Row;

/// Every method that was measured on all sample files. Nothing competes with a server that sends the files itself; and where it was measured
/// whether today's method keeps workers busy, only methods for which that was measured too do.
pub(crate) fn setups(ground: &Ground) -> Vec<Setup> {
    let measured = content::measured(ground, Kind::Download, |_| true);
    let today = ground.site.today(Kind::Download).map(Today::way);
    let is_by_server = today.is_some_and(|way| way.starts_with("server/"));
    let rows = || measured.iter().flat_map(|(_, rows)| rows.iter().copied());
    let first = |way: &str| rows().find(|row| way_of(row) == way);
    let kept_today = today.and_then(first).and_then(|row| keeps_worker(ground, row));
    let setup = |way: &String| {
        let is_today = today == Some(way);
        let own = measured
            .iter()
            .map(|(item, rows)| Some((item, rows.iter().copied().find(|row| way_of(row) == *way)?)));
        let own: Vec<(&Item, &Row)> = own.collect::<Option<_>>()?;
        let first = own.first()?.1;
        let kept = keeps_worker(ground, first).filter(|_| kept_today.is_some());
        let is_measured_less = kept_today.is_some() && kept.is_none();
        let has_failed = is_today && own.iter().any(|(item, _)| has_failed(ground, item));
        if has_failed || (!is_today && (is_by_server || is_measured_less)) {
            return None;
        }
        let part = |(item, row): (&Item, &Row)| {
            let sent = item.body(row) * item.scale;
            let wait = ground.readers.seconds(sent, Kind::Download);
            let workers = if kept == Some(true) { wait } else { 0.0 };
            let fixed = ground.readers.seconds(0.0, Kind::Download);
            let exact = Exact { wait, fixed, sent, workers, ..Exact::default() }.times(item.requests);
            let cpu = ground.cpu(row, item.scale).map(|cpu| cpu.scaled(item.requests));
            FileAmounts::new(item, row, cpu, exact)
        };
        let name = match ground.site.today(Kind::Download).filter(|_| is_today) {
            Some(today) => today.about.clone(),
            None => format!("Send downloads with {}", crate::names::method(first)),
        };
        let (method, needs) = (Some(way.clone()), needs(first));
        Some(Setup { name, method, needs, is_today, ..Setup::of(own.into_iter().map(part).collect()) })
    };
    let ways = distinct(rows().map(way_of));
    ways.iter().filter_map(setup).collect()
}

/// Whether slow clients keep a PHP worker busy with a method; none if it was not measured with slow clients.
fn keeps_worker(ground: &Ground, row: &Row) -> Option<bool> {
    let delivery = row.cell.delivery.as_ref()?;
    let results = ground.reports.iter().filter_map(|report| report.exhibits.fairness.as_ref());
    let mut same = results.flat_map(|slow| &slow.0).filter(|result| {
        let own = result.cell.delivery.as_ref();
        let is_alike = own.is_some_and(|d| d.server == delivery.server && d.by == delivery.by);
        is_alike && result.cell.setting == row.cell.setting && result.outcome != SlowClientEffect::Alone
    });
    same.next().map(|result| result.outcome != SlowClientEffect::Free)
}

/// Modules of the server that are not in its standard package.
fn needs(row: &Row) -> Vec<Need> {
    let needs_xsendfile = row.cell.delivery.as_ref().is_some_and(|delivery| delivery.server == "apache")
        && row.cell.setting.codec == "x-sendfile";
    let what = "mod_xsendfile".to_owned();
    let how = "apt install libapache2-mod-xsendfile".to_owned();
    needs_xsendfile.then_some(Need { what, how }).into_iter().collect()
}
