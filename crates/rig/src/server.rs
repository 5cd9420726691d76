//! Web servers: what is found of them on this machine, and private instances of them.
//!
//! A server is a folder `servers/NAME/`: `server.toml` says how it is found, asked, started and stopped, and every other file is a
//! template of its configuration. Nothing here knows any one server.

pub mod certificate;
pub mod definition;
pub mod dictionaries;
pub mod docroot;
pub mod emission;
mod encodings;
#[doc(hidden)]
pub mod fixture;
pub mod found;
pub mod instance;
pub mod own;
mod parts;
mod render;
mod site;

pub use definition::{Definition, WayRow};
pub use found::Found;
pub use instance::Instance;
pub use render::offload_prefixes;
pub use site::{Certificate, Site};

#[cfg(test)]
mod tests;
