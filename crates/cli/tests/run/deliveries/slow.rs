//! Cells with slow clients, through the scheduler.

use super::*;
use weigh_model::cell::Slow;

#[test]
fn a_cell_with_slow_clients_gets_its_blocks_and_may_end_without_an_answer() {
    let mut rig = Rig::new(&[("nginx/gzip", way(1.0, 100))]);
    let slow = Slow { clients: 8, read_rate: 50_000, workers: 8, script_memory: 0, narrow: false };
    rig.lab.plan.cells[0].delivery.as_mut().unwrap().slow = Some(slow);
    let records = rig.run();
    assert_eq!(stop(&records, "gzip"), (2, StopReason::Rounds));
    let all = visits(&records);
    assert!(
        all.iter().all(|v| v.delivery.as_ref().unwrap().requests == 0 && v.phases[&Phase::Serve].batch == 1)
    );
    assert_eq!(caveats(&all), [Caveat::DeepBuffers], "it went over the machine's loopback");
}
