//! Servers that violate the rules, with checks beyond kind, time and memory, which the table of hostile servers
//! (`tests/hostile`) checks.

mod bodies;
mod cuts;
mod kept;
pub mod load;
mod long;
mod machine;
mod time;
