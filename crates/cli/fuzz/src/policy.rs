//! Policies, `policy.toml`: one that can be read is written again as the same.

use weigh_model::policy::Policy;

/// Holds one input against what the crate promises.
pub fn hold(text: &str) {
    match Policy::parse(text, "policy.toml") {
        Err(error) => super::is_shown(&error),
        Ok(policy) => {
            let written = serde_json::to_string(&policy).expect("a policy is data");
            let again = serde_json::from_str::<Policy>(&written).map(|again| format!("{again:?}"));
            // JSON has no numbers that are none.
            assert!(written.contains("null") || again.is_ok_and(|again| again == format!("{policy:?}")));
        }
    }
}
