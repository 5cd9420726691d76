//! How servers negotiate, as reports show it.

use serde::{Deserialize, Serialize};

use weigh_model::cell::Transport;
use weigh_model::record::negotiation::{Answer, Ask};
use weigh_model::units;

/// What one server does with one way, judged by RFC 9110: of one cell, for all that negotiate alike.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct NegotiationResult {
    /// The id of the cell that was asked for.
    pub cell: String,
    /// The server's name.
    pub server: String,
    /// The runtime's name; `-` without PHP.
    pub runtime: String,
    /// What responses travel over.
    pub transport: Transport,
    /// The way without level and encoder, which change nothing about it: `server/type-map`.
    pub way: String,
    /// The variants that showed themselves, that without a coding first.
    pub variants: Vec<Variant>,
    /// Every request with its answer and what is to be said of it.
    pub exchanges: Vec<Judged>,
    /// What is to be said of all of them, once each, what is wrong first.
    pub remarks: Vec<Remark>,
    /// Why the rest was not asked; null: all was.
    pub ended: Option<String>,
}

impl NegotiationResult {
    /// The way without whose it is, and what responses travel over unless that is plain: `type-map`, `gzip over https`.
    pub fn label(&self) -> String {
        let way = self.way.split_once('/').map_or(self.way.as_str(), |(_, name)| name);
        match self.transport {
            Transport::Http => way.to_owned(),
            Transport::Https => format!("{way} over https"),
        }
    }
}

/// Ways by server: `apache type-map and multiviews; nginx gzip over https`.
pub fn places<'a>(ways: impl Iterator<Item = &'a NegotiationResult>) -> String {
    let mut servers: Vec<(&str, Vec<String>)> = Vec::new();
    for one in ways {
        match servers.iter_mut().find(|(server, _)| *server == one.server) {
            Some((_, ways)) => ways.push(one.label()),
            None => servers.push((&one.server, vec![one.label()])),
        }
    }
    let one = |(server, ways): &(&str, Vec<String>)| format!("{server} {}", units::list(ways));
    servers.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// One variant of the content.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Variant {
    /// Its content coding, `identity` without.
    pub coding: String,
    /// Bytes of its body.
    pub bytes: u64,
    /// Its ETag.
    pub etag: Option<String>,
    /// Vary names Accept-Encoding (or is `*`) in every answer that has it.
    pub varies: bool,
}

/// One request with what is to be said of its answer.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Judged {
    /// The request.
    pub ask: Ask,
    /// The answer.
    pub answer: Answer,
    /// Null: it is as it should be.
    pub quirk: Option<Quirk>,
}

/// One thing that is to be said, with what it is seen in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Remark {
    /// What.
    pub quirk: Quirk,
    /// The values of Accept-Encoding, the browsers or the variants.
    pub seen_in: Vec<String>,
}

