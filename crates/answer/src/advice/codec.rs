//! What to encode with, by total time at the usual link and the usual mix of reads and writes of the study: one setting for cached values; for files that
//! are encoded once and sent many times one for each content coding.

use weigh_model::setting::Setting;
use weigh_model::units;
use weigh_stats::{CONFIDENCE, Chosen, ROUNDS, drawn_figures, regret_bound, regret_by_figures};

use crate::choose::{Candidate, Choice, Cost, TOLERANCE, choose};
use crate::estimate::QUANTILE;
use crate::finding::codec::{item_bytes, speeds, stored};
use crate::first::distinct;
use crate::group::Group;
use crate::label;
use crate::metric::codec::IDENTITY;
use crate::report::advice::{Advice, Case, Sentence, StatementKind, ids};
use crate::report::question::{Groups, Question};
use crate::report::ranking::conditions::usual_mbit;
use crate::report::ranking::{Answer, Conditions, LinkShare};
use crate::row::Row;
use crate::text::shorten;
use crate::verdict::ratio_of_totals;

/// Content codings of precompressed files.
const CODINGS: [&str; 3] = ["br", "gzip", "zstd"];

/// One question for each runtime with values, three for one with files. The answer is about the runtime with the most contents.
pub fn questions(all: &Groups) -> Vec<Question> {
    let report = all.report;
    if report.study.links.as_ref().and_then(usual_mbit).is_none() {
        return Vec::new();
    }
    let key = |row: &'_ Row| {
        let (serializer, setting) = (row.cell.serializer.clone(), row.cell.setting.clone());
        let (name, rank) = (label::of_cell(&row.cell), needed(row).len());
        Some(((serializer, setting), name, rank))
    };
    let is_value = |group: &usize| {
        let payload = report.payload(report.groups[*group].payload());
        payload.is_some_and(|payload| payload.value.is_some())
    };
    let runtimes = distinct(report.groups.iter().map(Group::runtime));
    let places = |runtime: &str| all.places(|group, _| group.runtime() == runtime);
    let answered = runtimes.iter().rev().max_by_key(|runtime| places(runtime).len());
    let of_runtime = |runtime: &&str| {
        let groups = places(runtime);
        let of_coding = |coding: &&str| {
            let own = |row: &'_ Row| {
                let setting = &row.cell.setting;
                key(row).filter(|_| setting.codec == IDENTITY || coding_of(setting) == Some(coding))
            };
            Question::of(all, 2, format!("clients that take {coding}"), groups.clone(), own)
        };
        let own: Vec<Question> = match groups.iter().any(is_value) {
            true => Question::of(all, 2, "", groups.clone(), key).into_iter().collect(),
            false => CODINGS.iter().filter_map(of_coding).collect(),
        };
        let is_answer = Some(runtime) == answered;
        own.into_iter().map(move |question| Question { is_answer, ..question })
    };
    runtimes.iter().flat_map(of_runtime).collect()
}

/// The extensions that PHP needs for a row's serializer and codec.
pub(crate) fn needed(row: &Row) -> Vec<&'static str> {
    let serializers = [("igbinary", "ext-igbinary"), ("msgpack", "ext-msgpack")];
    let serializer = serializers.into_iter().find(|(name, _)| row.cell.serializer.as_deref() == Some(*name));
    serializer.map(|(_, extension)| extension).into_iter().chain(extension(&row.cell.setting.codec)).collect()
}

/// The extension that PHP needs for a codec.
fn extension(codec: &str) -> Option<&'static str> {
    match codec {
        "zstd" => Some("ext-zstd or FFI"),
        "brotli" => Some("ext-brotli or FFI"),
        "lz4" | "lz4hc" => Some("ext-lz4 or FFI"),
        "snappy" => Some("ext-snappy or FFI"),
        "libdeflate" => Some("FFI"),
        "bzip2" => Some("ext-bz2"),
        "xz" => Some("ext-xz or FFI"),
        _ => None,
    }
}

/// The content coding that a native codec writes.
fn coding_of(setting: &Setting) -> Option<&'static str> {
    if setting.options.contains_key("dict") {
        return None;
    }
    match setting.codec.as_str() {
        "brotli" => Some("br"),
        "zstd" => Some("zstd"),
        "zlib" | "zlib-ng" | "zlib-rs" | "libdeflate" | "isal" | "zopfli" => Some("gzip"),
        _ => None,
    }
}

