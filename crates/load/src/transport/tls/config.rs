//! What a TLS client offers and whom it trusts: made once for a run from its plan, with a store of sessions a thread.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::SCRATCH;
use crate::plan;

/// Sessions that a thread remembers, over all servers.
const SESSIONS: usize = 256;

/// Why there can be no TLS: one line that says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoTls(String);

/// The configuration that all threads of a run share.
///
/// # Errors
/// When there is nobody to trust.
pub fn config(tls: &plan::Tls, protocol: plan::Protocol) -> Result<Arc<ClientConfig>, NoTls> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|e| NoTls(format!("TLS cannot be set up: {e}")))?;
    let mut config = if tls.insecure {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(Anyone(provider))).with_no_client_auth()
    } else {
        let roots = match &tls.authorities {
            Some(path) => from_file(path)?,
            None => from_system()?,
        };
        builder.with_root_certificates(roots).with_no_client_auth()
    };
    config.alpn_protocols = match protocol {
        plan::Protocol::Http2 => vec![b"h2".to_vec()],
        plan::Protocol::Http11 => vec![b"http/1.1".to_vec()],
        // ab offers nothing.
        plan::Protocol::Http10 => Vec::new(),
    };
    config.resumption = if tls.resumption { Resumption::default() } else { Resumption::disabled() };
    Ok(Arc::new(config))
}

/// What the TLS connections of one thread have in common.
#[derive(Clone, Debug)]
pub struct TlsThread {
    pub(super) config: Arc<ClientConfig>,
    /// Where records are received and decrypted, one connection after the other.
    pub(super) scratch: Rc<RefCell<Box<[u8]>>>,
}

impl TlsThread {
    /// A thread's own: threads do not wait for each other over a session.
    pub fn new(config: &Arc<ClientConfig>, resumption: bool) -> TlsThread {
        let mut own = ClientConfig::clone(config);
        if resumption {
            own.resumption = Resumption::in_memory_sessions(SESSIONS);
        }
        TlsThread { config: Arc::new(own), scratch: Rc::new(RefCell::new(vec![0; SCRATCH].into())) }
    }
}

fn from_file(path: &str) -> Result<RootCertStore, NoTls> {
    let unread = |e: &dyn std::fmt::Display| NoTls(format!("{path}: the authorities cannot be read: {e}"));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|e| unread(&e))? {
        let certificate = certificate.map_err(|e| unread(&e))?;
        roots.add(certificate).map_err(|e| unread(&e))?;
    }
    if roots.is_empty() {
        return Err(NoTls(format!("{path}: no certificate in it; a PEM file of authorities is needed")));
    }
    Ok(roots)
}

fn from_system() -> Result<RootCertStore, NoTls> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // A system's list holds some that no strict reader takes; the others are no worse for it.
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first().map(|e| format!(" ({e})")).unwrap_or_default();
        return Err(NoTls(format!(
            "this system names no authorities{why}; name a PEM file of them, or accept any certificate"
        )));
    }
    Ok(roots)
}

/// Takes any certificate, and does not look at signatures either: an odd certificate could not even be read for its key.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
