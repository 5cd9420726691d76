//! The program as its users see it: the real binary, its output, its files and its exit codes.

/// Ends a test that needs what is not here; what is asked says so, and fails where nothing may be skipped.
macro_rules! needs {
    ($($there:expr),+) => {
        if !($($there)&&+) {
            return;
        }
    };
}

mod action;
mod advise;
mod book;
mod browser;
mod check;
mod clients;
mod cluster;
mod codec;
mod compared;
mod completion;
mod config;
mod corpus;
mod delivered;
mod deltas;
mod disturbed;
mod docs;
mod endless;
mod faults;
mod foreign;
mod help;
mod hung;
mod input;
mod installed;
mod interrupted;
mod journey;
mod lab;
mod limits;
mod link;
mod linked;
mod load;
mod names;
mod own;
mod pack;
mod page;
mod page_cache;
mod page_php;
#[allow(dead_code, reason = "the benchmarks use the rest of it")]
mod peer;
mod php;
mod plan;
mod private;
mod profile;
mod regression;
mod rendered;
mod report;
mod run;
mod runs;
mod runtime;
mod schema;
mod servers;
mod side_by_side;
mod site;
mod slow;
mod terminal;
mod urls;
mod view;
mod worker;
mod wrong_inputs;
