//! Makes text from outside (file names, messages of programs) safe to show.

use std::path::Path;

/// The text without escape sequences. Other characters that could move the cursor, reorder the line or hide text become
/// `�`. The result is one line that is safe in a terminal, in XML and in CSV.
pub fn clean(text: &str) -> String {
    console::strip_ansi_codes(text).chars().map(|c| if disturbs(c) { '\u{fffd}' } else { c }).collect()
}

/// Several lines as clean text: line ends stay, and with `is_styled` also colours and weights.
pub fn clean_lines(text: &str, is_styled: bool) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.split('\n') {
        let parts = console::AnsiCodeIterator::new(line);
        let part = |(part, is_code): (&str, bool)| match is_code {
            true if is_styled && is_style(part) => part.to_owned(),
            true => String::new(),
            false => clean(part),
        };
        lines.push(parts.map(part).collect());
    }
    lines.join("\n")
}

/// Whether a sequence is of the form `ESC [ 1 ; 31 m`, with any numbers.
fn is_style(code: &str) -> bool {
    let numbers = code.strip_prefix("\u{1b}[").and_then(|rest| rest.strip_suffix('m'));
    numbers.is_some_and(|numbers| numbers.bytes().all(|b| b.is_ascii_digit() || b == b';'))
}

pub fn clean_path(path: &Path) -> String {
    clean(&path.to_string_lossy())
}

/// The output of a program as clean text, without surrounding space.
pub fn clean_bytes(bytes: &[u8]) -> String {
    clean(String::from_utf8_lossy(bytes).trim())
}

/// Control characters, line separators, bidirectional overrides, invisible joiners, and characters that XML forbids.
fn disturbs(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{fff9}'..='\u{fffb}')
        || matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a pattern covers a text: the whole text if there is a `*` in it, which stands for any text, otherwise a part of it.
pub fn covers(pattern: &str, text: &str) -> bool {
    if pattern.contains('*') { matches(pattern, text) } else { text.contains(pattern) }
}

/// Whether the whole text matches a pattern in which `*` stands for any text. Linear in the pattern's parts: each is
/// searched once, from left to right.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cover_ids() {
        let covers = |pattern: &str| covers(pattern, "page/nginx/php8.2/gzip:6");
        for yes in ["nginx", "page/*", "*gzip:6", "page/*/php8.2/*", "*", "*nginx*"] {
            assert!(covers(yes), "{yes}");
        }
        for no in ["apache", "nginx/*", "*php8.2", "page/*/php8.3/*", "page*page*"] {
            assert!(!covers(no), "{no}");
        }
    }

    #[test]
    fn escape_sequences_and_overrides_do_not_survive() {
        assert_eq!(clean("a\x1b[31mred\x1b[0m"), "ared");
        assert_eq!(clean("x\u{202e}gpj.exe\r\n\u{7}"), "x\u{fffd}gpj.exe\u{fffd}\u{fffd}\u{fffd}");
        assert!(!clean("\x1b]0;title\x07\x1b\u{9b}31m").contains(|c: char| c.is_control()));
    }

    #[test]
    fn paths_and_what_programs_write_are_cleaned() {
        assert_eq!(clean_path(Path::new("a\nb\x1b[2Jc")), "a\u{fffd}bc");
        assert_eq!(clean_path(Path::new("größe.txt")), "größe.txt");
        assert_eq!(clean_bytes(b" \x1b[31mred\x1b[0m \xff\r\n"), "red \u{fffd}");
    }

    #[test]
    fn lines_keep_their_ends_and_styled_ones_their_colours() {
        let text = "a\x1b[1;31mred\x1b[0m\n\x1b[2Jb\u{2066}\r\n";
        assert_eq!(clean_lines(text, true), "a\x1b[1;31mred\x1b[0m\nb\u{fffd}\u{fffd}\n");
        assert_eq!(clean_lines(text, false), "ared\nb\u{fffd}\u{fffd}\n");
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_disturbs_stays(text in ".*") {
            proptest::prop_assert!(!clean(&text).contains(disturbs));
            proptest::prop_assert_eq!(clean_lines(&text, false), clean(&text));
        }
    }
}
