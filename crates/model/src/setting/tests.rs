//! Requests for settings, and their expansion.

use super::*;
use crate::protocol::Levels;

fn zstd() -> CodecDescription {
    CodecDescription {
        name: "zstd".into(),
        format: "zstd".into(),
        binding: "native".into(),
        levels: Some(Levels { min: -7, max: 22, default: 3, representative: vec![1, 3, 19] }),
        options: vec![OptionDescription {
            name: "window".into(),
            range: Some((10, 27)),
            words: vec![],
            about: String::new(),
        }],
        sets: vec![],
        nominal: vec![],
        ..CodecDescription::default()
    }
}

fn expand(text: &str) -> Result<Vec<String>, String> {
    Request::parse(text)
        .and_then(|r| r.expand(&zstd(), &LevelRequest::Representative))
        .map(|s| s.iter().map(ToString::to_string).collect())
        .map_err(|e| e.to_string())
}

#[test]
fn levels_come_as_one_range_step_or_list() {
    assert_eq!(expand("zstd").unwrap(), ["zstd:1", "zstd:3", "zstd:19"]);
    assert_eq!(expand("zstd:default").unwrap(), ["zstd:3"]);
    assert_eq!(expand("zstd:-2..1").unwrap(), ["zstd:-2", "zstd:-1", "zstd:0", "zstd:1"]);
    assert_eq!(expand("zstd:1..9/4|22").unwrap(), ["zstd:1", "zstd:5", "zstd:9", "zstd:22"]);
    assert_eq!(expand("zstd:all").unwrap().len(), 30);
}

#[test]
fn options_multiply() {
    assert_eq!(expand("zstd:3,window=20|22").unwrap(), ["zstd:3,window=20", "zstd:3,window=22"]);
}

#[test]
fn refusals_say_what_is_accepted() {
    assert_eq!(expand("zstd:23").unwrap_err(), "zstd has levels -7 to 22, not 23");
    assert_eq!(expand("zstd:3,windo=20").unwrap_err(), "zstd has no option `windo`; did you mean `window`?");
    assert_eq!(expand("zstd:3,window=9").unwrap_err(), "zstd: window=9 is not accepted; use 10 to 27");
    assert!(expand("zstd:x").unwrap_err().contains("`x` is not a level"));
    assert!(expand("zstd:9..1").unwrap_err().contains("is not a level"));
    assert!(expand(":3").unwrap_err().contains("does not name a codec"));
    assert!(expand("zstd:3,window").unwrap_err().contains("is not an option"));
}

#[test]
fn members_of_a_set_keep_what_they_have() {
    let request = Request::parse("set:web:1..30,memlevel=9").unwrap();
    assert_eq!(request.set(), Some("web"));
    let settings = request.expand(&zstd(), &LevelRequest::Representative).unwrap();
    assert_eq!(settings.len(), 22);
    assert!(settings.iter().all(|s| s.options.is_empty()));
}
