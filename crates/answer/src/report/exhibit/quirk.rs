//! The kinds of remarks on negotiation, with their texts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Each kind with what is so, in words that need nothing behind them.
macro_rules! quirks {
    ($($name:ident $words:literal)*) => {
        /// The kinds of remarks. Those before [`Quirk::AsItIs`] break a rule of HTTP or send wrong bytes; the others
        /// are allowed, but worth knowing.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Quirk {
            $(#[doc = $words] $name,)*
        }

        impl Quirk {
            pub fn words(self) -> &'static str {
                match self {
                    $(Quirk::$name => $words,)*
                }
            }
        }
    };
}

quirks! {
    WrongBody "a body does not decode to the content"
    Failed "there is no answer, or one of another kind"
    Excluded "a coding is sent that the request refuses by q=0"
    Unnamed "a coding is sent that the request does not name"
    NeedlessRefusal "406 although a variant is acceptable"
    // A cache may then send a variant to clients that cannot decode it.
    NoVary "Vary does not name the header that the variant was chosen by"
    SharedEtag "one strong ETag stands for several encodings"
    UnclosedEtag "the ETag lacks its closing quote"
    BrokenEtag "the ETag is not quoted correctly"
    FalseMatch "the strong ETag of another variant is answered with 304"
    OtherEtag "304 has another ETag than the variant"
    WrongPart "a part has other bytes than the variant's requested range"
    StalePart "a part is sent under If-Range although the ETag is weak or matches no variant"
    AsItIs "the content is sent uncompressed although a variant is acceptable"
    Lesser "a coding is sent although another one has a higher weight"
    PlainWithoutVary "the uncompressed content has no Vary: a cache may send it to all"
    Unasked "a coding is sent although the request has no Accept-Encoding"
    IdentityForced "the content is sent uncompressed, which is refused, although a variant is acceptable"
    IdentityRefused "the content is sent uncompressed although that is refused"
    NotAcceptable "406 where nothing is acceptable"
    BrowserRule "old browsers get another variant"
    NoEtag "there is no ETag"
    WeakEtag "the ETag is weak"
    OtherStrength "304 has the variant's ETag without its W/"
    NotMatched "the variant's own ETag is answered with the whole body"
    WeakMatch "the ETag of another variant is answered with 304: the two match weakly"
    RangesIgnored "ranges are ignored: the whole body is sent"
    OtherPart "a part belongs to another variant than the whole"
    NotResumed "If-Range with the variant's own ETag gets the whole body"
    HeadDiffers "HEAD differs from GET"
}

impl Quirk {
    /// Whether it breaks a rule of HTTP, or sends wrong bytes.
    pub fn is_wrong(self) -> bool {
        self < Quirk::AsItIs
    }
}
