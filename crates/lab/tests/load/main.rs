//! `weigh load` as its users see it: the real binary against a server of this test's own.

mod ab;
mod compare;
mod files;
mod interrupted;
#[allow(dead_code, reason = "the program's other tests use the rest of it")]
#[path = "../cli/lab.rs"]
mod lab;
mod refused;
mod run;
mod schema;
mod server;
