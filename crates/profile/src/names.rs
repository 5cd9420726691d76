//! Names of functions and files: kept once, of a bounded length.

use std::collections::HashMap;

/// The longest name in bytes; of a longer one its beginning and a checksum are kept.
const LONGEST: usize = 1000;

/// Names that were seen, by number.
#[derive(Debug, Default)]
pub struct Names {
    list: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    /// The number of a name; a new name gets the next one.
    pub fn number(&mut self, name: &[u8]) -> u32 {
        let name = bounded(name);
        if let Some(number) = self.numbers.get(&name) {
            return *number;
        }
        let number = self.list.len() as u32;
        self.list.push(name.clone());
        self.numbers.insert(name, number);
        number
    }

    /// The number of a name that was seen.
    pub fn known(&self, name: &[u8]) -> Option<u32> {
        self.numbers.get(&bounded(name)).copied()
    }

    /// The name of a number that was given out.
    pub fn name(&self, number: u32) -> &str {
        self.list.get(number as usize).map_or("", String::as_str)
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }
}

/// A name as text of a bounded length.
pub fn bounded(name: &[u8]) -> String {
    if name.len() <= LONGEST {
        return String::from_utf8_lossy(name).into_owned();
    }
    let head = String::from_utf8_lossy(&name[..LONGEST]);
    format!("{}…#{:08x}", head.trim_end_matches('\u{fffd}'), crc32fast::hash(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_stay_apart_and_short() {
        let mut names = Names::default();
        let long = |end: &str| [vec![b'x'; 5000], end.as_bytes().to_vec()].concat();
        assert_eq!((names.number(&long("a")), names.number(&long("b")), names.number(&long("a"))), (0, 1, 0));
        assert!(names.name(0).len() < 1100);
        assert_eq!((names.number(b"\xff"), names.known(b"\xff"), names.known(b"y")), (2, Some(2), None));
        assert_eq!(names.len(), 3);
    }
}
