//! What a policy decided for a kind of content.

use anyhow::Result;

use weigh_model::policy::{Decision, Policy, Rule};
use weigh_model::setting::Request;
use weigh_model::site::Kind;

/// The decision for a kind of content, if it changes something.
pub(super) fn decision(policy: &Policy, kind: Kind) -> Option<&Decision> {
    policy.decisions.iter().find(|decision| decision.kind == kind && !decision.keep)
}

/// The method of PHP that a rule names, without its place, and the level: the rule's own, else the method's.
pub(super) fn parse_method(rule: &Rule) -> Result<(String, Option<i32>)> {
    let request = Request::parse(rule.method.trim_start_matches("php/"))?;
    let level = rule.level.or(request.level());
    Ok((request.name, level))
}
