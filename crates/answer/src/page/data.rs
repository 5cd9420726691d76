//! The data of a run for the page's program: every configuration with its figures by round, and the rules of the
//! analysis. `web/src/data.ts` has the same types.

use std::collections::BTreeMap;

use serde::Serialize;
use weigh_model::cell::NO_PHP;
use weigh_model::client::Keys;
use weigh_model::link::LinkSpec;
use weigh_model::units::{self, count};
use weigh_stats::NoiseRule;

use super::slow::{SlowData, slow};
use crate::document;
use crate::document::group::{View, label, marks, views};
use crate::estimate::Estimate;
use crate::flame::Flame;
use crate::metric::MetricDescription;
use crate::names;
use crate::output::Options;
use crate::report::Report;
use crate::report::advice::{Sentence, StatementKind};
use crate::report::question::Question;
use crate::report::ranking::{Conditions, Contender, Ranking};
use crate::row::{Bins, Row, RowSamples};
use crate::text::clean;
use crate::words::explain;

/// The version of this form: raised when a field changes its meaning or is removed.
pub const SCHEMA: u32 = 3;

/// Everything that the page's program needs.
#[derive(Clone, Debug, Serialize)]
pub struct Data {
    schema: u32,
    command: Option<String>,
    /// One configuration and several.
    noun: (&'static str, &'static str),
    metrics: Vec<MetricDescription>,
    costs: Option<Words>,
    conditions: Conditions,
    links: Vec<Preset>,
    sharing: f64,
    rules: BTreeMap<String, NoiseRule>,
    groups: Vec<GroupData>,
    /// The group that the answer is shown for.
    shown: usize,
    questions: Vec<QuestionData>,
    slow: Vec<SlowData>,
    flames: Vec<Flame>,
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
    /// What the best is compared with: today's, what is not encoded, or current practice.
    usual: Option<String>,
    points: Vec<Point>,
}

