//! How configurations are written: text into directives, and directives into text of which each line knows where it comes from.

pub mod assigned;
pub mod json;

use serde::Deserialize;
use weigh_model::text::clean;

/// Blocks in blocks, at most, those of included files among them.
pub(super) const DEEPEST: usize = 16;
/// Blocks whose content is a program: it is skipped as far as its braces go.
const PROGRAMS: [&str; 2] = ["_by_lua_block", "_by_njs_block"];

/// How a configuration is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Syntax {
    /// `name arguments;` and `name arguments { … }`.
    Blocks,
    /// `Name arguments` on a line, and `<Name arguments>` … `</Name>`.
    Sections,
    /// `name = value` and `$NAME["of"] == "value" { … }`.
    Assigned,
    /// JSON, a value a line.
    Json,
}

/// Where a directive stands: its file's place among those that were read, and the line in it, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcePosition {
    pub file: u32,
    pub line: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    pub at: SourcePosition,
    pub what: String,
}

impl Wrong {
    pub(super) fn at(at: SourcePosition, what: impl Into<String>) -> Wrong {
        Wrong { at, what: clean(&what.into()) }
    }
}

/// A directive, or a block of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    pub name: String,
    /// What follows the name, as written.
    pub arguments: String,
    /// Where it begins.
    pub at: SourcePosition,
    /// What is in it, if it is a block.
    pub block: Option<Vec<Directive>>,
}

impl Directive {
    /// Whether it has this name, in any case.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// What is in it; nothing for one that is not a block.
    pub fn within(&self) -> &[Directive] {
        self.block.as_deref().unwrap_or_default()
    }

    /// Its arguments one by one, without quotes.
    pub fn words(&self) -> Vec<String> {
        split_words(&self.arguments)
    }

    /// Its first argument, without quotes; empty without one.
    pub fn first(&self) -> String {
        self.words().into_iter().next().unwrap_or_default()
    }

    pub fn text(&self) -> String {
        if self.arguments.is_empty() {
            self.name.clone()
        } else {
            format!("{} {}", self.name, self.arguments)
        }
    }
}

/// Words between blanks; what stands in quotes is one, without them.
pub fn split_words(text: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), text.chars().peekable());
    while let Some(c) = rest.next() {
        if c.is_whitespace() {
            continue;
        }
        let mut word = String::new();
        if c == '"' || c == '\'' {
            while let Some(next) = rest.next().filter(|next| *next != c) {
                match (next, rest.peek()) {
                    ('\\', Some(quoted)) if *quoted == c || *quoted == '\\' => word.extend(rest.next()),
                    _ => word.push(next),
                }
            }
        } else {
            word.push(c);
            while let Some(next) = rest.next_if(|c| !c.is_whitespace()) {
                word.push(next);
            }
        }
        found.push(word);
    }
    found
}

/// A word as it can stand in a configuration: in quotes where it has to.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-$@:,=+~".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

/// A text of directives, a line each, with where every line comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    pub text: String,
    /// The file and line of each of its lines; none: the lab's own.
    pub origins: Vec<Option<(u32, u32)>>,
}

impl Written {
    fn line(&mut self, text: &str, at: Option<SourcePosition>) {
        for line in text.split('\n') {
            self.text.push_str(line);
            self.text.push('\n');
            self.origins.push(at.map(|at| (at.file, at.line)));
        }
    }
}

impl Syntax {
    /// Reads the text of a file.
    pub fn parse(self, text: &str, file: u32) -> Result<Vec<Directive>, Wrong> {
        match self {
            Syntax::Blocks => list(&mut tokens(text, file)?.into_iter(), None, 0),
            Syntax::Sections => sections(text, file),
            Syntax::Assigned => assigned::parse(text, file),
            Syntax::Json => json::parse(text, file),
        }
    }

    /// Writes directives. Those of file `u32::MAX` are the lab's own.
    pub fn write(self, directives: &[Directive]) -> Written {
        if self == Syntax::Json {
            return json::write(directives);
        }
        let mut out = Written::default();
        self.put(directives, &mut out);
        out
    }

    fn put(self, directives: &[Directive], out: &mut Written) {
        for directive in directives {
            let at = Some(directive.at).filter(|at| at.file != u32::MAX);
            let text = directive.text();
            let (begin, end) = match (self, &directive.block) {
                (Syntax::Blocks, None) => (format!("{text};"), None),
                (Syntax::Assigned | Syntax::Json, None) => (text, None),
                (_, Some(_)) if self != Syntax::Sections => (format!("{text} {{"), Some("}".to_owned())),
                (Syntax::Sections, None) => (text, None),
                (_, Some(_)) => (format!("<{text}>"), Some(format!("</{}>", directive.name))),
            };
            out.line(&begin, at);
            self.put(directive.within(), out);
            end.iter().for_each(|end| out.line(end, at));
        }
    }
}

