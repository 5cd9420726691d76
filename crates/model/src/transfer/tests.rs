use super::*;

/// TCP packet by packet: a packet leaves when the line is free and the window has room. It is acknowledged a round trip
/// after it was sent (each packet separately), and each acknowledgement widens the window by one. Returns the
/// nanosecond at which the last packet has been sent.
fn packet_by_packet(payload: f64, path: &Path) -> f64 {
    let packets = (payload / TCP_PAYLOAD as f64).ceil().max(1.0) as usize;
    let mut confirmed: Vec<f64> = Vec::new();
    let (mut window, mut heard, mut line_free) = (INITIAL_WINDOW as usize, 0, 0.0f64);
    for packet in 0..packets {
        let mut now = line_free;
        while packet - heard >= window {
            now = now.max(confirmed[heard]);
            heard += 1;
            window += 1;
        }
        // Acknowledgements while the line was busy have widened the window, too.
        while heard < confirmed.len() && confirmed[heard] <= now {
            heard += 1;
            window += 1;
        }
        let bytes = (payload - packet as f64 * TCP_PAYLOAD as f64).min(TCP_PAYLOAD as f64) + HEADERS;
        line_free = now + bytes * path.byte_ns;
        confirmed.push(line_free + path.round_trip_ns);
    }
    line_free
}

#[test]
fn windows_are_those_of_slow_start() {
    let of = |packets: f64| windows(packets * TCP_PAYLOAD as f64);
    assert_eq!([1.0, 10.0, 10.1, 30.0, 30.1, 70.0, 71.0, 150.0].map(of), [1, 1, 2, 2, 3, 3, 4, 4]);
    // 140 KB are four windows, 50 KB three.
    assert_eq!((windows(140e3), windows(50e3), windows(0.0)), (4, 3, 1));
}

#[test]
fn a_warm_connection_costs_its_bytes_and_one_round_trip() {
    // 14,480 bytes are ten packets of 1,500 bytes, which take 12 ms at 10 Mbit/s, and 32 times as long for each of 32
    // users.
    for (concurrency, ms) in [(1.0, 12.0), (32.0, 384.0)] {
        let path = Path::shared(10.0, 5.0, concurrency);
        assert!((path.transfer_ns(14_480.0, Connection::Warm) - ms * 1e6).abs() < 1e-3);
        assert!((path.call_ns(14_480.0, Connection::Warm, true) - (ms + 5.0) * 1e6).abs() < 1e-3);
    }
    let free = Path::shared(f64::INFINITY, 5.0, 1.0);
    assert_eq!(free.call_ns(1e9, Connection::Warm, false), 5e6);
}

/// 50 KB at 100 Mbit/s and 20 ms: 35 packets of 0.12 ms. The first ten are sent in 1.2 ms, the next 20 start when the
/// first of them is acknowledged, at 20.12 ms, and the last five at 40.24 ms; they take 0.6 ms minus what the last
/// packet is shorter.
#[test]
fn a_new_connection_waits_for_its_windows() {
    let path = Path::shared(100.0, 20.0, 1.0);
    let payload = 50_000.0;
    let short = (35.0 * 1448.0 - payload) * 8e-5;
    let transfer = 20.12 + 20.12 + 5.0 * 0.12 - short;
    for connection in [Connection::New, Connection::Idle] {
        assert!((path.transfer_ns(payload, connection) / 1e6 - transfer).abs() < 1e-9);
    }
    let calls = [
        (Connection::Warm, false, 20.0 + 35.0 * 0.12 - short),
        (Connection::Idle, false, 20.0 + transfer),
        (Connection::New, false, 40.0 + transfer),
        (Connection::New, true, 60.0 + transfer),
    ];
    for (connection, tls, ms) in calls {
        let call = path.call_ns(payload, connection, tls) / 1e6;
        assert!((call - ms).abs() < 1e-9, "{connection:?} {tls}: {call} {ms}");
    }
}

