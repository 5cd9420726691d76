//! Tables that fit.

use super::*;
use crate::text::columns;

fn grid() -> Grid {
    let mut grid = Grid::new(vec![
        Column::factor("setting", "", Kind::Text),
        Column::new("bytes", "B", Kind::Whole, 0),
        Column::new("", "", Kind::Bar, 0),
        Column::new("encode", "ms", Kind::Three, 1).of("encode-cpu").about("CPU time."),
        Column::note("note", 2),
    ]);
    grid.push(
        Tone::Strong,
        vec!["a/long setting".into(), 1234567.0.into(), 2.0.into(), 0.0123.into(), "".into()],
    );
    grid.push(Tone::Dim, vec!["b".into(), 12.0.into(), 1.0.into(), 1230.0.into(), "".into()]);
    grid
}

fn drawn(grid: &Grid, width: usize, columns: &Columns) -> String {
    let sheet = Sheet { width, color: false, columns, more: "--columns all", is_brief: false };
    grid.draw(&sheet).replace('\u{a0}', " ")
}

#[test]
fn points_align_and_texts_break_between_words() {
    assert_eq!(
        drawn(&grid(), 31, &Columns::All),
        format!(
            "setting      bytes      encode\n                 B          ms\n{}\n\
             a/long   1,234,567      0.0123\nsetting\nb               12  1,230\n",
            "─".repeat(30)
        )
    );
}

#[test]
fn room_goes_to_a_bar_and_lack_of_it_is_named() {
    assert!(drawn(&grid(), 60, &Columns::Few).contains("██"));
    let narrow = drawn(&grid(), 20, &Columns::Few);
    assert!(!narrow.contains(" ms") && narrow.contains("1,234,567"), "{narrow}");
    assert!(narrow.contains("more columns:\nencode-cpu\n(--columns all)"), "{narrow}");
    assert!(narrow.lines().all(|line| columns(line) <= 20), "{narrow}");
}

#[test]
fn what_has_no_room_beside_each_other_is_a_list_of_rows() {
    let text = drawn(&grid(), 20, &Columns::All);
    assert_eq!(
        text,
        "a/long setting\n  bytes (B):\n  1,234,567 · encode\n  (ms): 0.0123\nb\n  bytes (B): 12 ·\n  encode (ms): 1,230\n"
    );
}

#[test]
fn columns_that_are_asked_for_are_shown() {
    let text = drawn(&grid(), 60, &Columns::These(vec!["encode-cpu".into()]));
    assert!(
        text.contains("0.0123") && !text.contains("1,234,567") && text.contains("more columns: bytes"),
        "{text}"
    );
    assert!(drawn(&grid(), 60, &Columns::These(vec!["other".into()])).contains("1,234,567"));
}

#[test]
fn nine_columns_are_enough_unless_more_are_asked_for() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];
    let mut grid = Grid::new(names.map(|name| Column::new(name, "", Kind::Whole, 0)).to_vec());
    grid.push(Tone::Plain, vec![1.0.into(); names.len()]);
    assert!(drawn(&grid, 200, &Columns::Few).ends_with("more columns: j, k (--columns all)\n"));
    assert!(!drawn(&grid, 200, &Columns::All).contains("more columns"));
}

#[test]
fn a_legend_says_what_shown_columns_mean() {
    let grid = Grid { has_legend: true, ..grid() };
    assert!(drawn(&grid, 60, &Columns::Few).ends_with("encode (ms): CPU time.\n"));
    assert!(!drawn(&grid, 20, &Columns::Few).contains("CPU time."));
}

#[test]
fn styling_is_asked_for_never_guessed() {
    let sheet = |color| Sheet { width: 60, color, columns: &Columns::Few, more: "", is_brief: false };
    assert!(!grid().draw(&sheet(false)).contains('\x1b'));
    assert!(grid().draw(&sheet(true)).contains('\x1b'));
}

#[test]
fn a_list_wraps_and_keeps_every_column() {
    let mut list = Grid::list(&["name", "", "about"]);
    list.line(&["a", "", "several words that wrap"]);
    list.line(&["b\x1b[2J\n", "", "two"]);
    let plain = |list: &Grid, width| list.draw(&Sheet::plain(width));
    assert_eq!(plain(&list, 80).lines().next(), Some("name    about"));
    assert_eq!(
        plain(&list, 22),
        "name    about\na       several words\n        that wrap\nb\u{fffd}      two\n"
    );
    let mut bare = Grid::list(&["", ""]);
    bare.line(&["  indented", "text"]);
    assert_eq!(plain(&bare, 80), "  indented  text\n");
}