/// Of `name arguments;` and `name arguments { … }`, as nginx has them, a word, or one of `;`, `{`, `}`.
struct Token {
    text: String,
    line: SourcePosition,
    is_mark: bool,
}

/// Directives up to the end of the block that began in line `open`, or of the file.
fn list(
    tokens: &mut impl Iterator<Item = Token>,
    open: Option<SourcePosition>,
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
        found.push(Directive { name, arguments: arguments.join(" "), at: line, block });
    }
    match (words.first(), open) {
        (Some(word), _) => Err(Wrong::at(word.line, format!("`{}` does not end with `;`", word.text))),
        (None, Some(line)) => Err(Wrong::at(line, "the block does not end")),
        (None, None) => Ok(found),
    }
}

fn tokens(text: &str, file: u32) -> Result<Vec<Token>, Wrong> {
    let mut found: Vec<Token> = Vec::new();
    let (mut line, mut rest) = (SourcePosition { file, line: 1 }, text.chars().peekable());
    // The first word of the directive that is being read.
    let mut begin = 0;
    while let Some(c) = rest.next() {
        match c {
            '\n' => line.line += 1,
            '#' => while rest.next_if(|c| *c != '\n').is_some() {},
            ';' | '{' | '}' => {
                let is_program = c == '{' && found.get(begin).is_some_and(|first| is_program(&first.text));
                found.push(Token { text: c.into(), line, is_mark: true });
                if is_program {
                    line.line += program(&mut rest);
                    found.push(Token { text: "}".into(), line, is_mark: true });
                }
                begin = found.len();
            }
            c if c.is_whitespace() => {}
            quote @ ('"' | '\'') => {
                let begin = line;
                let mut word = String::from(quote);
                loop {
                    let Some(c) = rest.next() else {
                        return Err(Wrong::at(begin, "a quoted text does not end"));
                    };
                    word.push(c);
                    line.line += u32::from(c == '\n');
                    match c {
                        '\\' => word.extend(rest.next().inspect(|c| line.line += u32::from(*c == '\n'))),
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

/// Skips a program in Lua or JavaScript up to the brace that ends its block; how many lines it has.
fn program(rest: &mut impl Iterator<Item = char>) -> u32 {
    let (mut open, mut lines, mut quote, mut last) = (1, 0, None::<char>, ' ');
    let mut is_comment = false;
    while open > 0
        && let Some(c) = rest.next()
    {
        lines += u32::from(c == '\n');
        match (c, quote) {
            ('\n', _) => (quote, is_comment) = (None, false),
            _ if is_comment => {}
            ('\\', Some(_)) => drop(rest.next()),
            (c, Some(begin)) => quote = Some(begin).filter(|begin| c != *begin),
            ('"' | '\'', None) => quote = Some(c),
            ('-', None) => is_comment = last == '-',
            ('/', None) => is_comment = last == '/',
            ('{', None) => open += 1,
            ('}', None) => open -= 1,
            _ => {}
        }
        last = c;
    }
    lines
}

fn is_program(name: &str) -> bool {
    PROGRAMS.iter().any(|end| name.ends_with(end))
}

/// Reads `Name arguments` on a line, and `<Name arguments>` … `</Name>`, as Apache has them.
fn sections(text: &str, file: u32) -> Result<Vec<Directive>, Wrong> {
    let mut open: Vec<Directive> = Vec::new();
    let mut found = Vec::new();
    for (line, text) in lines(text) {
        let line = SourcePosition { file, line };
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
        Some(section) => Err(Wrong::at(section.at, format!("`<{}>` does not end", section.name))),
        None => Ok(found),
    }
}

fn add(directive: Directive, open: &mut [Directive], found: &mut Vec<Directive>) {
    match open.last_mut().and_then(|section| section.block.as_mut()) {
        Some(block) => block.push(directive),
        None => found.push(directive),
    }
}

fn directive(text: &str, at: SourcePosition, block: Option<Vec<Directive>>) -> Directive {
    let text = text.trim();
    let (name, arguments) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    Directive { name: name.into(), arguments: arguments.trim().into(), at, block }
}

/// Lines with something in them, those that go on joined.
fn lines(text: &str) -> Vec<(u32, String)> {
    let mut found: Vec<(u32, String)> = Vec::new();
    let mut goes_on = false;
    for (at, line) in (1..).zip(text.lines()) {
        let (more, line) = match line.strip_suffix('\\') {
            Some(line) => (true, line),
            None => (false, line),
        };
        match found.last_mut().filter(|_| goes_on) {
            Some((_, begin)) => begin.push_str(line),
            None => found.push((at, line.trim_start().to_owned())),
        }
        goes_on = more;
    }
    let found = found.into_iter().map(|(at, line)| (at, line.trim().to_owned()));
    found.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).collect()
}
