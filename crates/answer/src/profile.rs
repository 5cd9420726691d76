//! Profiles as reports show them, and two of them compared.

pub mod compare;
pub mod document;
pub mod report;
