//! That every place of a report names the same choice, and that none claims an order that its rounds do not show.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weigh_answer::format::named;
use weigh_answer::page::data::Data;
use weigh_answer::report::{Report, RunFacts};
use weigh_answer::row::Row;
use weigh_answer::verdict::Confidence;
use weigh_model::record::Record;

use crate::agree;
use crate::stored::{self, DOCUMENTED, RUNS};
use weigh_answer::document::ranking::RankingDocument;
use weigh_answer::output::{Detail, Options};
use weigh_answer::report::advice::{Advice, StatementKind};
use weigh_answer::report::ranking::{Conditions, Ranking};

/// Verbs of sentences that tell a reader what to do.
const IMPERATIVES: [&str; 9] = [
    "Use ",
    "Send ",
    "Leave ",
    "Precompress ",
    "Hand ",
    "Encode values",
    "Serve ",
    "Do not ",
    "recommended;",
];

fn all_runs() -> impl Iterator<Item = &'static str> {
    RUNS.into_iter().chain(DOCUMENTED)
}

fn ids(value: &serde_json::Value, list: &str, flag: &str) -> Vec<BTreeSet<String>> {
    let groups = value["groups"].as_array().unwrap().iter();
    let of = |group: &serde_json::Value| {
        let rows = group[list].as_array().unwrap().iter().filter(|one| one[flag] == true);
        rows.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    groups.map(of).collect()
}

#[test]
fn answer_arrows_titles_ranking_page_and_json_name_one_choice() {
    let mut named_somewhere = 0;
    for run in all_runs() {
        let report = stored::report(run);
        agree::statements_agree(run, &report);
        agree::an_answer_is_short(run, &report);
        agree::pictures_agree(run, &report);
        let usual = Conditions::of(&report);
        let ranking = Ranking::of(&report);
        let document = serde_json::to_value(RankingDocument::of(&report, &usual)).unwrap();
        let page = serde_json::to_value(Data::of(&report, &Options::default())).unwrap();
        let (in_document, on_page) = (ids(&document, "ranked", "best"), ids(&page, "points", "recommended"));
        let mut ranked_groups = in_document.iter();
        for (at, group) in report.groups.iter().enumerate() {
            let ranked = ranking.group(at, &usual);
            let best: BTreeSet<String> =
                ranked.iter().filter(|one| one.best).map(|one| one.id.clone()).collect();
            if !ranked.is_empty() {
                assert_eq!(ranked_groups.next(), Some(&best), "{run} {:?}", group.key);
            }
            let answered = ranking.questions.iter().any(|one| one.is_answer && one.groups.contains(&at));
            let recommended: BTreeSet<String> =
                group.cells.iter().filter(|id| report.recommends(id)).cloned().collect();
            assert_eq!(on_page[at], recommended, "{run}");
            if answered
                && report.advice.as_ref().is_some_and(|one| one.confidence != Confidence::TooFewRounds)
            {
                assert_eq!(best, recommended, "{run} {:?}", group.key);
                named_somewhere += best.len();
            }
            // The picture over links, at the usual link and mix.
            let totals = report.exhibits.links.as_ref().and_then(|totals| totals.main_mix(group));
            let there = totals.and_then(|mix| mix.best.iter().find(|one| one.mbit == usual.links[0].mbit));
            if let Some(there) = there {
                assert!(best.contains(&there.cell), "{run} {:?}: {}", group.key, there.cell);
            }
        }
    }
    assert!(named_somewhere > 20, "{named_somewhere}");
}

#[test]
fn what_is_chosen_under_random_conditions_is_never_behind_in_its_own_ranking() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for run in all_runs() {
        let report = stored::report(run);
        let ranking = Ranking::of(&report);
        let usual = Conditions::of(&report);
        for _ in 0..200 {
            let [mbit, trip, reads]: [f64; 3] = [(0.05, 1e4), (0.01, 900.0), (0.01, 1e5)]
                .map(|(low, high): (f64, f64)| (rng.random_range(low.ln()..high.ln())).exp());
            let goal = ["time", "money"][rng.random_range(0..2)];
            let conditions = usual.with(&format!("goal={goal},link={mbit}:{trip},reads={reads}")).unwrap();
            let answers = ranking.answers(&conditions);
            let document = serde_json::to_value(RankingDocument::of(&report, &conditions)).unwrap();
            let mut in_document = ids(&document, "ranked", "best").into_iter();
            for at in 0..report.groups.len() {
                let ranked = ranking.ranked(at, &conditions, &answers);
                let best: BTreeSet<String> =
                    ranked.iter().filter(|one| one.best).map(|one| one.id.clone()).collect();
                if !ranked.is_empty() {
                    assert_eq!(in_document.next(), Some(best.clone()));
                }
                for answer in &answers {
                    let Some((question, work, choice)) = answer.of_group(at) else { continue };
                    let chosen = question.row(&ranking.groups, choice.chosen, work).unwrap();
                    assert!(best.contains(chosen.id()), "{run}");
                    let cost = |row: &_| ranking.cost(at, row, &conditions).unwrap();
                    let rivals = (0..question.alternatives.len())
                        .filter(|one| question.alternatives[*one].may_be_chosen)
                        .filter_map(|one| question.row(&ranking.groups, one, work));
                    let is_rival = |row: &&Row| {
                        let mut all = ranking.contenders[at].iter();
                        all.any(|one| {
                            one.row.id() == row.id() && one.candidate && one.cost((0.0, 1.0)).is_some()
                        })
                    };
                    let least =
                        rivals.filter(is_rival).min_by(|a, b| cost(*a).total().total_cmp(&cost(*b).total()));
                    let (least, chosen) = (cost(least.unwrap()), cost(chosen));
                    let is_near = chosen.total() <= least.total() * 1.01;
                    let is_few = choice.confidence == Confidence::TooFewRounds;
                    assert!(is_near || is_few || !least.is_less(&chosen), "{run} at {conditions}");
                }
            }
        }
    }
}

