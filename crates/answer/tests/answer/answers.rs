//! The answer of every report: short, the recommendation first, on one screen, and the same in sentences, tables and JSON.

use weigh_answer::advice::WORDS;
use weigh_answer::format::named;
use weigh_answer::report::Report;

use crate::{agree, formats};
use weigh_answer::output::Options;
use weigh_answer::report::advice::{Advice, SENTENCES, StatementKind};

/// Lines and columns of a terminal's first screen.
const SCREEN: (usize, usize) = (24, 80);

fn every() -> Vec<(String, Report)> {
    let fixtures = formats::every().into_iter().map(|(name, report)| (name.to_owned(), report));
    fixtures.chain(crate::stored::RUNS.map(|run| (run.to_owned(), crate::stored::report(run)))).collect()
}

fn with_advice() -> Vec<(String, Report, Advice)> {
    let advised = |(name, report): (String, Report)| {
        let advice = report.advice.clone()?;
        Some((name, report, advice))
    };
    let all: Vec<_> = every().into_iter().filter_map(advised).collect();
    assert!(all.len() >= 5, "{} reports recommend something", all.len());
    all
}

#[test]
fn an_answer_is_at_most_five_short_sentences_the_recommendation_first() {
    for (name, report, advice) in with_advice() {
        assert!((1..=SENTENCES).contains(&advice.sentences.len()), "{name}: {:?}", advice.sentences);
        assert_eq!(advice.sentences[0].part, StatementKind::Use, "{name}");
        for sentence in &advice.sentences {
            let text = &sentence.text;
            let words = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
            assert!(words <= WORDS, "{name}: {words} words: {text}");
            assert!(text.ends_with('.') && !text.contains("  ") && !text.contains("NaN"), "{name}: {text}");
            let is_known = |id: &String| report.row(id).is_some();
            assert!(sentence.cells.iter().all(is_known), "{name}: {text}");
        }
    }
}

#[test]
fn the_first_screen_is_the_answer() {
    for (name, report) in every() {
        let options = Options { width: SCREEN.1, ..Options::default() };
        let text = named("terminal").unwrap().render(&report, &options).unwrap().remove(0).bytes;
        let text = String::from_utf8(text).unwrap();
        // A title of hundreds of characters, as the hostile fixtures have, wraps.
        let lines = text.lines().count() - text.lines().take_while(|line| !line.is_empty()).count();
        // One table of codecs shows up to twelve rows of it instead of four.
        let rows = if report.groups.len() == 1 && report.shape.name == "codec" { 8 } else { 0 };
        assert!(lines + 3 <= SCREEN.0 + rows, "{name}: {lines}\n{text}");
    }
}

#[test]
fn the_answer_stands_in_json_too() {
    for (name, report, advice) in with_advice() {
        assert!(!advice.recommended.is_empty() || !advice.ahead.is_empty(), "{name}");
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["advice"], serde_json::to_value(&advice).unwrap(), "{name}");
    }
}

#[test]
fn no_two_statements_disagree() {
    let mut arrows = 0;
    for (name, report) in every() {
        agree::statements_agree(&name, &report);
        agree::an_answer_is_short(&name, &report);
        arrows += agree::pictures_agree(&name, &report);
    }
    assert!(arrows > 10, "pictures show what is recommended: {arrows}");
}

/// Names of contents may hold anything; those of the stored runs do not.
#[test]
fn evidence_of_clients_and_deliveries_is_plain() {
    let clients = crate::others().into_iter().filter(|(name, _)| *name != "hostile");
    let stored = ["clients", "deliveries"].map(|run| (run, crate::stored::report(run)));
    for (name, report) in clients.chain(stored) {
        agree::evidence_is_plain(name, &report);
    }
}
