//! The nearest known name to a mistyped one.

/// `; did you mean `x`?` when one of `known` is near enough, else the list of what exists.
pub fn nearest_hint<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let best = known.iter().map(|k| (strsim::jaro_winkler(given, k), *k)).max_by(|a, b| a.0.total_cmp(&b.0));
    match best {
        Some((score, name)) if score > 0.8 => format!("; did you mean `{name}`?"),
        _ if known.is_empty() => "; there is none".into(),
        _ => format!("; known: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_offered_and_far_ones_listed() {
        assert_eq!(nearest_hint("zstdd", ["zlib", "zstd"]), "; did you mean `zstd`?");
        assert_eq!(nearest_hint("qqq", ["zlib", "zstd"]), "; known: zlib, zstd");
        assert_eq!(nearest_hint("qqq", []), "; there is none");
    }
}
