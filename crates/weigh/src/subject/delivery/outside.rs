//! Deliveries by servers that others run: asked like any other, but nothing of them is started, metered or ended.

use super::{Courier, block, hired, refused, start};
use crate::executor::{DeliveryRequest, Failure};
use crate::record::DeliveryVisit;

impl Courier {
    /// One block of requests to a URL.
    pub(super) fn outside(
        &mut self,
        request: &DeliveryRequest<'_>,
        url: &str,
    ) -> Result<DeliveryVisit, Failure> {
        let cell = request.cell;
        let load = block::plan(request, url.to_owned(), None);
        let agent = hired(&mut self.agent, &self.room, &self.interrupt).map_err(|e| start(cell, &e))?;
        let outcome = agent.run(&load, &mut |_| {}).map_err(|failure| refused(cell, failure))?;
        if outcome.interrupted {
            return Err(Failure::Interrupted);
        }
        Ok(block::unmetered(outcome.result))
    }
}
