//! How deliveries were measured, on what, and how to do it again.

use super::super::Options;
use super::super::document::Block;
use super::super::sections::method::{self, Parts};
use crate::analysis::delivery::model::DeliveryAnalysis;

const METHOD: &str = "Private instances of the servers and PHP pools are loaded by a generator of this program's own, in blocks of requests. \
    Cells are visited in rounds, in an order drawn afresh from the seed for each round; a block's CPU time is read from the processes of server \
    and PHP right before and after it, apart. A CPU figure is the 0.1 quantile over rounds with a 95% bootstrap interval: neighbours on the \
    machine only ever add CPU time; rates are medians over rounds. Ratios are those of two figures, over the same drawings of rounds. Times of \
    all rounds are in one histogram. Every body is compared byte for byte with the first of its block, which is decoded and compared with the source.";

/// Reading, method, content, versions, reproduction.
pub(super) fn section(analysis: &DeliveryAnalysis, facts: String, options: &Options) -> Vec<Block> {
    let mut versions = method::versions(&analysis.runtimes);
    for server in &analysis.servers {
        method::add_versions(
            &mut versions,
            &server.name,
            &server.version,
            [&server.libraries, &server.facts],
        );
    }
    let parts = Parts {
        study: &analysis.study,
        run: &analysis.run,
        payloads: &analysis.payloads,
        method: METHOD,
        facts,
        versions,
    };
    method::section(parts, options)
}
