//! A run of deliveries that was interrupted.

use super::*;

#[test]
fn a_cut_run_goes_on_where_it_was() {
    let mut rig = Rig::new(&[("nginx/good", way(1.0, 100)), ("nginx/small", way(4.0, 50))]);
    let whole = rig.run();
    let mut cut = Rig::new(&[("nginx/good", way(1.0, 100)), ("nginx/small", way(4.0, 50))]);
    drop(cut.lab.create());
    let path = log_of(&cut.lab.path());
    let mut writer = log::LogWriter::open(&path, 0).unwrap();
    whole[..3].iter().for_each(|record| writer.append(record).unwrap());
    let mut dir = RunDir::open(&cut.lab.path()).unwrap();
    assert!(cut.measure(&mut dir).unwrap().complete);
    let seen = |records: &[Record]| {
        let mut seen: Vec<_> = visits(records).iter().map(|v| (v.cell.clone(), v.round)).collect();
        seen.sort();
        seen
    };
    assert_eq!(seen(dir.records()), seen(&whole));
    assert!(dir.records().iter().any(|r| matches!(r, Record::Caveat { caveat: Caveat::Resumed { .. }, .. })));
}