/// The recommendation; none if a study computes no totals, or if nothing competes.
pub fn advise(case: &Case) -> Option<Advice> {
    let (answer, choice) = case.first().next()?;
    let row = case.chosen(answer, choice).first().copied()?;
    let mut sentences = Vec::new();
    if answer.question.scope.is_empty() {
        let text = match (row.cell.serializer.as_deref(), row.cell.setting.codec == IDENTITY) {
            (_, false) => format!("Use {} for cached values.", answer.name(choice.chosen)),
            (Some(serializer), true) => {
                format!("Use {serializer} alone for cached values, without compression.")
            }
            (None, true) => "Leave cached values uncompressed: no compression.".to_owned(),
        };
        sentences.push(Sentence::new(StatementKind::Use, text, ids(case.chosen(answer, choice))));
        let needed = needed(row);
        if !needed.is_empty() {
            sentences.push(Sentence::new(
                StatementKind::Needs,
                format!("It needs {}.", needed.join(", and ")),
                [],
            ));
        }
        sentences.extend(gain(case, answer, choice));
        sentences.extend(other_links(case, answer, choice));
    } else {
        let coded = |(answer, choice): (&Answer, &Choice)| {
            let coding = answer.question.scope.rsplit(' ').next().unwrap_or_default().to_owned();
            format!("{} ({coding})", answer.name(choice.chosen))
        };
        let names: Vec<String> = case.first().map(coded).collect();
        let text = format!("For files, encoded once: {}.", units::list(&names));
        let cells = case.first().flat_map(|(answer, choice)| ids(case.chosen(answer, choice)));
        sentences.push(Sentence::new(StatementKind::Use, text, cells));
        sentences.extend(on_the_fly(case));
        sentences.extend(fewer_bytes(case));
    }
    sentences.extend(case.elsewhere(|group| content(case, group)));
    sentences.push(limit(case, answer, choice));
    sentences.extend(case.ties(answer));
    Some(case.advice(case.recommended(|group| content(case, group)), sentences))
}

/// A content's name, short enough for a sentence.
fn content(case: &Case, group: &Group) -> String {
    shorten(&label::content(case.evidence, group.payload()), 40)
}

/// The median content by size of a choice.
fn middle(case: &Case, answer: &Answer, choice: &Choice) -> usize {
    let mut works = choice.works.clone();
    works.sort_by_key(|work| item_bytes(case.evidence, case.group(answer, *work)));
    works[works.len() / 2]
}

fn size_beside(ours: &Row, theirs: &Row) -> String {
    label::bytes_beside(stored(ours), stored(theirs))
}

/// Compared with current practice, on the median content by size.
fn gain(case: &Case, answer: &Answer, choice: &Choice) -> Option<Sentence> {
    let work = middle(case, answer, choice);
    let group = case.group(answer, work);
    let own = answer.question.row(&case.ranking.groups, choice.chosen, work)?;
    let usual = case.report().row(group.reference()?).filter(|usual| usual.id() != own.id())?;
    let [ours, theirs] =
        [own, usual].map(|row| case.ranking.cost(answer.question.groups[work], row, case.conditions));
    let (ours, theirs) = (ours?, theirs?);
    let ratio = ratio_of_totals((&ours.varies, ours.known), (&theirs.varies, theirs.known))?;
    let (name, content) = (label::of_cell(&usual.cell), content(case, group));
    let (time, size) = (label::change(&ratio, "time"), size_beside(own, usual));
    let text = format!("Compared with {name} ({content}): {time}, {size}.");
    Some(Sentence::new(StatementKind::Gain, text, ids([own, usual])))
}

/// The links on which something else is better: the speeds, below and above the usual one, at which the choice does not hold.
fn other_links(case: &Case, answer: &Answer, choice: &Choice) -> Option<Sentence> {
    let question = answer.question;
    let usual = case.conditions.links[0];
    let at = |mbit: f64| Conditions { links: vec![LinkShare { mbit, ..usual }], ..case.conditions.clone() };
    let is_other = |mbit: &&f64| {
        let there = case.ranking.answer(question, &at(**mbit));
        there.choices.first().is_some_and(|first| !first.tied.contains(&choice.chosen))
    };
    let speeds = speeds(case.evidence);
    let slow = speeds.iter().filter(|mbit| **mbit < usual.mbit).take_while(is_other);
    let fast = speeds.iter().rev().filter(|mbit| **mbit > usual.mbit).take_while(is_other);
    let mut cells = Vec::new();
    let mut part = |speeds: Vec<&f64>, word: &str| {
        let mbit = units::mbit(**speeds.last()?);
        // One setting for all of these speeds.
        let mut all: Vec<Candidate> = Vec::new();
        for speed in speeds {
            let here = case.ranking.candidates(question, &at(*speed));
            match all.is_empty() {
                true => all = here,
                false => all.iter_mut().zip(here).for_each(|(all, here)| all.costs.extend(here.costs)),
            }
        }
        let other = choose(TOLERANCE, &all).first()?.chosen;
        let is_less = |(ours, theirs): (&Option<Cost>, &Option<Cost>)| {
            ours.as_ref().zip(theirs.as_ref()).is_some_and(|(ours, theirs)| ours.is_less(theirs))
        };
        let at_speeds = |at: usize| all[at].costs.chunks(question.groups.len());
        let mut beside = at_speeds(other).zip(at_speeds(choice.chosen));
        beside.all(|(ours, theirs)| ours.iter().zip(theirs).any(is_less)).then(|| {
            cells.extend(ids(case.rows(answer, choice, other)));
            format!("{} {word} {mbit}", answer.name(other))
        })
    };
    let parts = [part(slow.collect(), "on links up to"), part(fast.collect(), "from")];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let text = format!("Better on other links: {}.", parts.join("; "));
    (!parts.is_empty()).then(|| Sentence::new(StatementKind::Change, text, cells))
}

