//! Cachegrind files, of any size: Xdebug's, callgrind's, and those of programs that write the same form.
//!
//! Read twice, never held (memory grows with functions, pairs and the depth of calls, not with the file): from the beginning for sums (`forward`), and, where each call has a block of its own as in
//! Xdebug's files, from the end for the tree of calls (`walk`). Where there is no such tree, `graph` tells what can be
//! known without it.

mod events;
mod forward;
mod graph;
mod line;
mod table;
#[cfg(test)]
mod tests;
mod walk;

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use anyhow::{Context, Result, anyhow, bail};

use self::forward::{Forward, Sums};
use self::graph::Graph;
use self::walk::Walk;
use weigh_model::profile::{Cost, Counting, Cut, Edge, Format, Function, Inclusion, Profile};
use weigh_os::lines::{Backward, LineSpan, Lines};

/// Bytes that are read at a time from the beginning.
const BUFFER: usize = 256 << 10;

/// Reads a whole file. `broken` says why the file is known to end too early, where it is.
///
/// # Errors
/// It cannot be read, or a line is of another grammar; the message names the line.
pub fn read<R: Read + Seek>(mut file: R, broken: Option<String>) -> Result<Profile> {
    file.seek(SeekFrom::Start(0))?;
    let mut forward = Forward::new();
    let (end, cut) = pass(BufReader::with_capacity(BUFFER, &mut file), &mut forward, broken)?;
    if forward.sums.is_empty() {
        match cut {
            Some(cut) => bail!("it ends before the first function is whole: {}", cut.why),
            None => bail!("there is no function in it"),
        }
    }
    let is_tree = forward.table.by_name && !forward.is_summed_up && forward.parts == 1;
    let is_tree = is_tree && !forward.table.is_ambiguous;
    let walk = if is_tree { walk(file, end, &forward)? } else { None };
    let mut profile = match walk {
        Some(walk) => from_tree(&forward, walk),
        None => from_graph(&forward),
    };
    profile.cut = cut;
    Ok(profile)
}

/// The first way through. Gives where the last whole block ends, and how the file is cut short.
fn pass(
    input: impl io::BufRead,
    forward: &mut Forward,
    broken: Option<String>,
) -> Result<(u64, Option<Cut>)> {
    let mut lines = Lines::new(input);
    let (mut last, mut is_blank) = (LineSpan::default(), false);
    while let Some((line, place)) = lines.next_line()? {
        last = place;
        // A line that nobody knows the end of may be half a number.
        if !place.is_whole && (broken.is_some() || writer_ends_lines(forward)) {
            break;
        }
        is_blank = line.is_empty();
        forward.line(line, (place.start, place.number)).with_context(|| format!("line {}", place.number))?;
    }
    let why = broken.or_else(|| why_cut(forward, last, is_blank));
    let is_block_whole = forward.is_at_rest() && is_blank && forward.has_costs();
    let Some(why) = why else {
        forward.finish()?;
        return Ok((last.end, None));
    };
    let dropped = if is_block_whole { None } else { forward.drop_block() };
    forward.finish()?;
    let (byte, line) = match dropped {
        Some((byte, line)) => (byte, line - 1),
        None if last.is_whole => (last.end, last.number),
        None => (last.start, last.number.saturating_sub(1)),
    };
    Ok((byte, Some(Cut { byte, line, why })))
}

/// Whether the program that wrote the file ends every line.
fn writer_ends_lines(forward: &Forward) -> bool {
    forward.table.by_name || forward.creator.as_ref().is_some_and(|creator| creator.starts_with("callgrind"))
}

fn why_cut(forward: &Forward, last: LineSpan, is_blank: bool) -> Option<String> {
    let known = writer_ends_lines(forward);
    if known && last.number > 0 && !last.is_whole {
        return Some("it ends within a line".into());
    }
    if !forward.is_at_rest() {
        return Some("it ends within a call".into());
    }
    if forward.table.by_name && forward.stated.is_some() && !is_blank {
        return Some("it ends within a function".into());
    }
    (known && forward.stated.is_none()).then(|| "the total that is written last is missing".into())
}

