//! Servers that break the rules, where more is asked of what comes of it than its kind, its time and its memory: the table of hostile
//! servers (`tests/hostile`) holds those.

mod bodies;
mod cuts;
mod kept;
pub mod load;
mod long;
mod machine;
mod time;
