//! Every answer to every Accept-Encoding: a table a server, or several where its ways do not fit beside each other.

use super::super::super::document::Block;
use super::super::super::grid::{Cell, Column, Grid, Kind, Tone};
use super::super::super::text::{clean, columns};
use crate::analysis::delivery::model::{Judged, NegotiationResult};
use weigh_model::record::negotiation::{Ask, Purpose};

/// Columns for the requests, the widest of which is that of a browser of today, and columns between two ways.
const REQUEST: usize = 34;
const GAP: usize = 2;

/// The tables with what their signs mean.
pub(super) fn tables(asked: &[NegotiationResult], width: usize) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(3, "Every answer".into())];
    let legend = "What was sent for each Accept-Encoding: the coding, or the status where it is not 200. ! breaks a rule, ~ is allowed and worth knowing.";
    blocks.push(Block::Remark(legend.into()));
    let mut servers: Vec<&str> = Vec::new();
    for one in asked {
        if !servers.contains(&one.server.as_str()) {
            servers.push(&one.server);
        }
    }
    for server in servers {
        let ways: Vec<&NegotiationResult> = asked.iter().filter(|one| one.server == server).collect();
        blocks.push(Block::Heading(4, clean(server)));
        blocks.extend(fitting(&ways, width).into_iter().map(|ways| Block::Table(table(ways))));
    }
    blocks
}

/// The ways cut into parts that fit beside the requests.
fn fitting<'a, 'b>(ways: &'b [&'a NegotiationResult], width: usize) -> Vec<&'b [&'a NegotiationResult]> {
    let mut parts = Vec::new();
    let (mut begin, mut used) = (0, REQUEST);
    for (at, way) in ways.iter().enumerate() {
        let wants = columns(&clean(&way.label())).max(12) + GAP;
        if at > begin && used + wants > width {
            parts.push(&ways[begin..at]);
            (begin, used) = (at, REQUEST);
        }
        used += wants;
    }
    parts.push(&ways[begin..]);
    parts
}

fn table(ways: &[&NegotiationResult]) -> Grid {
    let mut head = vec![Column::new("Accept-Encoding", "", Kind::Text(16), 0)];
    head.extend(ways.iter().map(|way| Column::new("", clean(&way.label()), Kind::Text(8), 1)));
    let mut grid = Grid::new(head);
    let mut rows: Vec<&Ask> = Vec::new();
    for one in ways.iter().flat_map(|way| choices(way)) {
        if !rows.contains(&&one.ask) {
            rows.push(&one.ask);
        }
    }
    for ask in rows {
        let answer = |way: &&NegotiationResult| {
            Cell::from(choices(way).find(|one| one.ask == *ask).map(shown).unwrap_or_default())
        };
        let cells = std::iter::once(Cell::from(request(ask))).chain(ways.iter().map(answer));
        grid.push(Tone::Plain, cells.collect());
    }
    grid
}

fn choices(way: &NegotiationResult) -> impl Iterator<Item = &Judged> {
    way.exchanges.iter().filter(|one| one.ask.purpose == Purpose::Choose)
}

fn request(ask: &Ask) -> String {
    let accept = ask.accept.as_deref().map_or("none".to_owned(), clean);
    match &ask.browser {
        Some(browser) => format!("{accept} ({})", clean(browser)),
        None => accept,
    }
}

/// `gzip`, `! gzip`, `~ 406`.
fn shown(one: &Judged) -> String {
    let what = match one.answer.status {
        200 => clean(&one.answer.coding()),
        0 => "no answer".to_owned(),
        status => status.to_string(),
    };
    match one.quirk {
        Some(quirk) if quirk.is_wrong() => format!("! {what}"),
        Some(_) => format!("~ {what}"),
        None => what,
    }
}