/// The second way through; none where the file is not a tree of calls.
fn walk<R: Read + Seek>(file: R, end: u64, forward: &Forward) -> Result<Option<Walk<'_>>> {
    let mut walk = Walk::new(&forward.table, &forward.events);
    let mut fits = true;
    let lines = Backward::new(file, end);
    let read = lines.each(|line| {
        fits = walk.line(line).is_some();
        fits
    });
    read.map_err(|e| anyhow!("cannot be read from its end: {e}"))?;
    Ok((fits && walk.end().is_some()).then_some(walk))
}

/// What both kinds have in common.
fn profile(forward: &Forward) -> Profile {
    let mut total = Cost::default();
    forward.sums.iter().for_each(|sums| total.add(sums.own));
    Profile {
        format: if forward.table.by_name { Format::Xdebug } else { Format::Cachegrind },
        creator: forward.creator.clone(),
        command: forward.command.clone(),
        unit: forward.events.unit.clone(),
        has_memory: forward.events.has_memory(),
        counting: Counting::Blocks,
        inclusion: Inclusion::Tree,
        total,
        roots: total,
        stated: forward.stated,
        functions: Vec::new(),
        edges: Vec::new(),
        stacks: weigh_model::profile::stacks::Stacks::default(),
        cut: None,
    }
}

fn from_tree(forward: &Forward, walk: Walk<'_>) -> Profile {
    let functions = forward.sums.iter().zip(&walk.seen).enumerate().map(|(at, (sums, seen))| {
        let (name, file) = forward.table.described(at);
        let calls = Some(sums.blocks);
        Function { name, file, calls, own: sums.own, inclusive: seen.inclusive, recursion: seen.recursion }
    });
    let edges = walk.pairs.iter().map(|((caller, callee), (calls, inclusive))| Edge {
        caller: *caller,
        callee: *callee,
        calls: Some(*calls),
        inclusive: *inclusive,
    });
    Profile {
        functions: functions.collect(),
        edges: sorted(edges.collect()),
        roots: walk.roots,
        stacks: walk.stacks,
        ..profile(forward)
    }
}

fn from_graph(forward: &Forward) -> Profile {
    let own: Vec<Cost> = forward.sums.iter().map(|sums| sums.own).collect();
    let graph = Graph::of(&own, &forward.pairs);
    let is_block_a_call = forward.table.by_name && !forward.is_summed_up;
    let counting = match (is_block_a_call, forward.pairs.is_empty()) {
        (true, _) => Counting::Blocks,
        (false, false) => Counting::CallLines,
        (false, true) => Counting::Unknown,
    };
    let calls = |sums: &Sums| match counting {
        Counting::Blocks => Some(sums.blocks),
        Counting::CallLines => Some(if sums.called == 0 { sums.blocks.min(1) } else { sums.called }),
        Counting::Unknown => None,
    };
    let functions = forward.sums.iter().enumerate().map(|(at, sums)| {
        let (name, file) = forward.table.described(at);
        let (inclusive, recursion) = (graph.inclusive[at], graph.recursion[at]);
        Function { name, file, calls: calls(sums), own: sums.own, inclusive, recursion }
    });
    let edges = forward.pairs.iter().map(|((caller, callee), (calls, cost))| {
        let inclusive = if graph.is_inside(*caller, *callee) { Cost::default() } else { *cost };
        Edge { caller: *caller, callee: *callee, calls: Some(*calls), inclusive }
    });
    Profile {
        counting,
        inclusion: Inclusion::Graph,
        functions: functions.collect(),
        edges: sorted(edges.collect()),
        stacks: graph.stacks(&own),
        ..profile(forward)
    }
}

fn sorted(mut edges: Vec<Edge>) -> Vec<Edge> {
    edges.sort_unstable_by_key(|edge| (edge.caller, edge.callee));
    edges
}
