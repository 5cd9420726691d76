//! The first way through a cachegrind file, from its beginning: names, sums a function and a pair of caller and callee, and
//! whether it is whole. Memory grows with functions and pairs, not with the file.

use std::collections::HashMap;

use anyhow::{Result, bail};

use super::events::Events;
use super::line::{Kind, Line};
use super::table::Table;
use weigh_model::profile::Cost;

/// Pairs of caller and callee at most.
const MOST_PAIRS: usize = 8_000_000;

/// Sums of one function.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    pub own: Cost,
    pub blocks: u64,
    /// Calls that `calls=` lines say lead to it.
    pub called: u64,
}

/// Calls from a function to another, and the callee's inclusive cost in them.
pub type Calls = (u64, Cost);

/// A block that is being read: it counts when it is whole.
#[derive(Debug, Default)]
struct Block {
    function: u32,
    own: Cost,
    calls: HashMap<u32, Calls>,
    has_costs: bool,
    /// Where it begins, in bytes and lines.
    start: (u64, u64),
}

/// What was read so far.
#[derive(Debug, Default)]
pub struct Forward {
    /// Names and functions.
    pub table: Table,
    pub events: Events,
    pub sums: Vec<Sums>,
    pub pairs: HashMap<(u32, u32), Calls>,
    /// The line `creator:`.
    pub creator: Option<String>,
    /// The line `cmd:`.
    pub command: Option<String>,
    /// The sum of the lines `summary:` (one a part), else `totals:`.
    pub stated: Option<Cost>,
    /// Whether a `calls=` line counted more than one call.
    pub is_summed_up: bool,
    /// Profiles that begin in the file.
    pub parts: u64,
    block: Option<Block>,
    /// Object, file of what is read, and what was said of the callee.
    here: (u32, u32),
    there: (Option<u32>, Option<u32>, Option<u32>),
    /// After a `calls=` line: the callee.
    due: Option<(u32, u64)>,
    /// Where the last line of a place (`fl=`) before a function began.
    place: Option<(u64, u64)>,
}

impl Forward {
    pub fn new() -> Forward {
        Forward { table: Table::new(), parts: 1, ..Forward::default() }
    }

    /// Reads a line that begins at a byte and has a number.
    pub fn line(&mut self, line: &[u8], at: (u64, u64)) -> Result<()> {
        let line = Line::of(line);
        if self.due.is_some() && !matches!(line, Line::Costs(_) | Line::Nothing) {
            bail!("the cost of the call before is missing");
        }
        match line {
            Line::Nothing => {}
            Line::Header(key, value) => self.header(key, value)?,
            Line::NextPart => {
                self.finish()?;
                self.table.forget();
                self.parts += 1;
            }
            Line::Here(Kind::Function, name) => self.enter(name, at)?,
            Line::Here(Kind::Object, name) => self.here.0 = self.table.name(Kind::Object, name)?,
            Line::Here(Kind::File, name) => {
                self.place = Some(at);
                self.here.1 = self.table.name(Kind::File, name)?;
            }
            Line::There(kind, name) => {
                let name = Some(self.table.name(kind, name)?);
                match kind {
                    Kind::Function => self.there.2 = name,
                    Kind::File => self.there.1 = name,
                    Kind::Object => self.there.0 = name,
                }
            }
            Line::Calls(count) => self.calls(count)?,
            Line::Costs(text) => self.costs(text)?,
            Line::Unknown => bail!("it is neither a name, nor costs, nor a header of a cachegrind file"),
        }
        Ok(())
    }

    fn header(&mut self, key: &str, value: &str) -> Result<()> {
        let text = || Some(value.chars().take(400).collect::<String>()).filter(|v| !v.is_empty());
        match key {
            "creator" => {
                self.creator = text();
                self.table.by_name |= value.starts_with("xdebug");
            }
            "cmd" => self.command = self.command.take().or_else(text),
            "events" => self.events.declare(value, self.table.by_name)?,
            "positions" => self.events.positions = value.split_whitespace().count().clamp(1, 4),
            "summary" => {
                let Some(cost) = self.events.costs(value) else { bail!("`summary:` holds no numbers") };
                self.stated.get_or_insert_default().add(cost);
            }
            "totals" => {
                let Some(cost) = self.events.costs(value) else { bail!("`totals:` holds no numbers") };
                self.stated = Some(cost);
            }
            _ => {}
        }
        Ok(())
    }

    fn enter(&mut self, name: &[u8], at: (u64, u64)) -> Result<()> {
        self.finish()?;
        let name = self.table.name(Kind::Function, name)?;
        let function = self.table.function(name, self.here);
        let start = self.place.take().unwrap_or(at);
        self.block = Some(Block { function, start, ..Block::default() });
        Ok(())
    }

    fn calls(&mut self, count: u64) -> Result<()> {
        let (object, file, name) = std::mem::take(&mut self.there);
        let Some(name) = name else { bail!("`calls=` without a `cfn=` before it") };
        if self.block.is_none() {
            bail!("`calls=` before the first `fn=`");
        }
        let spot = (object.unwrap_or(self.here.0), file.unwrap_or(self.here.1));
        self.due = Some((self.table.function(name, spot), count));
        self.is_summed_up |= count != 1;
        Ok(())
    }

    fn costs(&mut self, text: &str) -> Result<()> {
        let Some(cost) = self.events.line(text) else { bail!("its costs are no numbers") };
        let Some(block) = &mut self.block else { bail!("costs before the first `fn=`") };
        block.has_costs = true;
        match self.due.take() {
            Some((callee, count)) => {
                let calls = block.calls.entry(callee).or_default();
                calls.0 = calls.0.saturating_add(count);
                calls.1.add(cost);
            }
            None => block.own.add(cost),
        }
        self.place = None;
        Ok(())
    }

    /// Whether the line that was read last ends what it began.
    pub fn is_at_rest(&self) -> bool {
        self.due.is_none() && self.there == (None, None, None)
    }

    /// Whether the block that is being read has costs already.
    pub fn has_costs(&self) -> bool {
        self.block.as_ref().is_some_and(|block| block.has_costs)
    }

    /// Leaves out the block that is being read, and says where it begins.
    pub fn drop_block(&mut self) -> Option<(u64, u64)> {
        self.due = None;
        self.block.take().map(|block| block.start)
    }

    /// The block that was being read is whole.
    pub fn finish(&mut self) -> Result<()> {
        let Some(block) = self.block.take() else { return Ok(()) };
        self.sums.resize(self.table.len(), Sums::default());
        let sums = &mut self.sums[block.function as usize];
        sums.own.add(block.own);
        sums.blocks = sums.blocks.saturating_add(1);
        for (callee, (count, cost)) in block.calls {
            let sums = &mut self.sums[callee as usize];
            sums.called = sums.called.saturating_add(count);
            let pair = self.pairs.entry((block.function, callee)).or_default();
            pair.0 = pair.0.saturating_add(count);
            pair.1.add(cost);
        }
        if self.pairs.len() > MOST_PAIRS {
            bail!("more than {MOST_PAIRS} pairs of caller and callee: this is no profile that can be read");
        }
        Ok(())
    }
}
