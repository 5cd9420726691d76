//! Runs of one study on different machines: which machine is the cheapest for it, by how much, and how sure that is.
//!
//! The cost of an operation is its CPU time times the price of a core-hour of the machine. [`crate::verdict`] decides what differs; what all
//! configurations have in common is a part of the difference here, because the machine is the question.

pub mod document;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use weigh_model::text::clean;
use weigh_stats::median;

use super::environment::{Change, changes};
use super::matched::alike;
use crate::estimate::Estimate;
use crate::money::HOUR;
use crate::report::Report;
use crate::report::ranking::{Conditions, Contender, OPERATIONS};
use crate::row::Row;
use crate::verdict::{Ratio, between_machines};

/// The version of the JSON.
const SCHEMA: u32 = 1;
const SECOND: f64 = 1e9;

/// A run on one machine, before it is compared.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'r> {
    /// What kind of machine it is: the name that prices are given for.
    pub kind: &'r str,
    pub report: &'r Report,
    /// The price of one of its cores for an hour; none: it is not known.
    pub core_hour: Option<f64>,
}

/// Machines compared by what a study's operations cost there.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Machines {
    /// The version of this form.
    pub schema: u32,
    /// The study.
    pub study: String,
    /// The subject: `codec`, `delivery`, `client`.
    pub subject: String,
    /// Whether costs are prices; if not, they are CPU times.
    pub priced: bool,
    /// Reads per write in an operation; null: an operation is one read.
    pub reads: Option<f64>,
    /// The machines, the cheapest first: by the median over the configurations that all of them have.
    pub machines: Vec<Machine>,
    /// The configurations that all machines have.
    pub configurations: Vec<Configuration>,
    /// Configurations that not all machines have, by id.
    pub left_out: Vec<String>,
    /// What is not the same on another machine as on the cheapest, beside the machine: versions, contents, links.
    pub changes: Vec<Differing>,
}

/// One kind of machine.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Machine {
    /// Its name, as its cluster or the user calls it.
    pub kind: String,
    /// Processor, cores, memory and kernel, on one line.
    pub machine: String,
    /// When its run was started, RFC 3339, UTC.
    pub started: String,
    /// Rounds.
    pub rounds: u32,
    /// The price of one of its cores for an hour.
    pub core_hour: Option<f64>,
    /// What an operation costs, compared with the cheapest machine, in the median of all configurations; null for the cheapest, and with
    /// fewer than 5 rounds.
    pub ratio: Option<Ratio>,
    /// The price of a core-hour at which it would cost as much as the cheapest.
    pub as_cheap_at: Option<f64>,
}

/// One configuration on all machines.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Configuration {
    /// Its id.
    pub id: String,
    /// One for each machine, in their order.
    pub costs: Vec<Cost>,
}

/// What an operation of a configuration costs on a machine.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Cost {
    /// CPU time in nanoseconds.
    pub cpu_ns: f64,
    /// Lower end of its 95% interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// The price of a million operations.
    pub per_million: Option<f64>,
    /// Compared with the cheapest machine; null there, and for values that were not observed in rounds.
    pub ratio: Option<Ratio>,
}

/// A property that a machine's run does not share with that of the cheapest.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Differing {
    /// The machine.
    pub kind: String,
    /// What differs: A is the cheapest machine.
    #[serde(flatten)]
    pub change: Change,
}

/// A machine with what an operation of each common configuration needs there.
struct Column<'r> {
    measured: Measured<'r>,
    rows: Vec<&'r Row>,
    times: Vec<Estimate>,
    /// What is compared: prices per million operations, or CPU times.
    costs: Vec<Estimate>,
}

impl Machines {
    /// Compares runs of one study, one for each machine.
    ///
    /// # Errors
    /// One line: there are fewer than two, two have one name, some have a price and others none, or they have no configuration, content or
    /// link in common.
    pub fn of(all: &[Measured]) -> Result<Machines, String> {
        let priced = check(all)?;
        let first = all[0].report;
        let conditions = Conditions::usual(first.study.links.as_ref());
        let writes_are_known =
            all.iter().flat_map(|one| contenders(one.report)).any(|one| one.write.is_some());
        let (mut columns, left_out) = columns(all, conditions.shares(writes_are_known));
        if columns[0].rows.is_empty() {
            return Err("the runs have no configuration with a CPU time in common".into());
        }
        let level = |column: &Column| {
            let logs =
                column.costs.iter().zip(&columns[0].costs).map(|(cost, of)| (cost.value / of.value).ln());
            median(&logs.collect::<Vec<_>>()).unwrap_or(0.0)
        };
        let mut order: Vec<(f64, usize)> = columns.iter().map(level).zip(0..).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut placed: Vec<Option<Column>> = columns.drain(..).map(Some).collect();
        let columns: Vec<Column> = order.iter().filter_map(|(_, at)| placed[*at].take()).collect();
        let (machines, configurations) = judge_machines(&columns, first.run.seed);
        Ok(Machines {
            schema: SCHEMA,
            study: first.study.name.clone(),
            subject: first.shape.name.to_owned(),
            priced,
            reads: writes_are_known.then_some(conditions.reads),
            machines,
            configurations,
            left_out,
            changes: differing(&columns)?,
        })
    }
}