/// Something to choose, see [`Question`]: alternatives with their rank, whether they may be chosen, and the place of the point in each group.
#[derive(Clone, Debug, Serialize)]
struct QuestionData {
    scope: String,
    groups: Vec<usize>,
    alternatives: Vec<(usize, bool, Vec<Option<usize>>)>,
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
    histogram: Option<Bins>,
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
struct Series {
    name: String,
    unit: &'static str,
    points: Vec<(f64, f64)>,
}

impl Data {
    pub fn of(report: &Report, options: &Options) -> Data {
        let shape = report.shape();
        let conditions = Conditions::of(report);
        let ranking = Ranking::of(report);
        Data {
            schema: SCHEMA,
            command: options.command.as_deref().map(clean),
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
            shown: shown(report),
            questions: ranking.questions.iter().map(question).collect(),
            slow: slow(report, options),
            flames: options.flames.to_vec(),
        }
    }
}

fn question(of: &Question) -> QuestionData {
    let alternatives = of.alternatives.iter().map(|one| (one.rank, one.may_be_chosen, one.rows.clone()));
    QuestionData { scope: clean(&of.scope), groups: of.groups.clone(), alternatives: alternatives.collect() }
}

/// The command that measures one configuration again, alone.
pub(super) fn repeat(options: &Options, id: &str) -> Option<String> {
    let command = options.repeat.as_deref()?;
    Some(format!("{} --configuration {}", clean(command), shell_words::quote(&clean(id))))
}

/// Links that a reader may have, from their definitions.
const TYPICAL: [(&str, &str); 6] = [
    ("3G", include_str!("../../embedded/links/3g.toml")),
    ("LTE", include_str!("../../embedded/links/lte.toml")),
    ("DSL", include_str!("../../embedded/links/dsl.toml")),
    ("cable", include_str!("../../embedded/links/cable.toml")),
    ("fibre", include_str!("../../embedded/links/fibre.toml")),
    ("data centre", include_str!("../../embedded/links/data-centre.toml")),
];

fn preset(link: &LinkSpec) -> Option<Preset> {
    Some(Preset { name: clean(&link.name), mbit: link.down_kbps? / 1e3, rtt_ms: link.rtt_ms })
}

/// The links to choose from: those of the run, typical ones, and the usual one.
fn presets(report: &Report, conditions: &Conditions) -> Vec<Preset> {
    let mut presets: Vec<Preset> = report.links.iter().filter_map(|link| preset(&link.asked)).collect();
    let typical = TYPICAL.iter().filter_map(|(name, text)| {
        let one = preset(&LinkSpec::read("typical", text, name).ok()?)?;
        Some(Preset { name: (*name).to_owned(), ..one })
    });
    for one in typical {
        if presets.iter().all(|known| !known.name.replace('-', " ").eq_ignore_ascii_case(&one.name)) {
            presets.push(one);
        }
    }
    let usual = conditions.links[0];
    presets.push(Preset { name: "this study".to_owned(), mbit: usual.mbit, rtt_ms: usual.rtt_ms });
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
    let views = views(report);
    let names = titles(&views);
    let group = |((at, view), title): ((usize, &View), String)| GroupData {
        title,
        usual: usual(view),
        points: (ranking.groups.rows[at].iter().enumerate())
            .map(|(place, row)| point(view, row, ranking.contenders[at].get(place), options))
            .collect(),
    };
    views.iter().enumerate().zip(names).map(group).collect()
}

/// What the answer says that it gains: its cells are what is recommended and what that is compared with.
fn gain(report: &Report) -> Option<&Sentence> {
    report.advice.as_ref()?.sentences.iter().find(|one| one.part == StatementKind::Gain)
}

/// The group that is shown first: of what is gained, or in the middle of the answer's.
fn shown(report: &Report) -> usize {
    let own = gain(report).and_then(|gain| gain.cells.first());
    let own = own.and_then(|id| report.groups.iter().position(|group| group.has(id)));
    own.or_else(|| document::answered(report)).unwrap_or(0)
}

/// What a group's best is compared with: what is marked, or what the answer compares with.
fn usual(view: &View) -> Option<String> {
    let marked = ["today", "reference", "gzip"].into_iter().find_map(|mark| view.group.mark(mark));
    let of_answer = || {
        let name = view.label(gain(view.report)?.cells.get(1)?);
        view.rows.iter().map(|row| row.id()).find(|id| view.label(id) == name)
    };
    marked.or_else(of_answer).map(str::to_owned)
}

/// The names of groups in the list of a page: `271 KB page, Apache`. Only what groups differ in is in them.
fn titles(views: &[View]) -> Vec<String> {
    let contents: Vec<String> = views.iter().map(content).collect();
    let title = |(view, content): (&View, &String)| {
        let is_other = |(other, own): (&View, &String)| own == content && other.content() != view.content();
        let mark = if views.iter().zip(&contents).any(is_other) {
            format!(" ({})", view.content())
        } else {
            String::new()
        };
        let differs = |id: &&&str| views.iter().any(|other| other.group.factor(id) != view.group.factor(id));
        let factors = view.report.shape().group_by.iter().filter(|id| **id != "payload").filter(differs);
        let factors = factors.filter_map(|id| factor(view, id)).map(|factor| format!(", {factor}"));
        format!("{content}{mark}{}", factors.collect::<String>())
    };
    views.iter().zip(&contents).map(title).collect()
}

/// `271 KB page`, `16.2 KB PHP value`, `40-field record`.
fn content(view: &View) -> String {
    let name = view.content();
    let Some(payload) = view.payload() else { return name };
    let kind = match payload.kind.as_str() {
        "made" => {
            return name.strip_prefix("record:").map_or(name.clone(), |bins| format!("{bins}-field record"));
        }
        _ if payload.items.len() > 1 && !payload.family => {
            return format!("{name}, {}", units::bytes(payload.size()));
        }
        "html" => "page".to_owned(),
        "js" => "script".to_owned(),
        "css" => "style sheet".to_owned(),
        "php-value" => "PHP value".to_owned(),
        kind @ ("json" | "svg") => kind.to_uppercase(),
        kind => clean(kind),
    };
    let mark = if view.is_synthetic() { " (SYNTHETIC)" } else { "" };
    format!("{} {kind}{mark}", units::bytes(payload.size()))
}

/// A common factor of a group in words; none where it has none.
fn factor(view: &View, id: &str) -> Option<String> {
    let value = view.group.key.get(id)?;
    let client = view.rows.first().and_then(|row| row.cell.client.as_ref());
    Some(match (id, client) {
        ("work", Some(client)) => {
            let keys =
                if client.keys == Keys::One { String::new() } else { format!(", {} keys", client.keys) };
            let rate = client.rate.map_or(String::new(), |rate| format!(", {rate} per second"));
            format!(
                "{}{keys}, {}{rate}",
                names::mix(client.mix),
                count(client.workers as usize, "worker", "workers")
            )
        }
        ("transactions", _) => format!("{value} transactions"),
        ("server", _) => names::server(value),
        ("runtime", _) if value == NO_PHP => return None,
        ("runtime", _) if value == "native" => "native libraries".to_owned(),
        ("runtime", _) => names::runtime(value),
        ("transport" | "link", _) => format!("over {}", clean(value)),
        ("connections", _) => count(value.parse().unwrap_or(1), "connection", "connections"),
        ("every_ms", _) => {
            format!("{} requests/s", value.parse().map_or_else(|_| clean(value), names::per_second))
        }
        ("visitor", _) => format!("{} visitors", clean(value)),
        _ => clean(value),
    })
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
        histogram: row.seen.as_ref().and_then(|seen| seen.bins.clone()),
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
