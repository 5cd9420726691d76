//! Deliveries: contents that web servers send, with PHP behind them or without.

mod blame;
mod block;
mod deltas;
mod executor;
mod fairness;
pub mod files;
#[doc(hidden)]
pub mod fixture;
mod forecast;
pub mod look;
mod meters;
pub mod negotiation;
mod outside;
mod plan;
pub mod rigs;
mod slow;
pub mod study;
pub mod url;
mod variants;
pub mod visit;
mod watch;
pub mod ways;
mod words;

use anyhow::Result;

pub use forecast::compared_seconds;

use super::{Planned, Subject, Surroundings};
use crate::draft::{ContentSource, Draft};
use crate::executor::Executor;
use crate::lab::{Home, Stager};
use crate::state::History;
use crate::study::block::in_form;
use crate::study::{Blocks, Study};
use block::AGAIN_SECONDS;
use executor::DeliveryExecutor;
use forecast::{WATCHED_ROUNDS, block_seconds, watched_seconds};
use rigs::NetworkPath;
use weigh_answer::report::shape::Shape;
use weigh_answer::subject::delivery;
use weigh_model::cell::{Cell, Delivery};
use weigh_model::inventory::{Inventory, RuntimeEntry};
use weigh_model::payload::{Origin, Payload};
use weigh_model::plan::Plan;
use weigh_model::protocol::Fault;
use weigh_model::record::VisitRecord;
use weigh_model::text::clean_path;
use weigh_model::units;
use weigh_os::network::Network;
use weigh_os::permissions::is_open_to_all;
use weigh_rig::server::Definition;
use weigh_rig::service::FolderDefinition;

pub struct Deliveries;

/// A sentence for the user where private servers of a plan send, over a loopback that all users of the machine share, what only the user may read.
pub fn exposure(plan: &Plan) -> Option<String> {
    // Without a private network a link is a proxy on the machine's loopback.
    let is_shared = |delivery: &Delivery| {
        matches!(NetworkPath::of(delivery), NetworkPath::Loopback | NetworkPath::Link(_))
    };
    let is_served = |payload: &Payload| {
        let cells = plan.cells.iter().filter(|cell| cell.payload == payload.name);
        cells.filter_map(|cell| cell.delivery.as_ref()).any(is_shared)
    };
    let own = plan.payloads.iter().filter(|payload| is_served(payload));
    let paths = own.filter_map(|payload| match &payload.origin {
        Origin::User { path, .. } => Some(path),
        _ => None,
    });
    let secret = paths.into_iter().find(|path| !is_open_to_all(path))?;
    let why = Network::private().err()?;
    Some(format!(
        "other users of this machine can fetch {} and what else is measured while servers send it, for they share one network ({why:#})",
        clean_path(secret)
    ))
}

impl Planned for Deliveries {
    fn blocks(&self) -> Blocks {
        Blocks::Deliveries
    }

    fn look(&self, home: &Home, inventory: &mut Inventory, studies: &[&Study]) -> Result<()> {
        inventory.servers = look::servers(&home.definitions)?;
        inventory.pools = look::pools(inventory, &home.php_home()?);
        if studies.iter().flat_map(|study| &study.deliveries).any(|block| block.slow.is_some()) {
            inventory.no_network = Network::narrow().err().map(|why| format!("{why:#}"));
        }
        Ok(())
    }

    fn runtimes<'i>(&self, inventory: &'i Inventory) -> &'i [RuntimeEntry] {
        &inventory.pools
    }

    fn stage(&self, stager: &mut Stager<'_>, name: &str, bytes: Option<u64>) -> Result<Vec<Payload>> {
        stager.cuts(name, bytes)
    }

    fn plan(&self, study: &Study, draft: &mut Draft<'_>, contents: &mut ContentSource<'_>) -> Result<()> {
        let blocks = in_form(&study.deliveries, draft.options.quick);
        blocks.iter().try_for_each(|block| plan::block(draft, block, contents))
    }

    fn columns(&self) -> &'static [&'static str] {
        &["content", "bytes", "server", "PHP", "transport", "cells", "ways"]
    }

    fn overview(&self, cell: &Cell, bytes: u64) -> (Vec<String>, String) {
        let mut group = vec![cell.payload.clone(), units::bytes(bytes)];
        let Some(delivery) = &cell.delivery else { return (group, String::new()) };
        // What stands behind server and runtime; a link's name may have slashes.
        let place = delivery.place("");
        let transport = place.splitn(3, '/').last().unwrap_or_default().to_owned();
        group.extend([delivery.server.clone(), cell.runtime.clone(), transport]);
        (group, format!("{}/{}", delivery.by.name(), cell.setting.codec))
    }
}

impl Subject for Deliveries {
    fn shape(&self) -> &'static Shape {
        &delivery::SHAPE
    }

    fn visit_seconds(&self, cell: &Cell, past: &History, pass: f64) -> f64 {
        // Nobody meters what others run.
        let last = past.visits.last().and_then(|visit| visit.delivery.as_deref());
        let again = if last.is_some_and(|visit| visit.server_cpu_ns.is_none()) { AGAIN_SECONDS } else { 0.0 };
        match &cell.delivery {
            Some(delivery) if delivery.slow.is_none() => block_seconds(pass, delivery) + again,
            _ => watched_seconds(),
        }
    }

    fn rounds(&self, cell: &Cell) -> Option<u32> {
        cell.is_fairness().then_some(WATCHED_ROUNDS)
    }

    fn do_the_same(&self, _plan: &Plan, _a: &Cell, _b: &Cell) -> bool {
        true
    }

    /// What shares the processors of a server that others run is not known.
    fn has_counterparts(&self, plan: &Plan) -> bool {
        !plan.is_outside()
    }

    fn judge(&self, cell: &Cell, payload: &Payload, visit: &VisitRecord) -> Result<(), Fault> {
        visit.delivery.as_deref().map_or(Ok(()), |visit| visit::judge(cell, payload, visit))
    }

    fn executor(&self, plan: &Plan, around: &Surroundings<'_>) -> Result<Box<dyn Executor>> {
        let definitions = Definition::load(&around.home.definitions)?;
        Ok(Box::new(DeliveryExecutor::new(plan, &definitions, around.room()?, around.interrupt.clone())?))
    }
}

#[cfg(test)]
mod tests {
    use weigh_model::cell::Subject as Kind;
    use weigh_model::record::DeliveryVisit;
    use weigh_model::setting::Setting;
    use weigh_model::way::{By, WayKind};

    use super::*;

    #[test]
    fn a_page_of_others_takes_the_second_for_which_its_clock_is_awaited() {
        let setting = Setting { codec: "gzip".into(), level: None, options: Default::default() };
        let delivery = fixture::delivery(By::Server, WayKind::Plain, "gzip");
        let cell = fixture::cell("a", Kind::PAGE, setting, Some(delivery));
        let after = |server_cpu_ns| {
            let delivery = Some(Box::new(DeliveryVisit { server_cpu_ns, ..DeliveryVisit::default() }));
            let past = History {
                visits: vec![VisitRecord { delivery, ..VisitRecord::default() }],
                ..History::default()
            };
            Deliveries.visit_seconds(&cell, &past, 0.01)
        };
        assert!((after(None) - after(Some(1000)) - AGAIN_SECONDS).abs() < 1e-9);
    }
}
