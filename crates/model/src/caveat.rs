//! Caveats: typed warnings that travel with a number and name what would mend them.

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
    /// The hypervisor took much of the CPU time of some visits: see [`crate::record::steal`].
    StolenVisits {
        /// How many.
        visits: u32,
        /// Of how many.
        of: u32,
        /// The largest share of one of them that was stolen, 0 to 1.
        most: f64,
    },
    /// The whole machine was slower in some rounds than in others.
    Drift {
        /// The slowest round's factor ÷ the fastest round's.
        factor: f64,
    },
    /// The interval is wider than asked for.
    Unconverged {
        /// Half-width ÷ CPU time of the widest axis.
        half_width: f64,
        /// What was asked for.
        asked: f64,
    },
    /// Fewer samples than a figure needs.
    FewSamples {
        /// How many there are.
        samples: u32,
    },
    /// Not real content.
    Synthetic {
        /// The payload's name.
        payload: String,
    },
    /// Only stated blocks of a large content were measured.
    Sampled {
        /// The payload's name.
        payload: String,
        /// Which blocks.
        blocks: String,
    },
    /// Real content of the corpus, but not the pinned bytes.
    Unpinned {
        /// The payload's name.
        payload: String,
        /// Why.
        why: String,
    },
    /// The encoded bytes differed from one round to another.
    Unstable {
        /// The cell's id.
        cell: String,
    },
    /// The run was interrupted and taken up again this often.
    Resumed {
        /// How often.
        times: u32,
    },
    /// The load generator was busy enough to be the limit.
    GeneratorLimit {
        /// Share of a core that its busiest thread used, 0 to 1.
        share: f64,
    },
    /// Those that ask and those that answer could not have processors of their own: server, PHP and load generator, or store and workers.
    SharedCores {
        /// How many processors they shared.
        cores: u32,
    },
    /// Slow clients were measured over the machine's loopback, whose buffers take much of a response at once.
    DeepBuffers,
    /// Nobody's CPU time was read: the server is not the lab's.
    NotMetered,
    /// What a URL sent was not the same all the time.
    Changing {
        /// The payload's name.
        payload: String,
    },
    /// Some responses of a block were faults.
    FaultyResponses {
        /// How many.
        faulted: u64,
        /// Of how many requests.
        requests: u64,
        /// The first of them in words.
        example: String,
    },
    /// Some transactions of a block failed.
    FailedTransactions {
        /// How many.
        failed: u64,
        /// Of how many.
        transactions: u64,
        /// The first of them in words.
        example: String,
    },
    /// Reads found nothing under keys that had been written.
    Evicted {
        /// Share of reads, 0 to 1.
        share: f64,
    },
    /// A schedule was not kept: transactions were due and never sent.
    Dropped {
        /// How many.
        dropped: u64,
        /// Of how many.
        scheduled: u64,
    },
    /// Workers did not begin together: what they do a second side by side is overstated.
    Staggered {
        /// Milliseconds between the first begin and the last one, median over rounds.
        skew_ms: f64,
        /// The same as a share of the longest worker's time.
        share: f64,
    },
    /// The worker's own loop is more than a twentieth of a transaction.
    OwnOverhead {
        /// Its share of the workers' CPU time, 0 to 1.
        share: f64,
    },
    /// Answers to the matrix of requests break rules of HTTP.
    Negotiation {
        /// How many rules.
        quirks: u32,
        /// The first of them in words.
        example: String,
    },
}

impl Caveat {
    /// It follows from a cell's visits: see [`crate::record::caveats`]. Runs of before recorded one with the totals of its first visit.
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
