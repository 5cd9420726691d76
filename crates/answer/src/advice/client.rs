//! Which store and driver to use, on which PHP, and how to encode values for each link.
//!
//! Clients are compared by the CPU time of workers and store per transaction, or by the time for all transactions if
//! the store's CPU time could not be read. Settings are compared by the mean time inside calls over one link. Of equal
//! ones, a driver with a package comes before one of this program in plain PHP, which shows the cost of the protocol and
//! cannot be installed. A PHP without options comes before one with options, and a setting with fewer extensions before
//! one with more. Otherwise the order of the study decides.
//!
//! A store inside PHP's own process or in files serves one machine. It is not compared with stores that serve several.

use weigh_model::units;

use crate::advice::NAMED;
use crate::choose::Choice;
use crate::finding::client::label;
use crate::first::{distinct, grouped};
use crate::label::of_cell;
use crate::metric::client::{CPU, STORE_CPU, UNMETERED};
use crate::metric::codec::IDENTITY;
use crate::names;
use crate::report::advice::{Advice, Case, Sentence, StatementKind, ids};
use crate::report::question::{Groups, Question};
use crate::report::ranking::Answer;
use crate::row::Row;
use crate::verdict::ratio;

/// Drivers of this program, in plain PHP.
const PLAIN: [&str; 2] = ["socket", "wire"];
const SEVERAL: &str = "several machines";
const ONE: &str = "one machine";
/// Codecs that PHP has without a further extension.
const BUNDLED: [&str; 4] = [IDENTITY, "gzencode", "gzdeflate", "gzcompress"];

fn find_store_and_driver(row: &Row) -> (&str, &str) {
    row.cell.client.as_ref().map_or(("", ""), |client| (&client.store, &client.driver))
}

/// The client of a row with its PHP.
fn client(row: &Row) -> ((&str, &str), &str) {
    (find_store_and_driver(row), &row.cell.runtime)
}

/// The same client on another PHP.
fn is_in_other_php(ours: &Row, theirs: &Row) -> bool {
    find_store_and_driver(ours) == find_store_and_driver(theirs) && ours.cell.runtime != theirs.cell.runtime
}

fn is_encoded(row: &Row) -> bool {
    row.cell.client.as_ref().is_some_and(|client| client.encoded)
}

/// The client for several machines, that for one machine, and the setting over each link.
pub fn questions(all: &Groups) -> Vec<Question> {
    let several = clients(all, SEVERAL, false, 2);
    // A single store for one machine is named beside those for several.
    let one = clients(all, ONE, true, if several.is_some() { 1 } else { 2 });
    let mut questions: Vec<Question> = several.into_iter().chain(one).collect();
    if let [one] = questions.as_mut_slice() {
        one.scope = String::new();
    }
    questions.extend(settings(all));
    questions
}

fn clients(all: &Groups, scope: &str, is_local: bool, least: usize) -> Option<Question> {
    let report = all.report;
    let at = |known: bool, place: Option<usize>| usize::from(!known) * 256 + place.unwrap_or(255);
    let key = |row: &'_ Row| {
        let client = row.cell.client.as_ref()?;
        // The store has no process of its own.
        let is_own = row.get(STORE_CPU).is_none() && row.get(UNMETERED).is_none();
        if client.encoded || client.rate.is_some() || is_own != is_local {
            return None;
        }
        let runtime = &row.cell.runtime;
        let runtimes = report.runtimes.iter().position(|known| known.name == *runtime);
        let store = report.stores.iter().position(|known| known.name == client.store);
        let driver = at(!PLAIN.contains(&client.driver.as_str()), Some(0));
        let rank = (driver * 65_536) + at(!runtime.contains('+'), runtimes) * 1024 + store.unwrap_or(0);
        let (store, driver) = (client.store.clone(), client.driver.clone());
        let name = names::store_with_driver((&store, &driver));
        Some(((store, driver, runtime.clone()), name, rank))
    };
    let groups = all.places(|group, _| group.factor("link").is_empty());
    Question::of(all, least, scope, groups, key)
}

/// Of each link the settings of the client with the most of them represent all.
fn settings(all: &Groups) -> Vec<Question> {
    let links = distinct(all.report.groups.iter().map(|group| group.factor("link")));
    let mut questions = Vec::new();
    for link in links {
        let groups =
            all.places(|group, rows| group.factor("link") == link && rows.iter().any(|row| is_encoded(row)));
        let rows = groups.iter().flat_map(|group| &all.rows[*group]).filter(|row| is_encoded(row));
        let clients = distinct(rows.map(|row| client(row)));
        let of_client = |own: &((&str, &str), &str)| {
            let key = |row: &'_ Row| {
                let (serializer, setting) = (row.cell.serializer.clone(), row.cell.setting.clone());
                let is_own = is_encoded(row) && client(row) == *own;
                is_own.then(|| ((serializer, setting), of_cell(&row.cell), extensions(row).len()))
            };
            Question::of(all, 2, over(link), groups.clone(), key)
        };
        let mut own: Vec<Question> = clients.iter().filter_map(of_client).collect();
        let widest = own.iter().enumerate().max_by_key(|(_, one)| one.alternatives.len()).map(|(at, _)| at);
        own.iter_mut().enumerate().for_each(|(at, one)| one.is_answer = Some(at) == widest);
        questions.extend(own);
    }
    questions
}

