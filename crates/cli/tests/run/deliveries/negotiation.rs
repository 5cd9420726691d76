//! The matrix of requests: of whom it is asked, and how often.

use super::*;

/// The cells of ways whose study asks for negotiation.
fn asking(ways: &[(&str, Behaviour)]) -> Rig {
    let mut rig = Rig::new(ways);
    for cell in &mut rig.lab.plan.cells {
        cell.keep = true;
        cell.delivery.as_mut().unwrap().negotiation = true;
    }
    rig
}

#[test]
fn negotiation_is_asked_for_once_a_server_and_way_whatever_the_level() {
    let mut rig = asking(&[
        ("nginx/gzip", way(1.0, 100)),
        ("nginx/other", way(1.0, 100)),
        ("apache/gzip", way(1.0, 100)),
    ]);
    let mut finer = rig.lab.plan.cells[0].clone();
    finer.setting.level = Some(9);
    finer.id.push_str(":9");
    rig.fake.ways.insert(finer.id.clone(), way(1.0, 100));
    rig.lab.plan.cells.push(finer);
    let records = rig.run();
    let mut asked = rig.fake.negotiated.borrow().clone();
    asked.sort();
    let expected =
        ["text/apache/-/http/server/gzip", "text/nginx/-/http/server/gzip", "text/nginx/-/http/server/other"];
    assert_eq!(asked, expected);
    let told = |v: &&&VisitRecord| v.delivery.as_ref().is_some_and(|d| d.negotiation.is_some());
    assert_eq!(visits(&records).iter().filter(told).count(), 3);
    assert!(Rig::new(&[("nginx/gzip", way(1.0, 100))]).run().len() > 1);
}

#[test]
fn a_run_that_is_taken_up_again_does_not_ask_again() {
    let whole = asking(&[("nginx/gzip", way(1.0, 100))]).run();
    let mut cut = asking(&[("nginx/gzip", way(1.0, 100))]);
    drop(cut.lab.create());
    let mut writer = log::LogWriter::open(&log_of(&cut.lab.path()), 0).unwrap();
    writer.append(&whole[0]).unwrap();
    let mut dir = RunDir::open(&cut.lab.path()).unwrap();
    assert!(cut.measure(&mut dir).unwrap().complete);
    assert!(cut.fake.negotiated.borrow().is_empty(), "the record of the first visit has it");
    let has_it = |v: &&&VisitRecord| v.delivery.as_ref().is_some_and(|d| d.negotiation.is_some());
    assert_eq!(visits(dir.records()).iter().filter(has_it).count(), 1);
}

#[test]
fn a_body_of_the_matrix_that_is_not_the_content_is_a_fault_and_the_next_cell_is_asked() {
    let mut rig = asking(&[("nginx/gzip", way(1.0, 100))]);
    rig.fake.body = Body::Wrong;
    let mut finer = rig.lab.plan.cells[0].clone();
    finer.setting.level = Some(9);
    finer.id.push_str(":9");
    rig.fake.ways.insert(finer.id.clone(), way(1.0, 100));
    rig.lab.plan.cells.push(finer);
    let (kind, message) = fault(&rig.run());
    assert_eq!(kind, FaultKind::RoundTrip);
    assert!(message.contains("the identity body for Accept-Encoding none"), "{message}");
    assert_eq!(rig.fake.negotiated.borrow().len(), 2);
}
