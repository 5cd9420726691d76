//! Who visits a site over which links, what it costs, and what may not be exceeded, with what is assumed where nothing is said.

use serde::{Deserialize, Serialize};

use super::{Figure, From};

/// Who visits, and over which links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Visitors {
    /// Content codings that clients accept. The shares of requests add up to 1.
    pub accept: Vec<Accept>,
    /// Links of visitors. The shares of requests add up to 1.
    pub links: Vec<LinkShare>,
    /// Whether responses go over TLS.
    pub tls: bool,
    /// Whether the server's kernel spreads what it sends over round trips, as bbr does, or sends each window at once; absent: not known, and taken for
    /// the latter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paced: Option<bool>,
    /// The share of responses that open a connection of their own.
    pub new_connections: Figure,
    /// How many times as long as this machine a visitor's device takes to decode.
    pub slower_devices: Figure,
    /// Page views per month. Requests that are assumed follow from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_views: Option<Figure>,
    /// Requests per second in the busiest hour; absent: not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<Figure>,
    /// Requests per second that PHP answered in the hour in which it was busiest: of all clients, bots too, with every method and status.
    /// Absent: not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub php_peak: Option<Figure>,
    /// Milliseconds that one of these requests took, the mean as logged. Absent: not logged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub php_peak_ms: Option<Figure>,
}

/// The link between PHP and the store of cached values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoreLink {
    /// Its rate in Mbit/s.
    pub mbit: Figure,
    /// Its round trip in milliseconds.
    pub rtt_ms: Figure,
}

impl Default for StoreLink {
    fn default() -> StoreLink {
        StoreLink { mbit: Figure::assumed(1000.0), rtt_ms: Figure::assumed(0.5) }
    }
}

/// Clients that accept the same content codings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accept {
    /// The codings, such as `zstd`, `br`, `gzip`; none: they take content as it is.
    pub codings: Vec<String>,
    /// The share of requests.
    pub share: f64,
    /// Where the share comes from.
    pub from: From,
}

impl Accept {
    /// Clients with a smaller share of the requests are left out of a proof.
    pub const LEAST_SHARE: f64 = 0.05;
}

/// The share of visitors on a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkShare {
    /// A link by its name, or as `100mbit/20ms`.
    pub link: String,
    /// The share of requests.
    pub share: f64,
    /// Where the share comes from.
    pub from: From,
}

/// Prices in one currency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// The currency, such as `EUR`.
    pub currency: String,
    /// One core for one hour.
    pub core_hour: Figure,
    /// The same on other kinds of machine: for runs that were measured there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<MachinePrice>,
    /// One GB (10⁹ bytes) of traffic out.
    pub gb_out: Figure,
    /// One GB of memory for one month.
    pub gb_month: Figure,
    /// One second that a visitor waits; 0: has no price.
    pub visitor_second: Figure,
}

/// The price of a kind of machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachinePrice {
    /// The kind, as its cluster calls it: `c7g.large`.
    pub kind: String,
    /// One core for one hour.
    pub core_hour: f64,
}

/// What may not be exceeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Cores of the site's machine.
    pub cores: Figure,
    /// The share of the cores that encoding and sending may take at peak.
    pub peak_share: Figure,
    /// The longest time to first byte that a setting may add, in milliseconds.
    pub first_byte_ms: Figure,
}

impl Default for Visitors {
    fn default() -> Visitors {
        let accept = |codings: &[&str], share| Accept {
            codings: codings.iter().map(|coding| (*coding).to_owned()).collect(),
            share,
            from: From::Assumed,
        };
        let link = |link: &str, share| LinkShare { link: link.into(), share, from: From::Assumed };
        Visitors {
            accept: vec![
                // caniuse-lite 1.0.30001827: usage of browsers (StatCounter) by what they accept over HTTPS.
                accept(&["zstd", "br", "gzip"], 0.864),
                accept(&["br", "gzip"], 0.134),
                accept(&["gzip"], 0.002),
            ],
            links: vec![link("cable", 0.35), link("fibre", 0.2), link("4g", 0.35), link("3g-fast", 0.1)],
            tls: true,
            paced: None,
            new_connections: Figure::assumed(0.1),
            slower_devices: Figure::assumed(4.0),
            page_views: None,
            peak: None,
            php_peak: None,
            php_peak_ms: None,
        }
    }
}

impl Default for Prices {
    fn default() -> Prices {
        Prices {
            currency: "EUR".into(),
            core_hour: Figure::assumed(0.03),
            machines: Vec::new(),
            gb_out: Figure::assumed(0.05),
            gb_month: Figure::assumed(3.0),
            visitor_second: Figure::assumed(0.0),
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            cores: Figure::assumed(2.0),
            peak_share: Figure::assumed(0.7),
            first_byte_ms: Figure::assumed(200.0),
        }
    }
}
