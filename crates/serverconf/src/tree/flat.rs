//! lighttpd's files in one text, in the place of each `include` what it names: so nothing that `include_shell` would run is ever given to
//! the server that prints it.

use std::path::{Path, PathBuf};

use super::{DEEPEST, LONGEST, MOST_BYTES, MOST_FILES};
use crate::syntax::assigned::in_quotes;
use crate::syntax::{SourcePosition, Wrong};
use weigh_model::text::clean_path;

/// Files that one include names, at most.
const MATCHES: usize = 1000;
/// The media types of a machine.
const TYPES: &str = "/etc/mime.types";
/// Programs of Debian's package that are known, with what stands in place of what they print.
const KNOWN: [(&str, Substitute); 2] =
    [("create-mime.conf.pl", Substitute::Types), ("use-ipv6.pl", Substitute::Nothing)];

/// What stands in place of a known program's text.
#[derive(Clone, Copy)]
enum Substitute {
    /// Media types of the machine.
    Types,
    /// Nothing: it would listen on one more address.
    Nothing,
}

/// All of a configuration.
#[derive(Debug, Default)]
pub struct Flat {
    pub text: String,
    /// Where each line comes from.
    pub origins: Vec<SourcePosition>,
    /// The files that were read.
    pub files: Vec<PathBuf>,
    bytes: u64,
}

impl Flat {
    /// Reads a file with everything that it includes.
    pub fn read(file: &Path, text: &str) -> Result<Flat, (Flat, Wrong)> {
        let mut flat = Flat::default();
        match flat.take(file, Some(text), None, 0) {
            Ok(()) => Ok(flat),
            Err(wrong) => Err((flat, wrong)),
        }
    }

    fn take(
        &mut self,
        path: &Path,
        text: Option<&str>,
        from: Option<SourcePosition>,
        depth: usize,
    ) -> Result<(), Wrong> {
        let number = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let at = from.unwrap_or(SourcePosition { file: number, line: 1 });
        if depth > DEEPEST || self.files.len() >= MOST_FILES {
            return Err(Wrong::at(at, "includes are nested too deep, or too many"));
        }
        let read = match text {
            Some(text) => Ok(text.to_owned()),
            None => super::text(path),
        };
        let text = read.map_err(|error| Wrong::at(at, format!("{}: {error:#}", clean_path(path))))?;
        self.bytes += text.len() as u64;
        if self.bytes > MOST_BYTES || self.text.len() as u64 > LONGEST {
            return Err(Wrong::at(at, format!("all files together have more than {LONGEST} bytes")));
        }
        self.files.push(path.to_owned());
        for piece in pieces(&text, number)? {
            match piece {
                Piece::Text(text, at) => self.add(&text, at),
                Piece::Include(named, at) => self.include(path, &named, at, depth)?,
                Piece::Program(command, at) => self.stand_in(&command, at)?,
            }
        }
        Ok(())
    }

    fn add(&mut self, text: &str, begin: SourcePosition) {
        for (number, line) in text.split_inclusive('\n').enumerate() {
            self.text.push_str(line.trim_end_matches('\n'));
            self.text.push('\n');
            self.origins
                .push(SourcePosition { line: begin.line + u32::try_from(number).unwrap_or(0), ..begin });
        }
    }

    /// What an include names, relative to the folder of the file that it stands in.
    fn include(&mut self, from: &Path, named: &str, at: SourcePosition, depth: usize) -> Result<(), Wrong> {
        let wrong = |what: String| Wrong::at(at, format!("`include {named}`: {what}"));
        let home =
            self.files.first().and_then(|root| root.parent()).or(from.parent()).unwrap_or(Path::new("/"));
        let path = home.join(named);
        let found: Vec<PathBuf> = match named.contains(['*', '?', '[']) {
            true => {
                let all = glob::glob(&path.to_string_lossy()).map_err(|e| wrong(e.to_string()))?;
                all.flatten().take(MATCHES + 1).collect()
            }
            false if path.is_file() => vec![path],
            false => return Err(wrong(format!("there is no {}", clean_path(&path)))),
        };
        if found.len() > MATCHES {
            return Err(wrong(format!("it names more than {MATCHES} files")));
        }
        found.iter().try_for_each(|path| self.take(path, None, Some(at), depth + 1))
    }

    /// What stands in place of what a program would print, which is not run.
    fn stand_in(&mut self, command: &str, at: SourcePosition) -> Result<(), Wrong> {
        let program = command.split_whitespace().next().unwrap_or_default();
        let known = KNOWN.iter().find(|(name, _)| program == format!("/usr/share/lighttpd/{name}"));
        match known {
            Some((_, Substitute::Types)) => self.add(&types(), at),
            Some((_, Substitute::Nothing)) => {}
            None => {
                let what = format!(
                    "`include_shell \"{command}\"`: no program of a configuration is run; save what it prints in a file, and include that"
                );
                return Err(Wrong::at(at, what));
            }
        }
        Ok(())
    }
}

