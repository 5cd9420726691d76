//! How long visitors wait for a response, over the site's mix of links.

use weigh_model::link::{LinkSpec, TCP_PAYLOAD};
use weigh_model::site::{Kind, Site};
use weigh_model::transfer::{Connection, Path};

/// Cookies and header lines differ between responses: sizes that are tried within half a packet around the one that was
/// measured. So none of them decides by its last packet alone.
const HEADS: u32 = 16;

/// A link and the share of responses that go over it.
pub type Weighted = (LinkSpec, f64);

/// The visitors of a site, as far as they decide how long a response takes.
#[derive(Clone, Debug)]
pub(crate) struct Readers {
    paths: Vec<(Path, f64)>,
    new: f64,
    tls: bool,
    paced: bool,
    /// How many times as long as here decoding takes.
    pub slower: f64,
}

/// Nanoseconds that a response with this many bytes takes over a link, with a connection of its own and without TLS, from a server that paces or not.
pub(crate) fn alone(link: &LinkSpec, bytes: f64, paced: bool) -> f64 {
    call_ns(&path(link), bytes, Connection::New, (false, paced))
}

fn call_ns(path: &Path, bytes: f64, connection: Connection, (tls, paced): (bool, bool)) -> f64 {
    let spread = if paced { path.pacing_ns(bytes, connection) } else { 0.0 };
    path.call_ns(bytes, connection, tls) + spread
}

fn path(link: &LinkSpec) -> Path {
    Path::shared(link.down_kbps.map_or(f64::INFINITY, |kbps| kbps / 1e3), link.rtt_ms, 1.0)
}

/// The mean over responses with other heads.
fn heads(bytes: f64, time: impl Fn(f64) -> f64) -> f64 {
    let reach = bytes.min(TCP_PAYLOAD as f64 / 2.0);
    let size = |at| bytes + reach * (f64::from(2 * at + 1) / f64::from(HEADS) - 1.0);
    (0..HEADS).map(|at| time(size(at))).sum::<f64>() / f64::from(HEADS)
}

impl Readers {
    /// Those of a site, over these links.
    pub fn new(site: &Site, links: &[Weighted]) -> Readers {
        Readers {
            paths: links.iter().map(|(link, share)| (path(link), *share)).collect(),
            new: site.visitors.new_connections.value,
            tls: site.visitors.tls,
            paced: site.visitors.paced == Some(true),
            slower: site.visitors.slower_devices.value,
        }
    }

    /// Seconds that a response with about this many bytes takes on the way, on average over heads. A page comes over a connection that
    /// was idle, or over a new one; what it loads comes over one that is busy. A kernel that paces keeps its window in silence.
    pub fn seconds(&self, bytes: f64, kind: Kind) -> f64 {
        let kept = if kind == Kind::Page && !self.paced { Connection::Idle } else { Connection::Warm };
        let call = |path: &Path| {
            let call =
                |connection| heads(bytes, |bytes| call_ns(path, bytes, connection, (self.tls, self.paced)));
            let (new, kept) = (call(Connection::New), call(kept));
            self.new * new + (1.0 - self.new) * kept
        };
        self.paths.iter().map(|(path, share)| share * call(path)).sum::<f64>() / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link of 100 ms, on which a second window takes a round trip: ten packets hold 14,480 bytes.
    #[test]
    fn no_packet_alone_makes_visitors_wait() {
        let paths = vec![(Path::shared(100.0, 100.0, 1.0), 1.0)];
        let readers = Readers { paths, new: 1.0, tls: false, paced: false, slower: 1.0 };
        let seconds = |bytes| readers.seconds(bytes, Kind::Page);
        let exact = |bytes: f64| call_ns(&readers.paths[0].0, bytes, Connection::New, (false, false)) / 1e9;
        let of = |seconds: &dyn Fn(f64) -> f64| seconds(14_636.0) - seconds(14_066.0);
        assert!(of(&exact) > 0.09, "one packet is a round trip");
        assert!((0.02..0.05).contains(&of(&seconds)), "{}: 570 bytes are a part of a packet", of(&seconds));
        // Whatever the size, a hundred bytes less never save a third of a round trip.
        let steps = (0..400).map(|at| 100.0 * f64::from(at));
        steps.for_each(|bytes| {
            assert!((0.0..0.033).contains(&(seconds(bytes + 100.0) - seconds(bytes))), "{bytes}")
        });
        // Far from edges nothing changes.
        for bytes in [0.0, 5_000.0, 30_000.0] {
            assert!((seconds(bytes) / exact(bytes) - 1.0).abs() < 1e-3, "{bytes}");
        }
    }
}
