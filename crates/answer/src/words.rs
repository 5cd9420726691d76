//! Caveats as text: short for a row, and as sentences.

use crate::text::clean;
use weigh_model::caveat::{Caveat, RoundCluster};
use weigh_model::record::StopReason;
use weigh_model::record::steal::LIMIT;
use weigh_model::units;

/// A caveat in two or three words, for a row.
pub fn note(caveat: &Caveat) -> String {
    match caveat {
        Caveat::NoisyMachine { wall_over_cpu } => format!("wall {wall_over_cpu:.2}× CPU"),
        Caveat::FrequencyScaling { .. } => "clock varies".into(),
        Caveat::Steal { share } => format!("{:.0}% stolen", share * 100.0),
        Caveat::StolenVisits { visits, of, .. } => format!("stolen in {visits}/{of}"),
        Caveat::Drift { factor } => format!("rounds differ {factor:.2}×"),
        Caveat::Thinned { one_of, .. } => format!("1 round of {one_of}"),
        Caveat::TwoClusters { lower, upper, .. } => format!("two clusters: {}", clusters(lower, upper)),
        Caveat::Unconverged { half_width, .. } => format!("imprecise +{:.0}%", half_width * 100.0),
        Caveat::FewSamples { samples: 1 } => "1 sample".into(),
        Caveat::FewSamples { samples } => format!("{samples} samples"),
        Caveat::Synthetic { .. } => "synthetic".into(),
        Caveat::Sampled { .. } => "sampled".into(),
        Caveat::Unpinned { .. } => "not pinned".into(),
        Caveat::Unstable { .. } => "bytes vary".into(),
        Caveat::Resumed { times } => format!("resumed {times}×"),
        Caveat::GeneratorLimit { share } => format!("generator {:.0}% busy", share * 100.0),
        Caveat::LittlesLaw { in_flight, connections, .. } => {
            format!("{} of {connections} in flight", units::significant(*in_flight))
        }
        Caveat::SharedCores { .. } => "cores shared".into(),
        Caveat::DeepBuffers => "deep buffers".into(),
        Caveat::NotMetered => "no CPU time".into(),
        Caveat::Changing { .. } => "content changes".into(),
        Caveat::FaultyResponses { faulted, .. } => format!("{faulted} failed"),
        Caveat::Negotiation { .. } => "negotiation".into(),
        Caveat::FailedTransactions { failed, .. } => format!("{failed} failed"),
        Caveat::Evicted { share } => format!("{:.1}% missed", share * 100.0),
        Caveat::Dropped { dropped, .. } => format!("{dropped} dropped"),
        Caveat::Staggered { skew_ms, .. } => format!("started {skew_ms:.0} ms apart"),
        Caveat::OwnOverhead { share } => format!("overhead {:.0}%", share * 100.0),
    }
}

/// Two clusters of rounds: `1.40 ms in 1, 4.20–5.00 ms in 6`.
fn clusters(lower: &RoundCluster, upper: &RoundCluster) -> String {
    let one = |c: &RoundCluster| format!("{} in {}", units::ns_range(c.low_ns, c.high_ns), c.rounds);
    format!("{}, {}", one(lower), one(upper))
}

/// How a cell gets more rounds, by the reason why it has no more: a larger budget only if the budget ended it.
fn more_rounds(stop: Option<&StopReason>) -> &'static str {
    match stop {
        Some(StopReason::Budget) => "Use a larger --budget.",
        Some(StopReason::Rounds) => "Raise max_rounds in the study.",
        Some(_) => "Read it as a rough cost: more rounds would not change the recommendation.",
        None => "Continue the run with --resume.",
    }
}

