//! What is not as one would have it, in words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Each kind with what is so, in words that need nothing behind them.
macro_rules! quirks {
    ($($name:ident $words:literal)*) => {
        /// What is not as one would have it. What comes before [`Quirk::AsItIs`] breaks a rule of HTTP or hands out wrong bytes; the rest
        /// is allowed, and worth knowing.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Quirk {
            $(#[doc = $words] $name,)*
        }

        impl Quirk {
            /// What is so.
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
    NeedlessRefusal "406 though a variant was acceptable"
    // A cache may then give a variant to those who cannot read it.
    NoVary "Vary does not name what the variant was chosen by"
    SharedEtag "one strong ETag stands for several encodings"
    UnclosedEtag "the ETag lacks its closing quote"
    BrokenEtag "the ETag is not quoted as it has to be"
    FalseMatch "the strong ETag of another variant is answered with 304"
    OtherEtag "304 comes with another ETag than the variant has"
    WrongPart "a part is not the bytes of the variant that were asked for"
    StalePart "a part comes under If-Range though the ETag is nobody's, or weak"
    AsItIs "the content is sent as it is though there is an acceptable variant"
    Lesser "a coding is sent though another one has a higher weight"
    PlainWithoutVary "the content as it is comes without Vary: a cache may give it to all"
    Unasked "a coding is sent though the request has no Accept-Encoding"
    IdentityForced "the content is sent as it is though that is refused and a variant was acceptable"
    IdentityRefused "the content is sent as it is though that is refused"
    NotAcceptable "406 where nothing is acceptable"
    BrowserRule "browsers of old get another variant"
    NoEtag "there is no ETag"
    WeakEtag "the ETag is weak"
    OtherStrength "304 has the variant's ETag without its W/"
    NotMatched "the variant's own ETag is answered with the whole body"
    WeakMatch "the ETag of another variant is answered with 304, for the two are weakly the same"
    RangesIgnored "ranges are ignored: the whole body comes"
    OtherPart "a part is one of another variant than the whole"
    NotResumed "If-Range with the variant's own ETag gets the whole body"
    HeadDiffers "HEAD says other things than GET"
}

impl Quirk {
    /// It breaks a rule of HTTP, or hands out wrong bytes.
    pub fn is_wrong(self) -> bool {
        self < Quirk::AsItIs
    }
}
