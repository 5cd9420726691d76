//! The configuration of TLS clients: made once per run from its plan, with a session store per thread.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct as Signature, Error, RootCertStore, SignatureScheme,
};

use super::SCRATCH;
use crate::plan;

/// Sessions that a thread stores, over all servers.
const SESSIONS: usize = 256;

/// Why TLS cannot be used: one line that says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoTls(pub(super) String);

/// The configuration that all threads of a run share.
///
/// # Errors
/// There are no authorities to trust.
pub fn config(tls: &plan::Tls, protocol: plan::Protocol) -> Result<Arc<ClientConfig>, NoTls> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|e| NoTls(format!("TLS cannot be set up: {e}")))?;
    let verifier = verifier(tls, provider)?;
    let mut config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    config.alpn_protocols = match protocol {
        plan::Protocol::Http2 => vec![b"h2".to_vec()],
        plan::Protocol::Http11 => vec![b"http/1.1".to_vec()],
        // `ab` offers no protocol.
        plan::Protocol::Http10 => Vec::new(),
    };
    config.resumption = if tls.resumption { Resumption::default() } else { Resumption::disabled() };
    Ok(Arc::new(config))
}

/// State that the TLS connections of one thread share.
#[derive(Clone, Debug)]
pub struct TlsThread {
    pub(super) config: Arc<ClientConfig>,
    /// Memory in which records are received and decrypted, used by one connection after the other.
    pub(super) scratch: Rc<RefCell<Box<[u8]>>>,
}

impl TlsThread {
    /// Each thread has its own: threads do not wait for each other for a session.
    pub fn new(config: &Arc<ClientConfig>, resumption: bool) -> TlsThread {
        let mut own = ClientConfig::clone(config);
        if resumption {
            own.resumption = Resumption::in_memory_sessions(SESSIONS);
        }
        TlsThread { config: Arc::new(own), scratch: Rc::new(RefCell::new(vec![0; SCRATCH].into())) }
    }
}

/// Checks servers as the plan says.
///
/// # Errors
/// There are no authorities to trust.
pub fn verifier(
    tls: &plan::Tls,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, NoTls> {
    let schemes = provider.signature_verification_algorithms.supported_schemes();
    if tls.insecure {
        return Ok(Arc::new(Judge { chains: None, own: Vec::new(), schemes, provider }));
    }
    let (roots, own) = match &tls.authorities {
        Some(path) => from_file(path)?,
        None => (from_system()?, Vec::new()),
    };
    let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map_err(|e| NoTls(format!("the authorities cannot be used: {e}")))?;
    Ok(Arc::new(Judge { chains: Some(chains), own, schemes, provider }))
}

fn from_file(path: &str) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), NoTls> {
    let unread = |e: &dyn std::fmt::Display| NoTls(format!("{path}: the authorities cannot be read: {e}"));
    let (mut roots, mut own) = (RootCertStore::empty(), Vec::new());
    for certificate in CertificateDer::pem_file_iter(path).map_err(|e| unread(&e))? {
        let certificate = certificate.map_err(|e| unread(&e))?;
        roots.add(certificate.clone()).map_err(|e| unread(&e))?;
        own.push(certificate);
    }
    if roots.is_empty() {
        return Err(NoTls(format!("{path}: the file has no certificate; give a PEM file of authorities")));
    }
    Ok((roots, own))
}

fn from_system() -> Result<RootCertStore, NoTls> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // A system's list contains some that a strict parser rejects; the others are still good.
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first().map(|e| format!(" ({e})")).unwrap_or_default();
        return Err(NoTls(format!(
            "this system has no list of authorities{why}; give a PEM file with --ca, or accept any certificate with --insecure"
        )));
    }
    Ok(roots)
}

/// Accepts certificates that an authority signed, and any certificate of the file itself: `openssl req -x509` makes
/// certificates that are marked as authorities, which a server's certificate must not be (RFC 5280, 4.2.1.9).
#[derive(Debug)]
struct Judge {
    /// None: any certificate is accepted. Signatures are not checked either, because the key of a malformed certificate
    /// could not be read.
    chains: Option<Arc<WebPkiServerVerifier>>,
    own: Vec<CertificateDer<'static>>,
    schemes: Vec<SignatureScheme>,
    provider: Arc<CryptoProvider>,
}

const SELF_SIGNED: &str = "the server's certificate is self-signed; trust it with --ca FILE, or accept any certificate with --insecure";

impl Judge {
    /// Whether a certificate is self-signed: with it as the only authority its issuer is known.
    fn is_self_signed(&self, certificate: &CertificateDer<'_>, name: &ServerName<'_>, now: UnixTime) -> bool {
        let mut roots = RootCertStore::empty();
        if roots.add(certificate.clone().into_owned()).is_err() {
            return false;
        }
        let alone =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), self.provider.clone()).build();
        let judged = alone.map(|alone| alone.verify_server_cert(certificate, &[], name, &[], now));
        !matches!(judged, Err(_) | Ok(Err(Error::InvalidCertificate(CertificateError::UnknownIssuer))))
    }
}

type Signed = Result<HandshakeSignatureValid, Error>;

impl ServerCertVerifier for Judge {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chains) = &self.chains else { return Ok(ServerCertVerified::assertion()) };
        match chains.verify_server_cert(certificate, others, name, ocsp, now) {
            Err(Error::InvalidCertificate(CertificateError::Other(_))) if self.own.contains(certificate) => {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            Err(Error::InvalidCertificate(
                CertificateError::UnknownIssuer | CertificateError::BadSignature | CertificateError::Other(_),
            )) if self.is_self_signed(certificate, name, now) => Err(Error::General(SELF_SIGNED.into())),
            judged => judged,
        }
    }

    fn verify_tls12_signature(&self, text: &[u8], by: &CertificateDer<'_>, signature: &Signature) -> Signed {
        let any = Ok(HandshakeSignatureValid::assertion());
        self.chains.as_ref().map_or(any, |chains| chains.verify_tls12_signature(text, by, signature))
    }

    fn verify_tls13_signature(&self, text: &[u8], by: &CertificateDer<'_>, signature: &Signature) -> Signed {
        let any = Ok(HandshakeSignatureValid::assertion());
        self.chains.as_ref().map_or(any, |chains| chains.verify_tls13_signature(text, by, signature))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}
