//! The evidence of a study of deliveries.

pub mod beats;
pub mod beside;
pub mod crossing;
pub mod endpoint;
pub mod fairness;
pub(crate) mod label;
pub mod negotiation;
pub mod offload;
pub mod pages;
pub mod returning;
pub(crate) mod sent;
pub mod waiting;
