//! Responses to the negotiation matrix: requests that differ in accepted encodings, conditions and ranges. Only
//! responses are recorded; whether they follow the rules is computed from them.

use serde::{Deserialize, Serialize};

pub use weigh_load::accept::IDENTITY;
use weigh_load::accept::usual;

/// The responses of one server, configured for one method, about one content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Negotiation {
    /// Requests with their responses, in the order of sending.
    pub exchanges: Vec<Exchange>,
    /// Why the rest of the matrix was not sent; null: all requests were sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
}

/// One request and its response.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Exchange {
    /// The request.
    pub ask: NegotiationRequest,
    /// The response.
    pub answer: Answer,
}

/// The purpose of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Find out which variant is chosen.
    #[default]
    Choose,
    /// Whether the headers for HEAD are those for GET.
    Head,
    /// Whether a variant's own ETag in If-None-Match gives 304.
    Revalidate,
    /// Whether the ETag of another variant gives 304, which it must not.
    RevalidateOther,
    /// The first bytes of a variant.
    First,
    /// The last bytes of a variant.
    Last,
    /// A range under If-Range with the variant's own ETag.
    Resume,
    /// A range under If-Range with an ETag of no variant: the response must be the whole content.
    ResumeStale,
}

/// A request: GET, or HEAD for [`Purpose::Head`]. Fields that are null were not sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename = "Ask")]
pub struct NegotiationRequest {
    /// Its purpose.
    pub purpose: Purpose,
    /// Accept-Encoding.
    pub accept: Option<String>,
    /// The old browser whose User-Agent was sent, by name; null: the program's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<String>,
    /// The variant that the request is about, by its content coding; null for [`Purpose::Choose`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The other variant, whose ETag is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// If-None-Match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_none_match: Option<String>,
    /// Range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<String>,
    /// If-Range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_range: Option<String>,
}

/// The response to one request. Texts of the server are cut to 200 characters of printable ASCII.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Answer {
    /// The status; 0: no readable response.
    pub status: u16,
    /// Content-Encoding.
    pub content_encoding: Option<String>,
    /// Vary; several headers are joined.
    pub vary: Option<String>,
    /// ETag.
    pub etag: Option<String>,
    /// Content-Length.
    pub content_length: Option<u64>,
    /// Content-Range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_range: Option<String>,
    /// Bytes of the body without framing, in its content coding.
    pub bytes: u64,
    /// The result of checking the body.
    pub body: Body,
    /// Why there is no response, or what is wrong with the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// The result of checking a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// There is no body.
    #[default]
    None,
    /// It decodes to the content.
    Content,
    /// It cannot be decoded, or decodes to something else.
    Wrong,
    /// Its content coding is unknown to the program.
    Unknown,
    /// The bytes of the variant that Content-Range names.
    Part,
    /// Other bytes than Content-Range names, or no Content-Range that fits the variant.
    WrongPart,
    /// The body of an error or of another status, which was not checked.
    Message,
}

impl Answer {
    /// The content coding under its usual name in lower case: [`IDENTITY`] without a coding.
    pub fn coding(&self) -> String {
        usual(self.content_encoding.as_deref().unwrap_or_default())
    }
}

impl Negotiation {
    /// The first whole body that is not the content: its content coding, and what is wrong.
    pub fn wrong_body(&self) -> Option<String> {
        let wrong = self.exchanges.iter().find(|e| e.answer.body == Body::Wrong)?;
        let accept = wrong.ask.accept.as_deref().map_or("none".to_owned(), |accept| format!("`{accept}`"));
        let why = wrong.answer.fault.as_deref().unwrap_or("the body is not the content");
        Some(format!("the {} body for Accept-Encoding {accept}: {why}", wrong.answer.coding()))
    }
}

#[cfg(test)]
mod tests;
