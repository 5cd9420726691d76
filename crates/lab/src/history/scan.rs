//! A metric over the runs of a study, as the index has it.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use rusqlite::params;

use super::{Filter, History};
use weigh_answer::metric::Metric;
use weigh_answer::subject;
use weigh_answer::trend::{Point, RunAt};
use weigh_model::suggest::{nearest, nearest_hint};
use weigh_model::text::clean;

/// A metric over the complete runs of a study.
#[derive(Debug)]
pub struct Series {
    /// The study.
    pub study: String,
    /// The metric.
    pub metric: &'static Metric,
    /// The runs, the oldest first.
    pub runs: Vec<RunAt>,
    /// The values of each configuration, by the positions of their runs.
    pub values: BTreeMap<String, Vec<Point>>,
}

const COMPLETE: &str = "
SELECT id, name, started FROM runs
WHERE complete AND damaged IS NULL AND study = ?1 AND (?2 IS NULL OR started >= ?2)
ORDER BY started DESC, name DESC LIMIT ?3";

const VALUES: &str = "
SELECT configurations.name, value, low, high FROM measured JOIN configurations ON configurations.id = configuration
WHERE run = ?1 AND metric = ?2";

impl History {
    /// A metric over the newest complete runs of a study. Where the filter names no study, it is the only one that has the metric.
    ///
    /// # Errors
    /// No study has it, or several have: the line names them.
    pub fn series(&self, metric: &str, filter: &Filter) -> Result<Series> {
        let (study, subject) = self.study_with(metric, filter.study.as_deref())?;
        let shape = subject::named(&subject);
        let known = shape.metrics().find(|known| known.id == metric);
        let metric = known.with_context(|| format!("{subject} has no metric {metric}"))?;
        let mut runs = Vec::new();
        let mut values: BTreeMap<String, Vec<Point>> = BTreeMap::new();
        let id: i64 = self.db.query_row(
            "SELECT id FROM metrics WHERE subject = ?1 AND name = ?2",
            [&subject, metric.id],
            |row| row.get(0),
        )?;
        let limit = filter.limit.map_or(-1, |limit| limit as i64);
        let mut asked = self.db.prepare_cached(COMPLETE)?;
        let found = asked.query_map(params![study, filter.since, limit], |row| {
            Ok((row.get::<_, i64>(0)?, RunAt { name: row.get(1)?, started: row.get(2)? }))
        })?;
        let mut found: Vec<(i64, RunAt)> = found.collect::<rusqlite::Result<_>>()?;
        found.reverse();
        for (at, (run, named)) in found.into_iter().enumerate() {
            runs.push(named);
            let mut asked = self.db.prepare_cached(VALUES)?;
            let mut rows = asked.query([run, id])?;
            while let Some(row) = rows.next()? {
                let point = Point { run: at, value: row.get(1)?, low: row.get(2)?, high: row.get(3)? };
                values.entry(row.get(0)?).or_default().push(point);
            }
        }
        Ok(Series { study, metric, runs, values })
    }

    /// The metrics that the newest complete run of each study has, by study.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn metrics(&self, study: Option<&str>) -> Result<BTreeMap<String, Vec<&'static Metric>>> {
        let mut found = BTreeMap::new();
        for (study, subject) in self.studies(study)? {
            let newest = "
                SELECT DISTINCT metrics.name, '' FROM measured JOIN metrics ON metrics.id = metric
                WHERE run = (SELECT id FROM runs WHERE complete AND damaged IS NULL AND study = ?1
                             ORDER BY started DESC, name DESC LIMIT 1)";
            let names = self.pairs(newest, Some(&study))?;
            let has = |metric: &&Metric| names.iter().any(|(name, _)| name == metric.id);
            found.insert(study, subject::named(&subject).metrics().filter(has).collect());
        }
        Ok(found)
    }

    /// What a run was measured with, by name; nothing of a run that is not there.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn facts(&self, run: &str) -> Result<BTreeMap<String, String>> {
        let asked = "SELECT facts.name, value FROM facts JOIN runs ON runs.id = run WHERE runs.name = ?1";
        let mut asked = self.db.prepare_cached(asked)?;
        let rows = asked.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The study whose runs have a metric, and its subject.
    fn study_with(&self, metric: &str, asked: Option<&str>) -> Result<(String, String)> {
        let studies = self.studies(asked)?;
        let has = |subject: &str| subject::named(subject).metrics().any(|known| known.id == metric);
        let with: Vec<&(String, String)> = studies.iter().filter(|(_, subject)| has(subject)).collect();
        match with.as_slice() {
            [] => {
                let known = studies.iter().flat_map(|(_, of)| subject::named(of).metrics());
                let near = nearest(metric, known.map(|known| known.id));
                let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                bail!("{}: no run has this metric{near}; weigh runs trend lists them", clean(metric))
            }
            [one] => Ok((*one).clone()),
            several => {
                let names: Vec<String> = several.iter().map(|(study, _)| clean(study)).collect();
                bail!("several studies have {metric}: {}; choose one with --study", names.join(", "))
            }
        }
    }

    /// Name and subject of the studies that have complete runs.
    fn studies(&self, asked: Option<&str>) -> Result<Vec<(String, String)>> {
        let studies = self.pairs(
            "SELECT DISTINCT study, subject FROM runs WHERE complete AND damaged IS NULL AND (?1 IS NULL OR study = ?1)
             ORDER BY study",
            asked,
        )?;
        match (studies.is_empty(), asked) {
            (false, _) => Ok(studies),
            (true, Some(study)) => {
                bail!("{}: no complete run of this study{}", clean(study), self.near(study)?)
            }
            (true, None) => bail!("no complete runs yet; measure one: weigh run --quick"),
        }
    }

    /// What study was probably meant.
    fn near(&self, study: &str) -> Result<String> {
        let all = "SELECT DISTINCT study, '' FROM runs WHERE study IS NOT NULL AND ?1 IS NULL ORDER BY study";
        let known = self.pairs(all, None)?;
        Ok(nearest_hint(study, known.iter().map(|(name, _)| name.as_str())))
    }

    fn pairs(&self, query: &str, given: Option<&str>) -> Result<Vec<(String, String)>> {
        let mut asked = self.db.prepare_cached(query)?;
        let rows = asked.query_map([given], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}
