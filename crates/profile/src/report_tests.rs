//! Profiles as they are read, in the forms of the report.

use std::io::Write;

use crate as profile;
use weigh_answer::format::{Detail, Options};
use weigh_answer::profile::document::{Document, ShownProfile};
use weigh_answer::profile::report::*;
use weigh_answer::text::columns;
use weigh_model::profile::Profile;
use weigh_os::interrupt::Interrupt;

/// A profile with a hostile name in it.
fn sample(scale: i64) -> Profile {
    let text = format!(
        "creator: xdebug 3.2.0\nevents: Time_(10ns) Memory_(bytes)\n\nfl=(1) php:internal\nfn=(1) php::evil\u{1b}[31m;<b>\n\
         1 {} 100\n\nfl=(2) /x.php\nfn=(2) work\n1 {} 2000\ncfl=(1)\ncfn=(1)\ncalls=1 0 0\n1 {} 100\n\n\
         fl=(2)\nfn=(3) {{main}}\n1 100 0\ncfl=(2)\ncfn=(2)\ncalls=1 0 0\n1 {} 2100\n\nsummary: 1 1\n\n",
        300 * scale,
        600 * scale,
        300 * scale,
        900 * scale
    );
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    profile::read(file.path(), &Interrupt::new()).unwrap()
}

fn choice() -> Choice {
    Choice { sort: Sort::Own, top: 10, function: None }
}

#[test]
fn tables_fit_and_cut_nothing_and_move_no_cursor() {
    let shown = ShownProfile::of("a\u{1b}[2Jb", &sample(1), None);
    let document = Document::of(vec![shown]);
    for width in [40, 60, 80, 100, 120, 200] {
        for function in [None, Some("evil".to_owned()), Some("no such".to_owned())] {
            let options = Options { width, detail: Detail::Full, ..Options::default() };
            let text = terminal(&document, &Choice { function, ..choice() }, &options);
            assert!(!text.contains('\u{1b}'), "{text}");
            for line in text.lines() {
                assert!(columns(line) <= width, "at {width}: {line}");
                assert!(!line.contains('…'), "at {width}: {line}");
            }
        }
    }
}

#[test]
fn the_table_is_sorted_as_asked() {
    let document = Document::of(vec![ShownProfile::of("a", &sample(1), None)]);
    let first = |sort: Sort| {
        let text = terminal(&document, &Choice { sort, ..choice() }, &Options::default());
        let table = text.split("───\n").nth(1).unwrap();
        table.split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!((first(Sort::Own).as_str(), first(Sort::Inclusive).as_str()), ("work", "{main}"));
    assert_eq!(first(Sort::Memory), "work");
}

#[test]
fn a_function_is_shown_between_callers_and_callees() {
    let document = Document::of(vec![ShownProfile::of("a", &sample(1), None)]);
    let choice = Choice { function: Some("work".into()), ..choice() };
    let text = terminal(&document, &choice, &Options::default());
    let (callers, callees) = text.split_once("callee").unwrap();
    assert!(callers.contains("{main}") && callees.contains("php::evil"), "{text}");
    assert!(text.contains("1 call · 6.00 µs (60%) self · 9.00 µs (90%) inclusive"), "{text}");
}

#[test]
fn pictures_and_call_paths_escape_names_and_keep_sums() {
    let profile = sample(1);
    let svg = flame::svg("<script>", &profile).unwrap().unwrap();
    assert!(svg.contains("&lt;b&gt;") && svg.contains("&lt;script&gt;") && !svg.contains('\u{1b}'), "{svg}");
    assert!(svg.contains("prefers-color-scheme: dark"));
    assert!(svg.contains("rgb(216,212,206)"), "the frame below all others stands back");
    let text = stacks::text(&profile);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let again = profile::read(file.path(), &Interrupt::new()).unwrap();
    assert_eq!(again.total.amount, profile.total.amount);
    let work = |p: &Profile| p.functions.iter().find(|f| f.name == "work").unwrap().inclusive.amount;
    assert_eq!(work(&again), work(&sample(1)));
}
