//! How clients were measured, on what, and how to do it again.

use super::super::Options;
use super::super::document::Block;
use super::super::sections::method::{self, Parts};
use crate::analysis::client::model::ClientAnalysis;

const METHOD: &str = "Private stores are started for the run; for each block of transactions fresh PHP workers connect, prepare, and begin together. Each \
    makes its transactions one after the other, or on a schedule where a rate is asked for, and times itself. Every value that is read is compared with \
    what was written. CPU time is that of the workers by their own account and of the store's processes, read right before and right after. Cells are \
    visited in rounds, in an order drawn afresh from the seed for each round. A CPU figure is the 0.1 quantile over rounds with a 95% bootstrap interval: \
    neighbours on the machine only ever add CPU time; how it divides into user space and kernel is that of all rounds together. Rates are medians over \
    rounds, times inside calls are of all rounds in one histogram, memory is the most of all workers and rounds. Ratios between cells are formed inside \
    each round and are medians over rounds.";

/// Reading, method, content, versions, reproduction.
pub(super) fn section(analysis: &ClientAnalysis, facts: String, options: &Options) -> Vec<Block> {
    let mut versions = method::versions(&analysis.runtimes);
    for store in &analysis.stores {
        let more = store.url.iter().map(|url| ("url".to_owned(), url.clone())).collect();
        method::add_versions(&mut versions, &store.name, &store.version, [&store.drivers, &more]);
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
