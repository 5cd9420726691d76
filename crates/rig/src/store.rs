//! Stores: caches and databases that PHP clients speak with, what is found of them on this machine, and private instances of them.
//!
//! A store is a folder `stores/NAME/`: `store.toml` says how it is found, started and reached, `drivers/` holds the PHP drivers, and
//! every other file is a template of its configuration. Nothing here knows any one store. A private one is
//! ready when it answers its definition's probe; one that others run is named by URL, and nothing of theirs in it is touched.

pub mod definition;
pub mod instance;
pub mod local;
pub mod url;

pub use definition::{Found, StoreDefinition};
pub use instance::StoreInstance;
pub use url::StoreUrl;

#[cfg(test)]
mod tests;
