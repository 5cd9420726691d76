//! A file that is emitted, with what its first lines say: what it does, where it goes, how to check and how to undo it.

use std::path::{Path, PathBuf};

use weigh_model::text::{clean, clean_path};

/// What a line of a file begins with that says what cannot be expressed.
const CANNOT: &str = "Cannot be expressed: ";
/// The end of a place that is a path below the application.
pub(super) const OF_APPLICATION: &str = " of the application";

/// A file of the folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Emitted {
    /// Below the folder: `nginx/encoding.conf`.
    pub file: PathBuf,
    pub what: String,
    /// What to do first: where to copy it, modules to switch on.
    pub first: Vec<String>,
    pub place: String,
    /// The line that includes it; empty: the file is taken as it is.
    pub line: String,
    /// What to do where the user's configuration has the same directives.
    pub clash: String,
    /// The command that checks the user's configuration with it.
    pub check: String,
    pub undo: String,
    /// Why it was not checked, or what the server says against it; none: it was checked and accepted.
    pub unchecked: Option<String>,
    /// How it was tried on the site's configuration, or why it was not: a line with its first word; none: it is for no web server.
    pub tried: Option<String>,
    /// How a comment begins.
    pub comment: &'static str,
    /// The directives, with their comments.
    pub body: String,
}

impl Emitted {
    pub fn text(&self) -> String {
        let mut head = vec![format!("Written by weigh. {}", self.what)];
        head.extend(self.first.iter().map(|first| format!("First: {first}")));
        match self.line.as_str() {
            "" => head.push(format!("Put it: {}", self.place)),
            line => head.push(format!("Include here, {}: {line}", self.place)),
        }
        if !self.clash.is_empty() {
            head.push(format!("Clash: {}", self.clash));
        }
        head.push(format!("Check: {}", self.check));
        head.push(format!("Undo: {}", self.undo));
        if let Some(why) = &self.unchecked {
            head.push(format!("Not checked: {why}"));
        }
        head.extend(self.tried.clone());
        let head: String = head.iter().map(|line| format!("{} {}\n", self.comment, clean(line))).collect();
        let open = if self.comment == "//" { "<?php\n" } else { "" };
        format!("{open}{head}\n{}", self.body)
    }

    /// What to type or to write where, for a page: the include with its place in a comment, or the copy of a file of the application.
    pub fn commands(&self, config: &Path) -> Vec<String> {
        match self.place.strip_suffix(OF_APPLICATION) {
            Some(to) => vec![format!("cp {} {to}", clean_path(&config.join(&self.file)))],
            None if self.line.is_empty() => Vec::new(),
            None => vec![format!("{} {}", self.comment, self.place), self.line.clone()],
        }
    }

    /// What the policy asks for and this file cannot say.
    pub fn cannot(&self) -> Vec<&str> {
        let said = self.body.lines().filter_map(|line| line.split_once(CANNOT));
        let mut said: Vec<&str> = said.map(|(_, what)| what).collect();
        said.dedup();
        said
    }
}
