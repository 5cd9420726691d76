//! TLS of the servers in the table.

use std::sync::{Arc, LazyLock};

use rustls::ServerConfig;
use rustls::crypto::ring::cipher_suite;
use weigh_load::plan::Tls;

use crate::identity::Identity;

/// The certificate and protocols of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secure {
    /// Valid.
    Good,
    /// Valid, with TLS 1.2 only.
    Old,
    /// Self-signed and not trusted.
    Stranger,
    Expired,
    /// For another name.
    Misnamed,
    /// No `h2` by ALPN, nor anything else.
    Mute,
    /// Only `http/1.1` by ALPN.
    Backward,
    /// More than 16 MB of tickets in its handshake.
    Generous,
}

/// 220 bytes each, with their records.
const TICKETS: usize = 120_000;

static GOOD: LazyLock<Identity> = LazyLock::new(|| Identity::new(&[]));
static STRANGER: LazyLock<Identity> = LazyLock::new(|| Identity::new(&[]));
static EXPIRED: LazyLock<Identity> = LazyLock::new(|| Identity::made("localhost", 2001));
static MISNAMED: LazyLock<Identity> = LazyLock::new(|| Identity::made("elsewhere.example", 4096));

impl Secure {
    fn identity(self) -> &'static Identity {
        match self {
            Secure::Good | Secure::Old | Secure::Mute | Secure::Backward | Secure::Generous => &GOOD,
            Secure::Stranger => &STRANGER,
            Secure::Expired => &EXPIRED,
            Secure::Misnamed => &MISNAMED,
        }
    }

    /// For the server.
    pub fn config(self, is_http2: bool) -> Arc<ServerConfig> {
        // The only cipher that `Sealer` supports, in each version.
        let suites = vec![
            cipher_suite::TLS13_AES_128_GCM_SHA256,
            cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        ];
        let versions: &[_] = match self {
            Secure::Old => &[&rustls::version::TLS12],
            _ => &[&rustls::version::TLS13, &rustls::version::TLS12],
        };
        let mut config = self.identity().serve_with(&suites, versions);
        config.enable_secret_extraction = true;
        config.alpn_protocols = match self {
            Secure::Mute => Vec::new(),
            Secure::Backward => vec![b"http/1.1".to_vec()],
            _ if is_http2 => vec![b"h2".to_vec()],
            _ => Vec::new(),
        };
        if self == Secure::Generous {
            config.send_tls13_tickets = TICKETS;
        }
        Arc::new(config)
    }

    /// For the client.
    pub fn trusted(self) -> Tls {
        match self {
            Secure::Stranger => GOOD.trusted(),
            own => own.identity().trusted(),
        }
    }
}
