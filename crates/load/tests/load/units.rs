//! Quantities as a user writes them.

use weigh_load::units::{byte_rate, bytes, seconds};

#[test]
fn times() {
    let read: Vec<f64> =
        ["0.5", "500ms", "10s", "2m", "2min", "1h", "0", "1.5 s"].map(|t| seconds(t).unwrap()).to_vec();
    assert_eq!(read, [0.5, 0.5, 10.0, 120.0, 120.0, 3600.0, 0.0, 1.5]);
    assert!((seconds("250us").unwrap() - 250e-6).abs() < 1e-12);
    for text in ["", "s", "-1", "+1s", "nan", "inf", "1d", "1e30", "1 2s", "ms5"] {
        assert!(seconds(text).unwrap_err().starts_with(&format!("{text:?} is not a time")), "{text}");
    }
}

#[test]
fn sizes() {
    let read: Vec<u64> =
        ["1500", "1MB", "1.5kb", "64KiB", "2G", "10 bytes", "0", "1B"].map(|t| bytes(t).unwrap()).to_vec();
    assert_eq!(read, [1500, 1_000_000, 1500, 65_536, 2_000_000_000, 10, 0, 1]);
    for text in ["", "MB", "-1", "1TB", "1e30", "50KB/s"] {
        assert!(bytes(text).unwrap_err().starts_with(&format!("{text:?} is not a size")), "{text}");
    }
}

#[test]
fn rates_of_reading() {
    assert_eq!(byte_rate("50KB/s"), Ok(50_000));
    assert_eq!(byte_rate("1 MiB/s"), Ok(1 << 20));
    for text in ["50KB", "0/s", "0.1b/s", "/s", "fast"] {
        assert!(byte_rate(text).unwrap_err().contains("bytes per second above 0, such as 50KB/s"), "{text}");
    }
}
