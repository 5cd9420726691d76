//! Which store and driver to use, on which PHP, and how to encode values for each link.
//!
//! Clients are compared by the CPU time of workers and store per transaction, or by the time for all transactions if
//! the store's CPU time could not be read. Settings are compared by the mean time inside calls over one link. The best
//! candidate is the one that is closest to the best on the work where it is furthest from it. Among candidates without
//! a significant difference to it, the one with the fewest needs is recommended. A driver with a package comes before
//! one of this program in plain PHP, which shows the cost of the protocol and cannot be installed. A PHP without
//! options comes before one with options, and a setting with fewer extensions before one with more. Otherwise the order
//! of the study decides. With too few rounds for a test, figures within 10% of each other count as equal.
//!
//! A store inside PHP's own process or in files serves one machine. It is not compared with stores that serve several.

mod pick;
mod settings;

use weigh_model::cell::Cell;
use weigh_model::units;
use weigh_stats::ROUNDS;

use crate::advice::{Advice, Part, Recommended, Sentence};
use crate::finding::Evidence;
use crate::finding::client::label;
use crate::first::distinct;
use crate::group::Group;
use crate::row::Row;
use crate::subject::client::{CPU, STORE_CPU, UNMETERED};
use pick::{Measure, Picked, pick};

/// Drivers of this program, in plain PHP.
const PLAIN: [&str; 2] = ["socket", "wire"];
/// The most alternatives without a significant difference that are named.
const NAMED: usize = 3;

/// A store with its driver.
type Place<'a> = (&'a str, &'a str);

/// The recommendation; none if nothing competes.
pub fn advise(evidence: &Evidence) -> Option<Advice> {
    let mut said = Said::default();
    said.clients(evidence);
    settings::advise(evidence, &mut said);
    (!said.recommended.is_empty()).then(|| Advice::new(said.recommended, said.sentences))
}

#[derive(Default)]
struct Said {
    recommended: Vec<Recommended>,
    sentences: Vec<Sentence>,
}

/// The competing clients of one kind, by work.
struct Field<'a> {
    /// It serves only one machine.
    is_local: bool,
    works: Vec<Vec<&'a Row>>,
}

/// The client of a row.
fn place(row: &Row) -> Place<'_> {
    row.cell.client.as_ref().map_or(("", ""), |client| (&client.store, &client.driver))
}

/// The store has no process of its own.
fn is_local(row: &Row) -> bool {
    row.get(STORE_CPU).is_none() && row.get(UNMETERED).is_none()
}

fn field<'a>(evidence: &Evidence<'a>, is_wanted: bool) -> Field<'a> {
    let is_free = |group: &&Group| group.factor("link").is_empty();
    let rows = |group: &'a Group| -> Vec<&'a Row> {
        let is_it = |row: &&Row| {
            let is_paced =
                row.cell.client.as_ref().is_none_or(|client| client.encoded || client.rate.is_some());
            !is_paced && is_local(row) == is_wanted
        };
        evidence.report.members(group).filter(is_it).collect()
    };
    let works = evidence.report.groups.iter().filter(is_free).map(rows);
    Field { is_local: is_wanted, works: works.filter(|rows| !rows.is_empty()).collect() }
}

impl<'a> Field<'a> {
    /// By CPU time, unless a part of it could not be read for some client.
    fn measure(&self) -> Measure {
        let all = self.works.iter().flatten().all(|row| row.get(CPU).is_some());
        if all { Measure::Cpu } else { Measure::Seconds }
    }

    /// The runtimes of one client.
    fn runtime(&self, evidence: &Evidence<'a>, of: Place) -> Option<Picked<'a, &'a str>> {
        let key = |row: &'a Row| (place(row) == of).then_some(row.cell.runtime.as_str());
        let at = |name: &&str| evidence.plan.runtimes.iter().position(|runtime| runtime.name == *name);
        pick(&self.works, self.measure(), key, |name| (name.contains('+'), at(name)))
    }

    /// The clients on one runtime.
    fn client(&self, evidence: &Evidence<'a>, runtime: &str) -> Option<Picked<'a, Place<'a>>> {
        let key = |row: &'a Row| (row.cell.runtime == runtime).then(|| place(row));
        let store = |name: &str| evidence.plan.stores.iter().position(|store| store.name == name);
        pick(&self.works, self.measure(), key, |of| (PLAIN.contains(&of.1), store(of.0)))
    }
}

/// What is recommended for one kind of store.
struct Chosen<'a> {
    is_local: bool,
    measure: Measure,
    client: Picked<'a, Place<'a>>,
    runtime: Picked<'a, &'a str>,
}

impl<'a> Field<'a> {
    /// The client on the PHP that is recommended with it.
    fn choose(&self, evidence: &Evidence<'a>) -> Option<Chosen<'a>> {
        let names = evidence.plan.runtimes.iter().map(|runtime| runtime.name.as_str());
        let client = names.clone().find_map(|name| self.client(evidence, name))?;
        let runtime = self.runtime(evidence, client.best)?;
        let client = self.client(evidence, runtime.best).unwrap_or(client);
        Some(Chosen { is_local: self.is_local, measure: self.measure(), client, runtime })
    }
}

impl Chosen<'_> {
    /// `Redis, phpredis (PHP 8.4) for several machines`, without parts for which there is no choice.
    fn words(&self, scope: &str) -> String {
        let runtime = label::runtime(self.runtime.best);
        // If no PHP costs more, none is named.
        let on = if self.runtime.others.is_empty() { String::new() } else { format!(" ({runtime})") };
        let whom = if scope.is_empty() { String::new() } else { format!(" for {scope}") };
        format!("{}{on}{whom}", label::in_a_sentence(self.client.best))
    }
}

