//! lighttpd's files: `name = value`, and `$NAME["of"] == "value" { … }`; and the lists that values are.

use super::{DEEPEST, Directive, SourcePosition, Wrong};

/// What a line ends with that goes on.
const GOES_ON: [char; 2] = ['=', '+'];

/// Reads a text. The arguments of a directive begin with its operator.
pub fn parse(text: &str, file: u32) -> Result<Vec<Directive>, Wrong> {
    let mut reader =
        Reader { open: Vec::new(), found: Vec::new(), head: String::new(), begin: SourcePosition::default() };
    let (mut at, mut depth, mut rest) = (SourcePosition { file, line: 1 }, 0_u32, text.chars().peekable());
    while let Some(c) = rest.next() {
        match c {
            '\n' => {
                at.line += 1;
                let is_block = reader.head.starts_with('$') || reader.head.starts_with("else");
                if depth == 0 && !is_block && !reader.head.trim_end().ends_with(GOES_ON) {
                    reader.assign();
                } else {
                    reader.space();
                }
            }
            '#' => while rest.next_if(|c| *c != '\n').is_some() {},
            '"' | '\'' => {
                reader.add(c, at);
                let begin = at;
                loop {
                    let Some(next) = rest.next() else {
                        return Err(Wrong::at(begin, "a quoted text does not end"));
                    };
                    reader.head.push(next);
                    at.line += u32::from(next == '\n');
                    match next {
                        '\\' => reader.head.extend(rest.next()),
                        next if next == c => break,
                        _ => {}
                    }
                }
            }
            '{' if depth == 0 => reader.begin_block(at)?,
            '}' if depth == 0 => reader.end_block(at)?,
            c if c.is_whitespace() => reader.space(),
            c => {
                depth = if c == '(' { depth + 1 } else { depth.saturating_sub(u32::from(c == ')')) };
                reader.add(c, at);
            }
        }
    }
    reader.assign();
    match reader.open.first() {
        Some((block, _)) => Err(Wrong::at(block.at, "the block does not end")),
        None => Ok(reader.found),
    }
}

struct Reader {
    /// Blocks that are open, each with what stands before it in the block around.
    open: Vec<(Directive, Vec<Directive>)>,
    found: Vec<Directive>,
    head: String,
    begin: SourcePosition,
}

impl Reader {
    fn add(&mut self, c: char, at: SourcePosition) {
        if self.head.is_empty() {
            self.begin = at;
        }
        self.head.push(c);
    }

    fn space(&mut self) {
        if !self.head.is_empty() && !self.head.ends_with(' ') {
            self.head.push(' ');
        }
    }

    /// The directive whose text was read; none: nothing was.
    fn directive(&mut self) -> Option<Directive> {
        let head = std::mem::take(&mut self.head);
        let head = head.trim();
        let end = match head.starts_with('$') {
            true => head.find(']').map_or(head.len(), |at| at + 1),
            false => head.find(|c: char| c.is_whitespace() || "=+:".contains(c)).unwrap_or(head.len()),
        };
        let (name, arguments) = head.split_at(end);
        (!head.is_empty()).then(|| Directive {
            name: name.to_owned(),
            arguments: arguments.trim().to_owned(),
            at: self.begin,
            block: None,
        })
    }

    fn assign(&mut self) {
        let directive = self.directive();
        self.found.extend(directive);
    }

    fn begin_block(&mut self, at: SourcePosition) -> Result<(), Wrong> {
        let head = self.directive().ok_or_else(|| Wrong::at(at, "`{` without a condition"))?;
        if self.open.len() == DEEPEST {
            return Err(Wrong::at(at, "blocks are nested too deep"));
        }
        self.open.push((head, std::mem::take(&mut self.found)));
        Ok(())
    }

    fn end_block(&mut self, at: SourcePosition) -> Result<(), Wrong> {
        self.assign();
        let (mut block, before) = self.open.pop().ok_or_else(|| Wrong::at(at, "`}` without a block"))?;
        block.block = Some(std::mem::replace(&mut self.found, before));
        self.found.push(block);
        Ok(())
    }
}

/// A value: a word as it is written, or a list whose entries may have names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A text in its quotes, or a number.
    Word(String),
    List(Vec<(Option<String>, Value)>),
}

impl Value {
    /// That of a directive; none: it has none, or one that is computed.
    pub fn of(directive: &Directive) -> Option<Value> {
        let text = directive.arguments.trim_start_matches(['=', '+', ':', '~', '!', '^', '$']);
        let mut rest = text.trim();
        let value = value(&mut rest, 0)?;
        rest.trim().is_empty().then_some(value)
    }

