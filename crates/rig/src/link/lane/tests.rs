use proptest::prelude::*;

use super::*;

fn spec(kbps: Option<f64>, delay_ns: u64, queue: u64) -> LaneSpec {
    LaneSpec { kbps, delay_ns, queue, loss: 0.0, seed: 1 }
}

/// Hands in packets at their times, and lets each out at the instant at which it is due: (time, packet), and how many were dropped.
fn drive(lane: &mut Lane<usize>, packets: &[(u64, u64)]) -> (Vec<(u64, usize)>, Vec<usize>) {
    let (mut arrived, mut full) = (Vec::new(), Vec::new());
    let mut let_out = |lane: &mut Lane<usize>, until: u64| {
        while let Some(due) = lane.due().filter(|due| *due <= until) {
            assert!(due == 0 || lane.release(due - 1).is_none(), "before its time");
            arrived.push((due, lane.release(due).unwrap()));
        }
    };
    for (index, (at, bytes)) in packets.iter().enumerate() {
        let_out(lane, *at);
        if lane.offer(*at, *bytes, index) == PacketOutcome::Full {
            full.push(index);
        }
    }
    let_out(lane, u64::MAX);
    (arrived, full)
}

/// Gaps and sizes as times and sizes.
fn packets() -> impl Strategy<Value = Vec<(u64, u64)>> {
    proptest::collection::vec((0u64..3_000_000, 20u64..=1500), 1..100).prop_map(|gaps| {
        let mut at = 0;
        gaps.into_iter().map(|(gap, bytes)| ((at, at += gap).0, bytes)).collect()
    })
}

#[test]
fn an_idle_line_sends_a_packet_in_its_time_and_delays_it() {
    // 1,000 bytes at 8 Mbit/s are 1 ms.
    let mut lane = Lane::new(&spec(Some(8_000.0), 10_000_000, 64_000));
    assert_eq!(lane.offer(5, 1000, 'a'), PacketOutcome::Taken);
    assert_eq!(lane.offer(6, 1000, 'b'), PacketOutcome::Taken);
    assert_eq!(lane.due(), Some(11_000_005));
    assert_eq!(lane.release(11_000_004), None);
    assert_eq!(lane.release(11_000_005), Some('a'));
    assert_eq!((lane.due(), lane.release(u64::MAX), lane.due()), (Some(12_000_005), Some('b'), None));
}

#[test]
fn without_a_bandwidth_there_is_delay_alone_and_memory_is_bounded() {
    let mut lane = Lane::new(&spec(None, 1_000, 3_000));
    for _ in 0..MOST_HELD / 1500 {
        assert_eq!(lane.offer(7, 1500, ()), PacketOutcome::Taken);
    }
    assert_eq!(lane.offer(7, 1500, ()), PacketOutcome::Full);
    assert_eq!(lane.due(), Some(1_007));
    assert!(lane.release(1_007).is_some());
    assert_eq!(lane.offer(1_007, 1500, ()), PacketOutcome::Taken);
}

#[test]
fn one_who_waits_for_room_finds_it() {
    let mut line = Line::new(&spec(Some(8_000.0), 0, 3_000));
    assert_eq!(line.room_at(1000), 0);
    for sent in 1..=3 {
        assert_eq!(line.send(0, 1000), Some(sent * 1_000_000));
    }
    assert_eq!((line.send(0, 1000), line.room_at(1000)), (None, 1_000_000));
    assert_eq!(line.send(999_000, 1000), None);
    assert_eq!(line.send(1_000_000, 1000), Some(4_000_000));
}

#[test]
fn a_shorter_delay_lets_nothing_overtake() {
    let mut lane = Lane::new(&spec(None, 5_000, 3_000));
    lane.offer(0, 100, 'a');
    lane.shorten(4_000);
    lane.offer(1, 100, 'b');
    lane.offer(4_500, 100, 'c');
    lane.shorten(u64::MAX);
    lane.offer(6_000, 100, 'd');
    let mut out = Vec::new();
    while let Some(due) = lane.due() {
        out.extend(lane.release(due).map(|packet| (due, packet)));
    }
    assert_eq!(out, [(5_000, 'a'), (5_000, 'b'), (5_500, 'c'), (6_000, 'd')]);
}

#[test]
fn losses_are_those_of_the_seed_and_as_many_as_asked() {
    let lost = |seed: u64, loss: f64| -> Vec<usize> {
        let mut lane = Lane::new(&LaneSpec { loss, seed, ..spec(None, 0, 3_000) });
        let mut fates = (0..20_000).map(|_| {
            lane.release(u64::MAX);
            lane.offer(0, 100, ())
        });
        (0..20_000).filter(|_| fates.next() == Some(PacketOutcome::Lost)).collect()
    };
    assert_eq!(lost(1, 0.01), lost(1, 0.01));
    assert_ne!(lost(1, 0.01), lost(2, 0.01));
    assert!(lost(1, 0.0).is_empty());
    for seed in 0..6 {
        for loss in [0.001_f64, 0.01, 0.1, 0.5] {
            let (mean, deviation) = (20_000.0 * loss, (20_000.0 * loss * (1.0 - loss)).sqrt());
            let count = lost(seed, loss).len() as f64;
            assert!((count - mean).abs() <= 4.5 * deviation, "{seed}, {loss}: {count}");
        }
    }
}

