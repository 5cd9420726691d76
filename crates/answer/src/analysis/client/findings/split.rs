//! Whom the CPU time of a transaction falls on: PHP's own code, the kernel on its behalf, the store.

use crate::analysis::client::findings::{Candidate, Evidence, label};
use crate::analysis::findings::Draft;
use weigh_model::units;

/// One sentence a payload, on its first work.
pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut said: Vec<&str> = Vec::new();
    for work in evidence.works {
        if said.contains(&work.payload.as_str()) {
            continue;
        }
        let members = evidence.members(work);
        let parts: Vec<(String, String)> = members.iter().filter_map(|c| Some((part(c)?, c.id()))).collect();
        if parts.is_empty() {
            continue;
        }
        said.push(&work.payload);
        let (texts, cells): (Vec<String>, Vec<String>) = parts.into_iter().unzip();
        let text = format!(
            "Where the CPU time of a transaction goes ({}): {}.",
            label::of_work(evidence, work),
            texts.join("; ")
        );
        drafts.push(Draft { text, cells, lead: drafts.is_empty() });
    }
    drafts
}

/// `redis by phpredis 17.6 µs, of it PHP 28%, the kernel for PHP 37%, the store 35%`.
fn part(of: &Candidate) -> Option<String> {
    let cpu = of.result.cpu?;
    let share = |amount: f64| label::share((amount / cpu.total.value * 1000.0).round() / 1000.0);
    let store = cpu.server.map(|server| format!(", the store {}", share(server.value)));
    Some(format!(
        "{} {}, of it PHP {}, the kernel for PHP {}{}",
        label::place(of),
        units::ns(cpu.total.value),
        share(cpu.client_user.value),
        share(cpu.client_system.value),
        store.unwrap_or_else(|| " (the store has no process of its own)".into())
    ))
}
