//! The ids of the metrics of loads.

/// Completed responses per second.
pub const RATE: &str = "rate";

/// The share of requests without a response.
pub const ERRORS: &str = "errors";

/// Percentiles of response times, with their shares.
pub const PERCENTILES: [(&str, f64); 5] =
    [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)];

/// Percentiles of the time to the first byte.
pub const FIRST_BYTE: [(&str, f64); 2] = [("ttfb-p50", 0.5), ("ttfb-p99", 0.99)];

/// Bytes of a body that is always the same.
pub const BODY: &str = "body-bytes";

/// Bytes of bodies that are not.
pub const MEAN_BODY: &str = "mean-body-bytes";

/// CPU time of the generator.
pub const CLIENT_CPU: &str = "client-cpu";

/// The highest rate within a limit of response times.
pub const CAPACITY: &str = "capacity";

/// The name of what a load sends when, among the facts of its environment.
pub const ARRIVALS: &str = "arrival model";
