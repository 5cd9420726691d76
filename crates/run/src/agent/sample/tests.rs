use std::time::Duration;

use super::*;

fn request(samples: u32, budget_ns: u64) -> VisitRequest {
    VisitRequest {
        id: 1,
        codec: String::new(),
        level: None,
        options: Default::default(),
        serializer: None,
        blob: String::new(),
        sha256: String::new(),
        items: Vec::new(),
        value: None,
        family: false,
        phases: Vec::new(),
        samples,
        budget_ns,
        min_batch_ns: 10_000,
        max_batch_ns: 1_000_000,
        verify: true,
        memory: false,
        dump: None,
    }
}

#[test]
fn a_long_first_call_is_kept_and_not_repeated() {
    let first = Span { cpu: 400_000_000, wall: 500_000_000, preempted: 3 };
    let mut calls = 0;
    let mut pass = || {
        calls += 1;
        Ok(())
    };
    let samples = take(&SystemClock::new(), &request(1, u64::MAX), first, &mut pass).unwrap();
    assert_eq!((samples.cpu_ns, samples.wall_ns), (vec![4e8], vec![5e8]));
    assert_eq!((samples.batch, calls), (1, 0));
    // This thread too may be made to wait between two looks at the count.
    assert!(samples.preempted >= 3, "{}", samples.preempted);
}

#[test]
fn a_short_first_call_is_no_sample() {
    let first = Span { cpu: 299_000_000, wall: 299_000_000, preempted: 0 };
    let samples = take(&SystemClock::new(), &request(3, u64::MAX), first, || Ok(())).unwrap();
    assert_eq!((samples.cpu_ns.len(), samples.wall_ns.len(), samples.batch), (3, 3, 1));
    assert!(samples.wall_ns.iter().all(|w| *w < 299e6));
}

#[test]
fn a_short_first_call_that_had_to_wait_is_no_sample() {
    let first = Span { cpu: 1_000, wall: 900_000_000, preempted: 9 };
    let samples = take(&SystemClock::new(), &request(3, u64::MAX), first, || Ok(())).unwrap();
    assert!(samples.batch > 1 && samples.wall_ns.iter().all(|w| *w < 300e6), "{samples:?}");
}

#[test]
fn the_budget_ends_sampling_but_never_before_the_first() {
    let pass = || {
        std::thread::sleep(Duration::from_millis(2));
        Ok(())
    };
    let first = Span { cpu: 0, wall: 2_000_000, preempted: 0 };
    assert_eq!(take(&SystemClock::new(), &request(50, 1), first, pass).unwrap().wall_ns.len(), 1);
    // A sleep may last far longer than asked for, and never less.
    let some = take(&SystemClock::new(), &request(5000, 200_000_000), first, pass).unwrap().wall_ns.len();
    assert!((2..=100).contains(&some), "{some}");
}

#[test]
fn quick_calls_are_batched_until_the_minimum() {
    let mut calls = 0u32;
    let pass = || {
        calls += 1;
        Ok(())
    };
    let samples = take(&SystemClock::new(), &request(5, u64::MAX), Span::default(), pass).unwrap();
    assert!(samples.batch > 1, "{samples:?}");
    assert!(calls > 5 * samples.batch);
}

#[test]
fn quick_calls_are_warmed_up_and_long_ones_once() {
    let count = |each: Duration| {
        let mut calls = 0u32;
        let first = Span { wall: each.as_nanos() as u64, ..Span::default() };
        warm(&SystemClock::new(), &request(1, 1), first, &mut || {
            calls += 1;
            std::thread::sleep(each);
            Ok(())
        })
        .unwrap();
        calls
    };
    assert!(count(Duration::from_micros(200)) > 8);
    assert!(count(Duration::from_millis(4)) < count(Duration::from_micros(200)));
}

#[test]
fn batches_lie_between_their_bounds() {
    let mut r = request(1, 1);
    assert_eq!(batch(&r, 1_000.0), 10);
    assert_eq!(batch(&r, 3_000.0), 4);
    assert_eq!(batch(&r, 50_000.0), 1);
    r.max_batch_ns = 2_500;
    assert_eq!(batch(&r, 1_000.0), 3);
    r.max_batch_ns = 0;
    assert_eq!(batch(&r, 1_000.0), 1);
}

#[test]
fn no_pass_starts_past_the_limit() {
    let mut slow = || {
        std::thread::sleep(Duration::from_millis(2));
        Ok(())
    };
    assert_eq!(repeat(&SystemClock::new(), 1000, 1, 1_000_000, &mut slow).unwrap(), 1);
    assert_eq!(repeat(&SystemClock::new(), 3, 1, u64::MAX, &mut slow).unwrap(), 3);
}

#[cfg(target_os = "linux")]
#[test]
fn cpu_time_passes_with_work() {
    let start = thread_cpu_ns();
    let mut x = 0u64;
    while thread_cpu_ns() == start {
        x = std::hint::black_box(x + 1);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn fields_are_read() {
    assert!(field("/proc/self/status", "VmHWM:").unwrap() > 0);
    assert_eq!(field("/proc/self/status", "NoSuchField:"), None);
    assert_eq!(field("/proc/no-such-file", "VmHWM:"), None);
}
