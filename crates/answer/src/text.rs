//! Text from outside (file names, messages of programs), made safe and fitted to a width. This module cleans, shortens
//! and escapes; it knows nothing of results.

use serde::Serialize;
use textwrap::core::Fragment;
use textwrap::wrap_algorithms::wrap_first_fit;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

pub use weigh_model::text::clean;

pub(crate) fn json_name(value: impl Serialize) -> String {
    serde_json::to_value(value).unwrap_or_default().as_str().unwrap_or_default().to_owned()
}

/// The name that JSON has under this key, which tells variants with fields apart.
pub(crate) fn tag_name(value: impl Serialize, key: &str) -> String {
    json_name(serde_json::to_value(value).unwrap_or_default().get(key))
}

/// Parts of a line without empty ones.
pub(crate) fn dotted(parts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let parts: Vec<_> = parts.into_iter().collect();
    let filled = parts.iter().map(AsRef::as_ref).filter(|part| !part.trim().is_empty());
    filled.collect::<Vec<&str>>().join(" · ")
}

/// Columns the text takes in a terminal.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// The text in at most `width` columns; a longer text loses its middle, because both ends of a name are informative.
pub fn shorten(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    if width <= 1 {
        return "…".repeat(width);
    }
    format!("{}…{}", head(text, width / 2), tail(text, (width - 1) / 2))
}

/// The longest start of the text that takes at most `width` columns. It is not cut inside a grapheme cluster, whose
/// width is not that of its code points, unless a single cluster is wider.
fn head(text: &str, width: usize) -> &str {
    let fits = |end: &usize| columns(&text[..*end]) <= width;
    let whole = text.grapheme_indices(true).map(|(at, c)| at + c.len()).take_while(fits).last();
    let pieces = || text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(fits).last();
    &text[..whole.or_else(pieces).unwrap_or(0)]
}

/// The longest end of the text that takes at most `width` columns, of whole characters.
fn tail(text: &str, width: usize) -> &str {
    let fits = |start: &usize| columns(&text[*start..]) <= width;
    let start = text.grapheme_indices(true).rev().map(|(at, _)| at).take_while(fits).last();
    &text[start.unwrap_or(text.len())..]
}

/// The text broken at spaces into lines of at most `width` columns; a longer word is cut.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    lines(split_words(text).map(|word| Word(word, true)), width)
}

const NARROWEST: usize = 8;

/// Like [`wrap`], but also breaks after a slash, and keeps blanks at the start, as far as there is room for them.
pub fn fold(text: &str, width: usize) -> Vec<String> {
    if columns(text) <= width {
        return vec![text.to_owned()];
    }
    let blanks = text.len() - text.trim_start_matches(' ').len();
    let indent = &text[..blanks.min(width.saturating_sub(NARROWEST))];
    let room = width.saturating_sub(columns(indent));
    lines(pieces(text), room).into_iter().map(|line| format!("{indent}{line}")).collect()
}

/// The separators at which a text may be broken.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = Word<'_>> {
    split_words(text).flat_map(|word| {
        let parts = word.split_inclusive('/');
        parts.map(move |part| {
            Word(part, part.as_bytes().as_ptr_range().end == word.as_bytes().as_ptr_range().end)
        })
    })
}

/// A no-break space is not a separator.
fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() && c != '\u{a0}').filter(|word| !word.is_empty())
}

fn lines<'a>(pieces: impl Iterator<Item = Word<'a>>, width: usize) -> Vec<String> {
    let width = width.max(NARROWEST);
    let mut words = Vec::new();
    for Word(mut word, is_end) in pieces {
        while columns(word) > width {
            let (begin, rest) = word.split_at(head(word, width).len());
            words.push(Word(begin, false));
            word = rest;
        }
        words.push(Word(word, is_end));
    }
    let joined = |line: &[Word]| {
        let mut out = String::new();
        for Word(text, is_end) in line {
            out.push_str(text);
            out.push_str(if *is_end { " " } else { "" });
        }
        out.trim_end_matches(' ').to_owned()
    };
    wrap_first_fit(&words, &[width as f64]).into_iter().map(joined).collect()
}

/// A part of a text with its visible width, which is not that of its code points, and whether a space follows it.
#[derive(Debug)]
pub(crate) struct Word<'a>(pub(crate) &'a str, bool);

impl Fragment for Word<'_> {
    fn width(&self) -> f64 {
        columns(self.0) as f64
    }
    fn whitespace_width(&self) -> f64 {
        if self.1 { 1.0 } else { 0.0 }
    }
    fn penalty_width(&self) -> f64 {
        0.0
    }
}

/// Cleaned text as Markdown that shows it literally, also inside a table.
pub fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' | '$' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// A part of a file name: small ASCII letters, digits, dots and dashes only, at most 60 of them.
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        let c = if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        if out.len() < 60 && !(out.ends_with(['-', '.']) && matches!(c, '-' | '.')) {
            out.push(c);
        }
    }
    let out = out.trim_matches(['-', '.']);
    if out.is_empty() { "content".to_owned() } else { out.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_ends_of_a_long_name_are_kept() {
        assert_eq!(shorten("templates/homepage.html", 11), "templ….html");
        assert_eq!(shorten("short", 11), "short");
        assert_eq!(shorten("long", 1), "…");
        // A digit with an emoji selector: two columns, although its code points have one.
        assert_eq!(shorten("0\u{fe0f}0\u{fe0f}0\u{fe0f}0\u{fe0f}", 7), "0\u{fe0f}…0\u{fe0f}");
    }

    #[test]
    fn an_indent_takes_no_more_than_there_is_room_for() {
        assert_eq!(fold("  00a A !", 8), ["00a A !"]);
        assert_eq!(fold("  one two three", 12), ["  one two", "  three"]);
    }

    #[test]
    fn markdown_shows_hostile_names_literally() {
        assert_eq!(markdown("a|b`<img src=x>"), "a\\|b\\`&lt;img src=x&gt;");
    }

    #[test]
    fn a_slug_never_leaves_its_folder() {
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug("Ärger im Büro.html"), "rger-im-b-ro.html");
        assert_eq!(slug("///"), "content");
    }

    proptest! {
        #[test]
        fn wrapped_and_shortened_text_fits(text in "\\PC{0,80}", width in 8usize..60) {
            prop_assert!(columns(&shorten(&text, width)) <= width);
            for line in wrap(&text, width).into_iter().chain(fold(&text, width)) {
                prop_assert!(columns(&line) <= width);
            }
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(bare(&fold(&text, width).concat()), bare(&text), "nothing is lost");
        }
    }
}
