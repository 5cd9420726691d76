//! Time inside a call: the middle and the tail, drivers and stores beside each other.

use super::*;

/// One sentence, on the work that the study begins with.
pub fn inside_calls(evidence: &Evidence) -> Vec<Draft> {
    let Some(work) = evidence.report.groups.first() else { return Vec::new() };
    let members = members(evidence, work);
    let told = members.iter().filter_map(|c| Some((ends(c)?, c.id())));
    let (parts, cells): (Vec<String>, Vec<String>) = told.unzip();
    let Some(first) = cells.first() else { return Vec::new() };
    let text = format!(
        "Time inside a call, the median and 99%, while {} workers share the machine ({}): {}.",
        candidate(evidence, first).map_or(0, |c| c.client.workers),
        label::group(evidence, work),
        parts.join("; ")
    );
    vec![Draft::detail(text, cells)]
}

/// `redis by phpredis GET 45 µs and 120 µs`; of a PUT where nothing is read.
fn ends(of: &Candidate) -> Option<String> {
    let call = ["get", "put"].into_iter().find(|call| of.row.get(&format!("{call}-p50")).is_some())?;
    let time = |part: &str| of.row.value(&format!("{call}-{part}")).map(label::seconds);
    Some(format!("{} {} {} and {}", label::place(of), call.to_uppercase(), time("p50")?, time("p99")?))
}
