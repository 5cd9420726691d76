//! What loads of pages are predicted to take: by page, link and protocol, from the graphs of pages.

use schemars::JsonSchema;
use serde::Serialize;

use weigh_model::link::LinkSpec;
use weigh_model::page::{LoadSetup, PageGraph, PageLoad, Protocol, Visit, simulate};

/// A load of a page, as the model has it. Times are milliseconds since the navigation began.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PredictedLoad {
    /// The page's path.
    pub page: String,
    /// The link by its name.
    pub link: String,
    pub protocol: Protocol,
    /// A first visit, or a repeated one.
    pub visit: Visit,
    /// What it comes to.
    #[serde(flatten)]
    pub load: PageLoad,
}

/// The loads of these pages over these links, by HTTP/1.1 and HTTP/2, for first and repeated visits. `tls`: whether the site's responses go over TLS;
/// HTTP/2 always does. `paced`: whether its kernel paces.
pub fn predict<'g>(
    pages: impl Iterator<Item = (&'g str, &'g PageGraph)>,
    links: &[LinkSpec],
    (tls, paced): (bool, bool),
) -> Vec<PredictedLoad> {
    let mut loads = Vec::new();
    for (page, graph) in pages {
        for link in links {
            for protocol in [Protocol::Http1, Protocol::Http2] {
                for visit in [Visit::First, Visit::Repeat] {
                    let tls = tls || protocol == Protocol::Http2;
                    let load = simulate(graph, &LoadSetup { link, protocol, tls, paced, visit });
                    let (page, link) = (page.to_owned(), link.name.clone());
                    loads.push(PredictedLoad { page, link, protocol, visit, load });
                }
            }
        }
    }
    loads
}