/// `1 Gbit/s, 10 reads per write`.
fn conditions(case: &Case) -> String {
    let link = units::mbit(case.conditions.links[0].mbit);
    match case.conditions.reads {
        0.0 => format!("{link}, writes only"),
        reads => format!("{link}, {} reads per write", units::trimmed_number(reads)),
    }
}

/// The largest distance of the choice from the best at the usual link.
fn limit(case: &Case, answer: &Answer, choice: &Choice) -> Sentence {
    let rows = case.chosen(answer, choice);
    let (within, sure) = regret(case, answer, choice);
    let groups: Vec<&Group> = choice.works.iter().map(|work| case.group(answer, *work)).collect();
    let where_ = match groups.as_slice() {
        [one] => content(case, one),
        all => {
            let sizes: Vec<f64> = all.iter().map(|group| item_bytes(case.evidence, group) as f64).collect();
            format!("{} contents, {}", all.len(), label::range(&sizes, |b| units::bytes(b as u64)))
        }
    };
    let text =
        format!("Within {within} of the fastest on {where_} ({sure}; modelled: {}).", conditions(case));
    Sentence::new(StatementKind::Limit, text, ids(rows))
}

/// `8%` and `95% confidence`; the figures alone if there are too few rounds for confidence.
fn regret(case: &Case, answer: &Answer, choice: &Choice) -> (String, String) {
    let candidates = case.ranking.candidates(answer.question, case.conditions);
    let costs = |work: &usize| -> Vec<(usize, &Cost)> {
        let all = candidates.iter().enumerate();
        all.filter_map(|(at, one)| Some((at, one.costs[*work].as_ref()?))).collect()
    };
    let contents: Vec<Vec<(usize, &Cost)>> = choice.works.iter().map(costs).collect();
    // Possible true costs of all contents together, because they share their rounds.
    let rounds: Vec<Vec<(u32, f64)>> =
        contents.iter().flatten().map(|(_, cost)| cost.varies.drawn_rounds().to_vec()).collect();
    let drawn = drawn_figures(&rounds, QUANTILE, case.evidence.plan.seed);
    let mut next = drawn.iter();
    let chosen = |costs: &Vec<(usize, &Cost)>| {
        let all = costs.iter().zip(next.by_ref()).map(|((_, cost), drawn)| weigh_stats::Choice {
            figure: cost.varies.value,
            drawn,
            known: vec![cost.known],
        });
        let all = all.collect();
        Some(Chosen { all, made: vec![costs.iter().position(|(at, _)| *at == choice.chosen)?] })
    };
    let chosen: Vec<Chosen> = contents.iter().filter_map(chosen).collect();
    let own = contents.iter().flatten().filter(|(at, _)| *at == choice.chosen);
    let rounds = own.map(|(_, cost)| cost.varies.drawn_rounds().len()).min().unwrap_or(0);
    // Rounded up, never down.
    let percent = |share: f64| units::percent((share * 100.0 - 1e-9).ceil().max(1.0) / 100.0);
    match regret_bound(&chosen).filter(|_| rounds >= ROUNDS) {
        Some(bound) => (percent(bound), format!("{} confidence", units::percent(CONFIDENCE))),
        None => {
            (percent(regret_by_figures(&chosen)), format!("{} only", units::count(rounds, "round", "rounds")))
        }
    }
}

/// The bytes of precompression compared with current practice on the fly.
fn fewer_bytes(case: &Case) -> Option<Sentence> {
    let (answer, choice) = case.first().next()?;
    let group = case.group(answer, middle(case, answer, choice));
    let usual = case.report().row(group.reference()?)?;
    let mut cells = vec![usual.id().to_owned()];
    let part = |(answer, choice): (&Answer, &Choice)| {
        let row = case.chosen(answer, choice).into_iter().find(|row| group.has(row.id()))?;
        cells.push(row.id().to_owned());
        Some(format!("{} with {}", size_beside(row, usual), coding_of(&row.cell.setting)?))
    };
    let parts: Vec<String> = case.first().filter_map(part).collect();
    let (name, content) = (label::setting(&usual.cell.setting), content(case, group));
    let text = format!("Compared with {name} ({content}): {}.", parts.join(", "));
    Some(Sentence::new(StatementKind::Gain, text, cells))
}

/// The choice if each response were encoded on the fly.
fn on_the_fly(case: &Case) -> Option<Sentence> {
    let each = Conditions { reads: 1.0, ..case.conditions.clone() };
    let answers: Vec<Answer> =
        case.answers.iter().map(|answer| case.ranking.answer(answer.question, &each)).collect();
    let first = || answers.iter().filter_map(|answer| Some((answer, answer.choices.first()?)));
    let names: Vec<String> = first().map(|(answer, choice)| answer.name(choice.chosen).to_owned()).collect();
    let cells = first().map(|(answer, choice)| ids(case.chosen(answer, choice)));
    let text = format!("For pages, encoded for each response: {}.", units::list(&names));
    (!names.is_empty()).then(|| Sentence::new(StatementKind::Use, text, cells.flatten()))
}