fn over(link: &str) -> String {
    if link.is_empty() { "on loopback".to_owned() } else { format!("over {link}") }
}

/// The extensions that a setting needs in addition to PHP's own.
fn extensions(row: &Row) -> Vec<String> {
    let serializer = row.cell.serializer.as_deref().filter(|name| ["igbinary", "msgpack"].contains(name));
    let codec = Some(row.cell.setting.codec.as_str()).filter(|codec| !BUNDLED.contains(codec));
    serializer.into_iter().chain(codec).map(|name| format!("ext-{name}")).collect()
}

/// The recommendation; none if nothing competes.
pub fn advise(case: &Case) -> Option<Advice> {
    let is_setting = |answer: &Answer| first(case, answer).iter().any(|row| is_encoded(row));
    let (settings, clients): (Vec<&Answer>, Vec<&Answer>) =
        case.answers.iter().partition(|one| is_setting(one));
    let mut sentences = Vec::new();
    if !clients.is_empty() {
        sentences.push(used(case, &clients));
        sentences.extend(clients.iter().find_map(|answer| need(case, answer)));
        for answer in &clients {
            sentences.extend(gain(case, answer));
            sentences.extend(newer(case, answer));
        }
        sentences.extend(case.elsewhere(|group| label::content(case.evidence, group.payload())));
        sentences.extend(clients.iter().find_map(|answer| case.ties(answer)));
        sentences.extend(clients.first().and_then(|answer| shown_for(case, answer)));
    }
    if !settings.is_empty() {
        sentences.push(encoded(case, &settings));
        sentences.extend(values_need(case, &settings));
        sentences.extend(settings.iter().rev().find_map(|answer| beside_plain(case, answer)));
        sentences.extend(settings.iter().find_map(|answer| case.ties(answer)));
        sentences.extend(settings.first().and_then(|answer| shown_for(case, answer)));
    }
    (!sentences.is_empty()).then(|| {
        case.advice(case.recommended(|group| label::content(case.evidence, group.payload())), sentences)
    })
}

/// The rows that were chosen for the most works.
fn first<'a>(case: &'a Case, answer: &Answer) -> Vec<&'a Row> {
    case.chosen(answer, &answer.choices[0])
}

/// `Use Redis with phpredis (PHP 8.4) for several machines; APCu for one machine.`
fn used(case: &Case, clients: &[&Answer]) -> Sentence {
    let name = |answer: &&Answer| {
        let choice = &answer.choices[0];
        let of_first = |one: usize| case.rows(answer, choice, one).first().copied();
        let own = of_first(choice.chosen);
        let others = (0..answer.question.alternatives.len()).filter(|one| !choice.tied.contains(one));
        let mut others = others.filter_map(of_first);
        // If no PHP costs more, none is named.
        let own = own.filter(|own| others.any(|other| is_in_other_php(own, other)));
        let on = own.map(|row| format!(" ({})", label::runtime(&row.cell.runtime)));
        let scope = &answer.question.scope;
        let whom = if scope.is_empty() { String::new() } else { format!(" for {scope}") };
        format!("{}{}{whom}", answer.name(choice.chosen), on.unwrap_or_default())
    };
    let names: Vec<String> = clients.iter().map(name).collect();
    let cells = clients.iter().flat_map(|answer| ids(first(case, answer)));
    Sentence::new(StatementKind::Use, format!("Use {}.", names.join("; ")), cells)
}

/// The extension that a driver is or needs.
fn need(case: &Case, answer: &Answer) -> Option<Sentence> {
    let rows = first(case, answer);
    let extension = match find_store_and_driver(rows.first()?).1 {
        "phpredis" => "ext-redis",
        "symfony" => "ext-redis and symfony/cache",
        "php-memcached" => "ext-memcached",
        "apcu" => "ext-apcu",
        "extension" => "ext-aerospike",
        _ => return None,
    };
    Some(Sentence::new(StatementKind::Needs, format!("It needs {extension}."), ids(rows)))
}

/// What a row's cost is beside that of another one, by the metric that both were compared by.
fn change(case: &Case, ours: &Row, theirs: &Row) -> Option<String> {
    let mut contenders = case.ranking.contenders.iter().flatten();
    let metric = contenders.find(|one| one.row.id() == ours.id())?.metric;
    let what = if metric == CPU { "CPU time per transaction" } else { "time per transaction" };
    Some(label::change(&ratio(ours.get(metric)?, theirs.get(metric)?)?, what))
}

