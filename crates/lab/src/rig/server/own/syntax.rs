//! How configurations are written: read into a tree of directives, and written so that each stands in its line again.

use serde::Deserialize;
use weigh_model::text::clean;

/// Blocks in blocks, at most.
const DEEPEST: usize = 16;

/// How a configuration is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Syntax {
    /// `name arguments;` and `name arguments { … }`.
    Blocks,
    /// `Name arguments` on a line, and `<Name arguments>` … `</Name>`.
    Sections,
}

/// What is wrong in which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub line: usize,
    pub what: String,
}

impl Wrong {
    pub fn at(line: usize, what: impl Into<String>) -> Wrong {
        Wrong { line, what: clean(&what.into()) }
    }
}

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

impl Syntax {
    /// Reads a whole file.
    pub(super) fn parse(self, text: &str) -> Result<Vec<Directive>, Wrong> {
        match self {
            Syntax::Blocks => list(&mut tokens(text)?.into_iter(), None, 0),
            Syntax::Sections => sections(text),
        }
    }

    /// Writes directives, each in its line where that can be.
    pub(super) fn write(self, directives: &[Directive]) -> String {
        let (mut out, mut at) = (String::new(), 1);
        self.put(directives, &mut out, &mut at);
        if self == Syntax::Blocks {
            out.push('\n');
        }
        out
    }

    fn put(self, directives: &[Directive], out: &mut String, at: &mut usize) {
        for directive in directives {
            while *at < directive.line {
                out.push('\n');
                *at += 1;
            }
            let text = directive.text();
            let (begin, end) = match (self, &directive.block) {
                (Syntax::Blocks, None) => (format!("{text}; "), String::new()),
                (Syntax::Blocks, Some(_)) => (format!("{text} {{ "), "} ".to_owned()),
                (Syntax::Sections, None) => (format!("{text}\n"), String::new()),
                (Syntax::Sections, Some(_)) => (format!("<{text}>\n"), format!("</{}>\n", directive.name)),
            };
            *at += begin.matches('\n').count();
            out.push_str(&begin);
            self.put(directive.block.as_deref().unwrap_or_default(), out, at);
            *at += end.matches('\n').count();
            out.push_str(&end);
        }
    }
}

/// Of `name arguments;` and `name arguments { … }`, as nginx has them, a word, or one of `;`, `{`, `}`.
struct Token {
    text: String,
    line: usize,
    is_mark: bool,
}

