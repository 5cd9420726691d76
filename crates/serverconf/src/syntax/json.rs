//! JSON with a line for each value, as `caddy adapt --pretty` prints it: a directive has its key as its name; of an object the arguments are
//! `{`, of an array `[`. Entries of arrays have no name.

use super::{DEEPEST, Directive, SourcePosition, Written, Wrong};

/// Objects in objects at most: a handler stands some levels below its site.
const NESTED: usize = DEEPEST * 8;

/// Reads a text; what stands in the outermost object.
pub fn parse(text: &str, file: u32) -> Result<Vec<Directive>, Wrong> {
    let mut open: Vec<Directive> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let at = SourcePosition { file, line };
        let text = text.trim().trim_end_matches(',');
        if text.is_empty() {
            continue;
        }
        if text == "}" || text == "]" {
            let Some(block) = open.pop() else { return Err(Wrong::at(at, "no JSON")) };
            match open.last_mut().and_then(|around| around.block.as_mut()) {
                Some(around) => around.push(block),
                None => return Ok(block.block.unwrap_or_default()),
            }
            continue;
        }
        let (name, value) = key(text);
        let one =
            |arguments: &str, block| Directive { name: name.clone(), arguments: arguments.into(), at, block };
        let block = || open.last().is_some();
        match value {
            "{" | "[" if open.len() == NESTED => return Err(Wrong::at(at, "it is nested too deep")),
            "{" | "[" => open.push(one(value, Some(Vec::new()))),
            "{}" | "[]" if !block() => return Ok(Vec::new()),
            _ if !block() => return Err(Wrong::at(at, "no JSON object")),
            _ => {
                let made = match value {
                    "{}" | "[]" => one(&value[..1], Some(Vec::new())),
                    _ => one(value, None),
                };
                open.last_mut()
                    .and_then(|around| around.block.as_mut())
                    .into_iter()
                    .for_each(|b| b.push(made.clone()));
            }
        }
    }
    Err(Wrong::at(SourcePosition { file, line: 1 }, "the JSON does not end"))
}

/// The key of a line, without its quotes, and the value; empty without a key.
fn key(text: &str) -> (String, &str) {
    let mut is_escaped = false;
    let ends = |(_, c): &(usize, char)| {
        let ends = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    };
    let end = text.starts_with('"').then(|| text.char_indices().skip(1).find(ends)).flatten();
    match end.and_then(|(end, _)| Some((end, text[end + 1..].trim_start().strip_prefix(':')?))) {
        Some((end, value)) => (text[1..end].to_owned(), value.trim()),
        None => (String::new(), text),
    }
}

pub fn write(directives: &[Directive]) -> Written {
    let mut out = Written::default();
    out.line("{", None);
    put(directives, &mut out);
    out.line("}", None);
    out
}

fn put(directives: &[Directive], out: &mut Written) {
    for (number, directive) in directives.iter().enumerate() {
        let at = Some(directive.at).filter(|at| at.file != u32::MAX);
        let comma = if number + 1 < directives.len() { "," } else { "" };
        let key = if directive.name.is_empty() { String::new() } else { format!("\"{}\": ", directive.name) };
        match &directive.block {
            None => out.line(&format!("{key}{}{comma}", directive.arguments), at),
            Some(block) => {
                out.line(&format!("{key}{}", directive.arguments), at);
                put(block, out);
                let end = if directive.arguments == "[" { "]" } else { "}" };
                out.line(&format!("{end}{comma}"), at);
            }
        }
    }
}

/// A value as a directive of this name and place.
pub fn directive(name: &str, value: &serde_json::Value, at: SourcePosition) -> Directive {
    use serde_json::Value as Json;
    let (arguments, block) = match value {
        Json::Object(entries) => {
            ("{".into(), Some(entries.iter().map(|(key, value)| directive(key, value, at)).collect()))
        }
        Json::Array(entries) => {
            ("[".into(), Some(entries.iter().map(|value| directive("", value, at)).collect()))
        }
        plain => (plain.to_string(), None),
    };
    Directive { name: name.to_owned(), arguments, at, block }
}

/// The text of a value that is one; none of others.
pub fn string(directive: &Directive) -> Option<String> {
    serde_json::from_str(&directive.arguments).ok().filter(|_| directive.block.is_none())
}

/// The entry of an object.
pub fn get<'d>(directive: &'d Directive, key: &str) -> Option<&'d Directive> {
    directive.within().iter().find(|entry| entry.name == key)
}

/// The texts of an array in an object.
pub fn strings(directive: &Directive, key: &str) -> Vec<String> {
    get(directive, key).iter().flat_map(|list| list.within()).filter_map(string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_written_again() {
        let value = serde_json::json!({"a": [{"b\"": "c: \"{"}, [], 1, true], "d": {}, "e": null});
        let text = serde_json::to_string_pretty(&value).unwrap();
        let read = parse(&text, 0).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&write(&read).text).unwrap(), value);
        let list = read.iter().find(|one| one.name == "a").unwrap();
        assert_eq!((list.at.line, string(&list.within()[0].within()[0])), (2, Some("c: \"{".into())));
        for text in ["", "{", "[\n1\n", "1"] {
            assert!(parse(text, 0).is_err(), "{text}");
        }
    }
}
