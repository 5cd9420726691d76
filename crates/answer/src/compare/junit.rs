//! Gates as JUnit XML, which CI systems read. An undecided gate is an *error*, not a failure and not skipped: CI systems
//! count skipped tests as passed, and an error is red while it stays apart from what got worse.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::gate::{GateOutcome, Judged};
use crate::text::json_name;

/// One suite of this name with a test case per gate and configuration.
///
/// # Errors
/// The XML cannot be written.
pub fn xml(suite: &str, gates: &[Judged]) -> anyhow::Result<String> {
    let mut of = TestSuite::new(suite);
    of.add_test_cases(gates.iter().map(|judged| case(suite, judged)));
    let mut report = Report::new("weigh");
    report.add_test_suite(of);
    Ok(report.to_string()?)
}

fn case(suite: &str, judged: &Judged) -> TestCase {
    let status = match judged.outcome {
        GateOutcome::Pass => TestCaseStatus::success(),
        GateOutcome::Fail => stopped(NonSuccessKind::Failure, judged),
        GateOutcome::Undecided => stopped(NonSuccessKind::Error, judged),
    };
    let place = if judged.configuration.is_empty() { "-" } else { &judged.configuration };
    let mut case = TestCase::new(format!("{}: {place}", judged.gate), status);
    case.set_classname(suite);
    case.set_system_out(&judged.measured);
    case
}

fn stopped(kind: NonSuccessKind, judged: &Judged) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(json_name(judged.outcome));
    status.set_message(&judged.measured);
    status.set_description(match &judged.remedy {
        Some(remedy) => format!("{}; {remedy}", judged.measured),
        None => judged.measured.clone(),
    });
    status
}
