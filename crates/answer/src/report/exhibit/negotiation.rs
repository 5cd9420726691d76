//! How servers negotiate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_model::cell::Transport;
use weigh_model::record::negotiation::{Answer, NegotiationRequest};

use crate::report::exhibit::quirk::Quirk;

/// One per server and method, in the plan's order.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Negotiations(pub Vec<NegotiationResult>);

/// The negotiation of one server with one method, judged by RFC 9110: from one cell, for all that negotiate alike.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NegotiationResult {
    /// The id of the cell that the matrix was sent to.
    pub cell: String,
    /// The server's name.
    pub server: String,
    /// The runtime's name; `-` without PHP.
    pub runtime: String,
    /// The transport of responses.
    pub transport: Transport,
    /// The method without level and encoder, which do not change negotiation: `server/type-map`.
    pub way: String,
    /// The variants that were seen, the one without a coding first.
    pub variants: Vec<Variant>,
    /// Every request with its response and remarks.
    pub exchanges: Vec<Judged>,
    /// All remarks, once each, broken rules first.
    pub remarks: Vec<Remark>,
    /// Why the rest of the matrix was not sent; null: all requests were sent.
    pub ended: Option<String>,
}

/// One variant of the content.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Variant {
    /// Its content coding, `identity` without one.
    pub coding: String,
    /// Bytes of its body.
    pub bytes: u64,
    /// Its ETag.
    pub etag: Option<String>,
    /// Whether Vary names Accept-Encoding (or is `*`) in every response with it.
    pub varies: bool,
}

/// One request with the remarks on its response.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// The request.
    pub ask: NegotiationRequest,
    /// The response.
    pub answer: Answer,
    /// Null: no remark.
    pub quirk: Option<Quirk>,
}

/// One remark, with the places where it was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remark {
    /// The remark.
    pub quirk: Quirk,
    /// The values of Accept-Encoding, the browsers or the variants.
    pub seen_in: Vec<String>,
}
