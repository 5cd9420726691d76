//! A metric over the runs of a study.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};

use super::folder::{Entry, History};
use super::rows::Filter;
use weigh_answer::facts::Facts;
use weigh_answer::metric::Metric;
use weigh_answer::subject;
use weigh_answer::trend::{Point, RunAt};
use weigh_model::suggest::{nearest, nearest_hint};
use weigh_model::text::clean;

/// A metric over the complete runs of a study.
#[derive(Debug)]
pub struct Series {
    pub study: String,
    pub metric: &'static Metric,
    /// The runs, the oldest first.
    pub runs: Vec<RunAt>,
    /// The values of each configuration, by the positions of their runs.
    pub values: BTreeMap<String, Vec<Point>>,
}

impl History {
    /// A metric over the newest complete runs of a study. Where the filter names no study, it is the only one that has the metric.
    ///
    /// # Errors
    /// No study has it, or several have: the line names them.
    pub fn series(&self, metric: &str, filter: &Filter) -> Result<Series> {
        let (study, subject) = self.study_with(metric, filter.study.as_deref())?;
        let known = subject::named(subject).metrics().find(|known| known.id == metric);
        let metric = known.with_context(|| format!("{subject} has no metric {metric}"))?;
        let filter = Filter { study: Some(study.to_owned()), ..filter.clone() };
        let mut found: Vec<&Entry> = self.complete().filter(|run| filter.takes(run)).collect();
        found.truncate(filter.limit.unwrap_or(usize::MAX));
        found.reverse();
        let (mut runs, mut values) = (Vec::new(), BTreeMap::<String, Vec<Point>>::new());
        for (at, run) in found.into_iter().enumerate() {
            runs.push(RunAt { name: run.name.clone(), started: run.summary.started.clone() });
            let own = run.summary.values(&run.path).remove(metric.id).unwrap_or_default();
            for (configuration, figure) in own {
                let point = Point { run: at, value: figure.value, low: figure.low, high: figure.high };
                values.entry(configuration).or_default().push(point);
            }
        }
        Ok(Series { study: study.to_owned(), metric, runs, values })
    }

    /// The metrics that the newest complete run of each study has, by study.
    ///
    /// # Errors
    /// There is no complete run.
    pub fn metrics(&self, study: Option<&str>) -> Result<BTreeMap<String, Vec<&'static Metric>>> {
        let of = |(study, subject): (&str, &str)| {
            let newest = self.complete().find(|run| run.summary.study.as_deref() == Some(study));
            let values = newest.map(|run| run.summary.values(&run.path)).unwrap_or_default();
            let metrics = subject::named(subject).metrics().filter(|metric| values.contains_key(metric.id));
            (study.to_owned(), metrics.collect())
        };
        Ok(self.studies(study)?.into_iter().map(of).collect())
    }

    /// What a run was measured with, by name; nothing of a run that is not there.
    pub fn facts(&self, run: &str) -> Facts {
        let named = self.runs.iter().find(|one| one.name == run);
        named.map(|one| one.summary.facts.clone()).unwrap_or_default()
    }

    /// The complete runs that can be shown, the newest first.
    fn complete(&self) -> impl Iterator<Item = &Entry> {
        self.runs.iter().filter(|run| run.summary.complete && run.summary.damaged.is_none())
    }

    /// The study whose runs have a metric, and its subject.
    fn study_with(&self, metric: &str, asked: Option<&str>) -> Result<(&str, &str)> {
        let studies = self.studies(asked)?;
        let has = |subject: &str| subject::named(subject).metrics().any(|known| known.id == metric);
        let with: Vec<(&str, &str)> = studies.iter().copied().filter(|(_, subject)| has(subject)).collect();
        match with.as_slice() {
            [] => {
                let known = studies.iter().flat_map(|(_, of)| subject::named(of).metrics());
                let near = nearest(metric, known.map(|known| known.id));
                let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                bail!("{}: no run has this metric{near}; weigh runs trend lists them", clean(metric))
            }
            [one] => Ok(*one),
            several => {
                let names: Vec<String> = several.iter().map(|(study, _)| clean(study)).collect();
                bail!("several studies have {metric}: {}; choose one with --study", names.join(", "))
            }
        }
    }

    /// Name and subject of the studies that have complete runs, in their order.
    fn studies(&self, asked: Option<&str>) -> Result<BTreeSet<(&str, &str)>> {
        let all = self.complete().map(|run| &run.summary);
        let all = all.filter_map(|one| one.study.as_deref().zip(one.subject.as_deref()));
        let studies: BTreeSet<(&str, &str)> =
            all.filter(|(study, _)| asked.is_none_or(|asked| asked == *study)).collect();
        match (studies.is_empty(), asked) {
            (false, _) => Ok(studies),
            (true, Some(study)) => {
                let known: BTreeSet<&str> =
                    self.runs.iter().filter_map(|run| run.summary.study.as_deref()).collect();
                bail!("{}: no complete run of this study{}", clean(study), nearest_hint(study, known))
            }
            (true, None) => bail!("no complete runs yet; measure one: weigh run --quick"),
        }
    }
}
