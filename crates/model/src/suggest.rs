//! Suggests the nearest known name for a mistyped one, also in errors of TOML.

/// The name of `known` that was probably meant; none if no name is near enough.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.into_iter().map(|name| (strsim::jaro_winkler(given, name), name));
    scored.filter(|(score, _)| *score > 0.8).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

/// `; did you mean `x`?` if a name of `known` is near enough, otherwise the list of known names.
pub fn nearest_hint<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(given, known.iter().copied()) {
        Some(name) => format!("; did you mean `{name}`?"),
        None if known.is_empty() => "; there is none".into(),
        None => format!("; known: {}", known.join(", ")),
    }
}

/// A TOML error as one line with its place and, for an unknown key, the nearest known one.
pub fn readable(error: &toml::de::Error, text: &str, whence: &str) -> anyhow::Error {
    let line = error.span().map_or(1, |s| 1 + text[..s.start.min(text.len())].matches('\n').count());
    let message = error.message();
    let ticks: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if message.starts_with("unknown field")
        && let Some((given, known)) = ticks.split_first()
    {
        let hint = nearest_hint(given, known.iter().copied());
        return anyhow::anyhow!("{whence}, line {line}: unknown key `{given}`{hint}");
    }
    let first = message.lines().next().unwrap_or("not valid TOML");
    anyhow::anyhow!("{whence}, line {line}: {first}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_find_their_name_and_others_find_nothing() {
        let names = ["zstd", "zlib", "brotli"];
        assert_eq!(nearest("zsdt", names), Some("zstd"));
        assert_eq!(nearest("brotil", names), Some("brotli"));
        assert_eq!(nearest("lzma", names), None);
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn near_names_are_offered_and_far_ones_listed() {
        assert_eq!(nearest_hint("zstdd", ["zlib", "zstd"]), "; did you mean `zstd`?");
        assert_eq!(nearest_hint("qqq", ["zlib", "zstd"]), "; known: zlib, zstd");
        assert_eq!(nearest_hint("qqq", []), "; there is none");
    }
}
