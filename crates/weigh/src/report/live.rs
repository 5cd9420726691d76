//! The table that is drawn again and again while a measurement goes on.

use super::Options;
use super::document::Block;
use super::sections::group;
use super::terminal;
use super::view::{self, GroupView};
use crate::analysis::model::Analysis;

/// The groups measured so far in at most `lines` lines: the front of each first, then as many dominated
/// settings as there is room for. Empty when nothing was measured yet.
pub fn table(analysis: &Analysis, options: &Options, lines: usize) -> String {
    let groups = view::groups(analysis);
    let mut out = String::new();
    let mut left = lines;
    for (index, group) in groups.iter().enumerate() {
        let share = left / (groups.len() - index);
        let text = one(group, options, share);
        left = left.saturating_sub(text.lines().count());
        out.push_str(&text);
    }
    out
}

/// Lines of a group that are not rows: heading, two of the header, rule, and what is left out.
const FRAME: usize = 5;

fn one(group: &GroupView, options: &Options, lines: usize) -> String {
    if lines <= FRAME {
        return String::new();
    }
    let room = lines - FRAME;
    let shown = group.rows.len().min(if group.rows.len() <= room + 1 { room + 1 } else { room });
    let grid = group::table(group, group.rows.iter().take(shown));
    let mark = if group.synthetic() { " (SYNTHETIC)" } else { "" };
    let heading =
        super::text::shorten(&format!("{}{mark} · {}", group.title(), group.about()), options.width);
    let mut blocks = vec![Block::Text(heading), Block::Table(grid)];
    if shown < group.rows.len() {
        blocks.push(Block::Remark(format!("… and {} more", group.rows.len() - shown)));
    }
    terminal::text(&blocks, options)
}
