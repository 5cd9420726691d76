//! Servers that break the rules, one by one: each way ends in a fault of its own name, and the rest of the run is intact.

mod bodies;
mod chunks;
mod contents;
mod cuts;
mod greetings;
mod heads;
mod kept;
pub mod load;
mod long;
mod machine;
pub mod server;
mod time;
mod tls;
