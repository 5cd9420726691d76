//! What the columns of costs are: the line `events:` decides.

use anyhow::{Result, bail};

use super::line::number;
use weigh_model::profile::{Cost, LARGEST, Unit};

/// Columns at most.
const MOST: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Events {
    /// Columns before the costs.
    pub positions: usize,
    pub unit: Unit,
    /// The column of the amounts, and what one of it is in the unit.
    amount: (usize, i64),
    memory: Option<usize>,
    count: usize,
    pub is_declared: bool,
}

impl Default for Events {
    fn default() -> Events {
        let unit = Unit::Event("cost".into());
        Events { positions: 1, unit, amount: (0, 1), memory: None, count: MOST, is_declared: false }
    }
}

impl Events {
    /// Takes the value of `events:`. Time is taken where there is some, else the first column; memory beside it.
    pub fn declare(&mut self, value: &str, from_xdebug: bool) -> Result<()> {
        let names: Vec<&str> = value.split_whitespace().collect();
        if names.is_empty() || names.len() > MOST {
            bail!("`events:` names {} columns", names.len());
        }
        let time = names.iter().position(|name| name.to_ascii_lowercase().starts_with("time"));
        let at = time.unwrap_or(0);
        let nanoseconds = time.and_then(|at| nanoseconds(names[at], from_xdebug));
        self.unit = match nanoseconds {
            Some(_) => Unit::Nanoseconds,
            None => Unit::Event(names[at].chars().take(40).collect()),
        };
        self.amount = (at, nanoseconds.unwrap_or(1));
        self.memory = names.iter().position(|name| name.to_ascii_lowercase().starts_with("memory"));
        self.memory = self.memory.filter(|memory| *memory != at);
        self.count = names.len();
        self.is_declared = true;
        Ok(())
    }

    pub fn has_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// The costs of a line that begins with a place in the source; none where they are not numbers. Columns that are left
    /// out at the end are 0.
    pub fn line(&self, text: &str) -> Option<Cost> {
        let rest = text.split_whitespace().skip(self.positions);
        self.of(rest)
    }

    /// The costs of a line without such a place.
    pub fn costs(&self, text: &str) -> Option<Cost> {
        self.of(text.split_whitespace())
    }

    fn of<'a>(&self, words: impl Iterator<Item = &'a str>) -> Option<Cost> {
        let mut cost = Cost::default();
        for (at, word) in words.take(self.count).enumerate() {
            let number = number(word)?;
            if at == self.amount.0 {
                cost.amount = number.saturating_mul(self.amount.1).clamp(-LARGEST, LARGEST);
            }
            if Some(at) == self.memory {
                cost.memory = number;
            }
        }
        Some(cost)
    }
}

/// Nanoseconds of one in a column of times: `Time_(10ns)`. Xdebug before 3 names no unit and writes microseconds.
fn nanoseconds(name: &str, from_xdebug: bool) -> Option<i64> {
    let Some((_, unit)) = name.split_once('(') else { return from_xdebug.then_some(1_000) };
    let unit = unit.trim_end_matches(')');
    let digits = unit.chars().take_while(char::is_ascii_digit).count();
    let factor: i64 = if digits == 0 { 1 } else { unit[..digits].parse().ok()? };
    let size = match &unit[digits..] {
        "ns" => 1,
        "us" | "µs" | "usec" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return None,
    };
    factor.checked_mul(size).filter(|n| (1..LARGEST).contains(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(value: &str, from_xdebug: bool) -> Events {
        let mut events = Events::default();
        events.declare(value, from_xdebug).unwrap();
        events
    }

    #[test]
    fn columns_follow_their_names() {
        let events = declared("Time_(10ns) Memory_(bytes)", true);
        assert_eq!(events.line("12 345 -16"), Some(Cost { amount: 3450, memory: -16 }));
        assert_eq!(events.line("12 345"), Some(Cost { amount: 3450, memory: 0 }));
        assert_eq!(events.costs("3 4"), Some(Cost { amount: 30, memory: 4 }));
        assert_eq!(declared("Memory Time", true).line("1 7 2"), Some(Cost { amount: 2000, memory: 7 }));
        let callgrind = declared("Ir Dr", false);
        assert_eq!(callgrind.unit, Unit::Event("Ir".into()));
        assert_eq!(callgrind.line("+3 9 1"), Some(Cost { amount: 9, memory: 0 }));
        assert_eq!(declared("Time", false).unit, Unit::Event("Time".into()));
        assert!(events.line("12 x").is_none() && Events::default().declare("", true).is_err());
    }

    #[test]
    fn costs_stay_within_bounds() {
        let events = declared("Time_(10ns)", true);
        assert_eq!(events.line("1 18014398509481984").unwrap().amount, LARGEST);
    }
}
