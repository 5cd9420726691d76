//! `name arguments;` and `name arguments { … }`, as nginx reads them.

use super::Wrong;
use super::tree::{DEEPEST, Directive, go_to};

/// A word, or one of `;`, `{`, `}`.
struct Token {
    text: String,
    line: usize,
    is_mark: bool,
}

/// Reads a whole file.
pub fn parse(text: &str) -> Result<Vec<Directive>, Wrong> {
    let mut tokens = tokens(text)?.into_iter();
    list(&mut tokens, None, 0)
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

/// Writes directives, each in its line.
pub fn write(directives: &[Directive]) -> String {
    let (mut out, mut at) = (String::new(), 1);
    put(directives, &mut out, &mut at);
    out.push('\n');
    out
}

fn put(directives: &[Directive], out: &mut String, at: &mut usize) {
    for directive in directives {
        go_to(out, directive.line, at);
        let text = directive.text();
        *at += text.matches('\n').count();
        out.push_str(&text);
        match &directive.block {
            None => out.push_str("; "),
            Some(block) => {
                out.push_str(" { ");
                put(block, out, at);
                out.push_str("} ");
            }
        }
    }
}
