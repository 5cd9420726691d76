//! CPU time per transaction, by component.

use weigh_model::units;

use crate::finding::client::clients::{Candidate, first_leads, first_works, members};
use crate::finding::client::label;
use crate::metric::client::{CPU, STORE_CPU};
use crate::report::finding::{Draft, Evidence};

/// One finding per content, on its first work: PHP's own code, the kernel on its behalf, the store.
pub fn split(evidence: &Evidence) -> Vec<Draft> {
    let drafts = first_works(evidence, |work| {
        let members = members(evidence, work);
        let parts = members.iter().filter_map(|c| Some((parts(c)?, c.id())));
        let (texts, cells): (Vec<String>, Vec<String>) = parts.unzip();
        let text =
            format!("CPU time per transaction ({}). {}", label::group(evidence, work), texts.join(" "));
        (!texts.is_empty()).then(|| Draft::detail(text, cells))
    });
    first_leads(drafts)
}

/// `Redis, phpredis: 17.6 µs, of it PHP 28%, kernel for PHP 37%, store 35%.`; without the store's part, times instead
/// of shares.
fn parts(of: &Candidate) -> Option<String> {
    let value = |metric: &str| of.row.value(metric);
    let Some(total) = value(CPU) else {
        return Some(format!(
            "{}: PHP {}, kernel for PHP {}; the store's part could not be read.",
            label::describe_client(of),
            units::ns(value("client-user-cpu")?),
            units::ns(value("client-kernel-cpu")?),
        ));
    };
    let share = |metric: &str| Some(label::share((value(metric)? / total * 1000.0).round() / 1000.0));
    let store = share(STORE_CPU).map(|store| format!(", store {store}"));
    Some(format!(
        "{}: {}, of it PHP {}, kernel for PHP {}{}.",
        label::describe_client(of),
        units::ns(total),
        share("client-user-cpu")?,
        share("client-kernel-cpu")?,
        store.unwrap_or_else(|| " (the store has no process of its own)".into())
    ))
}
