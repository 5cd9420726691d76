//! The table that is drawn again and again while a measurement goes on.

use super::Options;
use super::document::Block;
use super::grid::Grid;
use super::sections::group;
use super::terminal;
use super::view::{self, GroupView};
use super::{client, delivery, text};
use crate::analysis::Results;
use crate::analysis::model::Analysis;

/// The groups measured so far of any kind of study, see [`table`].
pub fn results(results: &Results, options: &Options, lines: usize) -> String {
    match results {
        Results::Codec(analysis) => table(analysis, options, lines),
        Results::Delivery(analysis) => {
            let groups = delivery::view::groups(analysis);
            shared(&groups, lines, |group, share| {
                let mark = if group.synthetic() { " (SYNTHETIC)" } else { "" };
                let heading = format!("{}{mark} · {}", group.title(), group.about());
                let rows = |shown| delivery::group::table(group, group.rows.iter().take(shown));
                one(&heading, group.rows.len(), rows, options, share)
            })
        }
        Results::Client(analysis) => {
            let groups = client::view::groups(analysis);
            let works: Vec<_> = groups.iter().flat_map(|g| g.works.iter().map(move |w| (g, w))).collect();
            shared(&works, lines, |(group, work), share| {
                let heading = format!("{} · {}", group.title(), work.title());
                let rows = |shown| client::group::table(work.rows.iter().take(shown));
                one(&heading, work.rows.len(), rows, options, share)
            })
        }
    }
}

/// The groups measured so far in at most `lines` lines: the front of each first, then as many dominated
/// settings as there is room for. Empty when nothing was measured yet.
pub fn table(analysis: &Analysis, options: &Options, lines: usize) -> String {
    let groups = view::groups(analysis);
    shared(&groups, lines, |group: &GroupView, share| {
        let mark = if group.synthetic() { " (SYNTHETIC)" } else { "" };
        let heading = format!("{}{mark} · {}", group.title(), group.about());
        let rows = |shown| group::table(group, group.rows.iter().take(shown));
        one(&heading, group.rows.len(), rows, options, share)
    })
}

/// The groups, each with its share of the lines that are left.
fn shared<T>(groups: &[T], lines: usize, one: impl Fn(&T, usize) -> String) -> String {
    let mut out = String::new();
    let mut left = lines;
    for (index, group) in groups.iter().enumerate() {
        let share = left / (groups.len() - index);
        let text = one(group, share);
        left = left.saturating_sub(text.lines().count());
        out.push_str(&text);
    }
    out
}

/// Lines of a group that are not rows: heading, two of the header, rule, and what is left out.
const FRAME: usize = 5;

/// A group of `count` rows, of which `rows` draws the first few.
fn one(heading: &str, count: usize, rows: impl Fn(usize) -> Grid, options: &Options, lines: usize) -> String {
    if lines <= FRAME {
        return String::new();
    }
    let room = lines - FRAME;
    let shown = count.min(if count <= room + 1 { room + 1 } else { room });
    let mut blocks = vec![Block::Text(text::shorten(heading, options.width)), Block::Table(rows(shown))];
    if shown < count {
        blocks.push(Block::Remark(format!("… and {} more", count - shown)));
    }
    terminal::text(&blocks, options)
}
