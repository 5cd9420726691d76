//! A configuration as a tree.

/// A directive, or a block of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// Its name as written.
    pub name: String,
    /// What follows the name, as written.
    pub arguments: String,
    /// The line that it begins in, from 1.
    pub line: usize,
    /// What is in it, if it is a block.
    pub block: Option<Vec<Directive>>,
}

/// Blocks in blocks, at most.
pub const DEEPEST: usize = 16;

impl Directive {
    /// Name and arguments.
    pub fn text(&self) -> String {
        if self.arguments.is_empty() {
            self.name.clone()
        } else {
            format!("{} {}", self.name, self.arguments)
        }
    }
}

/// Goes on to a line, so that what is written stands where it stood.
pub fn go_to(out: &mut String, line: usize, at: &mut usize) {
    while *at < line {
        out.push('\n');
        *at += 1;
    }
}
