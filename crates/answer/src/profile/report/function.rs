//! One function with its callers and callees.

use weigh_model::profile::Recursion;
use weigh_model::units;

use super::{amount, column, headed, named};
use crate::block::Block;
use crate::profile::document::{Call, Row, ShownProfile};
use crate::table::{Grid, Kind, factor, field};
use crate::text::clean;

/// Functions of the same words that are shown in full.
const MOST: usize = 5;

pub(super) fn blocks(shown: &ShownProfile, name: &str, top: usize) -> Vec<Block> {
    let found = named(shown, name);
    if found.is_empty() {
        return vec![Block::Text(format!("no function is called {}", clean(name)))];
    }
    let mut blocks: Vec<Block> = found.iter().take(MOST).flat_map(|row| one(shown, row, top)).collect();
    if found.len() > MOST {
        let names: Vec<String> = found[MOST..].iter().take(20).map(|row| clean(&row.name)).collect();
        blocks.push(Block::Remark(format!("Also: {}", units::list(&names))));
    }
    blocks
}

fn one(shown: &ShownProfile, row: &Row, top: usize) -> Vec<Block> {
    let calls = row.calls.map_or(String::new(), |calls| {
        format!("{} · ", units::count(usize::try_from(calls).unwrap_or(usize::MAX), "call", "calls"))
    });
    let recursion = match row.recursion {
        Recursion::None => "",
        Recursion::Direct => " · calls itself",
        Recursion::Mutual => " · calls itself through others",
    };
    let mut blocks = headed(clean(&row.name), row.file.as_deref().map(clean).as_deref().unwrap_or(""));
    blocks.push(Block::Text(format!(
        "{calls}{} ({}) self · {} ({}) inclusive{recursion}",
        amount(row.own, &shown.unit),
        units::percent(row.share),
        amount(row.inclusive, &shown.unit),
        units::percent(row.inclusive_share),
    )));
    for (calls, what, none) in [
        (&row.callers, "caller", "Nothing called it: it is a root."),
        (&row.callees, "callee", "It called nothing that was seen."),
    ] {
        if calls.is_empty() {
            blocks.push(Block::Remark(none.into()));
        } else {
            blocks.push(Block::Table(grid(shown, row, calls, what, top)));
            if calls.len() > top {
                blocks.push(Block::Remark(format!("{} more (--top)", calls.len() - top)));
            }
        }
    }
    blocks
}

fn grid(shown: &ShownProfile, row: &Row, calls: &[Call], what: &'static str, top: usize) -> Grid {
    let largest = calls.iter().map(|call| call.inclusive).max().unwrap_or(0);
    let (unit, size) = column(largest, &shown.unit);
    let share = |inclusive: i64| (row.inclusive > 0).then(|| inclusive as f64 / row.inclusive as f64 * 100.0);
    Grid::of(&calls[..top.min(calls.len())], |call| {
        let kilobytes = call.inclusive_memory_bytes.map(|bytes| bytes as f64 / 1e3);
        vec![
            factor(what, clean(&call.name)),
            field("calls", "", Kind::Whole, 0, call.calls.map(|calls| calls as f64)),
            field("inclusive", &unit, Kind::Three, 0, call.inclusive as f64 / size),
            field("of its cost", "%", Kind::Fixed(1), 2, share(call.inclusive)),
            field("memory", "KB", Kind::Three, 4, kilobytes),
        ]
    })
}
