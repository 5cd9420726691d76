//! Web servers: what is found of them on this machine, and private instances of them.

pub mod site;
