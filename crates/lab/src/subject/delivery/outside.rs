//! Deliveries by servers that others run: asked like any other, but nothing of them is started, metered or ended.

use super::over::Over;
use super::{Courier, blame, block, start};
use crate::executor::{DeliveryRequest, Failure};
use crate::loading;
use weigh_model::record::DeliveryVisit;

impl Courier {
    /// One block of requests to a URL.
    pub(super) fn outside(
        &mut self,
        request: &DeliveryRequest<'_>,
        url: &str,
    ) -> Result<DeliveryVisit, Failure> {
        let cell = request.cell;
        let load = block::plan(request, url.to_owned(), None);
        self.start_agent(&Over::Loopback).map_err(|e| start(cell, &e))?;
        let Some(agent) = self.agents.get_mut(&Over::Loopback) else {
            return Err(start(cell, &anyhow::anyhow!("the load agent is gone")));
        };
        let outcome = agent.run(&load, &mut |_| {});
        if let Err(loading::Failure::Broken(_)) = outcome {
            self.agents.remove(&Over::Loopback);
        }
        let outcome = outcome.map_err(|failure| blame::refused(cell, request.payload, &failure))?;
        if outcome.interrupted {
            return Err(Failure::Interrupted);
        }
        Ok(block::unmetered(outcome.result))
    }
}
