//! The content coding that a response declares for its body (RFC 9110, section 8.4).

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coding {
    /// None, or `identity`.
    #[default]
    Identity,
    /// `gzip` or `x-gzip`.
    Gzip,
    /// `deflate`: with or without zlib's wrapper; the name does not tell which.
    Deflate,
    /// `br`.
    Brotli,
    /// `zstd`.
    Zstd,
    /// `dcb`: Brotli against a dictionary that the client has (RFC 9842).
    DictionaryBrotli,
    /// `dcz`: Zstandard against one.
    DictionaryZstd,
    Other,
}

impl Coding {
    /// Parses a trimmed value of Content-Encoding; an empty value is `Identity`.
    pub fn of(value: &[u8]) -> Coding {
        let is = |token: &str| value.eq_ignore_ascii_case(token.as_bytes());
        match value.len() {
            0 => Coding::Identity,
            2 if is("br") => Coding::Brotli,
            3 if is("dcb") => Coding::DictionaryBrotli,
            3 if is("dcz") => Coding::DictionaryZstd,
            4 if is("gzip") => Coding::Gzip,
            4 if is("zstd") => Coding::Zstd,
            6 if is("x-gzip") => Coding::Gzip,
            7 if is("deflate") => Coding::Deflate,
            8 if is("identity") => Coding::Identity,
            _ => Coding::Other,
        }
    }
}
