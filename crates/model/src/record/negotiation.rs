//! What a server answered to a matrix of requests that differ in what they accept, what they have already and which part they
//! want. Answers alone: whether they are right is derived from them again, as every estimate is.

use serde::{Deserialize, Serialize};

pub use weigh_load::accept::IDENTITY;
use weigh_load::accept::usual;

/// The answers of one server, configured for one way, about one content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Negotiation {
    /// Requests with their answers, in the order in which they were sent.
    pub exchanges: Vec<Exchange>,
    /// Why the rest was not asked; null: all was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
}

/// One request and its answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Exchange {
    /// What was asked.
    pub ask: Ask,
    /// What came.
    pub answer: Answer,
}

/// What a request is to find out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Which variant is chosen.
    #[default]
    Choose,
    /// Whether HEAD says what GET does.
    Head,
    /// Whether a variant's own ETag in If-None-Match spares the body.
    Revalidate,
    /// Whether the ETag of another variant does, which it must not.
    RevalidateOther,
    /// The first bytes of a variant.
    First,
    /// The last bytes of a variant.
    Last,
    /// A part of it under If-Range with its own ETag.
    Resume,
    /// A part of it under If-Range with an ETag that is no variant's: the whole has to come.
    ResumeStale,
}

/// A request: GET, but for [`Purpose::Head`]. Fields that are null were not sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Ask {
    /// What it is to find out.
    pub purpose: Purpose,
    /// Accept-Encoding.
    pub accept: Option<String>,
    /// The browser of old whose User-Agent was sent, by name; null: the lab's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<String>,
    /// The variant that it is about, by its content coding; null for [`Purpose::Choose`].
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

/// The answer to one request. Texts of the server are cut to 200 characters of printable ASCII.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Answer {
    /// The status; 0: there was no answer that could be read.
    pub status: u16,
    /// Content-Encoding.
    pub content_encoding: Option<String>,
    /// Vary; several fields are one.
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
    /// What the body is.
    pub body: Body,
    /// Why there is no answer, or what is wrong with the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// What a body is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// There is none.
    #[default]
    None,
    /// It decodes to the content.
    Content,
    /// It does not decode, or to something else.
    Wrong,
    /// It has a content coding that the lab cannot take off.
    Unknown,
    /// The bytes of the variant that Content-Range names.
    Part,
    /// Other bytes than those, or there is no Content-Range that fits the variant.
    WrongPart,
    /// That of an error or of another status: nobody looked at it.
    Message,
}

impl Answer {
    /// The content coding by its usual name in small letters: [`IDENTITY`] without one.
    pub fn coding(&self) -> String {
        usual(self.content_encoding.as_deref().unwrap_or_default())
    }
}

impl Negotiation {
    /// The first whole body that is not the content: what the server says it is, and why it is wrong.
    pub fn wrong_body(&self) -> Option<String> {
        let wrong = self.exchanges.iter().find(|e| e.answer.body == Body::Wrong)?;
        let accept = wrong.ask.accept.as_deref().map_or("none".to_owned(), |accept| format!("`{accept}`"));
        let why = wrong.answer.fault.as_deref().unwrap_or("it is not the content");
        Some(format!("the {} body for Accept-Encoding {accept}: {why}", wrong.answer.coding()))
    }
}

#[cfg(test)]
mod tests;