    /// The text without quotes; empty of a list.
    pub fn word(&self) -> String {
        match self {
            Value::Word(text) => unquoted(text),
            Value::List(_) => String::new(),
        }
    }

    /// The entries of a list.
    pub fn entries(&self) -> &[(Option<String>, Value)] {
        match self {
            Value::Word(_) => &[],
            Value::List(entries) => entries,
        }
    }

    /// The entry of this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.entries().iter().find(|(own, _)| own.as_deref() == Some(name)).map(|(_, value)| value)
    }

    pub fn text(&self) -> String {
        match self {
            Value::Word(text) => text.clone(),
            Value::List(entries) => {
                let entry = |(name, value): &(Option<String>, Value)| match name {
                    Some(name) => format!("{} => {}", in_quotes(name), value.text()),
                    None => value.text(),
                };
                format!("( {} )", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

pub fn in_quotes(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn unquoted(text: &str) -> String {
    let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return text.to_owned();
    };
    let (mut out, mut rest) = (String::new(), inner.chars().peekable());
    while let Some(c) = rest.next() {
        match rest.next_if(|next| c == '\\' && ['"', '\\'].contains(next)) {
            Some(quoted) => out.push(quoted),
            None => out.push(c),
        }
    }
    out
}

fn value(rest: &mut &str, depth: usize) -> Option<Value> {
    *rest = rest.trim_start();
    let Some(inner) = rest.strip_prefix('(').filter(|_| depth < DEEPEST) else {
        return word(rest).map(Value::Word);
    };
    *rest = inner;
    let mut entries = Vec::new();
    loop {
        *rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix(')') {
            *rest = after;
            return Some(Value::List(entries));
        }
        let first = value(rest, depth + 1)?;
        *rest = rest.trim_start();
        match rest.strip_prefix("=>") {
            Some(after) => {
                *rest = after;
                entries.push((Some(first.word()), value(rest, depth + 1)?));
            }
            None => entries.push((None, first)),
        }
        *rest = rest.trim_start();
        *rest = rest.strip_prefix(',').unwrap_or(rest);
    }
}

/// A text in quotes, or a number.
fn word(rest: &mut &str) -> Option<String> {
    let end = match rest.chars().next()? {
        '"' => {
            let mut is_escaped = false;
            let ends = |(_, c): &(usize, char)| {
                let ends = *c == '"' && !is_escaped;
                is_escaped = *c == '\\' && !is_escaped;
                ends
            };
            rest.char_indices().skip(1).find(ends)?.0 + 1
        }
        _ => rest.find(|c: char| c.is_whitespace() || "(),=\"".contains(c)).unwrap_or(rest.len()),
    };
    let (word, after) = rest.split_at(end);
    *rest = after;
    (!word.is_empty()).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_lists_are_read_and_written() {
        let text = "server.port=80 # a note\nx = (\"a\" => 1,\n  \"b\" => ( \"c # d\", \"e\\\"\" ))\n$HTTP[\"url\"] =~ \"^/a{2}\" {\n y := \"\"\n}\n\
                    else $HTTP[\"host\"] == \"b\" { z += \"1\" }\n";
        let found = parse(text, 3).unwrap();
        let told: Vec<(&str, &str, u32)> =
            found.iter().map(|d| (d.name.as_str(), d.arguments.as_str(), d.at.line)).collect();
        assert_eq!(
            told,
            [
                ("server.port", "=80", 1),
                ("x", "= (\"a\" => 1, \"b\" => ( \"c # d\", \"e\\\"\" ))", 2),
                ("$HTTP[\"url\"]", "=~ \"^/a{2}\"", 4),
                ("else", "$HTTP[\"host\"] == \"b\"", 7),
            ]
        );
        assert_eq!(found[2].within()[0].text(), "y := \"\"");
        let value = Value::of(&found[1]).unwrap();
        assert_eq!(value.get("b").unwrap().entries()[1].1.word(), "e\"");
        assert_eq!(value.text(), "( \"a\" => 1, \"b\" => ( \"c # d\", \"e\\\"\" ) )");
        assert_eq!(Value::of(&found[2]).unwrap().word(), "^/a{2}");
    }

    #[test]
    fn what_does_not_end_is_refused() {
        for (text, said) in [
            ("a = \"b", "a quoted text does not end"),
            ("$HTTP[\"url\"] == \"x\" {\n", "the block does not end"),
            ("}", "`}` without a block"),
            ("{", "`{` without a condition"),
        ] {
            assert_eq!(parse(text, 0).unwrap_err().what, said);
        }
        assert_eq!(Value::of(&parse("a = b + \"c\"", 0).unwrap()[0]), None, "it is computed");
    }
}