/// A caveat as a sentence, and what would fix the cause; `stop` is why its cell was no longer visited.
pub fn explain(caveat: &Caveat, stop: Option<&StopReason>) -> (String, String) {
    let (what, remedy) = match caveat {
        Caveat::NoisyMachine { wall_over_cpu } => (
            format!("The processor was shared: wall time was {wall_over_cpu:.2}× CPU time."),
            "Use the CPU times; measure wall times on an idle machine.",
        ),
        Caveat::FrequencyScaling { governor } => (
            format!("The processor's clock frequency may change ({}).", clean(governor)),
            "Set the performance governor, or compare within this run only.",
        ),
        Caveat::Steal { share } => (
            format!("The hypervisor took {:.1}% of the CPU time.", share * 100.0),
            "Measure on a dedicated machine.",
        ),
        Caveat::StolenVisits { visits, of, most } => (
            format!(
                "The hypervisor took more than {:.0}% of the CPU time in {visits} of {}, at most {:.0}%.",
                LIMIT * 100.0,
                units::count(*of as usize, "sample", "samples"),
                most * 100.0
            ),
            "Measure rates and response times on a dedicated machine.",
        ),
        Caveat::Drift { factor } => (
            format!(
                "Some rounds ran up to {factor:.2}× slower than others. The figures come from the calmest rounds."
            ),
            "Compare within this run; measure absolute rates on an idle machine.",
        ),
        Caveat::Thinned { one_of, left_out } => (
            format!(
                "The run is long: of its rounds, 1 of {one_of} is evaluated, and {} are left out.",
                units::count(*left_out as usize, "record", "records")
            ),
            "Nothing to do: intervals are those of the rounds that are evaluated. All are in the run's log.",
        ),
        Caveat::TwoClusters { metric, lower, upper } => (
            format!("{}: rounds in two clusters: {}.", clean(metric), clusters(lower, upper)),
            match stop {
                None | Some(StopReason::Budget | StopReason::Rounds) => more_rounds(stop),
                Some(_) => "Measure it again, alone: its figure is drawn to the quicker rounds.",
            },
        ),
        Caveat::Unconverged { half_width, asked } => (
            format!(
                "A confidence interval reaches {:.1}% above its figure; {:.1}% was requested.",
                half_width * 100.0,
                asked * 100.0
            ),
            "Use a larger --budget.",
        ),
        Caveat::FewSamples { samples } => (
            format!("A figure rests on only {}.", units::count(*samples as usize, "sample", "samples")),
            more_rounds(stop),
        ),
        Caveat::Synthetic { payload } => (
            format!("{} is synthetic content from a generator.", clean(payload)),
            "Measure your own files, or run `weigh lab corpus fetch`.",
        ),
        Caveat::Sampled { payload, blocks } => (
            format!("Of {}, only {} were measured.", clean(payload), clean(blocks)),
            "Measure all files with --exact, or cut a file to the size that is really sent at once.",
        ),
        Caveat::Unpinned { payload, why } => (
            format!("{} differs from the pinned corpus: {}.", clean(payload), clean(why)),
            "Run `weigh lab corpus fetch` with access to its registry.",
        ),
        Caveat::Unstable { cell } => (
            format!("The encoded bytes of {} differed between rounds.", clean(cell)),
            "Look for a timestamp or random value in the content.",
        ),
        Caveat::Resumed { times } => (
            format!("The run was interrupted and resumed {times}×."),
            "Measure without interruption to compare rounds.",
        ),
        Caveat::GeneratorLimit { share } => (
            format!("The load generator used {:.0}% of a core and may be the bottleneck.", share * 100.0),
            "Use the CPU times; for throughput, use more cores or fewer connections.",
        ),
        Caveat::LittlesLaw { in_flight, connections, visits, of } => (
            format!(
                "In {visits} of {}, rate × mean response time is up to {} requests in flight, but {} always had one (Little's law).",
                units::count(*of as usize, "sample", "samples"),
                units::significant(*in_flight),
                units::count(*connections as usize, "connection", "connections"),
            ),
            "Use the CPU times; for rates and response times, measure again on an idle machine.",
        ),
        Caveat::SharedCores { cores } => (
            format!("Client and server shared {}.", units::count(*cores as usize, "core", "cores")),
            "Use the CPU times; for throughput and response times, give each a core of its own.",
        ),
        Caveat::DeepBuffers => (
            "Slow clients were measured over plain loopback, whose buffers absorb megabytes of a response."
                .into(),
            "Install iproute2 and allow user namespaces (or run as root) for a network with small buffers.",
        ),
        Caveat::NotMetered => (
            "The server's CPU time was not measured: it was not started by weigh.".into(),
            "For CPU times, let weigh start it: --server-config FILE, or the store by name.",
        ),
        Caveat::Changing { payload } => (
            format!(
                "{} changed during the run: responses were decoded, not compared byte for byte.",
                clean(payload)
            ),
            "Measure a URL with stable content, or a copy with --content.",
        ),
        Caveat::FaultyResponses { faulted, requests, example } => (
            format!("{faulted} of {requests} responses failed verification: {}.", clean(example)),
            "See the logs of server and PHP in the run directory.",
        ),
        Caveat::Negotiation { quirks, example } => (
            format!(
                "Content negotiation breaks {}, such as: {}.",
                units::count(*quirks as usize, "rule of RFC 9110", "rules of RFC 9110"),
                clean(example)
            ),
            "See the negotiation table before you use this method with caches and browsers.",
        ),
        Caveat::FailedTransactions { failed, transactions, example } => (
            format!("{failed} of {transactions} transactions failed: {}.", clean(example)),
            "See the logs of store and workers in the run directory.",
        ),
        Caveat::Evicted { share } => (
            format!("{:.1}% of reads missed keys that had been written.", share * 100.0),
            "Give the store more memory, or use fewer or smaller values.",
        ),
        Caveat::Dropped { dropped, scheduled } => (
            format!(
                "{dropped} of {scheduled} scheduled transactions were never sent: the rate was not reached."
            ),
            "Use a lower rate, or leave `rates` out to find the maximum.",
        ),
        Caveat::Staggered { skew_ms, share } => (
            format!(
                "Workers started {skew_ms:.1} ms apart, {:.0}% of the longest run time; they ran in parallel only after that.",
                share * 100.0
            ),
            "Use more transactions per block; use the CPU times.",
        ),
        Caveat::OwnOverhead { share } => (
            format!("{:.0}% of the workers' CPU time is the benchmark loop itself.", share * 100.0),
            "Treat differences of a few percent with care.",
        ),
    };
    (what, remedy.to_owned())
}
