//! Escapes a server's bytes for messages: printable ASCII only, and limited in length. Also checks HTTP tokens.

/// The most characters of server bytes in a message.
const MOST: usize = 60;

/// The bytes on one line of printable ASCII, other bytes escaped as `\r` or `\x1b`; at most 60 characters, of which the
/// last is `…` if there was more.
pub fn shown(bytes: &[u8]) -> String {
    // A byte becomes at least one character, so no more bytes are needed.
    let mut characters = bytes.iter().take(MOST + 1).flat_map(|byte| byte.escape_ascii()).map(char::from);
    let mut text: String = characters.by_ref().take(MOST).collect();
    if characters.next().is_some() {
        text.pop();
        text.push('…');
    }
    text
}

/// Whether a text can be a method or the name of a header (RFC 9110, section 5.6.2).
pub fn is_token(text: &str) -> bool {
    let of_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !text.is_empty() && text.bytes().all(of_token)
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn controls_and_other_alphabets_are_escaped() {
        assert_eq!(shown(b"a \x1b[2J\r\n\0\xc3\xa4"), r"a \x1b[2J\r\n\x00\xc3\xa4");
    }

    #[test]
    fn sixty_characters_are_the_most() {
        assert_eq!(shown(&[b'a'; 60]), "a".repeat(60));
        assert_eq!(shown(&[b'a'; 61]), format!("{}…", "a".repeat(59)));
        assert_eq!(shown(&[0; 1 << 20]).chars().count(), 60);
    }
}
