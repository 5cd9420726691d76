//! Who visits the sample site: browsers by their shares, and bots.

use crate::synthetic::text::Random;

/// Browsers and their shares of page views in percent, all devices, worldwide: StatCounter Global Stats of February 2025, rounded, as
/// the article "Web browser" of Wikipedia cites them. The rest are older browsers.
const BROWSERS: [(u64, &str); 12] = [
    (
        34,
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
    ),
    (
        27,
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    ),
    (
        5,
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
    ),
    (
        13,
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1",
    ),
    (
        5,
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15",
    ),
    (
        5,
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0",
    ),
    (2, "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0"),
    (1, "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"),
    (
        2,
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 OPR/125.0.0.0",
    ),
    (
        2,
        "Mozilla/5.0 (Linux; Android 15; SAMSUNG SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36",
    ),
    (
        2,
        "Mozilla/5.0 (iPhone; CPU iPhone OS 14_8 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/14.1.2 Mobile/15E148 Safari/604.1",
    ),
    (2, "Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko"),
];

/// Programs that look at sites.
const BOTS: [(u64, Bot); 8] = [
    (
        6,
        crawler(
            "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        ),
    ),
    (5, crawler("Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)")),
    (4, crawler("Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)")),
    (
        4,
        crawler(
            "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
        ),
    ),
    (3, Bot { name: "python-requests/2.32.3", does: BotPurpose::Scan, gzip: true }),
    (3, Bot { name: "Go-http-client/1.1", does: BotPurpose::Scan, gzip: true }),
    (1, Bot { name: "curl/8.5.0", does: BotPurpose::Scan, gzip: false }),
    (4, Bot { name: "Uptime-Kuma/1.23.16", does: BotPurpose::Watch, gzip: true }),
];

/// A program that looks at sites.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bot {
    pub name: &'static str,
    pub does: BotPurpose,
    pub gzip: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BotPurpose {
    Crawl,
    /// Looks for weak spots of other sites.
    Scan,
    /// Looks whether the site is up.
    Watch,
}

const fn crawler(name: &'static str) -> Bot {
    Bot { name, does: BotPurpose::Crawl, gzip: true }
}

/// A browser, by its share.
pub(super) fn browser(random: &mut Random) -> &'static str {
    BROWSERS[weighted(random, &BROWSERS.map(|one| one.0))].1
}

pub(super) fn bot(random: &mut Random) -> Bot {
    BOTS[weighted(random, &BOTS.map(|one| one.0))].1
}

/// The place of one, by their weights.
pub(super) fn weighted(random: &mut Random, weights: &[u64]) -> usize {
    let mut left = random.below(weights.iter().sum::<u64>().max(1));
    for (at, weight) in weights.iter().enumerate() {
        match left.checked_sub(*weight) {
            Some(less) => left = less,
            None => return at,
        }
    }
    weights.len().saturating_sub(1)
}
