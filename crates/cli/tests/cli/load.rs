//! `weigh load` as its users see it: the real binary against a server of this test's own.

mod ab;
mod compare;
mod files;
mod full;
mod interrupted;
mod kept;
mod refused;
mod run;
pub mod schema;
pub mod server;
