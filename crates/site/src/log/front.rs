//! Whether a proxy or CDN stands in front: requests come from a few addresses, though visitors are many. Addresses are held as hashes until reading ends.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;

use super::content;
use super::counted::Counted;
use super::entry::Entry;

/// Addresses and user agents that are held.
const MOST: usize = 4_096;
/// The most addresses of one proxy in front, and the share of the requests that they send.
const FEW: usize = 4;
const NEARLY_ALL: f64 = 0.9;
/// Fewer requests, and fewer different user agents for each address, tell nothing.
const LEAST: u64 = 100;
const AGENTS: usize = 5;

/// Counts where requests come from.
#[derive(Debug, Default)]
pub struct Front {
    hasher: RandomState,
    /// Requests by address, and whether that is a private one.
    addresses: HashMap<u64, (u64, bool)>,
    agents: HashMap<u64, ()>,
    /// Addresses with no more requests than this were dropped for want of room.
    dropped: u64,
    requests: u64,
    forwarded: u64,
    cloudfront: u64,
}

impl Front {
    pub fn add(&mut self, entry: &Entry<'_>) {
        self.requests += 1;
        self.forwarded += u64::from(entry.forwarded.is_some());
        let agent = entry.agent.as_deref().unwrap_or_default();
        self.cloudfront += u64::from(agent == b"Amazon CloudFront");
        if self.agents.len() < MOST {
            self.agents.insert(self.hasher.hash_one(agent), ());
        }
        let Some(client) = entry.client else { return };
        let hash = self.hasher.hash_one(client);
        if self.addresses.len() >= MOST && !self.addresses.contains_key(&hash) {
            self.dropped += 1;
            self.addresses.retain(|_, held| held.0 > self.dropped);
        }
        self.addresses.entry(hash).or_insert_with(|| (0, is_private(client))).0 += 1;
    }

    /// Writes what is in front.
    pub fn finish(self, counted: &mut Counted) {
        let share = |some: u64| some as f64 / self.requests.max(1) as f64;
        if self.requests < LEAST {
            return;
        }
        if share(self.cloudfront) > 0.5 {
            counted.front = Some("Amazon CloudFront in front (its user agent is logged)".into());
            return;
        }
        let mut all: Vec<(u64, bool)> = self.addresses.into_values().collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        let mut sum = 0;
        let needed = all.iter().take(FEW).position(|one| {
            sum += one.0;
            share(sum) >= NEARLY_ALL
        });
        let is_forwarded = share(self.forwarded) > 0.5;
        let few = needed.map(|at| at + 1).filter(|few| is_forwarded || self.agents.len() >= AGENTS * few);
        let of = |few: usize| {
            let private = if all[..few].iter().all(|one| one.1) { "private " } else { "" };
            let addresses = if few == 1 { "address" } else { "addresses" };
            format!("{:.0}% of the requests come from {few} {private}{addresses}", share(sum) * 100.0)
        };
        let logged = is_forwarded.then(|| "forwarded addresses are logged".to_owned());
        let why: Vec<String> = few.map(of).into_iter().chain(logged).collect();
        counted.front = (!why.is_empty()).then(|| format!("a proxy in front ({})", why.join("; ")));
    }
}

fn is_private(client: &[u8]) -> bool {
    match content::address(client) {
        Some(IpAddr::V4(address)) => address.is_private() || address.is_loopback() || address.is_link_local(),
        Some(IpAddr::V6(address)) => {
            let mapped = address.to_ipv4_mapped();
            mapped.is_some_and(|v4| v4.is_private() || v4.is_loopback())
                || address.is_loopback()
                || address.segments()[0] & 0xfe00 == 0xfc00
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn front(requests: impl Iterator<Item = (String, String, bool)>) -> Option<String> {
        let mut front = Front::default();
        for (client, agent, is_forwarded) in requests {
            front.add(&Entry {
                client: Some(client.as_bytes()),
                agent: Some(Cow::Borrowed(agent.as_bytes())),
                forwarded: is_forwarded.then_some(&b"203.0.113.7"[..]),
                ..Entry::default()
            });
        }
        let mut counted = Counted::default();
        front.finish(&mut counted);
        counted.front
    }

    #[test]
    fn a_few_addresses_with_many_agents_are_a_proxy() {
        let many = |n: u32| format!("Mozilla/5.0 ({n})");
        let proxy = front(
            (0..1_000)
                .map(|n| (format!("10.0.0.{}", if n < 970 { n % 2 } else { n % 250 }), many(n % 90), false)),
        );
        assert_eq!(
            proxy.as_deref(),
            Some("a proxy in front (97% of the requests come from 2 private addresses)")
        );
        assert_eq!(front((0..1_000).map(|n| (format!("192.0.2.{}", n % 250), many(n % 90), false))), None);
        // One developer is not a proxy.
        assert_eq!(front((0..1_000).map(|_| ("192.0.2.1".into(), many(1), false))), None);
        let cdn = front((0..200).map(|n| (format!("192.0.2.{}", n % 250), many(n % 90), true)));
        assert_eq!(cdn.as_deref(), Some("a proxy in front (forwarded addresses are logged)"));
        let cloudfront =
            front((0..200).map(|n| (format!("192.0.2.{}", n % 250), "Amazon CloudFront".into(), false)));
        assert_eq!(cloudfront.as_deref(), Some("Amazon CloudFront in front (its user agent is logged)"));
    }

    #[test]
    fn addresses_are_held_in_bounded_memory() {
        let found = front((0..200_000u32).map(|n| {
            (
                if n % 20 == 0 { format!("2001:db8::{n:x}") } else { "10.0.0.1".into() },
                format!("A/{}", n % 100),
                false,
            )
        }));
        assert!(found.unwrap().contains("1 private address"));
    }
}