#[test]
fn a_lost_packet_takes_its_time_on_the_line() {
    let mut lane = Lane::new(&LaneSpec { loss: 0.5, ..spec(Some(8_000.0), 0, 1 << 20) });
    let fates: Vec<PacketOutcome> = (0..100).map(|index| lane.offer(0, 1000, index)).collect();
    let last = fates.iter().rposition(|fate| *fate == PacketOutcome::Taken).unwrap();
    let mut due = 0;
    while let Some(at) = lane.due() {
        lane.release(at);
        due = at;
    }
    assert!(fates.contains(&PacketOutcome::Lost));
    assert_eq!(due, (last as u64 + 1) * 1_000_000);
}

proptest! {
    #[test]
    fn order_is_kept_and_no_packet_is_early_or_twice(packets in packets(), kbps in 100.0..1e6, delay in 0u64..50_000_000) {
        let mut lane = Lane::new(&spec(Some(kbps), delay, 20_000));
        let (arrived, full) = drive(&mut lane, &packets);
        prop_assert!(arrived.windows(2).all(|w| w[0].1 < w[1].1 && w[0].0 <= w[1].0));
        prop_assert_eq!(arrived.len() + full.len(), packets.len());
        for (due, index) in &arrived {
            let (at, bytes) = packets[*index];
            let sending = bytes as f64 * 8e6 / kbps;
            prop_assert!(*due as f64 >= at as f64 + delay as f64 + sending * (1.0 - 1e-9));
        }
        prop_assert_eq!(lane.held_bytes, 0);
    }

    #[test]
    fn never_faster_than_the_rate(packets in packets(), kbps in 100.0..1e6, delay in 0u64..50_000_000) {
        let (arrived, _) = drive(&mut Lane::new(&spec(Some(kbps), delay, 20_000)), &packets);
        // Between any two arrivals, what arrived after the first was sent in that time.
        for from in 0..arrived.len() {
            let mut bits = 0.0;
            for to in from + 1..arrived.len() {
                bits += packets[arrived[to].1].1 as f64 * 8.0;
                let ns = (arrived[to].0 - arrived[from].0) as f64;
                prop_assert!(bits * 1e6 / kbps <= ns + 1.0, "{bits} bits in {ns} ns");
            }
        }
    }

    #[test]
    fn a_line_that_is_never_idle_sends_at_exactly_the_rate(kbps in 100.0..1e6, bytes in 40u64..=1500, count in 2usize..200) {
        let mut lane = Lane::new(&spec(Some(kbps), 7, u64::MAX >> 32));
        let (arrived, full) = drive(&mut lane, &vec![(3, bytes); count]);
        prop_assert!(full.is_empty());
        let expected = 10.0 + (count as u64 * bytes) as f64 * 8e6 / kbps;
        prop_assert!((arrived[count - 1].0 as f64 - expected).abs() <= 1.0 + expected * 1.3e-4);
    }

    #[test]
    fn an_idle_line_delays_exactly(gap in 0u64..1_000_000, bytes in 20u64..=1500, delay in 0u64..50_000_000) {
        // At 8 Mbit/s a byte takes a microsecond.
        let packets: Vec<_> = (0..20).map(|i| (i * (bytes * 1_000 + gap), bytes)).collect();
        let (arrived, full) = drive(&mut Lane::new(&spec(Some(8_000.0), delay, 3_000)), &packets);
        prop_assert!(full.is_empty());
        for (due, index) in arrived {
            prop_assert_eq!(due, packets[index].0 + bytes * 1_000 + delay);
        }
    }

    #[test]
    fn no_packet_waits_longer_than_the_queue_takes(packets in packets(), kbps in 100.0..1e5, queue in 3_000u64..50_000) {
        let (arrived, full) = drive(&mut Lane::new(&spec(Some(kbps), 0, queue)), &packets);
        // Bytes that wait are counted in whole ones.
        let longest = (queue + 1) as f64 * 8e6 / kbps;
        for (due, index) in arrived {
            prop_assert!((due - packets[index].0) as f64 <= longest * (1.0 + 1.3e-4) + 2.0);
        }
        // What was dropped had a line before it that was busy for as long as the queue less itself.
        for index in full {
            prop_assert!(index > 0, "the first finds the line idle");
        }
    }
}
