//! The parts of a configuration that were left out or replaced, as lines for people.

use std::collections::BTreeMap;

use super::syntax::SourcePosition;
use super::tree::Tree;
use weigh_model::text::{clean, clean_path};

/// Places that are named at most for one directive.
const PLACES: usize = 3;

/// What happened to a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The private instance has its own.
    Mine,
    /// It stands for a copy.
    Copied,
    Swapped,
    Elsewhere,
    Without,
    Site,
}

impl Kind {
    fn words(self) -> &'static str {
        match self {
            Kind::Mine => "left to the private instance, which has its own",
            Kind::Copied => "paths in the private copy",
            Kind::Swapped => "replaced, so that nothing outside is written or asked",
            Kind::Elsewhere => "other programs answer there, and are not asked",
            Kind::Without => "left out, because it asks or writes outside, or refuses the lab's requests",
            Kind::Site => "other sites, left out",
        }
    }
}

/// What happened, by kind and name, with places.
#[derive(Debug, Default)]
pub struct Notes(BTreeMap<Kind, Vec<(String, Vec<SourcePosition>)>>);

impl Notes {
    /// Puts down what happened to a directive.
    pub fn add(&mut self, kind: Kind, name: &str, at: SourcePosition) {
        let known = self.0.entry(kind).or_default();
        match known.iter_mut().find(|(own, _)| own == name) {
            Some((_, places)) => places.push(at),
            None => known.push((name.to_owned(), vec![at])),
        }
    }

    /// A line for each kind.
    pub fn lines(self, tree: &Tree) -> Vec<String> {
        let place = |at: &SourcePosition| match tree.files.get(at.file as usize) {
            Some(file) if tree.files.len() > 1 => {
                let whole = std::path::absolute(file).unwrap_or_else(|_| file.clone());
                format!("{}:{}", clean_path(whole.strip_prefix(&tree.base).unwrap_or(file)), at.line)
            }
            _ => format!("line {}", at.line),
        };
        let word = |(name, places): &(String, Vec<SourcePosition>)| {
            let mut words: Vec<String> = places.iter().take(PLACES).map(place).collect();
            if places.len() > PLACES {
                words.push(format!("{} more", places.len() - PLACES));
            }
            format!("{} ({})", clean(name), words.join(", "))
        };
        let line = |(kind, named): (Kind, Vec<(String, Vec<SourcePosition>)>)| {
            format!("{}: {}", kind.words(), named.iter().map(word).collect::<Vec<_>>().join(", "))
        };
        self.0.into_iter().map(line).collect()
    }
}
