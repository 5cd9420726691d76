//! In what answers to requests for the same page differ, beside what changes with each request, such as a nonce.

use weigh_model::text::clean;

/// Letters of a line that are shown, and those of them before the first that differs.
const SHOWN: usize = 100;
const BEFORE: usize = 20;

/// The first line that differs from what another one makes, in the words of a report, or that it cannot be told; none: none does, beside those that
/// differ from one request of the same one to the next. Two bodies of each.
pub fn difference(first: [&[u8]; 2], other: [&[u8]; 2], of_first: &str) -> Option<String> {
    if first.iter().any(|body| other.contains(body)) {
        return None;
    }
    let [a, again_a] = first.map(parts);
    let [b, again_b] = other.map(parts);
    if a.len() != again_a.len() || b.len() != again_b.len() {
        return Some("not compared: its lines change with each request".into());
    }
    let is_steady = |at: usize| a.get(at) == again_a.get(at) && b.get(at) == again_b.get(at);
    let at = (0..a.len().max(b.len())).find(|at| is_steady(*at) && a.get(*at) != b.get(*at))?;
    let line = b[..at.min(b.len())].iter().filter(|part| part.ends_with(b"\n")).count() + 1;
    let (of_a, of_b) = (a.get(at).copied(), b.get(at).copied());
    let same = common(of_a.unwrap_or_default(), of_b.unwrap_or_default());
    Some(format!("line {line}: {} where {of_first} has {}", shown(of_b, same), shown(of_a, same)))
}

/// Lines, and tags within them: a page may be one line.
pub fn parts(body: &[u8]) -> Vec<&[u8]> {
    body.split_inclusive(|byte| matches!(byte, b'\n' | b'>')).collect()
}

/// Bytes that two have in common at their begin.
fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// A part around its first difference.
fn shown(part: Option<&[u8]>, same: usize) -> String {
    let Some(part) = part else { return "its end".into() };
    let from = if part.len() > SHOWN { same.saturating_sub(BEFORE) } else { 0 };
    let text = String::from_utf8_lossy(&part[from..]);
    let text = clean(text.trim());
    let (dots, text) = (if from > 0 { "…" } else { "" }, text.as_str());
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("\"{dots}{}…\"", &text[..end]),
        None => format!("\"{dots}{text}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(first: [&str; 2], other: [&str; 2]) -> Option<String> {
        difference(first.map(str::as_bytes), other.map(str::as_bytes), "PHP 8.2")
    }

    #[test]
    fn the_first_line_that_differs_is_shown_from_both() {
        let said = told(["<h1>\none\ntwo</h1>"; 2], ["<h1>\none\nthree</h1>"; 2]).unwrap();
        assert_eq!(said, "line 3: \"three</h1>\" where PHP 8.2 has \"two</h1>\"");
        let said = told(["one\n"; 2], ["one\nDeprecated: \u{1b}[31mmore\n"; 2]).unwrap();
        assert_eq!(said, "line 2: \"Deprecated: more\" where PHP 8.2 has its end");
    }

    #[test]
    fn what_changes_with_each_request_is_no_difference() {
        assert_eq!(told(["a\nnonce=1\nb", "a\nnonce=2\nb"], ["a\nnonce=3\nb", "a\nnonce=4\nb"]), None);
        let said = told(["a\n1\n", "a\n1\n2\n"], ["b\n1\n", "b\n1\n"]).unwrap();
        assert!(said.starts_with("not compared"), "{said}");
        let said = told(["a\nnonce=1\nb", "a\nnonce=2\nb"], ["a\nnonce=3\nc", "a\nnonce=4\nc"]).unwrap();
        assert!(said.starts_with("line 3: "), "{said}");
    }

    #[test]
    fn of_a_long_line_only_the_place_is_shown() {
        let line = |end: &str| format!("{}{end}{}", "x".repeat(5000), "y".repeat(5000));
        let (one, two) = (line("1"), line("2"));
        let said = told([&one; 2], [&two; 2]).unwrap();
        assert!(said.contains("\"…xxxxxxxxxxxxxxxxxxxx2yyy") && said.chars().count() < 300, "{said}");
    }
}
