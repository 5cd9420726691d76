//! What encoded a response, told by its bytes: of the libraries that servers use, the levels that make as many bytes of the same content.

use weigh_codec::{Params, codecs};

/// The longest content that is encoded again at every level, in bytes.
const LONGEST: usize = 2 << 20;
/// The bytes of gzip's header and trailer, where the header has no further fields.
const GZIP_FRAME: usize = 18;
/// The size of a window that zlib cannot use for matches.
const UNUSED_WINDOW: usize = 262;

/// A library's settings: its codec here, its levels, and options with their values that servers use it with.
struct Library {
    coding: &'static str,
    codec: &'static str,
    levels: std::ops::RangeInclusive<i32>,
    options: &'static [&'static [(&'static str, &'static str)]],
}

/// nginx has brotli's window at 19, Apache at 18, others at 22.
const LIBRARIES: [Library; 3] = [
    Library {
        coding: "gzip",
        codec: "zlib",
        levels: 1..=9,
        options: &[&[("memlevel", "8")], &[("memlevel", "9")]],
    },
    Library {
        coding: "br",
        codec: "brotli",
        levels: 0..=11,
        options: &[&[("window", "19")], &[("window", "18")], &[("window", "22")]],
    },
    Library { coding: "zstd", codec: "zstd", levels: 1..=19, options: &[&[]] },
];

/// The levels at which the content has the length that was sent in this content coding; none: no level is known that makes it so. If some of
/// the `likely` ones do, it is those: trying all takes a second for a large script.
pub fn levels(coding: &str, content: &[u8], sent: &[u8], likely: &[i32]) -> Vec<i32> {
    let Some(library) = LIBRARIES.iter().find(|library| library.coding == coding) else { return Vec::new() };
    if content.len() > LONGEST {
        return Vec::new();
    }
    let wanted =
        if coding == "gzip" { sent.len() - gzip_header(sent).min(sent.len()) + 10 } else { sent.len() };
    let own = |options: &[(&str, &str)]| {
        options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let mut all: Vec<Vec<(String, String)>> = library.options.iter().map(|options| own(options)).collect();
    if coding == "gzip" {
        all.push(of_nginx(content.len()));
    }
    let makes =
        |level: &i32| all.iter().any(|options| length(library, *level, options, content) == Some(wanted));
    let of = |levels: &mut dyn Iterator<Item = i32>| levels.filter(makes).collect::<Vec<i32>>();
    let found = of(&mut likely.iter().copied());
    if found.is_empty() {
        of(&mut library.levels.clone().filter(|level| !likely.contains(level)))
    } else {
        found
    }
}

/// The length of a content in a library's encoding.
fn length(library: &Library, level: i32, options: &[(String, String)], content: &[u8]) -> Option<usize> {
    let mut params = Params::level(level);
    params.options.extend(options.iter().cloned());
    let mut out = Vec::new();
    codecs::find(library.codec)?.coder(&params).ok()?.encode(content, &mut out).ok()?;
    Some(out.len())
}

/// The bytes before the deflate stream: servers may add the file's name.
fn gzip_header(sent: &[u8]) -> usize {
    let named = sent.get(3).is_some_and(|flags| flags & 8 != 0) && sent.len() > GZIP_FRAME;
    let name = if named { sent[10..].iter().position(|byte| *byte == 0) } else { None };
    10 + name.map_or(0, |name| name + 1)
}

/// nginx gives short content a smaller window and less memory: `ngx_http_gzip_filter_module`.
fn of_nginx(length: usize) -> Vec<(String, String)> {
    let (mut window, mut memory) = (15u32, 8);
    while window > 9 && length < (1usize << (window - 1)) - UNUSED_WINDOW {
        window -= 1;
        memory -= 1;
    }
    vec![("window".into(), window.to_string()), ("memlevel".into(), memory.max(1).to_string())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> Vec<u8> {
        (0..4000u32)
            .flat_map(|n| {
                format!(".a{n}{{color:#{:06x}}}\n", n.wrapping_mul(2_654_435_761) >> 8).into_bytes()
            })
            .collect()
    }

    fn encoded(codec: &str, level: i32, options: &[(&str, &str)]) -> Vec<u8> {
        let mut params = Params::level(level);
        params.options.extend(options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let mut out = Vec::new();
        codecs::find(codec).unwrap().coder(&params).unwrap().encode(&text(), &mut out).unwrap();
        out
    }

    #[test]
    fn a_level_is_told_by_the_length() {
        for level in [1, 4, 6, 9] {
            assert!(
                levels("gzip", &text(), &encoded("zlib", level, &[("memlevel", "9")]), &[]).contains(&level)
            );
        }
        assert_eq!(levels("br", &text(), &encoded("brotli", 5, &[("window", "18")]), &[]), [5]);
        assert_eq!(levels("zstd", &text(), &encoded("zstd", 3, &[]), &[]), [3]);
        assert_eq!(levels("zstd", &text(), &encoded("zstd", 3, &[]), &[1, 3]), [3], "a likely one");
        assert_eq!(levels("zstd", &text(), &encoded("zstd", 3, &[]), &[1]), [3], "none of the likely ones");
    }

    #[test]
    fn what_no_level_makes_has_none() {
        let mut other = encoded("zlib", 6, &[]);
        other.extend([0; 7]);
        assert_eq!(levels("gzip", &text(), &other, &[]), [0; 0]);
        assert_eq!(levels("gzip", &text(), b"\x1f\x8b", &[]), [0; 0]);
        assert_eq!(levels("compress", &text(), &other, &[]), [0; 0]);
    }

    #[test]
    fn a_name_in_the_header_does_not_count() {
        let plain = encoded("zlib", 6, &[]);
        let named = [&plain[..3], &[8], &plain[4..10], b"a.css\0", &plain[10..]].concat();
        assert_eq!(levels("gzip", &text(), &named, &[]), levels("gzip", &text(), &plain, &[]));
    }
}
