//! Caveats in words: short for a row, and as sentences.

use crate::text::clean;
use weigh_model::caveat::Caveat;
use weigh_model::record::StopReason;
use weigh_model::record::steal::LIMIT;
use weigh_model::units;

/// A caveat in two or three words, for a row.
pub fn note(caveat: &Caveat) -> String {
    match caveat {
        Caveat::NoisyMachine { wall_over_cpu } => format!("wall {wall_over_cpu:.2}× CPU"),
        Caveat::FrequencyScaling { .. } => "clock moves".into(),
        Caveat::Steal { share } => format!("{:.0}% stolen", share * 100.0),
        Caveat::StolenVisits { visits, of, .. } => format!("stolen in {visits}/{of}"),
        Caveat::Drift { factor } => format!("rounds differ {factor:.2}×"),
        Caveat::Unconverged { half_width, .. } => format!("unconverged +{:.0}%", half_width * 100.0),
        Caveat::FewSamples { samples: 1 } => "1 sample".into(),
        Caveat::FewSamples { samples } => format!("{samples} samples"),
        Caveat::Synthetic { .. } => "synthetic".into(),
        Caveat::Sampled { .. } => "blocks only".into(),
        Caveat::Unpinned { .. } => "not pinned".into(),
        Caveat::Unstable { .. } => "bytes vary".into(),
        Caveat::Resumed { times } => format!("resumed {times}×"),
        Caveat::GeneratorLimit { share } => format!("generator {:.0}% busy", share * 100.0),
        Caveat::SharedCores { .. } => "cores shared".into(),
        Caveat::DeepBuffers => "deep buffers".into(),
        Caveat::NotMetered => "no CPU time".into(),
        Caveat::Changing { .. } => "content changes".into(),
        Caveat::FaultyResponses { faulted, .. } => format!("{faulted} faulty"),
        Caveat::Negotiation { .. } => "negotiation".into(),
        Caveat::FailedTransactions { failed, .. } => format!("{failed} failed"),
        Caveat::Evicted { share } => format!("{:.1}% missed", share * 100.0),
        Caveat::Dropped { dropped, .. } => format!("{dropped} dropped"),
        Caveat::Staggered { skew_ms, .. } => format!("begun {skew_ms:.0} ms apart"),
        Caveat::OwnOverhead { share } => format!("own loop {:.0}%", share * 100.0),
    }
}

/// What would bring a cell more rounds, by why it has no more: a larger budget only where that ended it.
fn more_rounds(stop: Option<&StopReason>) -> &'static str {
    match stop {
        Some(StopReason::Budget) => "Give a larger budget.",
        Some(StopReason::Rounds) => "Give the study more rounds (max_rounds).",
        Some(_) => "Take it for the size of the cost: more rounds would have changed no answer.",
        None => "Go on with the run by --resume.",
    }
}

