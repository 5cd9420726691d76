//! The data of a run for the page's program: every configuration with its figures by round, and the rules of the
//! analysis. `web/src/data.ts` has the same types.

use std::collections::BTreeMap;

use serde::Serialize;
use weigh_model::link::LinkSpec;
use weigh_stats::NoiseRule;

use super::slow::{SlowData, slow};
use crate::document::group::{View, label, marks, views};
use crate::estimate::Estimate;
use crate::flame::Flame;
use crate::metric::MetricDescription;
use crate::names;
use crate::output::Options;
use crate::report::Report;
use crate::report::question::{Alternative, Question};
use crate::report::ranking::{Conditions, Contender, Ranking};
use crate::row::{Row, RowSamples};
use crate::text::clean;
use crate::words::explain;

/// The version of this form: raised when a field changes its meaning or is removed.
pub const SCHEMA: u32 = 2;

/// Everything that the page's program needs.
#[derive(Clone, Debug, Serialize)]
pub struct Data {
    schema: u32,
    program: String,
    title: String,
    question: String,
    run: Run,
    /// One configuration and several.
    noun: (&'static str, &'static str),
    metrics: Vec<MetricDescription>,
    costs: Option<Words>,
    conditions: Conditions,
    links: Vec<Preset>,
    sharing: f64,
    rules: BTreeMap<String, NoiseRule>,
    groups: Vec<GroupData>,
    questions: Vec<QuestionData>,
    slow: Vec<SlowData>,
    flames: Vec<Flame>,
    faults: Vec<Failure>,
}

/// What the page's program needs of a result that has flame graphs only.
#[derive(Clone, Debug, Serialize)]
pub struct FlameData<'f> {
    schema: u32,
    flames: &'f [Flame],
}