/// The report of a stored run with this many rounds of each configuration.
fn with_rounds(run: &str, rounds: usize, seed: u64, is_complete: bool) -> Report {
    let (plan, records) = stored::records(run);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut kept: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    let records: Vec<Record> = records
        .into_iter()
        .filter_map(|record| match record {
            Record::Visit(mut visit) => {
                let count = kept.entry(visit.cell.clone()).or_default();
                if *count == rounds {
                    return None;
                }
                *count += 1;
                visit.round = *count as u32;
                // Another machine, another noise.
                let noise = 1.0 + 0.3 * rng.random_range(0.0..1.0);
                for samples in visit.phases.values_mut() {
                    samples.cpu_ns.iter_mut().for_each(|ns| *ns *= noise);
                }
                Some(Record::Visit(visit))
            }
            Record::End { .. } if !is_complete => None,
            // A configuration that was given up had more rounds.
            Record::Stop { .. } => None,
            other => Some(other),
        })
        .collect();
    Report::of(&RunFacts::default(), &plan, &records)
}

fn claims_nothing(run: &str, rounds: usize, report: &Report) -> Result<(), TestCaseError> {
    let advice: &Advice = match &report.advice {
        Some(advice) => advice,
        None => return Ok(()),
    };
    prop_assert!(advice.recommended.is_empty() && advice.confidence == Confidence::TooFewRounds);
    let why = format!("Not settled ({rounds} of 5 rounds): ");
    for (sentence, begins) in advice.sentences.iter().zip(["So far ", &why]) {
        prop_assert!(
            sentence.part == StatementKind::Use && sentence.text.starts_with(begins),
            "{run}: {}",
            sentence.text
        );
    }
    for sentence in &advice.sentences[2..] {
        prop_assert!(sentence.part == StatementKind::Known, "{run}: {}", sentence.text);
    }
    let options = Options { detail: Detail::Full, ..Options::default() };
    for format in ["terminal", "markdown", "html", "json", "svg"] {
        for file in named(format).unwrap().render(report, &options).unwrap() {
            let text = String::from_utf8_lossy(&file.bytes).replace('\n', " ");
            let lower = text.to_lowercase();
            for phrase in ["no significant difference", "not significant"] {
                let at = lower.find(phrase);
                let around =
                    at.map(|at| lower.get(at.saturating_sub(80)..at + 60).unwrap_or_default().to_owned());
                prop_assert!(at.is_none(), "{run} {rounds} {format} {}: {around:?}", file.file_name);
            }
        }
    }
    let findings = report.findings.iter().map(|one| one.text.as_str());
    for text in findings.chain(advice.sentences.iter().map(|one| one.text.as_str())) {
        let is_order = IMPERATIVES.iter().any(|verb| text.starts_with(verb));
        prop_assert!(!is_order, "{run}: {text}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn one_to_four_rounds_claim_no_order_and_no_equality(
        run in prop::sample::select(all_runs().filter(|run| *run != "downloads").collect::<Vec<_>>()),
        rounds in 1usize..5,
        seed in any::<u64>(),
        is_complete in any::<bool>(),
    ) {
        let report = with_rounds(run, rounds, seed, is_complete);
        claims_nothing(run, rounds, &report)?;
        let go_on = if is_complete { "larger --budget" } else { "go on: weigh run --resume " };
        if let Some(advice) = &report.advice {
            prop_assert!(advice.sentences[1].text.contains(go_on), "{}", advice.sentences[1].text);
        }
    }
}
