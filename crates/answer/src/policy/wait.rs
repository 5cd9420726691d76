//! How long visitors wait for a response, over the site's mix of links.

use weigh_model::link::LinkSpec;
use weigh_model::site::{Kind, Site};
use weigh_model::transfer::{Connection, Path};

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

    /// Seconds that a response with this many bytes takes on the way, in the mean. A page comes over a connection that
    /// was idle, or over a new one; what it loads comes over one that is busy.
    pub fn seconds(&self, bytes: f64, kind: Kind) -> f64 {
        let kept = if kind == Kind::Page { Connection::Idle } else { Connection::Warm };
        let call = |path: &Path| {
            let call = |connection| call_ns(path, bytes, connection, (self.tls, self.paced));
            let (new, kept) = (call(Connection::New), call(kept));
            self.new * new + (1.0 - self.new) * kept
        };
        self.paths.iter().map(|(path, share)| share * call(path)).sum::<f64>() / 1e9
    }
}
