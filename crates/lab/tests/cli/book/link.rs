//! Commands that make links, which share the machine's network devices: this test's name is among those that run alone.

use std::collections::BTreeSet;

use weigh_model::link::Way;

use super::commands::{commands, run};
use super::desk::Desk;
use super::markdown;

#[test]
fn commands_of_links_are_run() {
    if crate::link::link("60mbit/1ms", Way::Tun).is_none() {
        return;
    }
    needs!(Desk::can_be());
    let desk = Desk::new();
    let all: Vec<_> = markdown::chapters().iter().flat_map(commands).collect();
    let mut seen = BTreeSet::new();
    let of_links: Vec<_> =
        all.iter().filter(|command| command.is_of_a_link() && seen.insert(&command.line)).collect();
    let faults: Vec<String> = of_links.iter().filter_map(|command| run(&desk, command)).collect();
    assert!(!of_links.is_empty() && faults.is_empty(), "{}", faults.join("\n"));
}
