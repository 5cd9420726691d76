//! What the head of a page's answer says: of its server, of what it forbids, and of its media type.

use weigh_rig::http::Reply;

/// What the head of a page's answer says of its server.
#[derive(Clone, Debug, PartialEq)]
pub struct PageHead {
    /// The parts of it that forbid a content coding.
    pub forbids: Option<&'static str>,
    /// What the server calls itself; empty if it does not say.
    pub server: String,
}

impl PageHead {
    pub fn of(reply: &Reply) -> PageHead {
        let server = reply.shown_field("server").unwrap_or_default();
        PageHead { forbids: forbids(reply), server }
    }
}

/// The parts of an answer's head that forbid a content coding, to whoever passes it on.
fn forbids(reply: &Reply) -> Option<&'static str> {
    let has = |name: &str, word: &str| {
        let value = reply.field(name).map(|value| String::from_utf8_lossy(&value).to_lowercase());
        value.is_some_and(|value| value.split(',').any(|part| part.trim() == word))
    };
    let all = [
        ("cache-control", "no-transform", "Cache-Control: no-transform"),
        ("content-encoding", "identity", "Content-Encoding: identity"),
    ];
    all.into_iter().find(|(name, word, _)| has(name, word)).map(|(_, _, field)| field)
}

/// The media type of a response, without parameters.
pub fn media_type(reply: &Reply) -> Option<String> {
    let value = reply.field("content-type")?;
    let value = String::from_utf8_lossy(&value).split(';').next()?.trim().to_lowercase();
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"/+.-".contains(&b);
    (value.contains('/') && value.len() < 100 && value.bytes().all(is_plain)).then_some(value)
}

/// The server that a `Server` field names, as its folder is called.
pub fn server(said: &str) -> Option<String> {
    let word = said.split(['/', ' ']).next()?.to_lowercase();
    ["nginx", "apache", "caddy", "lighttpd"].contains(&word.as_str()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_known_by_what_it_says() {
        assert_eq!(server("nginx/1.22.1").as_deref(), Some("nginx"));
        assert_eq!(server("Apache/2.4.62 (Debian)").as_deref(), Some("apache"));
        assert_eq!(server("mine"), None);
    }
}
