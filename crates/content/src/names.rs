//! Names of payloads: short, unique in a plan, and safe in a table, a file name and a cell's id.

use std::collections::BTreeSet;

/// The longest name, in bytes.
const LONGEST: usize = 60;

/// The names given so far.
#[derive(Debug, Default)]
pub struct Names(BTreeSet<String>);

impl Names {
    pub fn new() -> Names {
        Names::default()
    }

    /// A name close to `wanted` that nothing else has. What is not a letter, a digit, `.`, `_`, `-` or `+` in ASCII
    /// becomes `_`; one `/` at the end, which marks a folder, stays.
    pub fn give(&mut self, wanted: &str) -> String {
        let (stem, slash) = match wanted.strip_suffix('/') {
            Some(stem) => (stem, "/"),
            None => (wanted, ""),
        };
        let safe = sanitise(stem);
        let mut name = format!("{safe}{slash}");
        let mut next = 2;
        while !self.0.insert(name.clone()) {
            name = format!("{safe}~{next}{slash}");
            next += 1;
        }
        name
    }
}

fn sanitise(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        let c = if c.is_ascii_alphanumeric() || "._-+".contains(c) { c } else { '_' };
        if c == '_' && safe.ends_with('_') {
            continue;
        }
        safe.push(c);
    }
    if safe.len() > LONGEST {
        // The end says more than the middle: it has the extension.
        let end = safe.split_off(safe.len() - 16);
        safe.truncate(LONGEST - end.len() - 1);
        safe = format!("{safe}~{end}");
    }
    let safe = safe.trim_start_matches(['.', '-']);
    if safe.is_empty() { "unnamed".into() } else { safe.to_owned() }
}

/// A file name for a payload of this name: no separators.
pub(crate) fn file_name(name: &str) -> String {
    format!("{}.bin", name.trim_end_matches('/').replace('/', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_and_unique() {
        let mut names = Names::new();
        assert_eq!(names.give("index.html"), "index.html");
        assert_eq!(names.give("index.html"), "index.html~2");
        assert_eq!(names.give("css/"), "css/");
        assert_eq!(names.give("css/"), "css~2/");
        assert_eq!(names.give("a\nb\x1b[31m/c"), "a_b_31m_c");
        assert_eq!(names.give("../../etc/passwd"), "_.._etc_passwd");
        assert_eq!(names.give("---"), "unnamed");
        assert_eq!(names.give(""), "unnamed~2");
    }

    #[test]
    fn a_long_name_keeps_its_extension() {
        let name = Names::new().give(&format!("{}.html", "x".repeat(300)));
        assert!(name.len() <= LONGEST, "{name}");
        assert!(name.ends_with(".html"), "{name}");
    }
}
