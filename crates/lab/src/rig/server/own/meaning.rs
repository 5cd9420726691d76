//! What a configuration does with a URL: which file or program answers, with which type, in which content coding, at which level, and for
//! how long it may be kept. Computed from the directives as the server inherits and merges them; nothing is read or asked here.
//!
//! What depends on more of a request than its path and the codings that it takes is not guessed: its place is in `unknown`.

mod apache;
mod cache;
pub mod caddy;
mod filters;
pub mod lighttpd;
mod merged;
pub mod nginx;
mod rewrite;
mod rules;

use std::path::{Path, PathBuf};

use weigh_load::accept::Accept;

use super::Rules;
use super::site::Site;
use super::syntax::{Place, Syntax};
use super::tree::Tree;
use weigh_model::way::Expected;

/// The address of PHP where the configuration has none.
const OURS: &str = "Weighbridge";

/// A word with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said<T> {
    /// What is said.
    pub value: T,
    /// Where; none: it is the server's default.
    pub at: Option<Place>,
}

/// What is asked.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The path of the URL, which begins with `/`, without its query.
    pub path: &'a str,
    /// Whether there is a file or folder at a path of the configuration.
    pub exists: &'a dyn Fn(&Path) -> Exists,
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exists {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// Neither.
    Nothing,
}

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A file.
    File(PathBuf),
    /// PHP, at this socket or address, with this script.
    Php {
        /// The address, as the configuration has it.
        at: String,
        /// The script's path in the URL.
        script: String,
    },
    /// Another program, at this address.
    Elsewhere(String),
    /// The server itself, with a status alone: a redirect, a refusal.
    Status(u16),
    /// It depends on what is not known here.
    Unknown,
}

/// A content coding that is made for each response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Today {
    /// The content coding.
    pub coding: String,
    /// Its level; none: it has none.
    pub level: Option<i32>,
    /// The module that makes it.
    pub by: String,
    /// The shortest body that is encoded, in bytes.
    pub min_length: u64,
    /// The media types that are encoded; `*`: all.
    pub types: Vec<String>,
    /// What switches it on.
    pub at: Option<Place>,
}

/// Variants that are sent in place of a file where they are beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variants {
    /// The content coding.
    pub coding: String,
    /// What is added to the file's name.
    pub ending: String,
    /// The module that looks for them.
    pub by: String,
    /// Whether there is one beside this file.
    pub is_there: bool,
    /// What switches it on.
    pub at: Option<Place>,
}

/// What a configuration does with a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// Who answers.
    pub answer: Answer,
    /// The document root that applies.
    pub docroot: PathBuf,
    /// The innermost block that applies: `location ~ \.php$`.
    pub block: Option<Said<String>>,
    /// The media type, without parameters; of PHP, what pages have. None: not known.
    pub media_type: Option<String>,
    /// What encodes responses of this type, in the order of the server's preference.
    pub today: Vec<Today>,
    /// Variants that are looked for, in the order of the server's preference.
    pub variants: Vec<Variants>,
    /// Cache-Control; none: not sent, or not known.
    pub cache_control: Option<Said<String>>,
    /// Whether responses say that they vary by Accept-Encoding.
    pub vary: bool,
    /// Conditions on requests that may change this.
    pub unknown: Vec<Place>,
}

impl Meaning {
    /// The content coding for an Accept-Encoding and a body of this length (none: not known), with what decides it.
    pub fn coding(&self, accept: &str, length: Option<u64>) -> (&str, Option<Place>) {
        let accept = Accept::parse(accept);
        let is_taken = |coding: &str| accept.asked().any(|asked| asked == coding);
        let variant = self.variants.iter().find(|v| v.is_there && is_taken(&v.coding));
        if let Some(variant) = variant.filter(|_| matches!(self.answer, Answer::File(_))) {
            return (&variant.coding, variant.at);
        }
        let is_long = |today: &&Today| length.is_none_or(|length| length >= today.min_length);
        let made = self.today.iter().filter(is_long).find(|today| is_taken(&today.coding));
        made.map_or(("identity", None), |today| (&today.coding, today.at))
    }

    /// The status; none: not known, or another program's.
    pub fn status(&self) -> Option<u16> {
        match &self.answer {
            Answer::File(_) | Answer::Php { .. } => Some(200),
            Answer::Status(status) => Some(*status),
            Answer::Elsewhere(_) | Answer::Unknown => None,
        }
    }

    /// What a response has to be, for these values of Accept-Encoding; none: the configuration does not tell.
    pub fn expected(&self, tree: &Tree, length: Option<u64>, accepts: &[&str]) -> Option<Expected> {
        let status = self.status()?;
        let codings =
            accepts.iter().map(|accept| ((*accept).to_owned(), self.coding(accept, length).0.to_owned()));
        let decides = accepts.iter().find_map(|accept| self.coding(accept, length).1);
        let decides = decides.or(self.block.as_ref().and_then(|block| block.at));
        Some(Expected {
            status,
            media_type: self.media_type.clone(),
            codings: codings.collect(),
            cache_control: self.cache_control.as_ref().map(|said| said.value.clone()),
            decided: decides.map(|at| tree.word(at)).unwrap_or_default(),
        })
    }
}

/// What a site does with a URL.
pub fn of(rules: &Rules, tree: &Tree, site: &Site, asked: &Asked<'_>) -> Meaning {
    match rules.syntax {
        Syntax::Blocks => nginx::meaning(rules, tree, site, asked),
        Syntax::Sections => apache::meaning(rules, tree, site, asked),
        Syntax::Assigned => lighttpd::meaning(rules, tree, site, asked),
        Syntax::Json => caddy::meaning(rules, tree, site, asked),
    }
}

/// The extension of a path's last name, in small letters; empty without one.
fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
