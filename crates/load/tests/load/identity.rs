//! A server's certificate, made for a test, and a file that makes it its own authority.

use std::io::Write;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, SupportedCipherSuite, SupportedProtocolVersion};
use weigh_load::plan::Tls;

/// A server's identity.
pub struct Identity {
    /// For the server; it speaks by ALPN what it was made with.
    pub config: Arc<ServerConfig>,
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
    authority: tempfile::NamedTempFile,
}

impl Identity {
    /// One for `localhost` and `127.0.0.1`.
    pub fn new(alpn: &[&[u8]]) -> Identity {
        Identity::of(&["localhost", "127.0.0.1"], 4096, alpn)
    }

    /// One for another name, or valid until the start of another year.
    pub fn made(name: &str, until: i32) -> Identity {
        Identity::of(&[name], until, &[])
    }

    fn of(names: &[&str], until: i32, alpn: &[&[u8]]) -> Identity {
        let key = rcgen::KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut wanted = rcgen::CertificateParams::new(names).unwrap();
        wanted.not_before = rcgen::date_time_ymd(2000, 1, 1);
        wanted.not_after = rcgen::date_time_ymd(until, 1, 1);
        let made = wanted.self_signed(&key).unwrap();
        let mut authority = tempfile::NamedTempFile::new().unwrap();
        authority.write_all(made.pem().as_bytes()).unwrap();
        let mut identity = Identity {
            config: Arc::new(config(
                made.der(),
                &key.serialize_der().into(),
                &suites(),
                rustls::ALL_VERSIONS,
            )),
            certificate: made.der().clone(),
            key: key.serialize_der().into(),
            authority,
        };
        Arc::make_mut(&mut identity.config).alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        identity
    }

    /// For a server that only accepts these.
    pub fn serve_with(
        &self,
        suites: &[SupportedCipherSuite],
        versions: &[&'static SupportedProtocolVersion],
    ) -> ServerConfig {
        config(&self.certificate, &self.key, suites, versions)
    }

    /// Trusts only it.
    pub fn trusted(&self) -> Tls {
        let authorities = Some(self.authority.path().to_str().unwrap().to_owned());
        Tls { insecure: false, authorities, resumption: true }
    }
}

fn suites() -> Vec<SupportedCipherSuite> {
    ring::default_provider().cipher_suites
}

fn config(
    certificate: &CertificateDer<'static>,
    key: &PrivatePkcs8KeyDer<'static>,
    suites: &[SupportedCipherSuite],
    versions: &[&'static SupportedProtocolVersion],
) -> ServerConfig {
    let provider =
        rustls::crypto::CryptoProvider { cipher_suites: suites.to_vec(), ..ring::default_provider() };
    ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], PrivateKeyDer::from(key.clone_key()))
        .unwrap()
}
