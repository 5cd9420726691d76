//! The program as its users see it: the real binary, its output, its files and its exit codes.

mod check;
mod codec;
mod corpus;
mod delivered;
mod docs;
mod faults;
mod help;
mod input;
mod interrupted;
mod lab;
mod php;
mod plan;
mod report;
mod run;
mod runtime;
mod schema;
mod slow;
mod terminal;