/// Whether the runs can be compared at all; whether they have prices.
fn check(all: &[Measured]) -> Result<bool, String> {
    let [first, others @ ..] = all else { return Err("name the runs of two machines or more".into()) };
    if others.is_empty() {
        return Err("name the runs of two machines or more".into());
    }
    let mut kinds = BTreeSet::new();
    if let Some(twice) = all.iter().find(|one| !kinds.insert(one.kind)) {
        return Err(format!(
            "two runs are of {}; name each machine: --machines NAME=RUN NAME=RUN",
            clean(twice.kind)
        ));
    }
    if let Some(other) = others.iter().find(|one| one.report.study.name != first.report.study.name) {
        let names = [&first.report.study.name, &other.report.study.name].map(|name| clean(name));
        return Err(format!("the runs are of different studies: {} and {}", names[0], names[1]));
    }
    if first.report.shape().costs.is_none() {
        return Err(format!("{} has no CPU time per operation", clean(&first.report.study.name)));
    }
    let (with, without): (Vec<&Measured>, Vec<&Measured>) =
        all.iter().partition(|one| one.core_hour.is_some());
    match without.first().filter(|_| !with.is_empty()) {
        Some(without) => {
            Err(format!("the price of {0} is missing: --core-hour {0}=PRICE", clean(without.kind)))
        }
        None => Ok(!with.is_empty()),
    }
}

fn contenders(report: &Report) -> impl Iterator<Item = Contender<'_>> {
    report.rows.iter().filter_map(|row| Contender::of(report, row))
}

/// The machines with what they all have, and the ids of what they do not.
fn columns<'r>(all: &[Measured<'r>], shares: (f64, f64)) -> (Vec<Column<'r>>, Vec<String>) {
    let of = |one: &Measured<'r>| -> BTreeMap<String, (&'r Row, Estimate)> {
        let usable = |estimate: &Estimate| estimate.value > 0.0 && estimate.value.is_finite();
        let known = contenders(one.report)
            .filter_map(|contender| Some((contender.row, contender.cost(shares).filter(usable)?)));
        known.map(|(row, cost)| (row.cell.factors(&row.cell.runtime), (row, cost))).collect()
    };
    let known: Vec<BTreeMap<String, (&Row, Estimate)>> = all.iter().map(of).collect();
    let everywhere = |key: &String| known.iter().all(|one| one.contains_key(key));
    let lacking = known.iter().flatten().filter(|(key, _)| !everywhere(key));
    let left_out: BTreeSet<String> = lacking.map(|(_, (row, _))| row.id().to_owned()).collect();
    // In the plan's order.
    let keys: Vec<String> =
        all[0].report.rows.iter().map(|row| row.cell.factors(&row.cell.runtime)).collect();
    let keys: Vec<&String> = keys.iter().filter(|key| everywhere(key)).collect();
    let column = |(one, known): (&Measured<'r>, &BTreeMap<String, (&'r Row, Estimate)>)| {
        let (rows, times): (Vec<&Row>, Vec<Estimate>) =
            keys.iter().filter_map(|key| known.get(*key).cloned()).unzip();
        let price = one.core_hour.map_or(1.0, |price| price / HOUR / SECOND * OPERATIONS);
        let costs = times.iter().map(|time| time.scaled(price)).collect();
        Column { measured: *one, rows, times, costs }
    };
    (all.iter().zip(&known).map(column).collect(), left_out.into_iter().collect())
}

/// Everything that differs, judged: every machine with every other, so that it does not matter which is the cheapest.
fn judge_machines(columns: &[Column], seed: u64) -> (Vec<Machine>, Vec<Configuration>) {
    let mut compared: Vec<Vec<(&Estimate, &Estimate)>> = Vec::new();
    for (at, a) in columns.iter().enumerate() {
        compared.extend(columns[at + 1..].iter().map(|b| a.costs.iter().zip(&b.costs).collect()));
    }
    // Those with the cheapest come first.
    let told: Vec<_> = between_machines(&compared, seed).into_iter().take(columns.len() - 1).collect();
    let of = |at: usize| at.checked_sub(1).and_then(|at| told.get(at));
    let machine = |(at, column): (usize, &Column)| {
        let Measured { kind, report, core_hour } = column.measured;
        let ratio = of(at).and_then(|(together, _)| *together);
        Machine {
            kind: kind.to_owned(),
            machine: report.run.machine.clone(),
            started: report.run.started.clone(),
            rounds: report.run.rounds,
            core_hour,
            ratio,
            as_cheap_at: core_hour.zip(ratio).map(|(price, ratio)| price / ratio.value),
        }
    };
    let machines = columns.iter().enumerate().map(machine).collect();
    let configuration = |index: usize| {
        let cost = |(at, column): (usize, &Column)| Cost {
            cpu_ns: column.times[index].value,
            low: column.times[index].low,
            high: column.times[index].high,
            per_million: column.measured.core_hour.map(|_| column.costs[index].value),
            ratio: of(at).and_then(|(_, each)| each[index]),
        };
        let costs = columns.iter().enumerate().map(cost).collect();
        Configuration { id: columns[0].rows[index].id().to_owned(), costs }
    };
    (machines, (0..columns[0].rows.len()).map(configuration).collect())
}

/// What else differs from the cheapest machine; contents and links may not.
fn differing(columns: &[Column]) -> Result<Vec<Differing>, String> {
    let (best, others) = columns.split_first().ok_or("no machine")?;
    let mut all = Vec::new();
    for other in others {
        let (a, b) = (best.measured, other.measured);
        let changes = changes(a.report, b.report, &alike(a.report, b.report));
        for change in changes.into_iter().filter(|change| !is_of_the_machine(&change.what)) {
            if change.forbids {
                let (what, kinds) = (clean(&change.what), [a.kind, b.kind].map(clean));
                return Err(format!("not comparable: {} and {} have another {what}", kinds[0], kinds[1]));
            }
            all.push(Differing { kind: b.kind.to_owned(), change });
        }
    }
    Ok(all)
}

/// It is what is asked about, and is said with each machine.
fn is_of_the_machine(what: &str) -> bool {
    ["processor", "cores", "machine", "kind", "memory"].contains(&what)
}

#[cfg(test)]
mod tests;