/// A caveat as a sentence, and what would mend it; `stop` is why the cell that it is of was done.
pub fn explain(caveat: &Caveat, stop: Option<&StopReason>) -> (String, String) {
    let (what, remedy) = match caveat {
        Caveat::NoisyMachine { wall_over_cpu } => (
            format!("The processor was shared: wall time was {wall_over_cpu:.2} times CPU time."),
            "Trust the CPU times; measure on an idle machine for wall times.",
        ),
        Caveat::FrequencyScaling { governor } => (
            format!("The processor's clock may move ({}).", clean(governor)),
            "Set the performance governor, or compare only inside this run.",
        ),
        Caveat::Steal { share } => (
            format!("The hypervisor took {:.1}% of the CPU time away.", share * 100.0),
            "Measure on a dedicated machine.",
        ),
        Caveat::StolenVisits { visits, of, most } => (
            format!(
                "The hypervisor took more than {:.0}% of the CPU time in {visits} of {}, up to {:.0}%.",
                LIMIT * 100.0,
                units::count(*of as usize, "visit", "visits"),
                most * 100.0
            ),
            "Trust figures of many rounds; measure on a dedicated machine for rates and response times.",
        ),
        Caveat::Drift { factor } => (
            format!(
                "The machine was up to {factor:.2} times as slow in some rounds as in others; the figures are \
                 near those of the calmest rounds."
            ),
            "Compare inside this run; measure on an idle machine for absolute rates.",
        ),
        Caveat::Unconverged { half_width, asked } => (
            format!("The interval of a figure reaches {:.1}% above it, {:.1}% was asked for.", half_width * 100.0, asked * 100.0),
            "Give a larger budget.",
        ),
        Caveat::FewSamples { samples } => (
            format!("A figure from only {}.", units::count(*samples as usize, "sample", "samples")),
            more_rounds(stop),
        ),
        Caveat::Synthetic { payload } => (
            format!("{} is synthetic content, made by a generator.", clean(payload)),
            "Measure your own files, or fetch the corpus.",
        ),
        Caveat::Sampled { payload, blocks } => (
            format!("Of {} only {} were measured.", clean(payload), clean(blocks)),
            "Cut the content to what is really sent in one piece.",
        ),
        Caveat::Unpinned { payload, why } => (
            format!("{} is not the pinned content: {}.", clean(payload), clean(why)),
            "Fetch the corpus where its registry can be reached.",
        ),
        Caveat::Unstable { cell } => (
            format!("The encoded bytes of {} differed between rounds.", clean(cell)),
            "Look for a time stamp or a random value in what is encoded.",
        ),
        Caveat::Resumed { times } => (
            format!("The run was interrupted and taken up again {times}×."),
            "Measure without a pause when rounds should be comparable.",
        ),
        Caveat::GeneratorLimit { share } => (
            format!("The load generator used {:.0}% of a core: it may be the limit.", share * 100.0),
            "Trust the CPU times; for rates, use more cores or fewer connections.",
        ),
        Caveat::SharedCores { cores } => (
            format!(
                "Those that ask and those that answer shared {}.",
                units::count(*cores as usize, "processor", "processors")
            ),
            "Trust the CPU times; for rates and response times, use a machine with a core for each.",
        ),
        Caveat::DeepBuffers => (
            "Slow clients were measured over the machine's own loopback, whose buffers take megabytes of a response at once.".into(),
            "Measure as root, with the program `ip` (iproute2), for a network whose buffers are small.",
        ),
        Caveat::NotMetered => (
            "The CPU time of the server was not measured: it is not this program's own.".into(),
            "Compare times with care; for CPU times have one started here, a web server with your configuration by --server-config, a store by its name.",
        ),
        Caveat::Changing { payload } => (
            format!(
                "What {} sent changed during the run: each response was decoded, not compared with the first.",
                clean(payload)
            ),
            "Measure a URL whose content stays, or a copy of the page with --content.",
        ),
        Caveat::FaultyResponses { faulted, requests, example } => (
            format!("{faulted} of {requests} responses were not as they should be: {}.", clean(example)),
            "Look into the logs of server and PHP in the run directory.",
        ),
        Caveat::Negotiation { quirks, example } => (
            format!(
                "Answers break {} of HTTP, such as: {}.",
                units::count(*quirks as usize, "rule", "rules"),
                clean(example)
            ),
            "See the table of negotiation before you put this way before caches and browsers.",
        ),
        Caveat::FailedTransactions { failed, transactions, example } => (
            format!("{failed} of {transactions} transactions failed: {}.", clean(example)),
            "Look into the logs of the store and of the workers in the run directory.",
        ),
        Caveat::Evicted { share } => (
            format!("{:.1}% of the reads found nothing under keys that had been written.", share * 100.0),
            "Give the store more memory, or measure fewer or smaller values.",
        ),
        Caveat::Dropped { dropped, scheduled } => (
            format!(
                "{dropped} of {scheduled} scheduled transactions were never sent: the rate was not kept."
            ),
            "Ask for a lower rate; `rates` left out finds what can be had.",
        ),
        Caveat::Staggered { skew_ms, share } => (
            format!(
                "Workers began {skew_ms:.1} ms apart, {:.0}% of the time that the longest took: they were side by side for the rest alone.",
                share * 100.0
            ),
            "Ask for more transactions in a block; trust the CPU times.",
        ),
        Caveat::OwnOverhead { share } => (
            format!("{:.0}% of the workers' CPU time is their own loop.", share * 100.0),
            "Read differences of a few percent with care: what is measured is quicker than what measures it.",
        ),
    };
    (what, remedy.to_owned())
}
