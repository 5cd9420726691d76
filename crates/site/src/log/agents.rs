//! Who asks: a bot or a visitor, and what a visitor's browser accepts.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Match, MatchKind};
use regex::bytes::{Regex, RegexBuilder};

use super::browsers;
use super::codings::Accepts;

/// Regular expressions for the names of programs, one per line, as `scripts/bots` writes them.
const BOTS: &str = include_str!("bots.txt");

/// With `|` between: what names of programs have in common, and names that [`BOTS`] lacks: HTTP libraries, tools, monitors, scanners. In lower case; upper case is as
/// good.
const WORDS: &str = "bot|crawl|spider|slurp|scan|monitor|uptime|fetch|preview|validator|headless|archiv|feed|+http|curl/|wget|python|libwww\
    |java/|http-client|httpclient|scrapy|undici|axios|ruby|php/|perl|guzzle|okhttp|reqwest|dart:io|postman|insomnia|httpie\
    |apachebench|wrk/|k6/|hey/|h2load|siege|jmeter|masscan|nmap|sqlmap|nuclei|wpscan|pagespeed|internal dummy connection\
    |wordpress/|chatgpt-user|claude-user|check_http|kube-probe|healthcheck|haproxy";

/// Names of devices in which one of [`WORDS`] stands.
const DEVICES: &[&str] = &["cubot"];

/// User agents whose class is remembered, by their hash alone.
const REMEMBERED: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentKind {
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

/// Finds the names of [`BOTS`].
static NAMES: LazyLock<Regex> = LazyLock::new(|| {
    let names: Vec<String> =
        BOTS.lines().filter(|line| !line.starts_with('#')).map(|name| format!("(?:{name})")).collect();
    let built = RegexBuilder::new(&names.join("|")).unicode(false).size_limit(64 << 20).build();
    built.expect("a test reads every expression")
});

/// Finds the words of bots. The longest word at a place counts, so that a device's name hides the word in it.
static FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(list_bot_words().chain(DEVICES.iter().copied()))
        .expect("the words are few and short")
});

fn list_bot_words() -> impl Iterator<Item = &'static str> {
    WORDS.split('|')
}

pub struct Agents {
    hasher: RandomState,
    remembered: Vec<Option<(u64, AgentKind)>>,
}

impl Agents {
    pub fn new() -> Agents {
        Agents { hasher: RandomState::new(), remembered: vec![None; REMEMBERED] }
    }

    /// Whose user agent this is; none is logged where there is none.
    pub fn who(&mut self, agent: Option<&[u8]>) -> AgentKind {
        let Some(agent) = agent else { return AgentKind::Visitor(ByAgent::Unknown) };
        let hash = self.hasher.hash_one(agent);
        let place = hash as usize % REMEMBERED;
        match self.remembered[place] {
            Some((of, who)) if of == hash => who,
            _ => {
                let who = identify_agent(agent);
                self.remembered[place] = Some((hash, who));
                who
            }
        }
    }
}

fn identify_agent(agent: &[u8]) -> AgentKind {
    // Every browser sends one.
    let is_none = matches!(agent, b"" | b"-");
    let is_bot = |found: Match| found.pattern().as_usize() < list_bot_words().count();
    if is_none || FINDER.find_iter(agent).any(is_bot) || NAMES.is_match(agent) {
        return AgentKind::Bot;
    }
    AgentKind::Visitor(browsers::accepts(agent).map_or(ByAgent::Unknown, ByAgent::Known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bots_are_told_from_visitors() {
        let mut agents = Agents::new();
        let mut is_bot = |agent: &str| agents.who(Some(agent.as_bytes())) == AgentKind::Bot;
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
        assert_eq!(agents.who(None), AgentKind::Visitor(ByAgent::Unknown));
        assert_eq!(agents.who(Some(b"Nobody/1")), AgentKind::Visitor(ByAgent::Unknown));
    }

    fn package(file: &str) -> Option<serde_json::Value> {
        let path = format!("{}/../../web/node_modules/{file}", env!("CARGO_MANIFEST_DIR"));
        let read = std::fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        if read.is_none() {
            let why = format!("cannot be tested here: there is no {path}; type make web");
            assert!(std::env::var_os("WEIGH_STRICT").is_none(), "{why}");
            println!("{why}");
        }
        read
    }

    #[test]
    fn programs_that_are_known_are_found() {
        let Some(all) = package("crawler-user-agents/crawler-user-agents.json") else { return };
        let examples: Vec<&str> = all
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|one| one["instances"].as_array().unwrap())
            .map(|one| one.as_str().unwrap())
            .collect();
        let missed: Vec<&&str> =
            examples.iter().filter(|agent| identify_agent(agent.as_bytes()) != AgentKind::Bot).collect();
        println!("{} of {} examples missed", missed.len(), examples.len());
        assert!(examples.len() > 2_000 && missed.len() * 100 <= examples.len(), "{missed:?}");
    }

    #[test]
    fn browsers_are_no_programs() {
        let Some(all) = package("user-agents/dist/user-agents.json") else { return };
        let agents: Vec<&str> = all
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["userAgent"].as_str().unwrap())
            .take(10_000)
            .collect();
        let wrong: Vec<&&str> =
            agents.iter().filter(|agent| identify_agent(agent.as_bytes()) == AgentKind::Bot).collect();
        println!("{} of {} agents of browsers taken for programs", wrong.len(), agents.len());
        assert!(agents.len() > 5_000 && wrong.len() * 1_000 <= agents.len(), "{wrong:?}");
    }

    #[test]
    fn every_word_is_in_lower_case_and_once() {
        let mut all: Vec<&str> = list_bot_words().collect();
        assert!(all.iter().all(|word| *word == word.to_lowercase()));
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), list_bot_words().count());
    }
}
