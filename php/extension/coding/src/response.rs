//! Which responses may be encoded, by their status and header, and what their fields become.

/// Types outside of `text/` whose content compresses, but for those whose name says it by its end.
const TYPES: &str = "application/ecmascript application/graphql application/javascript application/json application/postscript \
    application/rtf application/sql application/toml application/vnd.ms-fontobject application/wasm application/x-font-ttf \
    application/x-javascript application/x-yaml application/xml application/yaml font/collection font/otf font/ttf image/bmp \
    image/vnd.microsoft.icon image/x-icon";
const ENDS: [&str; 3] = ["+json", "+xml", "+yaml"];
/// Types whose content is read while it comes.
const STREAMS: &str = "text/event-stream application/x-ndjson application/ndjson application/jsonl application/x-jsonlines \
    application/jsonlines application/json-seq application/stream+json multipart/x-mixed-replace";

/// What the header of a response says that matters here. Lines are `Name: value`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    status: u16,
    is_barred: bool,
    /// The body is read while it comes: it may not be held.
    pub is_stream: bool,
    content_type: String,
    /// A Vary line names Accept-Encoding.
    pub varies: bool,
    etag: String,
    /// Its lines, joined.
    cache_control: String,
}

impl Head {
    /// Reads a header. `content_type` is the response's where no line says it.
    pub fn read<'a>(status: u16, content_type: &[u8], lines: impl Iterator<Item = &'a [u8]>) -> Head {
        let mut head = Head { status, content_type: essence(content_type), ..Head::default() };
        for line in lines {
            let (name, value) = halves(line);
            head.is_stream |= Head::streams(line);
            match name.as_str() {
                // Somebody encoded it, sends a part of something, or said what the bytes are.
                "content-encoding" | "content-range" | "transfer-encoding" => head.is_barred = true,
                "content-md5" | "content-digest" | "repr-digest" | "digest" => head.is_barred = true,
                "cache-control" => {
                    let first = if head.cache_control.is_empty() { "" } else { ", " };
                    head.cache_control += &format!("{first}{}", String::from_utf8_lossy(value));
                }
                "content-type" => head.content_type = essence(value),
                "vary" => head.varies |= lists(value, &["*", "accept-encoding"]),
                "etag" => head.etag = String::from_utf8_lossy(value).into_owned(),
                _ => {}
            }
        }
        head.is_stream |= is_listed(STREAMS, &head.content_type);
        head.is_barred |= lists(head.cache_control.as_bytes(), &["no-transform"]);
        head
    }

    /// Whether a line says that the body is read while it comes.
    pub fn streams(line: &[u8]) -> bool {
        let (name, value) = halves(line);
        let is_type = name == "content-type" && is_listed(STREAMS, &essence(value));
        is_type || (name == "x-accel-buffering" && value.eq_ignore_ascii_case(b"no"))
    }

    /// Whether the body may be encoded: it has one, nobody encoded it before, it is no stream, and its type compresses.
    pub fn may_be_encoded(&self) -> bool {
        self.status >= 200 && ![204, 205, 206, 304].contains(&self.status) && self.may_vary()
    }

    /// Whether a body, where there is one, depends on what the client can decode.
    fn may_vary(&self) -> bool {
        let (kind, name) = self.content_type.split_once('/').unwrap_or_default();
        let compresses = (kind == "text" && !name.is_empty())
            || (!kind.is_empty() && ENDS.iter().any(|end| name.ends_with(end)))
            || is_listed(TYPES, &self.content_type);
        !self.is_barred && !self.is_stream && compresses
    }

    /// Whether the response says that nothing has changed: it has the fields that the encoded body would have had.
    pub fn is_unchanged(&self) -> bool {
        self.status == 304 && self.may_vary()
    }

    /// The ETag that an encoded response has, where that of the header cannot stay: the encoded bytes are others, with the same meaning (RFC
    /// 9110, section 8.8.1).
    pub fn weakened_etag(&self) -> Option<String> {
        self.etag.starts_with('"').then(|| format!("W/{}", self.etag))
    }

    /// The ETag of a response that says that nothing has changed, where the client has it as a weak one.
    pub fn unchanged_etag(&self, if_none_match: &str) -> Option<String> {
        self.weakened_etag().filter(|weak| if_none_match.contains(weak.as_str()))
    }

    /// Cache-Control of a response that a shared cache must not keep, where that of the header does not say so.
    pub fn private_cache_control(&self) -> Option<String> {
        let first = if self.cache_control.is_empty() { "" } else { ", " };
        let is_kept = !lists(self.cache_control.as_bytes(), &["no-store", "private"]);
        is_kept.then(|| format!("{}{first}private", self.cache_control))
    }
}

/// Whether a text is one of the words of a list.
fn is_listed(words: &str, text: &str) -> bool {
    words.split(' ').any(|word| word == text)
}

/// The name of a field in small letters, and its value.
fn halves(line: &[u8]) -> (String, &[u8]) {
    let end = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
    let value = line.get(end + 1..).unwrap_or_default().trim_ascii();
    (String::from_utf8_lossy(&line[..end]).trim().to_ascii_lowercase(), value)
}

/// The media type in small letters, without parameters.
fn essence(content_type: &[u8]) -> String {
    let essence = content_type.split(|byte| *byte == b';').next().unwrap_or_default();
    String::from_utf8_lossy(essence.trim_ascii()).to_ascii_lowercase()
}

/// Whether a list has one of these members, in any case.
fn lists(value: &[u8], members: &[&str]) -> bool {
    let is_one = |one: &[u8]| members.iter().any(|member| one.eq_ignore_ascii_case(member.as_bytes()));
    value.split(|byte| *byte == b',').any(|one| is_one(one.trim_ascii()))
}
