//! What the program asks of the system it runs on: processes and their ends, namespaces, users, meters, regular files, folders that are
//! written whole. Nothing here knows what a server or a study is.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod access;
pub mod atomic_dir;
pub mod command;
pub mod cores;
pub mod digest;
pub mod group;
pub mod guard;
pub mod idle;
pub mod interrupt;
pub mod launcher;
pub mod lifeline;
pub mod lines;
pub mod machine;
pub mod meter;
pub mod mounts;
pub mod namespace;
pub mod network;
pub mod open_folder;
pub mod ordinary;
pub mod permissions;
pub mod process;
pub mod programs;
pub mod regular;
pub mod shelter;
pub mod template;
pub mod umask;
pub mod user;
