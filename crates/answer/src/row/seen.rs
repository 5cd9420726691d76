//! What a page shows of a row beyond its figures: when each round was, and how single samples are distributed.

use weigh_stats::hist::Hist;

use crate::gather::{Measured, usable};
use crate::metric::{Metric, Over, Part, Source};
use crate::row::{Histograms, times};
use crate::subject::Shape;

/// Bins of a distribution.
const BINS: usize = 40;

/// When a row was measured, and the distribution of its samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// (round, seconds since the start of the run), ascending.
    pub at: Vec<(u32, f64)>,
    /// The distribution; none without samples.
    pub bins: Option<Bins>,
}

/// Counts of samples between edges; each edge is the same factor above the one before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bins {
    /// The metric of the samples: the first one that has samples of its own.
    pub metric: &'static str,
    /// One more than there are counts, ascending, in the metric's unit.
    pub edges: Vec<f64>,
    /// Samples from an edge up to the next.
    pub counts: Vec<u64>,
}

impl Seen {
    pub(super) fn of(shape: &Shape, measured: &Measured, histograms: &mut Histograms) -> Seen {
        let at = measured.visits.iter().map(|visit| (visit.round, visit.at)).collect();
        Seen { at, bins: shape.metrics().find_map(|metric| bins(metric, measured, histograms)) }
    }
}

fn bins(metric: &Metric, measured: &Measured, histograms: &mut Histograms) -> Option<Bins> {
    let counted: Vec<(f64, u64)> = match metric.of {
        Source::Samples(of) => {
            let samples = measured.visits.iter().filter_map(|visit| Some((*visit, &of(visit)?.cpu_ns)));
            samples.flat_map(|(visit, cpu_ns)| usable(cpu_ns).map(|ns| (visit.share(ns), 1))).collect()
        }
        // Times have several metrics; their median stands for them.
        Source::Times(of) if metric.over == Over::Distribution(Part::Quantile(0.5)) => {
            counts(times(of, measured, histograms))
        }
        _ => return None,
    };
    let counted: Vec<(f64, u64)> = counted.into_iter().filter(|(amount, _)| *amount > 0.0).collect();
    let ends = counted.iter().map(|(amount, _)| *amount);
    let metric = metric.id;
    let (low, high) = (ends.clone().reduce(f64::min)?, ends.reduce(f64::max)?);
    let step = (high / low).ln() / BINS as f64;
    if step == 0.0 {
        let all = counted.iter().map(|(_, count)| count).sum();
        return Some(Bins { metric, edges: vec![low, high], counts: vec![all] });
    }
    let mut counts = vec![0; BINS];
    for (amount, count) in counted {
        counts[(((amount / low).ln() / step) as usize).min(BINS - 1)] += count;
    }
    let edges = (0..=BINS).map(|at| low * (step * at as f64).exp()).collect();
    Some(Bins { metric, edges, counts })
}

/// The recorded times of a histogram in seconds.
fn counts(hist: &Hist) -> Vec<(f64, u64)> {
    let recorded = hist.inner().iter_recorded();
    recorded.map(|step| (step.value_iterated_to() as f64 / 1e9, step.count_since_last_iteration())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{codec, delivery};
    use std::collections::BTreeMap;
    use weigh_model::cell::{Cell, Subject};
    use weigh_model::protocol::{Phase, Samples};
    use weigh_model::record::{DeliveryVisit, VisitRecord};
    use weigh_model::setting::Setting;
    use weigh_stats::hist::Packed;

    fn seen(shape: &Shape, visits: &[VisitRecord]) -> Seen {
        let cell = Cell {
            id: "a".into(),
            side: None,
            subject: Subject::CODEC,
            payload: "a".into(),
            runtime: "native".into(),
            serializer: None,
            setting: Setting::at("zstd", 3),
            keep: false,
            expected_seconds: 0.0,
            delivery: None,
            client: None,
        };
        let visits = visits.iter().collect();
        let measured =
            Measured { cell: &cell, visits, stop: None, caveats: Vec::new(), seed: 1, is_others: false };
        Seen::of(shape, &measured, &mut Histograms::new())
    }

    #[test]
    fn every_sample_is_in_a_bin() {
        let samples = |cpu_ns: &[f64]| Samples { cpu_ns: cpu_ns.to_vec(), ..Samples::default() };
        let visit = |round: u32, cpu_ns: &[f64]| VisitRecord {
            at: f64::from(round) * 2.0,
            phases: BTreeMap::from([(Phase::Encode, samples(cpu_ns))]),
            ..VisitRecord::of("a", round)
        };
        let seen = seen(&codec::SHAPE, &[visit(1, &[10.0, 20.0, f64::NAN]), visit(2, &[1000.0, 10.0])]);
        assert_eq!(seen.at, [(1, 2.0), (2, 4.0)]);
        let bins = seen.bins.unwrap();
        assert_eq!((bins.metric, bins.edges.len(), bins.counts.len()), ("encode", 41, 40));
        assert_eq!((bins.counts.iter().sum::<u64>(), bins.counts[0], bins.counts[39]), (4, 2, 1));
        assert!((bins.edges[0] - 10.0).abs() < 1e-9 && (bins.edges[40] - 1000.0).abs() < 1e-6);
    }

    #[test]
    fn times_come_from_histograms_and_equal_samples_share_a_bin() {
        let mut hist = Hist::default();
        hist.record_n(2_000_000, 5);
        let mut visit = VisitRecord::of("a", 1);
        visit.delivery = Some(Box::new(DeliveryVisit {
            requests: 5,
            response: Packed::of(&hist),
            ..DeliveryVisit::default()
        }));
        let bins = seen(&delivery::SHAPE, &[visit]).bins.unwrap();
        assert_eq!(bins.counts.iter().sum::<u64>(), 5);
        assert!((bins.edges[0] - 0.002).abs() < 1e-4);
        assert!(seen(&codec::SHAPE, &[]).bins.is_none());
    }
}
