use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;
use crate::plan;

mod traffic;

type Secure = StreamOwned<ServerConnection, TcpStream>;

/// A server's certificate, and a file that makes it its own authority.
struct Identity {
    config: Arc<ServerConfig>,
    authority: tempfile::NamedTempFile,
}

fn identity() -> Identity {
    identity_that(rcgen::IsCa::NoCa)
}

fn identity_that(is_ca: rcgen::IsCa) -> Identity {
    let signing_key = rcgen::KeyPair::generate().unwrap();
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let mut asked = rcgen::CertificateParams::new(names).unwrap();
    asked.is_ca = is_ca;
    let made = rcgen::CertifiedKey { cert: asked.self_signed(&signing_key).unwrap(), signing_key };
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let mut authority = tempfile::NamedTempFile::new().unwrap();
    authority.write_all(made.cert.pem().as_bytes()).unwrap();
    Identity { config: Arc::new(config), authority }
}

/// Serves this many connections, one after the other.
fn serve(
    identity: &Identity,
    connections: usize,
    answer: impl Fn(&mut Secure) + Send + 'static,
) -> (SocketAddr, JoinHandle<()>) {
    let config = identity.config.clone();
    raw_serve(connections, move |tcp| {
        let session = ServerConnection::new(config.clone()).unwrap();
        answer(&mut StreamOwned::new(session, tcp));
    })
}

fn raw_serve(
    connections: usize,
    answer: impl Fn(TcpStream) + Send + 'static,
) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server =
        std::thread::spawn(move || (0..connections).for_each(|_| answer(listener.accept().unwrap().0)));
    (address, server)
}

fn settings(identity: &Identity) -> plan::Tls {
    let authorities = Some(identity.authority.path().to_str().unwrap().to_owned());
    plan::Tls { insecure: false, authorities, resumption: true }
}

fn thread(tls: &plan::Tls) -> TlsThread {
    TlsThread::new(&config(tls, plan::Protocol::Http11).unwrap(), tls.resumption)
}

fn patient<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match attempt() {
            Err(e) if e.kind() == ErrorKind::WouldBlock => std::thread::sleep(Duration::from_micros(200)),
            other => return other,
        }
    }
}

fn connect(address: SocketAddr, thread: &TlsThread, host: &str) -> io::Result<Tls> {
    let tcp = Tcp::connect(address, None)?;
    while !tcp.is_connected(true)? {
        std::thread::sleep(Duration::from_micros(200));
    }
    let mut tls = Tls::new(tcp, thread, host)?;
    patient(|| match tls.handshake()? {
        Handshake::Done => Ok(()),
        Handshake::WouldBlock => Err(ErrorKind::WouldBlock.into()),
    })?;
    Ok(tls)
}

/// Writes everything, however little room there is.
fn send(tls: &mut Tls, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let n = patient(|| tls.write(bytes))?;
        bytes = &bytes[n..];
    }
    Ok(())
}

fn read_to_end(tls: &mut Tls, size: usize) -> io::Result<Vec<u8>> {
    let (mut all, mut buffer) = (Vec::new(), vec![0; size]);
    loop {
        match patient(|| tls.read(&mut buffer))? {
            0 => return Ok(all),
            n => all.extend_from_slice(&buffer[..n]),
        }
    }
}

/// Answers one byte with `ok` and a clean end.
fn ok(secure: &mut Secure) {
    secure.read_exact(&mut [0]).unwrap();
    secure.write_all(b"ok").unwrap();
    secure.conn.send_close_notify();
    secure.flush().unwrap();
    let _ = secure.sock.read(&mut [0]);
}

