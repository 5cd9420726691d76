//! Computes results from records: estimates, comparisons, sentences, tables and pictures, only from a plan and its
//! records. No I/O and no clock.
//!
//! [`report::Report`] contains all results. [`gather`] sorts records by cell; [`mod@derive`] makes a report of them: rows, groups
//! and exhibits, by the [`metric`]s of a [`subject`]; [`verdict`] decides what differs; [`advice`] makes the recommendation,
//! and [`finding`] the evidence. [`document`], [`picture`] and [`mod@format`] show it. Files use one another in one direction.
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate self as weigh_answer;
#[cfg(test)]
#[path = "../tests/answer/agree.rs"]
mod agree;
#[cfg(test)]
#[path = "../tests/answer/fits.rs"]
mod fits;
#[cfg(test)]
#[path = "../tests/answer/pictured.rs"]
mod pictured;
#[cfg(test)]
#[path = "../tests/answer/stored.rs"]
#[allow(dead_code, reason = "the tests of the crate use the rest of it")]
mod stored;

pub mod advice;
pub mod bars;
pub mod block;
mod chart;
pub mod choose;
pub mod compare;
mod csv_table;
pub mod derive;
pub mod document;
pub mod estimate;
pub mod exhibit;
pub mod facts;
pub mod finding;
mod first;
mod flame;
pub mod format;
pub mod gather;
pub mod group;
mod label;
pub use label::owned;
pub mod load;
pub mod load_view;
pub mod metric;
mod money;
mod names;
pub mod output;
pub mod page;
pub mod page_load;
pub mod picture;

pub mod policy;
pub mod profile;
pub mod report;
pub mod row;
pub mod subject;
pub mod table;
pub mod text;
pub mod trend;
pub mod verdict;
pub mod words;
pub mod worth;