/// Directives up to the end of the block that began in line `open`, or of the file.
fn list(
    tokens: &mut impl Iterator<Item = Token>,
    open: Option<usize>,
    depth: usize,
) -> Result<Vec<Directive>, Wrong> {
    let mut found = Vec::new();
    let mut words: Vec<Token> = Vec::new();
    while let Some(token) = tokens.next() {
        if !token.is_mark {
            words.push(token);
            continue;
        }
        let name = words.first().map(|w| (w.text.clone(), w.line));
        let block = match (token.text.as_str(), &name, open) {
            ("}", None, Some(_)) => return Ok(found),
            ("}", None, None) => return Err(Wrong::at(token.line, "`}` without a block")),
            ("}", Some((name, line)), _) => {
                return Err(Wrong::at(*line, format!("`{name}` does not end with `;`")));
            }
            (mark, None, _) => return Err(Wrong::at(token.line, format!("`{mark}` without a directive"))),
            ("{", Some((_, line)), _) if depth == DEEPEST => {
                return Err(Wrong::at(*line, "blocks are nested too deep"));
            }
            ("{", Some((_, line)), _) => Some(list(tokens, Some(*line), depth + 1)?),
            _ => None,
        };
        let Some((name, line)) = name else { continue };
        let arguments: Vec<String> = words.drain(..).skip(1).map(|w| w.text).collect();
        found.push(Directive { name, arguments: arguments.join(" "), line, block });
    }
    match (words.first(), open) {
        (Some(word), _) => Err(Wrong::at(word.line, format!("`{}` does not end with `;`", word.text))),
        (None, Some(line)) => Err(Wrong::at(line, "the block does not end")),
        (None, None) => Ok(found),
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, Wrong> {
    let mut found = Vec::new();
    let (mut line, mut rest) = (1, text.chars().peekable());
    while let Some(c) = rest.next() {
        match c {
            '\n' => line += 1,
            '#' => while rest.next_if(|c| *c != '\n').is_some() {},
            ';' | '{' | '}' => found.push(Token { text: c.into(), line, is_mark: true }),
            c if c.is_whitespace() => {}
            quote @ ('"' | '\'') => {
                let begin = line;
                let mut word = String::from(quote);
                loop {
                    let Some(c) = rest.next() else {
                        return Err(Wrong::at(begin, "a quoted text does not end"));
                    };
                    word.push(c);
                    line += usize::from(c == '\n');
                    match c {
                        '\\' => word.extend(rest.next().inspect(|c| line += usize::from(*c == '\n'))),
                        c if c == quote => break,
                        _ => {}
                    }
                }
                found.push(Token { text: word, line: begin, is_mark: false });
            }
            c => {
                let mut word = String::from(c);
                let ends = |c: &char| c.is_whitespace() || ";{".contains(*c);
                if c == '\\' {
                    word.extend(rest.next());
                }
                loop {
                    // `${name}` is a variable, not a block.
                    if word.ends_with('$') && rest.peek() == Some(&'{') {
                        word.extend(rest.next());
                    }
                    let Some(c) = rest.next_if(|c| !ends(c)) else { break };
                    word.push(c);
                    if c == '\\' {
                        word.extend(rest.next_if(|c| *c != '\n'));
                    }
                }
                found.push(Token { text: word, line, is_mark: false });
            }
        }
    }
    Ok(found)
}

/// Reads `Name arguments` on a line, and `<Name arguments>` … `</Name>`, as Apache has them.
fn sections(text: &str) -> Result<Vec<Directive>, Wrong> {
    let mut open: Vec<Directive> = Vec::new();
    let mut found = Vec::new();
    for (line, text) in lines(text) {
        if let Some(name) = text.strip_prefix("</") {
            let name = name.trim_end_matches('>').trim();
            match open.pop() {
                Some(section) if section.name.eq_ignore_ascii_case(name) => {
                    add(section, &mut open, &mut found);
                }
                _ => return Err(Wrong::at(line, format!("`</{name}>` without its begin"))),
            }
        } else if let Some(head) = text.strip_prefix('<') {
            let Some(head) = head.strip_suffix('>') else {
                return Err(Wrong::at(line, format!("`<{head}` does not end with `>`")));
            };
            if open.len() == DEEPEST {
                return Err(Wrong::at(line, "sections are nested too deep"));
            }
            open.push(directive(head, line, Some(Vec::new())));
        } else {
            add(directive(&text, line, None), &mut open, &mut found);
        }
    }
    match open.first() {
        Some(section) => Err(Wrong::at(section.line, format!("`<{}>` does not end", section.name))),
        None => Ok(found),
    }
}

fn add(directive: Directive, open: &mut [Directive], found: &mut Vec<Directive>) {
    match open.last_mut().and_then(|section| section.block.as_mut()) {
        Some(block) => block.push(directive),
        None => found.push(directive),
    }
}

fn directive(text: &str, line: usize, block: Option<Vec<Directive>>) -> Directive {
    let text = text.trim();
    let (name, arguments) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    Directive { name: name.into(), arguments: arguments.trim().into(), line, block }
}

/// Lines with something in them, those that go on joined.
fn lines(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (at, line) in text.lines().enumerate() {
        let (more, line) = match line.strip_suffix('\\') {
            Some(line) => (true, line),
            None => (false, line),
        };
        match found.last_mut().filter(|_| goes_on) {
            Some((_, begin)) => begin.push_str(line),
            None => found.push((at + 1, line.trim_start().to_owned())),
        }
        goes_on = more;
    }
    let found = found.into_iter().map(|(at, line)| (at, line.trim().to_owned()));
    found.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).collect()
}
