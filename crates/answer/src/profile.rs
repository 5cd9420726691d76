//! Profiles in the form of reports.

pub mod document;
pub mod report;
