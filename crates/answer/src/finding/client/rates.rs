//! At a fixed rate: whether it is reached, and the time from schedule to answer.

use crate::finding::client::clients::{Candidate, candidates, first_leads};
use crate::finding::client::label;
use crate::metric::client::due;
use crate::report::finding::{Draft, Evidence};

/// One sentence for each client with a rate.
pub fn kept(evidence: &Evidence) -> Vec<Draft> {
    let cells = candidates(evidence).filter(|c| c.client.rate.is_some());
    first_leads(cells.filter_map(|c| Some(Draft::detail(sentence(evidence, &c)?, vec![c.id()]))))
}

fn sentence(evidence: &Evidence, of: &Candidate) -> Option<String> {
    let time = |part: &str| due(of.row, part).map(label::seconds);
    let dropped = of.row.count("dropped");
    let scheduled = (of.row.count("transactions") + dropped).max(1);
    let never = match dropped {
        0 => String::new(),
        n => format!(" {} of the schedule was never sent.", label::share(n as f64 / scheduled as f64)),
    };
    Some(format!(
        "{} ({}): latency from the schedule {} (p50), {} (p99), {} (p99.9).{never}",
        label::describe_client(of),
        label::work(evidence, of),
        time("p50")?,
        time("p99")?,
        time("p999")?,
    ))
}