/// The transfer time of the model is that of a TCP that is simulated packet by packet.
#[test]
fn it_is_what_packets_do_one_by_one() {
    for mbit in [1.0, 10.0, 100.0, 250.0, 1_000.0, 10_000.0, f64::INFINITY] {
        for rtt in [0.0, 0.5, 5.0, 40.0, 170.0] {
            let path = Path::shared(mbit, rtt, 1.0);
            for payload in
                [1.0, 100.0, 1_448.0, 5e3, 14_480.0, 14_481.0, 20e3, 50e3, 140e3, 500e3, 2.4e6, 1e7]
            {
                let (model, simulated) =
                    (path.transfer_ns(payload, Connection::New), packet_by_packet(payload, &path));
                let off = (model - simulated).abs();
                assert!(off <= 1e-9 * simulated + 1e-3, "{mbit} {rtt} {payload}: {model} {simulated}");
            }
        }
    }
}

#[test]
fn between_bends_the_time_is_a_straight_line() {
    let (round_trip, payload) = (5e6, 500e3);
    let at = |byte_ns: f64| Path { byte_ns, round_trip_ns: round_trip }.transfer_ns(payload, Connection::New);
    let mut bends: Vec<f64> = Path::bends(round_trip, payload, Connection::New).collect();
    assert_eq!(bends.len(), windows(payload) - 1);
    assert!(bends.is_sorted_by(|a, b| a > b));
    bends.insert(0, bends[0] * 3.0);
    bends.push(0.0);
    for pair in bends.windows(2) {
        let middle = at((pair[0] + pair[1]) / 2.0);
        assert!((middle - (at(pair[0]) + at(pair[1])) / 2.0).abs() < 1e-3);
    }
    assert_eq!(Path::bends(round_trip, payload, Connection::Warm).count(), 0);
}

/// Mbit/s, milliseconds of a round trip, and pairs of KB and milliseconds.
type MeasuredLink = (f64, f64, [(f64, f64); 6]);

/// Whole requests over new connections, measured with curl from nginx on a kernel with bbr (Linux 6.18), in milliseconds.
pub(crate) const PACED: [MeasuredLink; 3] = [
    (
        8.0,
        100.0,
        [(20.0, 307.0), (45.0, 403.0), (95.0, 505.0), (140.0, 560.0), (200.0, 624.0), (600.0, 1_038.0)],
    ),
    (
        100.0,
        100.0,
        [(20.0, 303.0), (45.0, 400.0), (95.0, 499.0), (140.0, 554.0), (200.0, 612.0), (600.0, 770.0)],
    ),
    (
        9.0,
        170.0,
        [(20.0, 519.0), (45.0, 684.0), (95.0, 855.0), (140.0, 949.0), (200.0, 1_049.0), (600.0, 1_424.0)],
    ),
];

#[test]
fn a_kernel_that_paces_spreads_windows_over_round_trips() {
    for (mbit, round_trip_ms, measured) in PACED {
        let path = Path::shared(mbit, round_trip_ms, 1.0);
        for (kilobytes, ms) in measured {
            let payload = kilobytes * 1e3 + 240.0;
            let call =
                path.call_ns(payload, Connection::New, false) + path.pacing_ns(payload, Connection::New);
            assert!((call / 1e6 / ms - 1.0).abs() < 0.04, "{kilobytes} KB over {mbit} Mbit/s: {call}");
        }
    }
    let path = Path::shared(9.0, 170.0, 1.0);
    // The initial window is sent at once, and a warm connection is not slowed down.
    assert_eq!(path.pacing_ns(14_480.0, Connection::New), 0.0);
    assert_eq!(path.pacing_ns(140_000.0, Connection::Warm), 0.0);
    // A link that takes longer than the spread is not idle.
    assert_eq!(Path::shared(0.5, 20.0, 1.0).pacing_ns(35_764.0, Connection::New), 0.0);
}
