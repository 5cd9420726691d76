//! TOML for people: what a key means stands behind it, from the schema of its type.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde_json::Value;

/// The text with the meaning of each key behind the line where the key is first; without `has_lists` not in entries of lists.
pub fn commented<T: JsonSchema>(text: &str, has_lists: bool) -> String {
    let schema = schemars::schema_for!(T).to_value();
    let mut known = HashSet::new();
    let (mut header, mut is_entry) = (String::new(), false);
    let mut out = String::new();
    for line in text.lines() {
        if line.starts_with('[') && line.ends_with(']') {
            header = line.trim_matches(['[', ']']).to_owned();
            is_entry = line.starts_with("[[");
        }
        let key = line.split_once(" = ").map_or("", |(key, _)| key);
        let is_told = has_lists || !is_entry;
        let is_new = is_told && is_bare(key) && known.insert((header.clone(), key.to_owned()));
        let meaning = if is_new { meaning(&schema, &header, key) } else { None };
        out.push_str(line);
        out.extend(meaning.into_iter().flat_map(|meaning| ["  # ".to_owned(), meaning]));
        out.push('\n');
    }
    out
}

fn is_bare(key: &str) -> bool {
    !key.is_empty()
        && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The first sentence on a key of a table.
fn meaning(schema: &Value, header: &str, key: &str) -> Option<String> {
    let path = header.split('.').filter(|part| !part.is_empty());
    let table =
        path.into_iter().try_fold(schema, |at, part| resolved(schema, at.get("properties")?.get(part)?))?;
    let about = table.get("properties")?.get(key)?.get("description")?.as_str()?.replace('\n', " ");
    let end = about.find(". ").map_or(about.len(), |at| at + 1);
    Some(about[..end].to_owned())
}

/// What a schema is of: that of the entries of a list, of what may be missing, of what it refers to.
fn resolved<'s>(root: &'s Value, at: &'s Value) -> Option<&'s Value> {
    if let Some(name) = at.get("$ref") {
        return root.get("$defs")?.get(name.as_str()?.rsplit('/').next()?);
    }
    if let Some(of) = at.get("items") {
        return resolved(root, of);
    }
    let some = at.get("anyOf").and_then(Value::as_array);
    some.and_then(|all| all.iter().find_map(|one| resolved(root, one)))
        .or_else(|| at.get("properties").map(|_| at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;

    #[test]
    fn each_key_is_explained_where_it_is_first() {
        let text = "schema = 1\n[[gate]]\nmetric = \"cpu\"\n[[gate]]\nmetric = \"p99\"\nnot a key\n";
        assert_eq!(commented::<Policy>(text, false).matches("  # ").count(), 1);
        let text = commented::<Policy>(text, true);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("schema = 1  # ") && lines[0].ends_with('.'), "{text}");
        assert!(lines[2].starts_with("metric = \"cpu\"  # "), "{text}");
        assert_eq!(lines[4..], ["metric = \"p99\"", "not a key"]);
    }
}
