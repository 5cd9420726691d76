//! Whose costs these are: short names with a table a kind, and functions by number.

use std::collections::HashMap;

use anyhow::{Result, bail};

use super::line::{Kind, Spelling};
use crate::names::Names;

/// Functions, files and short names at most.
const MOST: usize = 2_000_000;

/// Where a function stands: object and file, by number; 0 is none.
type ObjectAndFile = (u32, u32);

/// All names of a file.
#[derive(Debug, Default)]
pub struct Table {
    /// Names of files and objects. The first is the empty one.
    places: Names,
    functions: Names,
    short: [HashMap<u64, u32>; 3],
    /// Functions by name alone, or by name and spot where names are not unique.
    numbers: HashMap<(u32, ObjectAndFile), u32>,
    /// Name and file of each function.
    known: Vec<(u32, u32)>,
    /// Whether a name makes a function, wherever it stands: so it is in PHP.
    pub by_name: bool,
    /// Whether a short name got another meaning, so that it says nothing without its place in the file.
    pub is_ambiguous: bool,
}

/// Its place among the tables of short names.
fn slot(kind: Kind) -> usize {
    match kind {
        Kind::Function => 0,
        Kind::File => 1,
        Kind::Object => 2,
    }
}

impl Table {
    pub fn new() -> Table {
        let mut table = Table::default();
        table.places.number(b"");
        table
    }

    /// The number of the name that was written so.
    pub fn name(&mut self, kind: Kind, written: &[u8]) -> Result<u32> {
        if self.places.len() + self.functions.len() > MOST
            || self.short.iter().any(|table| table.len() > MOST)
        {
            bail!("more than {MOST} names: this is no profile that can be read");
        }
        let names = if kind == Kind::Function { &mut self.functions } else { &mut self.places };
        match Spelling::of(written) {
            Spelling::Plain(name) => Ok(names.number(name)),
            Spelling::Defined(id, name) => {
                let number = names.number(name);
                let before = self.short[slot(kind)].insert(id, number);
                self.is_ambiguous |= before.is_some_and(|b| b != number);
                Ok(number)
            }
            Spelling::Short(id) => match self.short[slot(kind)].get(&id) {
                Some(number) => Ok(*number),
                // Its definition is not in the file: it stands for itself.
                None => Ok(names.number(format!("({id})").as_bytes())),
            },
        }
    }

    /// The function of a name, with the object and file that it stands in.
    pub fn function(&mut self, name: u32, spot: ObjectAndFile) -> u32 {
        let key = (name, if self.by_name { (0, 0) } else { spot });
        let next = self.known.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.known.push((name, spot.1));
        }
        number
    }

    /// The function that a name stands for, where names are unique and it was seen.
    pub fn found(&self, written: &[u8]) -> Option<u32> {
        let name = match Spelling::of(written) {
            Spelling::Plain(name) | Spelling::Defined(_, name) => self.functions.known(name)?,
            Spelling::Short(id) => match self.short[slot(Kind::Function)].get(&id) {
                Some(number) => *number,
                None => self.functions.known(format!("({id})").as_bytes())?,
            },
        };
        self.numbers.get(&(name, (0, 0))).copied()
    }

    /// Forgets what short names stand for: another profile begins in the file.
    pub fn forget(&mut self) {
        self.short.iter_mut().for_each(HashMap::clear);
        self.is_ambiguous = true;
    }

    /// Functions so far.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Name and file of a function.
    pub fn described(&self, function: usize) -> (String, Option<String>) {
        let (name, file) = self.known.get(function).copied().unwrap_or_default();
        let file = self.places.name(file);
        (self.functions.name(name).to_owned(), Some(file.to_owned()).filter(|f| !f.is_empty()))
    }
}
