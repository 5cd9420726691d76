use weigh_load::result::FaultCount;

use super::super::fixture;
use super::*;
use weigh_model::cell::Subject;
use weigh_model::setting::Setting;

fn cell() -> Cell {
    fixture::cell("a/nginx", Subject::PAGE, Setting::bare("none"), None)
}

fn payload() -> Payload {
    fixture::payload("a", "html")
}

fn sound() -> DeliveryVisit {
    let mut visit = DeliveryVisit { requests: 9, ..DeliveryVisit::default() };
    visit.preflight.status = 200;
    visit.preflight.decoded_sha256 = Some(payload().sha256);
    visit
}

fn traces(ended: Option<&str>, said: Option<&str>) -> Traces {
    Traces { ended: ended.map(str::to_owned), said: said.map(str::to_owned) }
}

fn fault(result: Result<DeliveryVisit, Failure>) -> Fault {
    match result {
        Err(Failure::Fault(fault)) => fault,
        other => panic!("no fault: {other:?}"),
    }
}

#[test]
fn sound_is_what_was_asked_for_and_nothing_else() {
    assert!(is_sound(&cell(), &sound(), &payload()));
    let mut other = sound();
    other.preflight.decoded_sha256 = Some("1".repeat(64));
    assert!(!is_sound(&cell(), &other, &payload()));
    let mut refused = sound();
    refused.preflight.status = 503;
    assert!(!is_sound(&cell(), &refused, &payload()));
}

#[test]
fn where_something_ended_there_is_no_number() {
    let told =
        tell(Ok(sound()), &cell(), &payload(), &traces(Some("nginx ended: signal: 9 (SIGKILL)"), None));
    let fault = fault(told);
    assert_eq!(
        (fault.kind, fault.message.as_str()),
        (FaultKind::Crash, "a/nginx: nginx ended: signal: 9 (SIGKILL)")
    );
    assert!(fault.remedy.unwrap().contains("dmesg"));
}

#[test]
fn the_log_stands_beside_what_the_generator_saw() {
    let said = traces(None, Some("PHP Fatal error: gone"));
    let mut other = sound();
    other.preflight.decoded_sha256 = None;
    let other = tell(Ok(other), &cell(), &payload(), &said).unwrap();
    let message = other.preflight.fault.unwrap().message;
    assert_eq!(message, "what came is not the payload a; its log: PHP Fatal error: gone");
    let mut lossy = sound();
    let example = HttpFault::new(HttpFaultKind::Status, "status 502, not 200");
    lossy.faults.push(FaultCount { kind: HttpFaultKind::Status, count: 1, request: "a".into(), example });
    let lossy = tell(Ok(lossy), &cell(), &payload(), &said).unwrap();
    assert_eq!(lossy.faults[0].example.message, "status 502, not 200; its log: PHP Fatal error: gone");
}

#[test]
fn a_refusal_keeps_its_kind_and_its_cause() {
    let why = |why: &str| fault(Err(refused(&cell(), &payload(), &loading::Failure::Refused(why.into()))));
    assert_eq!(why("a: timeout: no last byte").kind, FaultKind::Timeout);
    assert_eq!(why("a: empty-reply: closed").kind, FaultKind::Crash);
    assert_eq!(
        why("a: corrupt: no gzip; --discard measures it unverified").message,
        "a/nginx: a: corrupt: no gzip"
    );
    assert_eq!(why("something else").kind, FaultKind::Response);
    let broken = loading::Failure::Broken("ended: signal: 9 (SIGKILL)".into());
    let full = traces(None, Some("writev() failed (28: No space left on device)"));
    let told = fault(tell(Err(refused(&cell(), &payload(), &broken)), &cell(), &payload(), &full));
    assert!(told.remedy.unwrap().contains("TMPDIR"), "{}", told.message);
    assert_eq!(told.kind, FaultKind::Crash);
}

#[test]
fn what_php_answers_is_taken_for_its_reason_only_when_it_is_one_line() {
    assert_eq!(line_of_php(b"no \x07way\n").unwrap(), "no \u{fffd}way");
    assert_eq!(line_of_php(b"<!DOCTYPE html>\n<html>\n"), None);
    assert_eq!(line_of_php(b""), None);
    assert_eq!(line_of_php("ü".repeat(900).as_bytes()).unwrap().chars().count(), 301);
}