/// What is not as one would have it. What comes before [`Quirk::AsItIs`] breaks a rule of HTTP or hands out wrong bytes; the rest
/// is allowed, and worth knowing.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Quirk {
    /// A body that does not decode to the content.
    WrongBody,
    /// No answer, or one of another kind.
    Failed,
    /// A coding that the request refuses by `q=0`.
    Excluded,
    /// A coding that the request does not name.
    Unnamed,
    /// 406 where a variant was acceptable.
    NeedlessRefusal,
    /// A variant with a coding, of several, without Vary: Accept-Encoding: a cache may give it to those who cannot read it.
    NoVary,
    /// Several variants with one strong ETag.
    SharedEtag,
    /// An ETag that lacks its closing quote.
    UnclosedEtag,
    /// An ETag that is quoted wrongly otherwise.
    BrokenEtag,
    /// 304 for the strong ETag of another variant.
    FalseMatch,
    /// 304 with another ETag than the variant has.
    OtherEtag,
    /// A part that is not of the variant that it says it is of.
    WrongPart,
    /// A part under If-Range with an ETag that is nobody's, or a weak one.
    StalePart,
    /// Sent as it is though a variant was acceptable.
    AsItIs,
    /// A coding of a lower weight than another one that there is.
    Lesser,
    /// The content as it is, one of several variants, without Vary: a cache may give it to all.
    PlainWithoutVary,
    /// A coding though there was no Accept-Encoding.
    Unasked,
    /// Sent as it is though `identity` was refused, and an acceptable variant was there.
    IdentityForced,
    /// Sent as it is though `identity` was refused, where nothing was acceptable.
    IdentityRefused,
    /// 406 where nothing was acceptable.
    NotAcceptable,
    /// A browser of old gets another variant for the same Accept-Encoding.
    BrowserRule,
    /// No ETag.
    NoEtag,
    /// A weak ETag.
    WeakEtag,
    /// 304 with the variant's ETag but for its `W/`.
    OtherStrength,
    /// The whole body for the variant's own ETag.
    NotMatched,
    /// 304 for the weak ETag of another variant, which says that both mean the same.
    WeakMatch,
    /// The whole body where a part was asked for.
    RangesIgnored,
    /// A part of another variant than the whole is sent of.
    OtherPart,
    /// The whole body under If-Range with the variant's own strong ETag.
    NotResumed,
    /// HEAD says other things than GET.
    HeadDiffers,
}

impl Quirk {
    /// It breaks a rule of HTTP, or hands out wrong bytes.
    pub fn is_wrong(self) -> bool {
        self < Quirk::AsItIs
    }

    /// What is so, in words that need nothing behind them.
    pub fn words(self) -> &'static str {
        match self {
            Quirk::WrongBody => "a body does not decode to the content",
            Quirk::Failed => "there is no answer, or one of another kind",
            Quirk::Excluded => "a coding is sent that the request refuses by q=0",
            Quirk::Unnamed => "a coding is sent that the request does not name",
            Quirk::NeedlessRefusal => "406 though a variant was acceptable",
            Quirk::NoVary => "Vary does not name what the variant was chosen by",
            Quirk::SharedEtag => "one strong ETag stands for several encodings",
            Quirk::UnclosedEtag => "the ETag lacks its closing quote",
            Quirk::BrokenEtag => "the ETag is not quoted as it has to be",
            Quirk::FalseMatch => "the strong ETag of another variant is answered with 304",
            Quirk::OtherEtag => "304 comes with another ETag than the variant has",
            Quirk::WrongPart => "a part is not the bytes of the variant that were asked for",
            Quirk::StalePart => "a part comes under If-Range though the ETag is nobody's, or weak",
            Quirk::AsItIs => "the content is sent as it is though there is an acceptable variant",
            Quirk::Lesser => "a coding is sent though another one has a higher weight",
            Quirk::PlainWithoutVary => "the content as it is comes without Vary: a cache may give it to all",
            Quirk::Unasked => "a coding is sent though the request has no Accept-Encoding",
            Quirk::IdentityForced => {
                "the content is sent as it is though that is refused and a variant was acceptable"
            }
            Quirk::IdentityRefused => "the content is sent as it is though that is refused",
            Quirk::NotAcceptable => "406 where nothing is acceptable",
            Quirk::BrowserRule => "browsers of old get another variant",
            Quirk::NoEtag => "there is no ETag",
            Quirk::WeakEtag => "the ETag is weak",
            Quirk::OtherStrength => "304 has the variant's ETag without its W/",
            Quirk::NotMatched => "the variant's own ETag is answered with the whole body",
            Quirk::WeakMatch => {
                "the ETag of another variant is answered with 304, for the two are weakly the same"
            }
            Quirk::RangesIgnored => "ranges are ignored: the whole body comes",
            Quirk::OtherPart => "a part is one of another variant than the whole",
            Quirk::NotResumed => "If-Range with the variant's own ETag gets the whole body",
            Quirk::HeadDiffers => "HEAD says other things than GET",
        }
    }
}
