//! The secret in every link: who has it may read.
//!
//! It stands in the path and not in a cookie: cookies do not know ports, so a server of another user on this machine would be
//! sent it.

use constant_time_eq::constant_time_eq;
use rand::Rng;

use weigh_os::digest::hex;

/// 128 random bits, hexadecimal.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    pub fn new() -> Token {
        let mut bytes = [0; 16];
        rand::rng().fill_bytes(&mut bytes);
        Token(hex(bytes))
    }

    /// Whether this is it; how long that takes tells nothing of where it differs.
    pub fn is(&self, given: &str) -> bool {
        constant_time_eq(self.0.as_bytes(), given.as_bytes())
    }

    pub fn text(&self) -> &str {
        &self.0
    }
}

/// What is written to a log is not the secret.
impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_long_new_and_itself_only() {
        let (one, other) = (Token::new(), Token::new());
        assert_eq!(one.text().len(), 32);
        assert!(one.is(one.text()) && !one.is(other.text()));
        for wrong in
            ["", &one.text()[..31], &format!("{}0", one.text()), &one.text().to_uppercase().replace('A', "b")]
        {
            assert!(!one.is(wrong) || *wrong == *one.text(), "{wrong}");
        }
        assert!(!format!("{one:?}").contains(one.text()));
    }
}