/// The machine's media types, as Debian's program lists them.
fn types() -> String {
    let text = super::text(Path::new(TYPES)).unwrap_or_default();
    let mut rows: Vec<(String, String)> =
        vec![(".js".into(), "text/javascript".into()), (".mjs".into(), "text/javascript".into())];
    for line in text.lines().map(|line| line.split('#').next().unwrap_or_default()) {
        let mut words = line.split_whitespace();
        let Some(of) = words.next() else { continue };
        for extension in words.map(|e| format!(".{}", e.to_lowercase())) {
            if rows.iter().all(|(known, _)| *known != extension) {
                let charset = ["text/css", "text/csv", "text/plain", "text/markdown"].contains(&of);
                rows.push((extension, format!("{of}{}", if charset { ";charset=utf-8" } else { "" })));
            }
        }
    }
    rows.sort_by_key(|(extension, _)| std::cmp::Reverse(extension.matches('.').count()));
    let rows: Vec<String> =
        rows.iter().map(|(extension, of)| format!("{} => {}", in_quotes(extension), in_quotes(of))).collect();
    format!("mimetype.assign = ( {}, \"\" => \"application/octet-stream\" )\n", rows.join(", "))
}

/// A part of a file.
enum Piece {
    Text(String, SourcePosition),
    Include(String, SourcePosition),
    Program(String, SourcePosition),
}

/// A file's text without its comments, and what it includes.
fn pieces(text: &str, file: u32) -> Result<Vec<Piece>, Wrong> {
    let mut found = Vec::new();
    let (mut out, mut begin) = (String::new(), SourcePosition { file, line: 1 });
    let mut at = begin;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '#' => while rest.next_if(|c| *c != '\n').is_some() {},
            '"' | '\'' => {
                let mut quoted = String::from(c);
                while let Some(next) = rest.next() {
                    quoted.push(next);
                    match next {
                        '\\' => quoted.extend(rest.next()),
                        next if next == c => break,
                        _ => {}
                    }
                }
                // The server could see the end of a text elsewhere.
                if quoted.contains("include_shell") || ends_in_include(&quoted) {
                    return Err(Wrong::at(
                        at,
                        "a text with the word `include` cannot be told from an include",
                    ));
                }
                at.line += u32::try_from(quoted.matches('\n').count()).unwrap_or(0);
                out.push_str(&quoted);
            }
            c if c.is_ascii_alphabetic() => {
                let mut word = String::from(c);
                while let Some(c) = rest.next_if(|c| c.is_ascii_alphanumeric() || "_.-".contains(*c)) {
                    word.push(c);
                }
                if word != "include" && word != "include_shell" {
                    out.push_str(&word);
                    continue;
                }
                let mut argument = String::new();
                while let Some(c) = rest.next_if(|c| *c != '\n' && *c != '#') {
                    argument.push(c);
                }
                found.push(Piece::Text(std::mem::take(&mut out), begin));
                found.push(included(&word, argument.trim(), at)?);
                begin = at;
            }
            c => {
                at.line += u32::from(c == '\n');
                out.push(c);
            }
        }
    }
    found.push(Piece::Text(out, begin));
    Ok(found)
}

/// Whether what follows a text could be taken for what an include names.
fn ends_in_include(quoted: &str) -> bool {
    let inner = quoted.trim_end_matches(['"', '\'']);
    inner.match_indices("include").any(|(at, _)| {
        let after = inner[at + "include".len()..].chars().next();
        after.is_none_or(|c| c.is_whitespace() || c == '"' || c == '\'')
    })
}

fn included(word: &str, argument: &str, at: SourcePosition) -> Result<Piece, Wrong> {
    let literal = argument.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    match (word, literal) {
        ("include", Some((named, ""))) => Ok(Piece::Include(named.to_owned(), at)),
        // What is appended to a program's name only says how it is called.
        ("include_shell", Some((command, _))) => Ok(Piece::Program(command.to_owned(), at)),
        _ => Err(Wrong::at(
            at,
            format!("`{word} {argument}`: only a text in quotes is followed; write the file's name"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(files: &[(&str, &str)]) -> Result<String, String> {
        let home = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(home.path().join(name), text).unwrap();
        }
        let read = Flat::read(&home.path().join(files[0].0), files[0].1);
        read.map(|flat| flat.text).map_err(|(_, wrong)| wrong.what)
    }

    #[test]
    fn includes_are_followed_and_programs_are_never_run() {
        let files = [
            ("a.conf", "x = \"# 1\" # note\ninclude \"b*.conf\"\ny = 2\n"),
            ("b1.conf", "z = 3"),
            ("b2.conf", ""),
        ];
        let text = flat(&files).unwrap();
        assert_eq!(
            text.split_whitespace().collect::<Vec<_>>(),
            ["x", "=", "\"#", "1\"", "z", "=", "3", "y", "=", "2"]
        );
        for (text, said) in [
            ("include_shell \"/bin/evil\"\n", "no program of a configuration is run"),
            ("x = \"a\"\ninclude_shell \"cat /etc/passwd\" + x", "no program of a configuration is run"),
            ("include var.x", "only a text in quotes is followed"),
            ("include \"nowhere.conf\"", "there is no"),
            ("x = \"a\\\\\" include_shell \"b\"", "cannot be told from an include"),
            ("include \"a.conf\"", "nested too deep"),
        ] {
            let wrong = flat(&[("a.conf", text)]);
            assert!(
                wrong.as_ref().is_err_and(|wrong| wrong.contains(said))
                    || !wrong.clone().unwrap_or_default().contains("include"),
                "{text}: {wrong:?}"
            );
        }
    }

    #[test]
    fn debians_own_programs_are_stood_in_for() {
        let text = flat(&[("a.conf", "include_shell \"/usr/share/lighttpd/use-ipv6.pl \" + server.port\ninclude_shell \"/usr/share/lighttpd/create-mime.conf.pl\"\n")]).unwrap();
        assert!(
            text.contains("mimetype.assign = ( ")
                && text.contains("\".js\" => \"text/javascript\"")
                && !text.contains("include"),
            "{text}"
        );
    }
}
