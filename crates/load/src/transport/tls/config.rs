//! What a TLS client offers: made once for a run from its plan, with a store of sessions a thread.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::crypto::ring;

use super::{SCRATCH, trust};
use crate::plan;

/// Sessions that a thread remembers, over all servers.
const SESSIONS: usize = 256;

/// Why there can be no TLS: one line that says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoTls(pub(super) String);

/// The configuration that all threads of a run share.
///
/// # Errors
/// When there is nobody to trust.
pub fn config(tls: &plan::Tls, protocol: plan::Protocol) -> Result<Arc<ClientConfig>, NoTls> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|e| NoTls(format!("TLS cannot be set up: {e}")))?;
    let verifier = trust::verifier(tls, provider)?;
    let mut config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
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
