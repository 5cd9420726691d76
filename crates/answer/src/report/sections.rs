//! The sections of a report, one a file. Each turns a part of the analysis into blocks.

pub(super) mod answer;
pub(super) mod group;
pub(super) mod links;
pub(super) mod method;
pub(super) mod published;
pub(super) mod rest;
