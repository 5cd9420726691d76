//! `Name arguments` on a line, and `<Name arguments>` … `</Name>`, as Apache reads them.

use super::Wrong;
use super::tree::{DEEPEST, Directive, go_to};

/// Reads a whole file.
pub fn parse(text: &str) -> Result<Vec<Directive>, Wrong> {
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

/// Writes directives, each in its line where that can be.
pub fn write(directives: &[Directive]) -> String {
    let (mut out, mut at) = (String::new(), 1);
    put(directives, &mut out, &mut at);
    out
}

fn put(directives: &[Directive], out: &mut String, at: &mut usize) {
    for directive in directives {
        go_to(out, directive.line, at);
        let text = directive.text();
        let lines = match &directive.block {
            None => [format!("{text}\n"), String::new()],
            Some(_) => [format!("<{text}>\n"), format!("</{}>\n", directive.name)],
        };
        out.push_str(&lines[0]);
        *at += 1;
        if let Some(block) = &directive.block {
            put(block, out, at);
            out.push_str(&lines[1]);
            *at += 1;
        }
    }
}
