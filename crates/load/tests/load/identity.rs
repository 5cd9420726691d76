//! A server's certificate, made for a test, and a file that makes it its own authority.

use std::io::Write;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use weigh_load::plan::Tls;

/// A server's identity.
pub struct Identity {
    /// For the server; it speaks by ALPN what it was made with.
    pub config: Arc<ServerConfig>,
    authority: tempfile::NamedTempFile,
}

impl Identity {
    /// One for `localhost` and `127.0.0.1`.
    pub fn new(alpn: &[&[u8]]) -> Identity {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let mut config =
            ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(vec![made.cert.der().clone()], key)
                .unwrap();
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        let mut authority = tempfile::NamedTempFile::new().unwrap();
        authority.write_all(made.cert.pem().as_bytes()).unwrap();
        Identity { config: Arc::new(config), authority }
    }

    /// Trusts it, and nobody else.
    pub fn trusted(&self) -> Tls {
        let authorities = Some(self.authority.path().to_str().unwrap().to_owned());
        Tls { insecure: false, authorities, resumption: true }
    }
}
