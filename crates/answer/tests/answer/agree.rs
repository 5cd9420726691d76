//! That no two statements of a report disagree about what to use, and that all of them are short and plain. Used by the tests of this crate and of its
//! rooms.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use weigh_answer::advice::WORDS;
use weigh_answer::document::group::views;
use weigh_answer::report::Report;
use weigh_answer::row::Row;
use weigh_answer::table::{Cell, Columns};

use weigh_answer::report::advice::{Advice, SENTENCES, StatementKind};

use weigh_answer::block::Block;

use weigh_answer::output::{Detail, Options};

/// The phrases that are retired: those that `scripts/words` looks for in the source, for what is put together at run time.
static RETIRED: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let script = include_str!("../../../../scripts/words");
    let lines = script.lines().skip_while(|line| !line.ends_with("<<'EOF'")).skip(1);
    let phrases = lines.take_while(|line| *line != "EOF").filter_map(|line| line.split_once('\t'));
    phrases.map(|(phrase, _)| Regex::new(phrase).unwrap()).collect()
});

/// What only the answer says.
const IMPERATIVES: [&str; 8] =
    ["Use ", "Send ", "Leave ", "Precompress ", "Hand ", "Encode ", "Serve ", "Do not "];

/// A statement on what to use: where it stands, for whom, and the cells that it names.
#[derive(Debug)]
struct Statement {
    place: &'static str,
    scope: String,
    cells: BTreeSet<String>,
}

/// Everything that names something to use: the answer's table of choices, its sentence, the marks of tables, titles of pictures that name one.
fn statements(report: &Report, advice: &Advice) -> Vec<Statement> {
    let mut all = Vec::new();
    for one in &advice.recommended {
        let cells = one.cells.iter().cloned().collect();
        all.push(Statement { place: "answer", scope: one.scope.clone(), cells });
    }
    let mut marked = BTreeSet::new();
    for view in views(report) {
        let table = view.table(view.rows.iter().copied(), &Columns::Few);
        for (row, (_, cells)) in view.rows.iter().zip(&table.rows) {
            if cells.iter().any(|cell| matches!(cell, Cell::Text(text) if text.starts_with('→'))) {
                marked.insert(row.id().to_owned());
            }
        }
    }
    all.push(Statement { place: "tables", scope: String::new(), cells: marked });
    all
}

/// Names with an arrow in pictures: each is one that the answer recommends. Says how many there are.
pub fn pictures_agree(name: &str, report: &Report) -> usize {
    let charts = weigh_answer::format::named("svg").unwrap().render(report, &Options::default()).unwrap();
    // A filter is named by the server of each picture, and long names are cut.
    let plain = |text: &str| {
        let text = text.replace(", plain", " over a plain").replacen(", ", " with ", 1);
        let whole = text.split(['…', '·']).next().unwrap_or_default();
        whole.split(" in ").next().unwrap_or_default().trim().to_owned()
    };
    // The same filter has another name on each server.
    let named_rows = report.rows.iter().filter(|row| report.recommends(row.id()));
    let known = report.advice.iter().flat_map(|advice| &advice.recommended).map(|one| plain(&one.name));
    let label = report.shape().look.label;
    let known: Vec<String> = known.chain(named_rows.map(|row| plain(&label(row)))).collect();
    let mut arrows = 0;
    for chart in &charts {
        let svg = std::str::from_utf8(&chart.bytes).unwrap().replace('\u{a0}', " ");
        let texts =
            svg.split("<text ").skip(1).filter_map(|text| text.split_once('>')?.1.split_once("</text>"));
        for (text, _) in texts.filter(|(text, _)| text.starts_with('→')) {
            let text = plain(text.trim_start_matches(['→', ' ']));
            let is_known = known.iter().any(|one| text.contains(one.as_str()) || one.contains(text.as_str()));
            assert!(is_known, "{name}/{}: {text} is none of {known:?}", chart.file_name);
            arrows += 1;
        }
        let title = svg.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>")).map(|t| t.0);
        let said = title.and_then(|title| title.split_once(" recommended;"));
        if let Some((said, _)) = said {
            assert!(
                known.iter().any(|one| said.contains(one.as_str()) || said.contains(named(one))),
                "{name}: {said}: none of {known:?}"
            );
        }
    }
    arrows
}

/// Rows that could be meant in the place of a recommended one: alike in everything that their subject compares by.
fn competes(report: &Report, one: &Row, other: &Row) -> bool {
    report.groups.iter().any(|group| group.has(one.id()) && group.has(other.id()))
}