impl Said {
    fn clients(&mut self, evidence: &Evidence) {
        // Those that several machines can share come first.
        let fields = [field(evidence, false), field(evidence, true)];
        let chosen: Vec<Chosen> = fields.iter().filter_map(|field| field.choose(evidence)).collect();
        if chosen.len() < 2 && chosen.iter().all(|of| of.client.of < 2 && of.runtime.of < 2) {
            return;
        }
        let mut uses = Vec::new();
        for of in &chosen {
            let scope = match (chosen.len() > 1, of.is_local) {
                (false, _) => "",
                (true, true) => "one machine",
                (true, false) => "several machines",
            };
            uses.push(of.words(scope));
            let (name, cells) = (label::in_a_sentence(of.client.best), of.client.cells());
            self.recommended.push(Recommended { scope: scope.into(), name, cells });
            self.gain(evidence, of.measure, &of.client);
            self.newer(evidence, of.measure, &of.runtime);
        }
        let cells = chosen.iter().flat_map(|of| of.client.cells());
        self.sentences.push(Sentence::new(Part::Use, format!("Use {}.", uses.join("; ")), cells));
        self.sentences.extend(chosen.iter().find_map(|of| need(&of.client)));
        self.sentences.extend(chosen.iter().find_map(|of| exception(evidence, of.measure, &of.client)));
        self.sentences.extend(chosen.iter().find_map(|of| ties(&of.client)));
        self.sentences.extend(chosen.first().and_then(|of| shown_for(evidence, &of.client.rows)));
    }

    /// Compared with the client that the study names first, or the next one that costs more.
    fn gain(&mut self, evidence: &Evidence, measure: Measure, client: &Picked<Place>) {
        let Some((ours, theirs)) = client.others.iter().find_map(|other| client.gain(other)) else { return };
        let Some(change) = measure.change(ours, theirs) else { return };
        let content = label::content(evidence, &ours.cell.payload);
        let text = format!("{content}, beside {}: {change}.", label::in_a_sentence(place(theirs)));
        self.sentences.push(Sentence::new(Part::Gain, text, [ours, theirs].map(|row| row.cell.id.clone())));
    }

    /// What another PHP improves compared with the first PHP of the study that costs more.
    fn newer(&mut self, evidence: &Evidence, measure: Measure, runtime: &Picked<&str>) {
        let at = |rows: &&Vec<&Row>| {
            let name = rows.first().map(|row| &row.cell.runtime);
            evidence.plan.runtimes.iter().position(|of| Some(&of.name) == name)
        };
        let base = runtime.others.iter().filter(|rows| runtime.gain(rows).is_some()).min_by_key(at);
        let Some((ours, theirs)) = base.and_then(|base| runtime.gain(base)) else { return };
        let Some(change) = measure.change(ours, theirs) else { return };
        let text = format!(
            "{} instead of {}, {}: {change}.",
            label::runtime(&ours.cell.runtime),
            label::runtime(&theirs.cell.runtime),
            label::content(evidence, &ours.cell.payload)
        );
        self.sentences.push(Sentence::new(Part::Gain, text, [ours, theirs].map(|row| row.cell.id.clone())));
    }
}

/// The extension that a driver is or needs.
fn need(client: &Picked<Place>) -> Option<Sentence> {
    let extension = match client.best.1 {
        "phpredis" => "ext-redis",
        "symfony" => "ext-redis and symfony/cache",
        "php-memcached" => "ext-memcached",
        "apcu" => "ext-apcu",
        "extension" => "ext-aerospike",
        _ => return None,
    };
    Some(Sentence::new(Part::Needs, format!("It needs {extension}."), client.cells()))
}

/// A work on which another client is significantly better.
fn exception(evidence: &Evidence, measure: Measure, client: &Picked<Place>) -> Option<Sentence> {
    let (better, own) = client.exception()?;
    let text = format!(
        "Better for {}: {}, with {}.",
        label::content(evidence, &better.cell.payload),
        label::in_a_sentence(place(better)),
        measure.change(better, own)?
    );
    Some(Sentence::new(Part::Change, text, [&better.cell, &own.cell].map(|cell: &Cell| cell.id.clone())))
}

fn ties(client: &Picked<Place>) -> Option<Sentence> {
    let names: Vec<String> =
        client.tied.iter().filter_map(|rows| Some(label::in_a_sentence(place(rows.first()?)))).collect();
    let text = match names.len().saturating_sub(NAMED) {
        _ if names.is_empty() => return None,
        0 => format!("No significant difference: {}.", names.join("; ")),
        more => format!("No significant difference: {}; {more} more.", names[..NAMED].join("; ")),
    };
    let cells = client.tied.iter().flatten().map(|row| row.cell.id.clone());
    Some(Sentence::new(Part::Limit, text, cells))
}

/// The scope of the comparison, and the number of rounds.
fn shown_for(evidence: &Evidence, rows: &[&Row]) -> Option<Sentence> {
    let contents = distinct(rows.iter().map(|row| label::content(evidence, &row.cell.payload)));
    let sure = match rows.iter().map(|row| row.count("rounds") as usize).min()? {
        few if few < ROUNDS => format!("by figures of {} only", units::count(few, "round", "rounds")),
        enough => format!("{enough} rounds"),
    };
    let text = format!("Shown for {}; {sure}.", label::some(&contents, NAMED));
    Some(Sentence::new(Part::Limit, text, rows.iter().map(|row| row.cell.id.clone())))
}
