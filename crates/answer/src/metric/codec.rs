//! The ids of the metrics of codecs.

/// The codec that leaves the serialized bytes as they are.
pub const IDENTITY: &str = "identity";

/// CPU time of one encode of all items, serializer included.
pub const ENCODE: &str = "encode";

/// CPU time of one decode.
pub const DECODE: &str = "decode";

/// CPU time of the codec alone, if it was measured separately.
pub const COMPRESS: &str = "compress";

/// CPU time of the codec alone, if it was measured separately.
pub const DECOMPRESS: &str = "decompress";

/// Uncompressed bytes.
pub const DECODED: &str = "decoded-bytes";

pub const ENCODED: &str = "encoded-bytes";

/// Encoded bytes with a dictionary's.
pub const STORED: &str = "stored-bytes";
