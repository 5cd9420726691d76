//! The library of hostile servers: each kind is run against a client in a process of its own, whose fault, time and memory are held to
//! what the kind says. Prints a table; ends non-zero when a kind ends in anything else.
//!
//! `cargo test -p weigh-load --test hostile -- WORD…` runs the kinds whose line holds one of the words.

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
            // Of what the harness of other tests is told, this means something here too.
            "--list" => return table::list(),
            "--skip" | "--test-threads" | "--format" | "--color" | "-Z" => drop(given.next()),
            flag if flag.starts_with('-') => {}
            _ => words.push(word),
        }
    }
    table::run(&words)
}
