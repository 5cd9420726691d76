//! Settings and contents that the tests of this crate share.
#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;

use weigh_codec::{Codec, OptionValues, Params};

/// Contents that stress a codec in different ways, with a name for messages.
pub fn contents() -> Vec<(&'static str, Vec<u8>)> {
    let words = ["alpha", "beta", "gamma", "delta", "<p class=\"x\">", "</p>\n", "0123", "\u{e9}t\u{e9}"];
    let mut noise = Noise(7);
    let text: String = (0..20_000).map(|_| words[noise.next() as usize % words.len()]).collect();
    vec![
        ("empty", Vec::new()),
        ("one byte", vec![0x80]),
        ("short", b"Weighbridge".to_vec()),
        ("incompressible", (0..70_001).map(|_| noise.next() as u8).collect()),
        ("repetitive", b"ab".repeat(150_000)),
        ("zeros", vec![0; 65_536]),
        ("text", text.into_bytes()),
    ]
}

/// A small generator of bytes, the same on every machine (xorshift64).
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// The bare codec, each representative level with its extremes, and each option's values one at a time.
pub fn settings(codec: &dyn Codec) -> Vec<Params> {
    let info = codec.info();
    let mut all = vec![Params::default()];
    if let Some(levels) = info.levels {
        all.extend(levels.representative.iter().map(|l| Params::level(*l)));
        all.extend([levels.min, levels.max, levels.default].map(Params::level));
    }
    // Options at the lowest representative level, which is quick for every codec.
    let level = info.levels.map(|l| l.representative[0]);
    for option in info.options {
        let values = match option.values {
            OptionValues::Range(lo, hi) => vec![lo.to_string(), hi.to_string()],
            OptionValues::Words(words) => words.iter().map(ToString::to_string).collect(),
        };
        for value in values.into_iter().filter(|v| v != "trained") {
            let options = BTreeMap::from([(option.name.to_string(), value)]);
            all.push(Params { level, options, dictionary: None });
        }
    }
    all
}

/// Small values of one kind, for dictionaries.
pub fn values(count: usize) -> Vec<Vec<u8>> {
    let mut noise = Noise(3);
    let mut word = || ["red", "green", "blue", "north", "south"][noise.next() as usize % 5];
    let value = |i| {
        format!(
            "{{\"id\":{i},\"name\":\"{} {}\",\"created_at\":\"2024-01-{:02}\",\"tags\":[\"{}\",\"{}\"],\"active\":true}}",
            word(),
            word(),
            i % 28 + 1,
            word(),
            word()
        )
        .into_bytes()
    };
    (0..count).map(value).collect()
}
