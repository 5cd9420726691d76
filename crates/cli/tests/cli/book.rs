//! The book of `docs/SUMMARY.md`: its commands are run, its links lead somewhere, and it has every document.

mod commands;
mod desk;
mod links;
pub mod markdown;

use std::collections::BTreeSet;

use commands::{commands, run};
use desk::Desk;
use markdown::Document;

/// Runs the commands of a chapter one after the other, as its reader would. What an earlier chapter measures is not measured again.
fn chapter(name: &str) {
    needs!(Desk::can_be());
    let earlier = RUN.iter().take_while(|earlier| **earlier != name).map(|earlier| Document::read(earlier));
    let mut seen: BTreeSet<Vec<String>> =
        earlier.flat_map(|document| commands(&document)).filter_map(|command| command.measures()).collect();
    let document = Document::read(name);
    let all = commands(&document);
    let desk = Desk::new(all.iter().any(|command| command.is_of_a_site()));
    let new = all.iter().filter(|command| command.measures().is_none_or(|words| seen.insert(words)));
    let faults: Vec<String> = new.filter_map(|command| run(&desk, command)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(all.iter().any(|command| command.is_weigh() && command.left_out.is_none()), "{name}");
}

/// The chapters whose commands are run, each by a test.
macro_rules! chapters {
    ($($test:ident: $name:literal),+ $(,)?) => {
        $(#[test]
        fn $test() {
            chapter($name);
        })+

        const RUN: &[&str] = &[$($name),+];
    };
}

chapters! {
    commands_of_readme_are_run: "README.md",
    commands_of_start_are_run: "docs/START.md",
    commands_of_your_stack_are_run: "docs/STACK.md",
    commands_of_the_questions_are_run: "docs/QUESTIONS.md",
    commands_of_answers_are_run: "docs/ANSWERS.md",
    commands_of_the_reference_are_run: "docs/REFERENCE.md",
    commands_of_results_are_run: "docs/RESULTS.md",
}

#[test]
fn every_command_of_the_book_is_run_or_says_why_not() {
    for chapter in markdown::documents() {
        let open: Vec<_> = commands(&chapter)
            .into_iter()
            .filter(|command| command.is_weigh() && command.left_out.is_none())
            .collect();
        assert!(
            open.is_empty() || RUN.contains(&chapter.name.as_str()),
            "{}: a line in book.rs runs {:?}",
            chapter.name,
            open[0].line
        );
    }
}

/// Commands within sentences, and those that cannot be run here, have flags and values that the program knows.
#[test]
fn flags_of_commands_in_sentences_are_known() {
    let desk = Desk::bare();
    let (mut seen, mut faults) = (0, Vec::new());
    for chapter in markdown::documents() {
        let codes = chapter.codes.iter().filter(|code| code.starts_with("weigh ")).cloned();
        let left_out =
            commands(&chapter).into_iter().filter(|c| c.is_weigh() && c.left_out.is_some()).map(|c| c.line);
        for line in codes.chain(left_out) {
            faults.extend(desk.refuses(&line).map(|said| format!("{}: {said}", chapter.name)));
            seen += 1;
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(seen > 50, "{seen}");
}