impl<'f> FlameData<'f> {
    pub fn of(flames: &'f [Flame]) -> FlameData<'f> {
        FlameData { schema: SCHEMA, flames }
    }
}

#[derive(Clone, Debug, Serialize)]
struct Run {
    started: String,
    machine: String,
    rounds: u32,
    seconds: f64,
    complete: bool,
    command: Option<String>,
}

/// What is added up, in words.
#[derive(Clone, Debug, Serialize)]
struct Words {
    write: Option<&'static str>,
    read: &'static str,
    bytes: Option<&'static str>,
}

#[derive(Clone, Debug, Serialize)]
struct Preset {
    name: String,
    mbit: f64,
    rtt_ms: f64,
}

#[derive(Clone, Debug, Serialize)]
pub struct GroupData {
    title: String,
    part: Option<String>,
    content: String,
    /// What its configurations have in common, in words.
    key: Vec<(&'static str, String)>,
    points: Vec<Point>,
}

/// Something to choose: see [`Question`].
#[derive(Clone, Debug, Serialize)]
struct QuestionData {
    scope: String,
    groups: Vec<usize>,
    alternatives: Vec<AlternativeData>,
}

/// One of several: the place of its point in each group of the question.
#[derive(Clone, Debug, Serialize)]
struct AlternativeData {
    rank: usize,
    may_be_chosen: bool,
    points: Vec<Option<usize>>,
}

impl From<&Question> for QuestionData {
    fn from(question: &Question) -> QuestionData {
        let alternative = |one: &Alternative| AlternativeData {
            rank: one.rank,
            may_be_chosen: one.may_be_chosen,
            points: one.rows.clone(),
        };
        QuestionData {
            scope: clean(&question.scope),
            groups: question.groups.clone(),
            alternatives: question.alternatives.iter().map(alternative).collect(),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
struct Point {
    id: String,
    label: String,
    family: String,
    front: bool,
    recommended: bool,
    marks: Vec<String>,
    dominated_by: Option<String>,
    candidate: bool,
    config: Vec<(String, String)>,
    caveats: Vec<String>,
    /// The command that measures it again, alone.
    command: Option<String>,
    write: Option<Observed>,
    read: Option<Observed>,
    bytes: Option<f64>,
    stored_write: f64,
    stored_read: f64,
    values: BTreeMap<String, (f64, Option<f64>, Option<f64>, u32)>,
    samples: BTreeMap<String, Vec<(u32, f64)>>,
    histogram: Option<Histogram>,
    series: Vec<Series>,
}

/// An estimate with its rounds.
#[derive(Clone, Debug, Serialize)]
struct Observed {
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
    metric: &'static str,
    quantile: f64,
    rounds: Vec<(u32, f64)>,
}

#[derive(Clone, Debug, Serialize)]
struct Histogram {
    metric: String,
    edges: Vec<f64>,
    counts: Vec<u64>,
}

#[derive(Clone, Debug, Serialize)]
struct Series {
    name: String,
    unit: &'static str,
    points: Vec<(f64, f64)>,
}

#[derive(Clone, Debug, Serialize)]
struct Failure {
    cell: String,
    round: u32,
    reason: String,
    remedy: Option<String>,
}

impl Data {
    pub fn of(report: &Report, options: &Options) -> Data {
        let study = &report.study;
        let shape = report.shape();
        let title = if study.title.is_empty() { &study.name } else { &study.title };
        let conditions = Conditions::of(report);
        let ranking = Ranking::of(report);
        Data {
            schema: SCHEMA,
            program: format!("Weighbridge {}", clean(&report.run.version)),
            title: clean(title),
            question: clean(&study.question),
            run: Run {
                started: clean(&report.run.started),
                machine: clean(&report.run.machine),
                rounds: report.run.rounds,
                seconds: report.run.seconds,
                complete: report.run.complete,
                command: options.command.as_deref().map(clean),
            },
            noun: shape.look.noun,
            metrics: report.metrics.clone(),
            costs: shape.costs.map(|costs| Words {
                write: costs.write.map(|(_, words)| words),
                read: costs.read.1,
                bytes: costs.bytes.map(|(_, words)| words),
            }),
            links: presets(report, &conditions),
            sharing: conditions.sharing,
            conditions,
            rules: rules(&ranking),
            groups: groups(&ranking, options),
            questions: ranking.questions.iter().map(QuestionData::from).collect(),
            slow: slow(report, options),
            flames: options.flames.to_vec(),
            faults: report.faults.iter().map(|of| failure(report, of)).collect(),
        }
    }
}

/// The command that measures one configuration again, alone.
pub(super) fn repeat(options: &Options, id: &str) -> Option<String> {
    let command = options.repeat.as_deref()?;
    Some(format!("{} --configuration {}", clean(command), shell_words::quote(&clean(id))))
}

/// Links that a reader may have, from their definitions.
const TYPICAL: [(&str, &str); 6] = [
    ("3g", include_str!("../../embedded/links/3g.toml")),
    ("lte", include_str!("../../embedded/links/lte.toml")),
    ("dsl", include_str!("../../embedded/links/dsl.toml")),
    ("cable", include_str!("../../embedded/links/cable.toml")),
    ("fibre", include_str!("../../embedded/links/fibre.toml")),
    ("data-centre", include_str!("../../embedded/links/data-centre.toml")),
];

fn preset(link: &LinkSpec) -> Option<Preset> {
    Some(Preset { name: clean(&link.name), mbit: link.down_kbps? / 1e3, rtt_ms: link.rtt_ms })
}

/// The links to choose from: those of the run, typical ones, and the usual one.
fn presets(report: &Report, conditions: &Conditions) -> Vec<Preset> {
    let mut presets: Vec<Preset> = report.links.iter().filter_map(|link| preset(&link.asked)).collect();
    let typical = TYPICAL.iter().filter_map(|(name, text)| preset(&LinkSpec::read(name, text, name).ok()?));
    for one in typical {
        if presets.iter().all(|known| known.name != one.name) {
            presets.push(one);
        }
    }
    let usual = conditions.links[0];
    presets.push(Preset { name: "usual here".to_owned(), mbit: usual.mbit, rtt_ms: usual.rtt_ms });
    presets
}

/// The rule of each metric that rankings compare.
pub fn rules(ranking: &Ranking) -> BTreeMap<String, NoiseRule> {
    let write = ranking.groups.report.shape().costs.and_then(|costs| costs.write).map(|write| write.0);
    let mut rules: BTreeMap<String, NoiseRule> = BTreeMap::new();
    for contender in ranking.contenders.iter().flatten() {
        for metric in write.into_iter().chain([contender.metric]) {
            let noise = contender.row.get(metric).and_then(|own| own.drawn.as_ref()?.noise.as_ref());
            if let Some(noise) = noise.filter(|_| !rules.contains_key(metric)) {
                rules.insert(metric.to_owned(), noise.rule());
            }
        }
    }
    rules
}

/// Every group with its configurations in the plan's order.
pub fn groups(ranking: &Ranking, options: &Options) -> Vec<GroupData> {
    let report = ranking.groups.report;
    let group = |(at, view): (usize, &View)| GroupData {
        title: view.title(),
        part: report.shape().look.part.map(|part| part(report, view.group)),
        content: view.content(),
        key: key(view),
        points: (ranking.groups.rows[at].iter().enumerate())
            .map(|(place, row)| point(view, row, ranking.contenders[at].get(place), options))
            .collect(),
    };
    views(report).iter().enumerate().map(group).collect()
}

/// The common factors of a group, in words.
fn key(view: &View) -> Vec<(&'static str, String)> {
    let factors = view.report.shape().factors.iter();
    let of = |id: &'static str| {
        let value = view.group.key.get(id)?;
        Some(match id {
            "payload" => ("content", view.content()),
            "server" => (id, names::server(value)),
            "runtime" => ("PHP", names::runtime(value)),
            "every_ms" => ("requests/s", value.parse().map_or_else(|_| clean(value), names::per_second)),
            _ => (id, clean(value)),
        })
    };
    factors.filter_map(|factor| of(factor.id)).collect()
}

fn point(view: &View, row: &Row, contender: Option<&Contender>, options: &Options) -> Point {
    let report = view.report;
    let shape = report.shape();
    let observed = |of: Option<&Estimate>, metric: Option<&'static str>| {
        let (estimate, metric) = (of?, metric?);
        let rounds = estimate.drawn_rounds().to_vec();
        let quantile = estimate.drawn.as_ref().map_or(0.5, |drawn| drawn.quantile);
        let Estimate { value, low, high, .. } = *estimate;
        Some(Observed { value, low, high, metric, quantile, rounds })
    };
    let costs = shape.costs.as_ref();
    let drawn = |id: &&str| Some(((*id).to_owned(), row.get(id)?.drawn_rounds().to_vec()));
    Point {
        id: row.id().to_owned(),
        label: (shape.look.label)(row),
        family: clean(&row.cell.setting.codec),
        front: row.front,
        recommended: report.recommends(row.id()),
        marks: marks(report, view.group, row),
        dominated_by: row.dominated_by.as_deref().map(|id| label(report, id)),
        candidate: contender.is_none_or(|contender| contender.candidate),
        config: config(report, row),
        command: repeat(options, row.id()),
        caveats: row.caveats.iter().map(|caveat| explain(caveat, row.stop.as_ref()).0).collect(),
        write: observed(
            contender.and_then(|contender| contender.write.as_ref()),
            costs.and_then(|costs| costs.write).map(|write| write.0),
        ),
        read: observed(
            contender.and_then(|contender| contender.read.as_ref()),
            contender.map(|contender| contender.metric),
        ),
        bytes: contender.and_then(|contender| contender.bytes),
        stored_write: contender.map_or(0.0, |contender| contender.stored.0),
        stored_read: contender.map_or(0.0, |contender| contender.stored.1),
        values: row
            .values
            .iter()
            .map(|(id, estimate)| {
                (id.clone(), (estimate.value, estimate.low, estimate.high, estimate.rounds))
            })
            .collect(),
        samples: shape.headline.iter().filter_map(drawn).filter(|(_, rounds)| !rounds.is_empty()).collect(),
        histogram: row.seen.as_ref().and_then(|seen| histogram(seen)),
        series: row.seen.as_ref().map(|seen| series(report, row, seen)).unwrap_or_default(),
    }
}

/// The factors and facts of a row.
fn config(report: &Report, row: &Row) -> Vec<(String, String)> {
    let factors = report.shape().factors.iter();
    let factors = factors.filter_map(|factor| Some((factor.id.to_owned(), clean(&(factor.of)(&row.cell)?))));
    let facts = row.facts.iter().map(|(name, value)| (clean(name), clean(value)));
    let runtime = report.runtimes.iter().find(|runtime| runtime.name == row.cell.runtime);
    let version = runtime.map(|runtime| ("runtime version".to_owned(), clean(&runtime.version)));
    factors.chain(facts).chain(version).filter(|(_, value)| !value.is_empty()).collect()
}

fn failure(report: &Report, of: &crate::gather::FaultRow) -> Failure {
    Failure {
        cell: label(report, &of.cell),
        round: of.round,
        reason: clean(&of.fault.message),
        remedy: of.fault.remedy.as_deref().map(clean),
    }
}

fn histogram(seen: &RowSamples) -> Option<Histogram> {
    let bins = seen.bins.as_ref()?;
    Some(Histogram { metric: bins.metric.to_owned(), edges: bins.edges.clone(), counts: bins.counts.clone() })
}

/// The headline metrics over the time of the run.
fn series(report: &Report, row: &Row, seen: &RowSamples) -> Vec<Series> {
    let at: BTreeMap<u32, f64> = seen.at.iter().copied().collect();
    let of = |id: &&str| {
        let metric = report.metrics.iter().find(|metric| metric.id == **id)?;
        let rounds = row.get(id)?.drawn_rounds().iter();
        let points: Vec<(f64, f64)> =
            rounds.filter_map(|(round, amount)| Some((*at.get(round)?, *amount))).collect();
        (!points.is_empty()).then(|| Series { name: metric.id.clone(), unit: metric.unit.symbol(), points })
    };
    report.shape().headline.iter().filter_map(of).collect()
}
