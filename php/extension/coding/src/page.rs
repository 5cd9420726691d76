//! Which responses may be encoded, by their status and header.

/// What the header of a response says that matters here. Lines are `Name: value`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    status: u16,
    is_barred: bool,
    content_type: Option<String>,
    varies: bool,
    etag: Option<String>,
}

impl Head {
    /// Reads a header. `content_type` is the response's where no line says it.
    pub fn read<'a>(status: u16, content_type: Option<&str>, lines: impl Iterator<Item = &'a [u8]>) -> Head {
        let content_type = content_type.map(str::to_owned);
        let mut head = Head { status, content_type, ..Head::default() };
        for line in lines {
            let mut halves = line.splitn(2, |byte| *byte == b':');
            let name = halves.next().unwrap_or_default().trim_ascii();
            let value = String::from_utf8_lossy(halves.next().unwrap_or_default().trim_ascii()).into_owned();
            head.take(&name.to_ascii_lowercase(), value);
        }
        head
    }

    fn take(&mut self, name: &[u8], value: String) {
        match name {
            // Somebody encoded it, sends a part of something, or said what the bytes are.
            b"content-encoding" | b"content-range" | b"transfer-encoding" => self.is_barred = true,
            b"content-md5" | b"content-digest" | b"repr-digest" | b"digest" => self.is_barred = true,
            b"cache-control" => {
                let mut directives = value.split(',').map(str::trim);
                self.is_barred |= directives.any(|directive| directive.eq_ignore_ascii_case("no-transform"));
            }
            b"content-type" => self.content_type = Some(value),
            b"vary" => self.varies |= names_encoding(&value),
            b"etag" => self.etag = Some(value),
            _ => {}
        }
    }

    /// Whether the body may be encoded: it has one, nobody encoded it before, and its type compresses.
    pub fn may_be_encoded(&self) -> bool {
        let has_body = self.status >= 200 && ![204, 205, 206, 304].contains(&self.status);
        let compresses = self.content_type.as_deref().is_none_or(is_text);
        has_body && !self.is_barred && compresses
    }

    /// Whether a Vary line names Accept-Encoding.
    pub fn varies(&self) -> bool {
        self.varies
    }

    /// The ETag that an encoded response has, where that of the header cannot stay.
    pub fn weakened_etag(&self) -> Option<String> {
        weakened(self.etag.as_deref()?)
    }
}

/// Whether a value of Vary names Accept-Encoding, or everything.
pub fn names_encoding(vary: &str) -> bool {
    vary.split(',').map(str::trim).any(|name| name == "*" || name.eq_ignore_ascii_case("accept-encoding"))
}

/// The weak form of a strong ETag: the encoded bytes are others, with the same meaning (RFC 9110, section 8.8.1).
pub fn weakened(etag: &str) -> Option<String> {
    etag.starts_with('"').then(|| format!("W/{etag}"))
}

/// Whether content of this type is text, or something of which compression leaves less.
fn is_text(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let Some((kind, name)) = essence.split_once('/') else { return essence.is_empty() };
    let by_name = [
        "json",
        "javascript",
        "x-javascript",
        "ecmascript",
        "xml",
        "wasm",
        "sql",
        "rtf",
        "graphql",
        "manifest",
        "x-httpd-php",
        "ld+json",
        "x-ndjson",
        "x-yaml",
        "yaml",
        "toml",
        "x-sh",
        "postscript",
        "vnd.ms-fontobject",
        "x-font-ttf",
        "x-www-form-urlencoded",
    ];
    match kind {
        "text" | "message" | "multipart" => true,
        "image" => matches!(name, "svg+xml" | "bmp" | "x-icon" | "vnd.microsoft.icon"),
        "font" => matches!(name, "ttf" | "otf" | "collection"),
        "application" | "model" => {
            by_name.contains(&name)
                || ["+json", "+xml", "+text", "+yaml"].iter().any(|end| name.ends_with(end))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(status: u16, lines: &[&str]) -> Head {
        Head::read(status, Some("text/html"), lines.iter().map(|line| line.as_bytes()))
    }

    #[test]
    fn bodies_that_compress_may_be_encoded() {
        for (status, lines) in [
            (200, &[][..]),
            (404, &["Content-Type: application/problem+json"]),
            (500, &["content-type:text/plain;charset=utf-8", "Cache-Control: no-store"]),
            (200, &["Content-Type: image/svg+xml", "Vary: Cookie"]),
        ] {
            assert!(head(status, lines).may_be_encoded(), "{status} {lines:?}");
        }
    }

    #[test]
    fn what_is_encoded_partial_without_a_body_or_compressed_is_left_alone() {
        for (status, lines) in [
            (204, &[][..]),
            (304, &[]),
            (206, &[]),
            (103, &[]),
            (200, &["Content-Encoding: identity"]),
            (200, &["CONTENT-ENCODING:gzip"]),
            (200, &["Content-Range: bytes 0-1/2"]),
            (200, &["Repr-Digest: sha-256=:AA==:"]),
            (200, &["Cache-Control: max-age=1 , No-Transform"]),
            (200, &["Content-Type: image/png"]),
            (200, &["Content-Type: application/zip"]),
            (200, &["Content-Type: font/woff2"]),
            (200, &["Content-Type: video/mp4; codecs=x"]),
        ] {
            assert!(!head(status, lines).may_be_encoded(), "{status} {lines:?}");
        }
    }

    #[test]
    fn vary_is_found_in_any_line_and_strong_etags_become_weak() {
        assert!(head(200, &["Vary: Cookie", "vary: a, accept-ENCODING"]).varies());
        assert!(head(200, &["Vary: *"]).varies());
        assert!(!head(200, &["Vary: Accept-Encoding-Not"]).varies());
        assert_eq!(head(200, &["ETag: \"a\""]).weakened_etag().as_deref(), Some("W/\"a\""));
        assert_eq!(head(200, &["ETag: W/\"a\""]).weakened_etag(), None);
        assert_eq!(head(200, &["ETag"]).weakened_etag(), None);
    }
}
