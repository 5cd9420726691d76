//! Downloads: who sends them. The methods that were measured on every sample file compete; workers that slow clients keep
//! busy decide where the costs are equal.

use weigh_model::policy::Need;
use weigh_model::site::Kind;

use super::Ground;
use super::coded::way_of;
use super::content;
use super::setup::{Exact, Part, Setup, Sum};
use crate::first::distinct;
use crate::row::Row;
use crate::subject::delivery::{BODY, CPU};

/// A busy share of the workers from which on a method keeps a worker for as long as the client reads.
const KEPT: f64 = 0.5;

/// Every method that was measured on all sample files.
pub(crate) fn setups(ground: &Ground) -> Vec<Setup> {
    let server = ground.site.sources.server.as_deref();
    let items = content::items(ground.site, Kind::Download);
    let rows_of =
        |item: &content::Item| content::rows(ground.reports, Kind::Download, &item.sample.sha256, server);
    let items = content::weighed(&items, |at| !rows_of(&items[at]).is_empty());
    let rows: Vec<Vec<&Row>> = items.iter().map(rows_of).collect();
    let today = ground.site.today(Kind::Download);
    let ways = distinct(rows.iter().flatten().map(|row| way_of(row)));
    // Workers are compared only if each method was measured with slow clients.
    let is_measured = rows.iter().flatten().all(|row| keeps_worker(ground, row).is_some());
    let setup = |way: &String| {
        let own = rows.iter().map(|rows| rows.iter().copied().find(|row| way_of(row) == *way));
        let own: Vec<&Row> = own.collect::<Option<_>>()?;
        let first = *own.first()?;
        let mut sum = Sum::default();
        for (item, row) in items.iter().zip(&own) {
            let sent = row.value("wire-bytes").or(row.value(BODY)).unwrap_or(item.sample.bytes as f64);
            let sent = sent * item.scale;
            let wait = ground.readers.seconds(sent, Kind::Download);
            let is_kept = is_measured && keeps_worker(ground, row) == Some(true);
            let workers = if is_kept { wait } else { 0.0 };
            let exact = Exact { wait, sent, workers, ..Exact::default() }.times(item.requests);
            let cpu = row.get(CPU).map(|cpu| cpu.scaled(item.requests * item.scale));
            sum.add(Part::new(item, row, cpu, exact));
        }
        let is_today = today.is_some_and(|today| today.way() == way);
        let name = match today.filter(|_| is_today) {
            Some(today) => today.about.clone(),
            None => format!("Send downloads with {}", crate::names::method(first)),
        };
        let method = Some(way.clone());
        let (cpu, exact, parts) = sum.totals();
        Some(Setup { name, rules: Vec::new(), method, needs: needs(first), is_today, cpu, exact, parts })
    };
    ways.iter().filter_map(setup).collect()
}

/// Whether slow clients keep a PHP worker busy with a method; none if it was not measured with slow clients.
fn keeps_worker(ground: &Ground, row: &Row) -> Option<bool> {
    let delivery = row.cell.delivery.as_ref()?;
    let results = ground.reports.iter().filter_map(|report| report.exhibits.fairness.as_ref());
    let same = results.flat_map(|slow| &slow.0).find(|result| {
        let own = result.cell.delivery.as_ref();
        let clients = own.and_then(|d| d.slow.as_ref()).map_or(0, |slow| slow.clients);
        clients > 0
            && own.is_some_and(|d| d.server == delivery.server && d.by == delivery.by)
            && result.cell.setting == row.cell.setting
    });
    let result = same?;
    let slow = result.cell.delivery.as_ref()?.slow.as_ref()?;
    let most = f64::from(slow.clients.min(slow.workers));
    Some(result.busy? >= KEPT * most)
}

/// Modules of the server that are not in its standard package.
fn needs(row: &Row) -> Vec<Need> {
    let needs_xsendfile = row.cell.delivery.as_ref().is_some_and(|delivery| delivery.server == "apache")
        && row.cell.setting.codec == "x-sendfile";
    let what = "mod_xsendfile".to_owned();
    let how = "apt install libapache2-mod-xsendfile".to_owned();
    needs_xsendfile.then_some(Need { what, how }).into_iter().collect()
}
