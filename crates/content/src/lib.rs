//! Content: where payloads come from, and how they get to where a run wants them.
//!
//! Owns the corpus (real content pinned by digest, fetched through package clients into a cache), the PHP values made
//! from it, the user's own files, and small synthetic content for when there is nothing else. Everything here treats
//! content as hostile: it is bounded, copied and digested, and never executed or followed elsewhere.
//! Refuses to know what a payload is used for, and never fetches anything by address.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod archive;
pub mod cache;
pub mod class;
pub mod client;
pub mod defs;
pub mod fetch;
pub mod kind;
pub mod library;
pub mod manifest;
pub mod names;
pub mod resolve;
pub mod sample_site;
pub mod saving;
pub mod serialized;
pub mod source;
pub mod strata;
pub mod synthetic;
pub mod types;
pub mod user;
pub mod values;

pub use fetch::types::{FetchOptions, FetchOutcome, Progress, State};
pub use library::{Entry, Library, Presence};
pub use names::Names;
pub use resolve::resolve;
