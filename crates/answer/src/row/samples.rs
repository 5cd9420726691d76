//! What a page shows of a row beyond its figures: when each round was, and how single samples are distributed.

/// When a row was measured, and the distribution of its samples.
#[derive(Clone, Debug, PartialEq)]
pub struct RowSamples {
    /// (round, seconds since the start of the run), ascending.
    pub at: Vec<(u32, f64)>,
    /// The distribution; none without samples.
    pub bins: Option<Bins>,
}

/// Counts of samples between edges; each edge is the same factor above the one before it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Bins {
    /// The metric of the samples: the first one that has samples of its own.
    pub metric: &'static str,
    /// One more than there are counts, ascending, in the metric's unit.
    pub edges: Vec<f64>,
    /// Samples from an edge up to the next.
    pub counts: Vec<u64>,
}