/// What was chosen and the first alternative of the study that is worse and of which this holds, on one work.
fn worse<'a>(
    case: &'a Case,
    answer: &Answer,
    is_wanted: impl Fn(&Row, &Row) -> bool,
) -> Option<(&'a Row, &'a Row)> {
    let choice: &Choice = &answer.choices[0];
    let mut others = (0..answer.question.alternatives.len()).filter(|one| !choice.tied.contains(one));
    others.find_map(|other| {
        choice.works.iter().find_map(|work| {
            let row = |one: usize| answer.question.row(&case.ranking.groups, one, *work);
            let (ours, theirs) = (row(choice.chosen)?, row(other)?);
            let group = answer.question.groups[*work];
            let cost = |row: &Row| case.ranking.cost(group, row, case.conditions);
            (is_wanted(ours, theirs) && cost(ours)?.is_less(&cost(theirs)?)).then_some((ours, theirs))
        })
    })
}

/// Compared with the client that the study names first, or the next one that costs more.
fn gain(case: &Case, answer: &Answer) -> Option<Sentence> {
    let (ours, theirs) = worse(case, answer, |ours, theirs| {
        find_store_and_driver(ours) != find_store_and_driver(theirs)
            && ours.cell.runtime == theirs.cell.runtime
    })?;
    let content = label::content(case.evidence, &ours.cell.payload);
    let beside = names::store_with_driver(find_store_and_driver(theirs));
    Some(Sentence::gain(&content, &beside, &change(case, ours, theirs)?, [ours, theirs]))
}

/// What another PHP improves compared with the first PHP of the study that costs more.
fn newer(case: &Case, answer: &Answer) -> Option<Sentence> {
    let (ours, theirs) = worse(case, answer, is_in_other_php)?;
    let [own, other] = [ours, theirs].map(|row| label::runtime(&row.cell.runtime));
    let content = label::content(case.evidence, &ours.cell.payload);
    let text = format!("{own} instead of {other}, {content}: {}.", change(case, ours, theirs)?);
    Some(Sentence::new(StatementKind::Gain, text, ids([ours, theirs])))
}

/// The scope of the comparison, and the number of rounds.
fn shown_for(case: &Case, answer: &Answer) -> Option<Sentence> {
    let rows = first(case, answer);
    let contents = distinct(rows.iter().map(|row| label::content(case.evidence, &row.cell.payload)));
    let rounds = units::count(rows.iter().map(|row| row.count("rounds") as usize).min()?, "round", "rounds");
    let text = format!("Measured with {}; {rounds}.", label::some(&contents, NAMED));
    Some(Sentence::new(StatementKind::Limit, text, ids(rows)))
}

/// `Encode values with igbinary alone on loopback; igbinary with zstd 3 over 100mbit/20ms.`
fn encoded(case: &Case, settings: &[&Answer]) -> Sentence {
    let name = |answer: &Answer| answer.name(answer.choices[0].chosen).to_owned();
    let by_name = grouped(settings.iter().map(|answer| (name(answer), answer.question.scope.clone())));
    let text = match by_name.as_slice() {
        [(name, _)] => format!("Encode values with {name}."),
        several => {
            let some = several.iter().take(NAMED);
            let parts = some.map(|(name, links)| format!("{name} {}", label::some(links, NAMED)));
            format!("Encode values with {}.", parts.collect::<Vec<_>>().join("; "))
        }
    };
    Sentence::new(StatementKind::Use, text, settings.iter().flat_map(|answer| ids(first(case, answer))))
}

fn values_need(case: &Case, settings: &[&Answer]) -> Option<Sentence> {
    let rows: Vec<&Row> = settings.iter().flat_map(|answer| first(case, answer)).collect();
    let names = distinct(rows.iter().flat_map(|row| extensions(row)));
    let text = format!("Values need {}.", units::list(&names));
    (!names.is_empty()).then(|| Sentence::new(StatementKind::Needs, text, ids(rows)))
}

/// Compared with values that are only serialized.
fn beside_plain(case: &Case, answer: &Answer) -> Option<Sentence> {
    let (ours, theirs) = worse(case, answer, |_, theirs| theirs.cell.setting.codec == IDENTITY)?;
    let group = case.report().groups.iter().position(|group| group.has(ours.id()))?;
    let cost = |row: &Row| case.ranking.cost(group, row, case.conditions);
    let ratio = ratio(&cost(ours)?.varies, &cost(theirs)?.varies)?;
    let what = format!("{} {}", label::content(case.evidence, &ours.cell.payload), answer.question.scope);
    let change = label::change(&ratio, "time per call");
    Some(Sentence::gain(&what, &of_cell(&theirs.cell), &change, [ours, theirs]))
}
