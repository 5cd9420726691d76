//! The rows that charts of clients share: which cells, how they are called, in which colours.

use plotters::style::RGBColor;

use super::super::super::client::view::{GroupView, Row};
use super::super::super::text::{clean, shorten};
use super::super::{palette, rows};
use weigh_model::client::Client;

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

/// What tells a row from another, and the place of its runtime among that.
const PARTS: usize = 7;
const RUNTIME: usize = 1;

fn parts(row: &Row) -> [String; PARTS] {
    let client = row.result.cell.client.as_ref();
    let told = |of: &dyn Fn(&Client) -> String| clean(&client.map(of).unwrap_or_default());
    [
        row.place.clone(),
        row.runtime.clone(),
        row.setting.clone(),
        told(&|c| c.mix.to_string()),
        told(&|c| format!("{}*{}", c.keys, c.workers)),
        told(&|c| c.rate.map_or(String::new(), |rate| format!("{rate}/s"))),
        told(&|c| c.link.as_ref().map_or(String::new(), |link| format!("over {link}"))),
    ]
}

/// As many rows of a content as there is room for below `top`, and how many there are besides.
pub(super) fn named<'a, 'b>(group: &'b GroupView<'a>, top: f64) -> (Vec<Named<'a, 'b>>, usize) {
    let all: Vec<[String; PARTS]> = group.rows().map(parts).collect();
    let differs = |at: usize| all.iter().any(|parts| parts[at] != all[0][at]);
    let differing: Vec<usize> = (0..PARTS).filter(|at| differs(*at)).collect();
    let has_runtimes = differs(RUNTIME);
    let mut kinds: Vec<&str> = Vec::new();
    let mut color = |row: &'b Row<'a>| {
        if !has_runtimes && !row.setting.is_empty() {
            return palette::codec(&row.result.cell.setting.codec);
        }
        let kind = if has_runtimes { &row.runtime } else { &row.place };
        let place = kinds.iter().position(|known| known == kind).unwrap_or_else(|| {
            kinds.push(kind);
            kinds.len() - 1
        });
        palette::beside(place)
    };
    let name = |row: &Row| {
        let all = parts(row);
        let told: Vec<&str> =
            differing.iter().map(|at| all[*at].as_str()).filter(|t| !t.is_empty()).collect();
        let told = if told.is_empty() { row.place.clone() } else { told.join(" ") };
        shorten(&told, NAME)
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
