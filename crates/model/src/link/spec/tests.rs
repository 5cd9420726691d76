use proptest::prelude::*;

use super::*;

fn line(text: &str) -> String {
    let error = format!("{:#}", LinkSpec::parse(text).unwrap_err());
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

#[test]
fn the_ad_hoc_form_is_read() {
    let spec = LinkSpec::parse("100mbit/20ms").unwrap();
    assert_eq!((spec.down_kbps, spec.up_kbps, spec.rtt_ms), (Some(100_000.0), Some(100_000.0), 20.0));
    assert_eq!((spec.loss, spec.queue_bytes, spec.name.as_str()), (0.0, None, "100mbit/20ms"));
    let spec = LinkSpec::parse(" 10Mbit:384kbit/1.5s/queue=100KB/0.1% ").unwrap();
    assert_eq!((spec.down_kbps, spec.up_kbps, spec.rtt_ms), (Some(10_000.0), Some(384.0), 1_500.0));
    assert_eq!((spec.loss, spec.queue_bytes), (0.001, Some(100_000)));
    let spec = LinkSpec::parse("1gbit:unlimited/500us").unwrap();
    assert_eq!((spec.down_kbps, spec.up_kbps, spec.rtt_ms), (Some(1e6), None, 0.5));
    assert!(LinkSpec::parse("unlimited/0ms").unwrap().is_loopback());
    assert!(!LinkSpec::parse("unlimited/0ms/1%").unwrap().is_loopback());
}

#[test]
fn what_is_no_link_is_one_line_that_shows_how_it_is_written() {
    for text in [
        "",
        "/",
        "100mbit",
        "100/20ms",
        "100mbit/20",
        "-1mbit/1ms",
        "1e3mbit/1ms",
        "nanmbit/1ms",
        "100mbit/20ms/5",
        "100mbit/20ms/1%/1%",
        "100mbit/20ms/queue=1KB/queue=1KB",
        "100mbit/20ms/queue=KB",
        "1:2:3mbit/1ms",
        ".mbit/1ms",
        "1.2.3mbit/1ms",
        "10mbit/20ms/",
    ] {
        assert!(line(text).contains("such as 100mbit/20ms"), "{text}");
    }
    let long = "x".repeat(10_000);
    assert!(line(&long).len() < 500);
}

#[test]
fn what_cannot_be_is_named_with_its_bounds() {
    for (text, said) in [
        ("1kbit/1ms", "between 8 kbit/s"),
        ("11gbit/1ms", "and 10 Gbit/s"),
        ("1mbit/11s", "between 0 and 10 s"),
        ("1mbit/1ms/51%", "between 0% and 50%"),
        ("1mbit/1ms/queue=1KB", "3 KB"),
        ("1mbit/1ms/queue=100MB", "64 MiB"),
        ("10gbit/1s", "above the limit of 256 MB"),
    ] {
        assert!(line(text).contains(said), "{text}: {}", line(text));
    }
}

#[test]
fn a_queue_that_nobody_asked_for_holds_fifty_milliseconds_or_the_round_trip() {
    let spec = LinkSpec::parse("100mbit:1mbit/20ms").unwrap();
    assert_eq!(spec.queue(spec.down_kbps), 625_000);
    assert_eq!(spec.queue(spec.up_kbps), 64_000);
    let spec = LinkSpec::parse("100mbit/200ms").unwrap();
    assert_eq!(spec.queue(spec.down_kbps), 2_500_000);
    assert_eq!(LinkSpec::parse("100mbit/200ms/queue=5KB").unwrap().queue(Some(1e5)), 5_000);
}

#[test]
fn a_definition_is_read_strictly() {
    let read = |text: &str| LinkSpec::read("x", text, "links/x.toml").map_err(|e| format!("{e:#}"));
    let spec =
        read("schema = 1\ndown_kbps = 5000\nup_kbps = 1000\nrtt_ms = 28\nsource = \"somebody\"\n").unwrap();
    assert_eq!(
        (spec.down_kbps, spec.up_kbps, spec.rtt_ms, spec.loss),
        (Some(5_000.0), Some(1_000.0), 28.0, 0.0)
    );
    let error = read("schema = 1\nrtt = 5\nsource = \"a\"\n").unwrap_err();
    assert_eq!(error, "links/x.toml, line 2: unknown key `rtt`; did you mean `rtt_ms`?");
    for (text, said) in [
        ("schema = 2\nsource = \"a\"\n", "schema 2"),
        ("schema = 1\nsource = \" \"\n", "assumed"),
        ("schema = 1\n", "source"),
        ("schema = 1\nsource = \"a\"\ndown_kbps = nan\n", "links/x.toml: link `x`"),
        ("schema = 1\nsource = \"a\"\nrtt_ms = -1\n", "round trip"),
    ] {
        assert!(read(text).unwrap_err().contains(said), "{text}: {}", read(text).unwrap_err());
    }
}

proptest! {
    #[test]
    fn whatever_is_typed_is_a_sound_link_or_one_line(text in "[0-9a-z.:/%= -]{0,30}|\\PC{0,30}") {
        match LinkSpec::parse(&text) {
            Ok(spec) => {
                prop_assert!(spec.rtt_ms.is_finite() && (0.0..=MOST_LOST).contains(&spec.loss));
                prop_assert!(QUEUES.contains(&spec.queue(spec.down_kbps)));
            }
            Err(error) => prop_assert_eq!(format!("{error:#}").lines().count(), 1),
        }
    }

    #[test]
    fn what_is_written_is_read(down in 1u32..10_000, up in 1u32..10_000, ms in 0u32..200, loss in 0u32..=500, queue in 3u32..60_000) {
        let text = format!("{down}mbit:{up}mbit/{ms}ms/{}%/queue={queue}KB", f64::from(loss) / 10.0);
        let spec = LinkSpec::parse(&text).unwrap();
        prop_assert_eq!(spec.down_kbps, Some(f64::from(down) * 1e3));
        prop_assert_eq!(spec.up_kbps, Some(f64::from(up) * 1e3));
        prop_assert_eq!(spec.rtt_ms, f64::from(ms));
        prop_assert!((spec.loss - f64::from(loss) / 1e3).abs() < 1e-12);
        prop_assert_eq!(spec.queue_bytes, Some(u64::from(queue) * 1_000));
    }
}
