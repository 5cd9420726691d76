//! Deterministic randomness and the words made from it.

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014): the same numbers on every
/// machine and in every version, which no crate promises for its ranges and shuffles.
pub(crate) struct Random {
    state: u64,
    words: Vec<String>,
}

/// Words known: 2^11 − 1, so that drawing a power of two first and then a word below it gives 1/rank frequencies.
const WORDS: usize = 2047;

const SYLLABLES: [&str; 32] = [
    "ta", "re", "in", "ver", "con", "si", "de", "mo", "al", "er", "pro", "ti", "on", "st", "com", "ra", "en",
    "li", "ma", "per", "tion", "le", "ca", "un", "ment", "ri", "ble", "no", "su", "port", "ist", "ing",
];

impl Random {
    /// The same stream for the same seed.
    pub fn new(seed: u64) -> Random {
        let mut random = Random { state: seed.wrapping_mul(0xA24B_AED4_963E_E407), words: Vec::new() };
        while random.words.len() < WORDS {
            // Frequent words are short.
            let longest = 1 + random.words.len().max(1).ilog2() as usize / 3;
            let count = 1 + random.below(longest as u64 + 1) as usize;
            let word: String = (0..count).map(|_| random.pick(&SYLLABLES)).collect();
            random.words.push(word);
        }
        random
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`. The bias is below 2^-32 for the small ends used here.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// A word, frequent ones more often.
    pub fn word(&mut self) -> String {
        let power = 1_u64 << self.below(11);
        let index = power - 1 + self.below(power);
        self.words[index as usize].clone()
    }

    pub fn words(&mut self, least: u64, most: u64) -> String {
        let count = least + self.below(most - least + 1);
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }

    pub fn sentence(&mut self) -> String {
        let mut text = self.words(5, 18);
        if let Some(first) = text.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        text.push('.');
        text
    }

    /// Bytes without any pattern.
    pub fn noise(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count + 8);
        while bytes.len() < count {
            bytes.extend(self.next().to_le_bytes());
        }
        bytes.truncate(count);
        bytes
    }
}