/// No statement recommends what another one does not, nobody is told two things for one purpose, and sentences only recommend in the answer.
pub fn statements_agree(name: &str, report: &Report) {
    let Some(advice) = &report.advice else { return };
    let all = statements(report, advice);
    let of = |place: &str| -> BTreeSet<&String> {
        all.iter().filter(|one| one.place == place).flat_map(|one| &one.cells).collect()
    };
    assert_eq!(of("answer"), of("tables"), "{name}");
    let answers: Vec<&Statement> = all.iter().filter(|one| one.place == "answer").collect();
    for (at, one) in answers.iter().enumerate() {
        assert!(!one.cells.is_empty() || report.rows.is_empty(), "{name}: nothing for {}", one.scope);
        assert!(answers[..at].iter().all(|other| other.scope != one.scope), "{name}: twice {}", one.scope);
        let rows: Vec<&Row> = one.cells.iter().filter_map(|id| report.row(id)).collect();
        assert_eq!(rows.len(), one.cells.len(), "{name}: {one:?}");
        for (at, row) in rows.iter().enumerate() {
            let second = rows[..at].iter().find(|other| competes(report, row, other));
            assert!(
                second.is_none(),
                "{name}: {} and {:?} for {}",
                row.id(),
                second.map(|r| r.id()),
                one.scope
            );
        }
    }
    let said = answer_text(advice);
    // What is for some contents only is in a sentence where another one was measured, too.
    let is_of_content = |scope: &str| {
        report.payloads.iter().any(|payload| !scope.is_empty() && scope.contains(&payload.name))
    };
    for one in advice.recommended.iter().filter(|one| !is_of_content(&one.scope)) {
        assert!(said.contains(named(&one.name)), "{name}: {} is not in: {said}", one.name);
    }
    let used =
        advice.sentences.iter().filter(|one| one.part == StatementKind::Use).flat_map(|one| &one.cells);
    let known: BTreeSet<String> =
        advice.recommended.iter().chain(&advice.ahead).flat_map(|one| one.cells.clone()).collect();
    used.for_each(|id| assert!(known.contains(id), "{name}: {id} is used and not recommended"));
    for finding in &report.findings {
        let is_order = IMPERATIVES.iter().any(|verb| finding.text.starts_with(verb));
        assert!(!is_order && finding.topic != "answer", "{name}: {}", finding.text);
    }
}

fn answer_text(advice: &Advice) -> String {
    advice.sentences.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// The part of a name that sentences have: `uncompressed` is said of nobody, and `gzip_static with zlib 9` is said in two places.
fn named(name: &str) -> &str {
    if name == "uncompressed" { "" } else { name.split(" with ").next().unwrap_or(name) }
}

/// The answer keeps its form.
pub fn an_answer_is_short(name: &str, report: &Report) {
    let Some(advice) = &report.advice else { return };
    assert!((1..=SENTENCES).contains(&advice.sentences.len()), "{name}: {:?}", advice.sentences);
    assert_eq!(advice.sentences[0].part, StatementKind::Use, "{name}");
    let is_known = |id: &String| report.row(id).is_some();
    assert!(advice.sentences.iter().all(|one| one.cells.iter().all(is_known)), "{name}");
    let odd: Vec<String> = advice.sentences.iter().flat_map(|sentence| oddities(&sentence.text)).collect();
    assert!(odd.is_empty(), "{name}: {odd:#?}");
}

/// Findings, legends and remarks are short sentences in plain words.
pub fn evidence_is_plain(name: &str, report: &Report) {
    let mut odd: Vec<String> = report.findings.iter().flat_map(|finding| oddities(&finding.text)).collect();
    let options = Options { detail: Detail::Full, ..Options::default() };
    for block in weigh_answer::document::build(report, &options) {
        if let Block::Remark(text) | Block::Heading(_, text) = block {
            odd.extend(retired(&text));
        }
    }
    assert!(odd.is_empty(), "{name}: {odd:#?}");
}

fn retired(text: &str) -> Vec<String> {
    assert!(RETIRED.len() > 20, "scripts/words is read");
    let has = RETIRED.iter().filter(|phrase| phrase.is_match(text));
    has.map(|phrase| format!("{phrase}: {text}")).collect()
}

/// What is wrong with sentences: retired words, too many of them, signs of a gap.
fn oddities(text: &str) -> Vec<String> {
    let mut odd = retired(text);
    if !text.ends_with('.') || text.contains("  ") || text.contains("NaN") {
        odd.push(text.to_owned());
    }
    for sentence in text.split_inclusive(". ") {
        let words = sentence.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
        if words > WORDS {
            odd.push(format!("{words} words: {sentence}"));
        }
    }
    odd
}
