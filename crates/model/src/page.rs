//! Page loads: what a page loads and why, as a graph, and what a load of it takes over a link.
//!
//! `graph` is what a page is, `network` carries bytes over connections that share a link, `load` is what a browser does with both. All times are
//! milliseconds since the navigation began. The browser is of the kind that has most visitors, Chromium; what it does by itself is recorded with
//! the graph, and not guessed.

mod graph;
mod load;
mod network;
mod outcome;

pub use graph::{
    Found, LONGEST_OWN_MS, LargestElement, MOST_RESOURCES, PageGraph, Paint, Priority, Repeat, Resource,
    ResourceKind, Run,
};
pub use load::simulate;
pub use outcome::{LoadSetup, Moment, PageLoad, Protocol, ResourceTimes, Visit};

#[cfg(test)]
mod tests;
