//! The descriptions of codecs are true, and parameters that they do not accept are refused.

mod common;

use std::collections::BTreeSet;

use weigh_codec::{Error, Format, OptionValues, ParamError, Params, codecs};

const SETS: [&str; 4] = ["web", "cache", "fast", "archive"];

#[test]
fn names_are_unique_and_found() {
    let names: Vec<_> = codecs::all().iter().map(|c| c.info().name).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    for name in names {
        assert_eq!(codecs::find(name).unwrap().info().name, name);
    }
    assert!(codecs::find("zstdd").is_none());
}

#[test]
fn infos_are_consistent() {
    for codec in codecs::all() {
        let info = codec.info();
        if let Some(l) = info.levels {
            assert!(l.min <= l.default && l.default <= l.max, "{}", info.name);
            assert!(!l.representative.is_empty() && l.representative.is_sorted(), "{}", info.name);
            assert!(l.representative.iter().all(|v| (l.min..=l.max).contains(v)), "{}", info.name);
        }
        assert!(!info.sets.is_empty() && info.sets.iter().all(|s| SETS.contains(s)), "{}", info.name);
        assert!(!info.nominal.is_empty() && info.nominal.is_sorted_by_key(|n| n.0), "{}", info.name);
        assert!(info.nominal.iter().all(|n| n.1 > 0.0), "{}", info.name);
        assert_eq!(codec.format(&Params::default()), info.format, "{}", info.name);
        assert!(info.options.iter().all(|o| !o.about.is_empty() && !o.about.contains('\n')), "{}", info.name);
    }
    for set in SETS {
        assert!(codecs::all().iter().any(|c| c.info().sets.contains(&set)), "{set} is empty");
    }
}

#[test]
fn libraries_report_a_version() {
    for codec in codecs::all().into_iter().filter(|c| c.info().format != Format::Identity) {
        let library = codec.library();
        let (name, version) = library.split_once(' ').unwrap_or_else(|| panic!("{library}"));
        assert!(!name.is_empty() && version.contains('.'), "{library}");
        assert!(version.bytes().any(|b| b.is_ascii_digit()), "{library}");
    }
}

#[test]
fn levels_out_of_range_are_refused() {
    for codec in codecs::all() {
        let info = codec.info();
        let wrong = match info.levels {
            Some(l) => vec![l.min - 1, l.max + 1, i32::MIN, i32::MAX],
            None => vec![0, 1],
        };
        for level in wrong {
            let error = codec.coder(&Params::level(level)).err().unwrap_or_else(|| panic!("{}", info.name));
            assert!(error.to_string().starts_with(info.name), "{error}");
            let fine = matches!(error, Error::Param(ParamError::Level { .. } | ParamError::NoLevels { .. }));
            assert!(fine, "{error}");
        }
    }
}

#[test]
fn options_that_are_wrong_are_refused() {
    for codec in codecs::all() {
        let info = codec.info();
        let with = |name: &str, value: &str| {
            let mut params = Params::default();
            params.options.insert(name.into(), value.into());
            codec.coder(&params).err().unwrap_or_else(|| panic!("{} takes {name}={value}", info.name))
        };
        assert!(matches!(with("nonsense", "1"), Error::Param(ParamError::UnknownOption { .. })));
        for option in info.options {
            let wrong = match option.values {
                OptionValues::Range(lo, hi) => vec![(lo - 1).to_string(), (hi + 1).to_string(), "x".into()],
                OptionValues::Words(_) => vec![String::new(), "nonsense".into()],
            };
            for value in wrong {
                let error = with(option.name, &value);
                assert!(matches!(error, Error::Param(ParamError::OptionValue { .. })), "{error}");
            }
        }
    }
}

#[test]
fn a_dictionary_and_its_option_go_together() {
    let zstd = codecs::find("zstd").unwrap();
    let mut params = Params::default();
    params.options.insert("dict".into(), "trained".into());
    assert!(matches!(zstd.coder(&params), Err(Error::Param(ParamError::Conflict { .. }))));
    let loose = Params { dictionary: Some(vec![1; 100]), ..Params::default() };
    assert!(matches!(zstd.coder(&loose), Err(Error::Param(ParamError::Conflict { .. }))));
}

#[test]
fn training_is_refused_in_plain_words() {
    for codec in codecs::all() {
        let error = codec.train(&[b"too", b"few"], 1000).unwrap_err();
        assert!(matches!(error, Error::Train { .. }), "{error}");
        assert!(error.to_string().starts_with(codec.info().name), "{error}");
    }
}

#[test]
fn options_change_what_is_written() {
    let text = &common::contents().into_iter().find(|c| c.0 == "text").unwrap().1;
    let output = |codec: &str, level: i32, option: Option<(&str, &str)>| {
        let mut params = Params::level(level);
        params.options.extend(option.map(|(n, v)| (n.to_string(), v.to_string())));
        let mut out = Vec::new();
        codecs::find(codec).unwrap().coder(&params).unwrap().encode(text, &mut out).unwrap();
        out
    };
    for (codec, level, option) in [
        ("zlib", 6, ("memlevel", "1")),
        ("zlib", 6, ("window", "9")),
        ("zlib", 6, ("strategy", "huffman")),
        ("zlib-ng", 6, ("strategy", "huffman")),
        ("zlib-rs", 6, ("window", "9")),
        ("isal", 1, ("container", "raw")),
        ("brotli", 5, ("window", "10")),
        ("zstd", 3, ("window", "10")),
        ("zstd", 3, ("checksum", "1")),
        ("zstd", 3, ("mode", "stream")),
        ("xz", 0, ("check", "none")),
        ("xz", 0, ("extreme", "1")),
    ] {
        assert!(output(codec, level, None) != output(codec, level, Some(option)), "{codec} {option:?}");
    }
    assert!(output("lz4hc", 1, None) != output("lz4hc", 12, None));
    assert!(output("zstd", 0, None) == output("zstd", 3, None));
}
