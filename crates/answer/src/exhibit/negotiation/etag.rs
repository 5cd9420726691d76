//! ETags as RFC 9110, section 8.8.3, has them.

/// What an ETag is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// In quotes: the same bytes.
    Strong,
    /// In quotes behind `W/`: the same meaning.
    Weak,
    /// It begins with a quote, and does not end with one.
    Unclosed,
    /// Quotes are missing otherwise, or stand within it.
    Broken,
}

/// The form of an ETag.
pub(super) fn form(etag: &str) -> Form {
    let (quoted, form) = match etag.strip_prefix("W/") {
        Some(rest) => (rest, Form::Weak),
        None => (etag, Form::Strong),
    };
    let opaque = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let is_plain = |c: char| c != '"' && !c.is_control() && c != ' ';
    match opaque {
        Some(opaque) if opaque.chars().all(is_plain) => form,
        None if quoted.strip_prefix('"').is_some_and(|rest| rest.chars().all(is_plain)) => Form::Unclosed,
        _ => Form::Broken,
    }
}

/// Both stand for the same meaning: they are the same but for `W/`.
pub(super) fn weakly_same(one: &str, other: &str) -> bool {
    let opaque = |etag: &str| etag.strip_prefix("W/").unwrap_or(etag).to_owned();
    opaque(one) == opaque(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        for (etag, is) in [
            ("\"a-b;c\"", Form::Strong),
            ("\"\"", Form::Strong),
            ("W/\"a\"", Form::Weak),
            ("\"1b-5d;6a", Form::Unclosed),
            ("W/\"a", Form::Unclosed),
            ("\"", Form::Unclosed),
            ("a", Form::Broken),
            ("a\"", Form::Broken),
            ("", Form::Broken),
            ("w/\"a\"", Form::Broken),
            ("\"a\"b\"", Form::Broken),
            ("\"a b\"", Form::Broken),
            ("\"a\", \"b\"", Form::Broken),
        ] {
            assert_eq!(form(etag), is, "{etag}");
        }
    }

    #[test]
    fn weak_and_strong_of_one_mean_the_same() {
        assert!(weakly_same("W/\"a\"", "\"a\"") && weakly_same("W/\"a\"", "W/\"a\""));
        assert!(!weakly_same("W/\"a\"", "\"b\""));
    }
}
