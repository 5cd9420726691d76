//! Results while a run is in flight: as many rows as the terminal has room for.

use super::terminal;
use crate::block::Block;
use crate::document::group::{View, views};
use crate::output::Options;
use crate::report::Report;
use crate::table::Grid;
use crate::text;

/// The groups measured so far in at most `lines` lines: the front of each first, then as many other rows as fit. Empty
/// before the first measurement.
pub fn table(report: &Report, options: &Options, lines: usize) -> String {
    shared(&views(report), lines, |view: &View, share| {
        let about = || (report.shape().look.about)(report, view.group).into_iter().next().unwrap_or_default();
        let heading = view.full_title().unwrap_or_else(|| format!("{} · {}", view.title(), about()));
        let rows = |shown| view.table(view.rows.iter().copied().take(shown), &options.columns);
        one(&heading, view.rows.len(), rows, options, share)
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
/// The least rows of a group.
const LEAST: usize = 1;

/// A group of `count` rows, of which `rows` draws the first few.
fn one(heading: &str, count: usize, rows: impl Fn(usize) -> Grid, options: &Options, lines: usize) -> String {
    if lines <= FRAME {
        return String::new();
    }
    let room = lines - FRAME;
    let most = count.min(if count <= room + 1 { room + 1 } else { room });
    let drawn = |shown: usize| {
        let mut blocks = vec![Block::Text(text::shorten(heading, options.width)), Block::Table(rows(shown))];
        if shown < count {
            blocks.push(Block::Remark(format!("… and {} more", count - shown)));
        }
        terminal::text(&blocks, options)
    };
    // A row may be several lines high.
    let fits = |text: &String| text.lines().count() <= lines;
    (LEAST..=most).rev().map(drawn).find(fits).unwrap_or_default()
}
