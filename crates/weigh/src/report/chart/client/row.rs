//! The rows that charts of clients share: which cells, how they are called, in which colours.

use plotters::style::RGBColor;

use super::super::super::client::view::{GroupView, Row};
use super::super::super::text::shorten;
use super::super::{palette, rows};

/// Where rows end.
pub(super) const BOTTOM: f64 = 700.0;
/// Columns of a name at most.
const NAME: usize = 60;

/// One cell with its name and colour.
pub(super) struct Named<'a, 'b> {
    pub row: &'b Row<'a>,
    pub name: String,
    pub color: RGBColor,
}

/// As many rows of a content as there is room for below `top`, and how many there are besides.
pub(super) fn named<'a, 'b>(group: &'b GroupView<'a>, top: f64) -> (Vec<Named<'a, 'b>>, usize) {
    let all: Vec<&Row> = group.rows().collect();
    let several = |of: &dyn Fn(&Row) -> String| all.iter().any(|row| of(row) != of(all[0]));
    let has_runtimes = several(&|row| row.runtime.clone());
    let has_works = several(&|row| row.work());
    let mut kinds: Vec<&str> = Vec::new();
    let mut color = |row: &'b Row<'a>| {
        let kind = if has_runtimes { &row.runtime } else { &row.place };
        let place = kinds.iter().position(|known| known == kind).unwrap_or_else(|| {
            kinds.push(kind);
            kinds.len() - 1
        });
        palette::beside(place)
    };
    let name = |row: &Row| {
        let mut parts = vec![row.place.clone()];
        parts.extend(has_runtimes.then(|| row.runtime.clone()));
        parts.extend(Some(row.setting.clone()).filter(|setting| !setting.is_empty()));
        parts.extend(has_works.then(|| row.work()));
        shorten(&parts.join(" "), NAME)
    };
    let most = rows::most(top, BOTTOM);
    let left = all.len().saturating_sub(most);
    let shown = group.rows().take(most);
    (shown.map(|row| Named { row, name: name(row), color: color(row) }).collect(), left)
}

/// What the foot says of rows that found no room.
pub(super) fn remark(left: usize, else_: &str) -> String {
    if left == 0 { else_.to_owned() } else { format!("{left} more in the tables. {else_}") }
}
