//! The rows of a report, each derived from its cell alone.

use std::collections::HashMap;

use weigh_model::plan::Plan;
use weigh_model::record::VisitRecord;
use weigh_stats::hist::{Hist, Packed};

use crate::estimate::{Estimate, MEDIAN, QUANTILE};
use crate::gather::{Measured, usable};
use crate::metric::{Aggregation, Metric, Source, Statistic, merged, part_of};
use crate::report::shape::Shape;
use crate::row::{Bins, Row, RowSamples, Values};

/// Histograms by their source.
pub(crate) type Histograms = HashMap<usize, Hist>;

/// The times of all visits; those of one source are added up once for all their statistics.
pub(crate) fn times<'h>(
    of: fn(&VisitRecord) -> Option<&Packed>,
    measured: &Measured,
    histograms: &'h mut Histograms,
) -> &'h Hist {
    let packed = || measured.visits.iter().filter_map(|visit| of(visit));
    histograms.entry(of as *const () as usize).or_insert_with(|| merged(packed()))
}

/// The result of a metric over the visits of a cell.
pub(crate) fn estimate(
    metric: &Metric,
    measured: &Measured,
    values: &Values,
    histograms: &mut Histograms,
) -> Option<Estimate> {
    match metric.of {
        Source::Beside => None,
        Source::Values(of) => of(measured.cell, values),
        Source::Visits(of) => of(measured),
        Source::Samples(of) => Estimate::over_rounds(measured.round_medians(of), QUANTILE),
        Source::Total(of) => {
            let totals: Vec<(f64, f64)> = measured.visits.iter().filter_map(|visit| of(visit)).collect();
            let (total, count) = totals.iter().fold((0.0, 0.0), |(t, n), (x, m)| (t + x, n + m));
            (count > 0.0).then(|| Estimate::exact(total / count, totals.len()))
        }
        Source::Times(of) => {
            let Aggregation::Distribution(part) = metric.over else { return None };
            part_of(times(of, measured, histograms), part)
                .map(|value| Estimate::exact(value, measured.visits.len()))
        }
        Source::Visit(of) => over_visits(metric.over, measured, of),
        Source::CellVisit(of) => over_visits(metric.over, measured, |visit| of(measured.cell, visit)),
    }
}

fn over_visits(
    over: Aggregation,
    measured: &Measured,
    of: impl Fn(&VisitRecord) -> Option<f64>,
) -> Option<Estimate> {
    let amount = |visit: &&VisitRecord| Some((visit.round, of(visit)?));
    let rounds: Vec<(u32, f64)> = measured.visits.iter().filter_map(amount).collect();
    let amounts = || rounds.iter().map(|round| round.1).filter(|amount| amount.is_finite());
    let exact = |value: Option<f64>| value.map(|value| Estimate::exact(value, rounds.len()));
    match over {
        Aggregation::LowQuantile | Aggregation::Median => {
            let usable = |(_, amount): &(u32, f64)| (0.0..1e18).contains(amount);
            let rounds = rounds.into_iter().filter(usable).collect();
            let p = if over == Aggregation::Median { MEDIAN } else { QUANTILE };
            Estimate::over_rounds(rounds, p)
        }
        Aggregation::Max => exact(amounts().reduce(f64::max)),
        Aggregation::Min => exact(amounts().reduce(f64::min)),
        Aggregation::Sum => exact(amounts().reduce(|a, b| a + b)),
        Aggregation::Exact => exact(amounts().next_back()),
        Aggregation::Mean => exact(amounts().reduce(|a, b| a + b).map(|sum| sum / rounds.len() as f64)),
        Aggregation::Distribution(_) => None,
    }
}

fn seen(shape: &Shape, measured: &Measured, histograms: &mut Histograms) -> RowSamples {
    let at = measured.visits.iter().map(|visit| (visit.round, visit.at)).collect();
    RowSamples { at, bins: shape.metrics().find_map(|metric| bins(metric, measured, histograms)) }
}

pub(crate) fn bins(metric: &Metric, measured: &Measured, histograms: &mut Histograms) -> Option<Bins> {
    let counted: Vec<(f64, u64)> = match metric.of {
        Source::Samples(of) => {
            let samples = measured.visits.iter().filter_map(|visit| Some((*visit, &of(visit)?.cpu_ns)));
            samples.flat_map(|(visit, cpu_ns)| usable(cpu_ns).map(|ns| (visit.share(ns), 1))).collect()
        }
        // Times have several metrics; their median stands for them.
        Source::Times(of) if metric.over == Aggregation::Distribution(Statistic::Quantile(0.5)) => {
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
pub(crate) fn counts(hist: &Hist) -> Vec<(f64, u64)> {
    let recorded = hist.inner().iter_recorded();
    recorded.map(|step| (step.value_iterated_to() as f64 / 1e9, step.count_since_last_iteration())).collect()
}

const BINS: usize = 40;

/// The results of one cell, without those that depend on other cells.
pub(super) fn row(shape: &Shape, plan: &Plan, measured: &Measured) -> Row {
    let mut values = Values::new();
    let mut histograms = HashMap::new();
    for metric in shape.metrics() {
        let estimate = estimate(metric, measured, &values, &mut histograms);
        if let Some(estimate) = estimate {
            values.insert(metric.id.to_owned(), estimate);
        }
    }
    let facts = (shape.facts)(plan, measured);
    let seen = Some(Box::new(seen(shape, measured, &mut histograms)));
    Row {
        cell: measured.cell.clone(),
        facts: facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect(),
        values,
        stop: measured.stop.clone(),
        caveats: measured.caveats.clone(),
        seen,
        ..Row::default()
    }
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

    fn seen_of(shape: &Shape, visits: &[VisitRecord]) -> RowSamples {
        let cell = Cell {
            id: "a".into(),
            subject: Subject::CODEC,
            payload: "a".into(),
            runtime: "native".into(),
            setting: Setting::at("zstd", 3),
            expected_seconds: 0.0,
            ..Cell::default()
        };
        let visits = visits.iter().collect();
        let measured =
            Measured { cell: &cell, visits, stop: None, caveats: Vec::new(), seed: 1, is_others: false };
        seen(shape, &measured, &mut Histograms::new())
    }

    #[test]
    fn every_sample_is_in_a_bin() {
        let samples = |cpu_ns: &[f64]| Samples { cpu_ns: cpu_ns.to_vec(), ..Samples::default() };
        let visit = |round: u32, cpu_ns: &[f64]| VisitRecord {
            at: f64::from(round) * 2.0,
            phases: BTreeMap::from([(Phase::Encode, samples(cpu_ns))]),
            ..VisitRecord::of("a", round)
        };
        let seen = seen_of(&codec::SHAPE, &[visit(1, &[10.0, 20.0, f64::NAN]), visit(2, &[1000.0, 10.0])]);
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
        let bins = seen_of(&delivery::SHAPE, &[visit]).bins.unwrap();
        assert_eq!(bins.counts.iter().sum::<u64>(), 5);
        assert!((bins.edges[0] - 0.002).abs() < 1e-4);
        assert!(seen_of(&codec::SHAPE, &[]).bins.is_none());
    }
}