fn noise(length: usize) -> Vec<u8> {
    (0..length as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

#[test]
fn a_session_is_agreed_upon_and_taken_up_again() {
    let identity = identity();
    let (address, server) = serve(&identity, 2, ok);
    let thread = thread(&settings(&identity));
    for resumed in [false, true] {
        let mut tls = connect(address, &thread, "localhost").unwrap();
        let session = tls.session().unwrap();
        assert_eq!(session.resumed, resumed);
        assert_eq!(session.alpn.as_deref(), Some(&b"http/1.1"[..]));
        assert_eq!(session.version, "TLSv1_3");
        assert!(session.cipher.starts_with("TLS13_"), "{}", session.cipher);
        send(&mut tls, b"?").unwrap();
        assert_eq!(read_to_end(&mut tls, 100).unwrap(), b"ok");
    }
    server.join().unwrap();
}

#[test]
fn without_resumption_every_session_is_new() {
    let identity = identity();
    let (address, server) = serve(&identity, 2, ok);
    let thread = thread(&plan::Tls { resumption: false, ..settings(&identity) });
    for _ in 0..2 {
        let mut tls = connect(address, &thread, "127.0.0.1").unwrap();
        assert!(!tls.session().unwrap().resumed);
        send(&mut tls, b"?").unwrap();
        assert_eq!(read_to_end(&mut tls, 100).unwrap(), b"ok");
    }
    server.join().unwrap();
}

#[test]
fn an_unknown_authority_is_refused_unless_any_will_do() {
    let (identity, other) = (identity(), identity());
    let (address, server) = serve(&identity, 2, |secure| {
        let _ = secure.read_exact(&mut [0]);
    });
    let error = connect(address, &thread(&settings(&other)), "localhost").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    assert!(error.to_string().contains("the server's certificate is self-signed"), "{error}");
    let any = plan::Tls { insecure: true, ..settings(&other) };
    let mut tls = connect(address, &thread(&any), "localhost").unwrap();
    send(&mut tls, b"?").unwrap();
    server.join().unwrap();
}

#[test]
fn another_name_than_the_certificates_is_refused() {
    let identity = identity();
    let (address, server) = serve(&identity, 1, |secure| {
        assert!(secure.read_exact(&mut [0]).is_err());
    });
    let error = connect(address, &thread(&settings(&identity)), "[::1]").unwrap_err();
    assert!(error.to_string().contains("not valid for name"), "{error}");
    server.join().unwrap();
}

#[test]
fn a_certificate_that_calls_itself_an_authority_will_do_if_it_is_named_itself() {
    let authority = || identity_that(rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained));
    let (identity, other) = (authority(), authority());
    let (address, server) = serve(&identity, 3, |secure| {
        let _ = secure.read_exact(&mut [0]);
    });
    let unknown = connect(address, &thread(&settings(&other)), "localhost").unwrap_err();
    assert!(unknown.to_string().contains("is self-signed"), "{unknown}");
    let error = connect(address, &thread(&settings(&identity)), "[::1]").unwrap_err();
    assert!(error.to_string().contains("not valid for name"), "{error}");
    let mut tls = connect(address, &thread(&settings(&identity)), "localhost").unwrap();
    send(&mut tls, b"?").unwrap();
    server.join().unwrap();
}

#[test]
fn garbage_in_place_of_a_greeting_is_told_in_the_librarys_words() {
    let identity = identity();
    let (address, server) = raw_serve(1, |mut tcp| {
        tcp.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        let _ = tcp.read(&mut [0; 4096]);
    });
    let error = connect(address, &thread(&settings(&identity)), "localhost").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    assert!(error.to_string().contains("corrupt message"), "{error}");
    server.join().unwrap();
}

#[test]
fn a_close_within_the_handshake_says_so() {
    let identity = identity();
    let (address, server) = raw_serve(1, |mut tcp| {
        let _ = tcp.read(&mut [0; 4096]);
    });
    let error = connect(address, &thread(&settings(&identity)), "localhost").unwrap_err();
    assert!(error.to_string().contains("within the TLS handshake"), "{error}");
    server.join().unwrap();
}

#[test]
fn bad_authorities_are_refused_with_their_file() {
    let identity = identity();
    let refused = |path: &str| {
        let tls = plan::Tls { authorities: Some(path.into()), ..settings(&identity) };
        config(&tls, plan::Protocol::Http11).unwrap_err().to_string()
    };
    assert!(refused("/no/such/file.pem").starts_with("/no/such/file.pem: the authorities cannot be read"));
    let empty = tempfile::NamedTempFile::new().unwrap();
    assert!(refused(empty.path().to_str().unwrap()).contains("the file has no certificate"));
}
