//! Profiles in the form of reports, and the comparison of two.

pub mod compare;
pub mod document;
pub mod report;
