//! Caveats: typed warnings that belong to a number, each with what would fix the cause.

use serde::{Deserialize, Serialize};

/// A warning about a run or about one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "code")]
pub enum Caveat {
    /// The processor was shared: wall time was well over CPU time.
    NoisyMachine {
        /// Wall time ÷ CPU time, median over the samples.
        wall_over_cpu: f64,
    },
    /// The processor's clock may move: the governor is not `performance`, or turbo is on.
    FrequencyScaling {
        /// The governor, or what else was seen.
        governor: String,
    },
    /// The hypervisor took time away.
    Steal {
        /// Share of the CPU time that was wanted (used or stolen), 0 to 1.
        share: f64,
    },
    /// The hypervisor took more than 5% of the wanted CPU time of some visits: see [`crate::record::steal`].
    StolenVisits {
        /// Visits that are marked.
        visits: u32,
        /// All visits.
        of: u32,
        /// The largest stolen share of one visit, 0 to 1.
        most: f64,
    },
    /// The whole machine was slower in some rounds than in others.
    Drift {
        /// The slowest round's factor ÷ the fastest round's.
        factor: f64,
    },
    /// A configuration's rounds are in two clusters: its time has two figures.
    TwoClusters {
        /// The metric's id.
        metric: String,
        /// The quicker rounds, to which the figure is drawn.
        lower: RoundCluster,
        /// The slower rounds.
        upper: RoundCluster,
    },
    /// The interval is wider than requested.
    Unconverged {
        /// Half-width ÷ value of the axis with the widest interval.
        half_width: f64,
        /// The half-width that was requested.
        asked: f64,
    },
    /// A figure has fewer samples than it needs.
    FewSamples {
        /// The number of samples.
        samples: u32,
    },
    /// The content is generated, not real.
    Synthetic {
        /// The payload's name.
        payload: String,
    },
    /// Only some blocks of a large content were measured.
    Sampled {
        /// The payload's name.
        payload: String,
        /// Which blocks these are.
        blocks: String,
    },
    /// The content comes from the corpus, but its bytes are not the pinned ones.
    Unpinned {
        /// The payload's name.
        payload: String,
        /// The reason.
        why: String,
    },
    /// The encoded bytes differed between rounds.
    Unstable {
        /// The cell's id.
        cell: String,
    },
    /// The run was interrupted and resumed.
    Resumed {
        /// How many times.
        times: u32,
    },
    /// The load generator was so busy that it may have limited the throughput.
    GeneratorLimit {
        /// Share of a core that its busiest thread used, 0 to 1.
        share: f64,
    },
    /// The rate × the mean response time of some blocks is not the number of connections, although each always has a
    /// request in flight: by Little's law, one of the two is wrong.
    LittlesLaw {
        /// The mean number of requests in flight by the law, in the block that is furthest off.
        in_flight: f64,
        /// The connections, each with one request at a time.
        connections: u32,
        /// Blocks that are off by more than 10%.
        visits: u32,
        /// All blocks.
        of: u32,
    },
    /// Client and server shared processors: server, PHP and load generator, or store and workers.
    SharedCores {
        /// The number of shared processors.
        cores: u32,
    },
    /// Slow clients were measured over loopback, whose large buffers hold much of a response at once.
    DeepBuffers,
    /// No CPU time was read, because the server was not started by the program.
    NotMetered,
    /// The URL did not always send the same content.
    Changing {
        /// The payload's name.
        payload: String,
    },
    /// Some responses of a block failed.
    FaultyResponses {
        /// Failed responses.
        faulted: u64,
        /// All requests.
        requests: u64,
        /// The message of the first failure.
        example: String,
    },
    /// Some transactions of a block failed.
    FailedTransactions {
        /// Failed transactions.
        failed: u64,
        /// All transactions.
        transactions: u64,
        /// The message of the first failure.
        example: String,
    },
    /// Reads missed keys that had been written.
    Evicted {
        /// Share of reads that missed, 0 to 1.
        share: f64,
    },
    /// Scheduled transactions were never sent.
    Dropped {
        /// Transactions that were not sent.
        dropped: u64,
        /// Scheduled transactions.
        scheduled: u64,
    },
    /// Workers did not start together, so their combined throughput is overstated.
    Staggered {
        /// Milliseconds between the first start and the last start, median over rounds.
        skew_ms: f64,
        /// The same as a share of the slowest worker's time.
        share: f64,
    },
    /// The worker's own loop takes more than 5% of the CPU time of a transaction.
    OwnOverhead {
        /// Its share of the workers' CPU time, 0 to 1.
        share: f64,
    },
    /// The run is so long that the figures are drawn from some of its rounds.
    Thinned {
        /// One round of this many is kept.
        one_of: u32,
        /// Records that are left out.
        left_out: u64,
    },
    /// Some responses of the negotiation matrix break rules of HTTP.
    Negotiation {
        /// Number of broken rules.
        quirks: u32,
        /// The first broken rule, as a sentence.
        example: String,
    },
}

/// Rounds whose times are close together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RoundCluster {
    /// The number of rounds.
    pub rounds: u32,
    /// The shortest time in nanoseconds.
    pub low_ns: f64,
    /// The longest time in nanoseconds.
    pub high_ns: f64,
}

impl Caveat {
    /// Whether the caveat follows from a cell's visits: see [`crate::record::caveats`]. Older runs recorded such a
    /// caveat with the totals of the first visit.
    pub fn is_of_visits(&self) -> bool {
        matches!(
            self,
            Caveat::StolenVisits { .. }
                | Caveat::GeneratorLimit { .. }
                | Caveat::DeepBuffers
                | Caveat::FaultyResponses { .. }
                | Caveat::FailedTransactions { .. }
                | Caveat::Evicted { .. }
                | Caveat::Dropped { .. }
                | Caveat::OwnOverhead { .. }
        )
    }
}
