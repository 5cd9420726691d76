//! Tables that fit.

use super::*;

fn grid() -> Grid {
    let mut grid = Grid::new(vec![
        Column::new("setting", "", Kind::Text(6), 0),
        Column::new("bytes", "B", Kind::Whole, 0),
        Column::new("", "", Kind::Bar, 0),
        Column::new("encode", "ms", Kind::Three, 1),
        Column::new("note", "", Kind::Text(4), 2),
    ]);
    grid.push(
        Tone::Strong,
        vec!["a long setting".into(), 1234567.0.into(), 2.0.into(), 0.0123.into(), "".into()],
    );
    grid.push(Tone::Dim, vec!["b".into(), 12.0.into(), 1.0.into(), 1230.0.into(), "".into()]);
    grid
}

#[test]
fn points_align_and_empty_columns_go() {
    let text = grid().draw(36, false).replace('\u{a0}', " ");
    assert_eq!(
        text,
        format!(
            "setting            bytes      encode\n                       B          ms\n{}\n\
             a long…etting  1,234,567      0.0123\nb                     12  1,230\n",
            "─".repeat(36)
        )
    );
}

#[test]
fn room_goes_to_a_bar_and_lack_of_it_to_the_least_important() {
    assert!(grid().draw(60, false).contains("██"));
    let narrow = grid().draw(20, false);
    assert!(!narrow.contains("encode") && narrow.contains("a lo…ting"), "{narrow}");
    assert!(narrow.lines().all(|line| columns(line) <= 20), "{narrow}");
}

#[test]
fn styling_is_asked_for_never_guessed() {
    assert!(!grid().draw(60, false).contains('\x1b'));
    assert!(grid().draw(60, true).contains('\x1b'));
}

#[test]
fn a_list_wraps_and_keeps_every_column() {
    let mut list = Grid::list(&["name", "", "about"]);
    list.line(&["a", "", "several words that wrap"]);
    list.line(&["b\x1b[2J\n", "", "two"]);
    assert_eq!(list.draw(80, true).lines().next(), Some("name    about"));
    assert_eq!(
        list.draw(22, false),
        "name    about\na       several words\n        that wrap\nb\u{fffd}      two\n"
    );
    let mut bare = Grid::list(&["", ""]);
    bare.line(&["  indented", "text"]);
    assert_eq!(bare.draw(80, false), "  indented  text\n");
}
