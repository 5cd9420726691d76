//! Who asks: a bot or a visitor, and what a visitor's browser accepts.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Match, MatchKind};

use super::codings::Accepts;
use super::{bots, browsers};

/// User agents whose class is remembered, by their hash alone.
const REMEMBERED: usize = 4096;

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// A program.
    Bot,
    /// A reader with a browser.
    Visitor(ByAgent),
}

/// What a user agent tells about codings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByAgent {
    /// It is in the table of browsers.
    Known(Accepts),
    /// It is not, or it is not logged.
    Unknown,
}

/// Finds the words of bots. The longest word at a place counts, so that a device's name hides the word in it.
static WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(bots::WORDS.iter().chain(bots::OTHERS))
        .expect("the words are few and short")
});

/// Tells user agents apart.
pub struct Agents {
    hasher: RandomState,
    remembered: Vec<Option<(u64, Who)>>,
}

impl Agents {
    /// That remembers none.
    pub fn new() -> Agents {
        Agents { hasher: RandomState::new(), remembered: vec![None; REMEMBERED] }
    }

    /// Whose user agent this is; none is logged where there is none.
    pub fn who(&mut self, agent: Option<&[u8]>) -> Who {
        let Some(agent) = agent else { return Who::Visitor(ByAgent::Unknown) };
        let hash = self.hasher.hash_one(agent);
        let place = hash as usize % REMEMBERED;
        match self.remembered[place] {
            Some((of, who)) if of == hash => who,
            _ => {
                let who = look(agent);
                self.remembered[place] = Some((hash, who));
                who
            }
        }
    }
}

fn look(agent: &[u8]) -> Who {
    // Every browser sends one.
    let is_none = matches!(agent, b"" | b"-");
    let is_bot = |found: Match| found.pattern().as_usize() < bots::WORDS.len();
    if is_none || WORDS.find_iter(agent).any(is_bot) {
        return Who::Bot;
    }
    Who::Visitor(browsers::accepts(agent).map_or(ByAgent::Unknown, ByAgent::Known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bots_are_told_from_visitors() {
        let mut agents = Agents::new();
        let mut is_bot = |agent: &str| agents.who(Some(agent.as_bytes())) == Who::Bot;
        for bot in [
            "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
            "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0) Chrome/116.0 Safari/537.36",
            "curl/8.5.0",
            "Wget/1.21",
            "python-requests/2.31",
            "Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/120.0 Safari/537.36",
            "Apache/2.4 (internal dummy connection)",
            "-",
            "",
        ] {
            assert!(is_bot(bot) && is_bot(bot), "{bot}");
        }
        assert!(!is_bot(
            "Mozilla/5.0 (Linux; Android 10; CUBOT X30) AppleWebKit/537.36 Chrome/120.0 Mobile Safari/537.36"
        ));
        assert!(is_bot("Mozilla/5.0 (Linux; Android 10; CUBOT X30) SomeBot/1"));
        assert_eq!(agents.who(None), Who::Visitor(ByAgent::Unknown));
        assert_eq!(agents.who(Some(b"Nobody/1")), Who::Visitor(ByAgent::Unknown));
    }

    #[test]
    fn every_word_is_in_lower_case_and_once() {
        let mut words: Vec<&str> = bots::WORDS.to_vec();
        assert!(words.iter().all(|word| *word == word.to_lowercase()));
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), bots::WORDS.len());
    }
}
