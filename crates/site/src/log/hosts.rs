//! Which hosts the lines of a log are for, and which of them are the site's.

use std::collections::HashMap;

use regex::bytes::{Regex, RegexBuilder};

use super::content;
use super::counted::Counted;
use weigh_model::text::clean;

/// Hosts that are held; those of others are counted together.
const MOST: usize = 256;

/// Names of a site, as servers' configurations write them.
#[derive(Clone, Debug, Default)]
pub struct Names {
    exact: Vec<String>,
    begins: Vec<String>,
    ends: Vec<String>,
    expressions: Vec<Regex>,
}

impl Names {
    /// Of texts such as `shop.example`, `*.shop.example`, `.shop.example`, `shop.*`, `~^shop`; what names no host is left out.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Names {
        let mut all = Names::default();
        for name in names {
            if let Some(expression) = name.strip_prefix('~') {
                all.expressions.extend(RegexBuilder::new(expression).case_insensitive(true).build());
                continue;
            }
            // As browsers send it: letters of other alphabets in Punycode.
            let ascii = match url::Host::parse(name) {
                Ok(url::Host::Domain(ascii)) if !name.is_ascii() => ascii,
                _ => name.to_owned(),
            };
            let name = ascii.to_ascii_lowercase();
            let name = name.rsplit("://").next().unwrap_or_default();
            let name = name
                .rsplit_once(':')
                .filter(|(_, port)| port.parse::<u16>().is_ok())
                .map_or(name, |(host, _)| host);
            if let Some(begin) = name.strip_suffix('*').filter(|begin| begin.len() > 1) {
                all.begins.push(begin.to_owned());
            } else if let Some(end) = name.strip_prefix('*').or(name.starts_with('.').then_some(name)) {
                all.ends.extend(end.starts_with('.').then(|| end.to_owned()));
                all.exact.extend((name.starts_with('.')).then(|| end[1..].to_owned()));
            } else if content::host(name.as_bytes()).is_some() && name != "localhost" {
                all.exact.push(name.to_owned());
            }
        }
        all
    }

    /// Whether no host is named.
    pub fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.begins.is_empty() && self.ends.is_empty() && self.expressions.is_empty()
    }

    fn has(&self, host: &str) -> bool {
        self.exact.iter().any(|name| name == host)
            || self.begins.iter().any(|begin| host.starts_with(begin))
            || self.ends.iter().any(|end| host.len() > end.len() && host.ends_with(end))
            || self.expressions.iter().any(|expression| expression.is_match(host.as_bytes()))
    }
}

/// Counts lines by host, and tells which are the site's.
#[derive(Debug, Default)]
pub struct Hosts {
    names: Names,
    held: HashMap<Box<str>, (u64, bool)>,
    /// Lines of hosts that are not held.
    others: u64,
    /// The last one, which is mostly the next.
    last: (Vec<u8>, bool),
}

impl Hosts {
    /// That takes hosts with these names; all, where there are none.
    pub fn new(names: Names) -> Hosts {
        let all = names.is_empty();
        Hosts { names, last: (Vec::new(), all), ..Hosts::default() }
    }

    /// Counts a line; tells whether it is the site's. A line that names no host is, unless it should.
    pub fn is_own(&mut self, host: Option<&[u8]>) -> bool {
        let Some(logged) = host else { return true };
        let name = content::host(logged).map_or(&b""[..], |(name, _)| name);
        if self.last.0 != name {
            let text = clean(&String::from_utf8_lossy(name)).to_ascii_lowercase();
            self.last = (name.to_vec(), self.names.is_empty() || self.names.has(&text));
        }
        let own = self.last.1;
        let is_full = self.held.len() >= MOST;
        let text = std::str::from_utf8(name).unwrap_or_default();
        match self.held.get_mut(text) {
            Some(held) => held.0 += 1,
            None if is_full => self.others += 1,
            None => drop(self.held.insert(text.into(), (1, own))),
        }
        own
    }

    /// Writes the hosts that were found, the most requested first, and how many lines are of others.
    pub fn finish(self, counted: &mut Counted) {
        let mut all: Vec<(String, u64, bool)> = self
            .held
            .into_iter()
            .map(|(host, (lines, own))| (host.to_ascii_lowercase(), lines, own))
            .filter(|(host, ..)| !host.is_empty())
            .collect();
        all.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let list = |is_own: bool| {
            all.iter().filter(|one| one.2 == is_own).map(|one| (one.0.clone(), one.1)).collect()
        };
        (counted.hosts, counted.other_hosts) = (list(true), list(false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_configurations_are_matched() {
        let names = Names::new([
            "Shop.example",
            "*.shop.example",
            ".blog.example",
            "mail.*",
            r"~^v\d+\.example$",
            "_",
            "https://a.example:443",
            "bücher.example",
            "",
        ]);
        for host in [
            "shop.example",
            "www.shop.example",
            "blog.example",
            "x.blog.example",
            "mail.example",
            "v12.example",
            "a.example",
            "xn--bcher-kva.example",
        ] {
            assert!(names.has(host), "{host}");
        }
        for host in ["xshop.example", "shop.example.org", "v.example", "a.example.org", ""] {
            assert!(!names.has(host), "{host}");
        }
        assert!(Names::new(["_", "", "localhost", "default", "10.0.0.1", "~("]).is_empty());
    }

    #[test]
    fn lines_of_other_hosts_are_counted_by_host_in_bounded_memory() {
        let mut hosts = Hosts::new(Names::new(["shop.example"]));
        assert!(hosts.is_own(Some(b"SHOP.example:443")) && hosts.is_own(None));
        assert!(
            !hosts.is_own(Some(b"blog.example"))
                && !hosts.is_own(Some(b"-"))
                && !hosts.is_own(Some(b"10.0.0.1"))
        );
        for n in 0..1_000 {
            assert!(!hosts.is_own(Some(format!("h{n}.example").as_bytes())));
        }
        assert!(hosts.held.len() <= MOST);
        assert!(Hosts::new(Names::default()).is_own(Some(b"10.0.0.1")));
        let mut counted = Counted::default();
        hosts.finish(&mut counted);
        assert_eq!(counted.hosts, [("shop.example".to_owned(), 1)]);
        assert_eq!(counted.other_hosts[0], ("blog.example".to_owned(), 1));
    }
}
