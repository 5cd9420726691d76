//! The collection of hostile servers: each kind is run against a client in a process of its own. Its failure, time and
//! memory are compared with the kind's expectations. Prints a table; exits with an error if any kind ends differently.
//!
//! `cargo test -p weigh-load --test hostile -- WORD…` runs the kinds whose line contains one of the words.

mod client;
mod frames;
#[allow(dead_code, reason = "the tests of the load generator use the rest")]
#[path = "../load/identity.rs"]
mod identity;
mod kind;
mod kinds;
#[allow(dead_code, reason = "the tests of the load generator use the rest")]
#[path = "../load/plans.rs"]
mod plans;
mod secure;
#[allow(dead_code, reason = "the tests of the load generator use the rest")]
mod server;
mod table;
mod trial;
mod wire;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words: Vec<String> = Vec::new();
    let mut given = std::env::args().skip(1);
    while let Some(word) = given.next() {
        match word.as_str() {
            client::ROLE => return client::main(),
            // These options of the normal test harness are also supported here.
            "--list" => return table::list(),
            "--skip" | "--test-threads" | "--format" | "--color" | "-Z" => drop(given.next()),
            flag if flag.starts_with('-') => {}
            _ => words.push(word),
        }
    }
    table::run(&words)
}
