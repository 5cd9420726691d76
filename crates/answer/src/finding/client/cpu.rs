//! CPU time per transaction: which store and driver take the least of it, and whom it falls on.

use super::*;
use crate::subject::client::CLIENT_CPU;
use crate::verdict::is_less;

/// One sentence per content, on its first work without a link: who takes the least for the same work.
pub fn least(evidence: &Evidence) -> Vec<Draft> {
    first_works(evidence, |work| {
        let (mut members, apart): (Vec<Candidate>, Vec<Candidate>) =
            members(evidence, work).into_iter().partition(|c| c.row.get(CPU).is_some());
        if members.len() < 2 || !work.factor("link").is_empty() {
            return None;
        }
        members.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        let text = format!("{}{}", ranking(evidence, &members), not_ranked(&apart));
        Some(Draft::lead(text, members.iter().chain(&apart).map(Candidate::id).collect()))
    })
}

/// Those of which a part is missing, with the part that is known.
fn not_ranked(apart: &[Candidate]) -> String {
    let told = |c: &Candidate| Some(format!("{} ({})", label::place(c), units::ns(c.row.value(CLIENT_CPU)?)));
    let told: Vec<String> = apart.iter().filter_map(told).collect();
    if told.is_empty() {
        return String::new();
    }
    format!(
        " Not ranked, because the store's CPU time could not be read (PHP's part alone): {}.",
        units::list(&told)
    )
}

fn cost(of: &Candidate) -> f64 {
    of.row.value(CPU).unwrap_or(f64::INFINITY)
}

/// Who costs least, who cannot be told apart from it, and the others.
fn ranking(evidence: &Evidence, members: &[Candidate]) -> String {
    let told = |c: &Candidate| format!("{} ({})", label::place(c), units::ns(cost(c)));
    let best = &members[0];
    let is_clear =
        |other: &&Candidate| best.row.get(CPU).zip(other.row.get(CPU)).is_some_and(|(a, b)| is_less(a, b));
    let (others, alike): (Vec<&Candidate>, Vec<&Candidate>) = members[1..].iter().partition(is_clear);
    let list = |several: Vec<&Candidate>| units::list(&several.into_iter().map(told).collect::<Vec<_>>());
    let (is_alone, is_all) = (alike.is_empty(), others.is_empty());
    format!(
        "Least CPU time of workers and store a transaction ({}): {}{}{}.",
        label::work(evidence, best),
        list(std::iter::once(best).chain(alike).collect()),
        if is_alone { "" } else { ", which cannot be told apart" },
        if is_all { String::new() } else { format!("; then {}", list(others)) }
    )
}

/// One sentence per content, on its first work: PHP's own code, the kernel on its behalf, the store.
pub fn split(evidence: &Evidence) -> Vec<Draft> {
    let drafts = first_works(evidence, |work| {
        let members = members(evidence, work);
        let parts = members.iter().filter_map(|c| Some((parts(c)?, c.id())));
        let (texts, cells): (Vec<String>, Vec<String>) = parts.unzip();
        let text = format!(
            "Where the CPU time of a transaction goes ({}): {}.",
            label::group(evidence, work),
            texts.join("; ")
        );
        (!texts.is_empty()).then(|| Draft::detail(text, cells))
    });
    first_leads(drafts)
}

/// `redis by phpredis 17.6 µs, of it PHP 28%, the kernel for PHP 37%, the store 35%`; where the store's part is missing, times in place
/// of shares.
fn parts(of: &Candidate) -> Option<String> {
    let value = |metric: &str| of.row.value(metric);
    let Some(total) = value(CPU) else {
        return Some(format!(
            "{}: PHP {}, the kernel for PHP {} (the store's part could not be read)",
            label::place(of),
            units::ns(value("client-user-cpu")?),
            units::ns(value("client-kernel-cpu")?),
        ));
    };
    let share = |metric: &str| Some(label::share((value(metric)? / total * 1000.0).round() / 1000.0));
    let store = share(crate::subject::client::STORE_CPU).map(|store| format!(", the store {store}"));
    Some(format!(
        "{} {}, of it PHP {}, the kernel for PHP {}{}",
        label::place(of),
        units::ns(total),
        share("client-user-cpu")?,
        share("client-kernel-cpu")?,
        store.unwrap_or_else(|| " (the store has no process of its own)".into())
    ))
}
