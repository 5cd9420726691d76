//! Links as they are: bytes that cross, what is left when a lab is killed, and the verb.

mod carries;
mod killed;
mod verb;

use weigh_model::link::{LinkSpec, Way};
use weigh_rig::link::{Link, Making};

use crate::lab;

/// A link made in one way; if that is not available, a test says so and ends: a machine may withhold the privilege, from root in a
/// container too.
pub fn link(text: &str, way: Way) -> Option<Link> {
    let making = Making { way: Some(way), launcher: lab::WEIGH.into(), ..Making::default() };
    match Link::make_with(&LinkSpec::parse(text).unwrap(), &making) {
        Ok(link) => Some(link),
        Err(error) => {
            let why = format!("{error:#}");
            assert!(
                !why.contains("the emulator cannot be started"),
                "that is no machine without links: {why}"
            );
            println!("skipped: no such link here: {why}");
            None
        }
    }
}
