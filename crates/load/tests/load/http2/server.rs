//! A scripted HTTP/2 server, bare or over TLS, in a thread with a runtime of its own.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use h2::server::{self, SendResponse};
use h2::{Reason, RecvStream, SendStream};
use http::{Request, Response};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// The server's treatment of a request.
#[derive(Clone, Debug)]
pub enum Deed {
    /// 200 with this body, and these fields.
    Send(Bytes, &'static [(&'static str, &'static str)]),
    /// This many informational responses, and then `ok`.
    Inform(usize),
    /// The response has the request's body.
    Echo,
    /// The stream is reset before a response.
    Reset(Reason),
    /// The stream is reset after 10 bytes of body.
    ResetInside(Reason),
    /// The connection ends with GOAWAY; accepted requests are finished.
    GoAway,
    /// Nothing, and the stream stays open.
    Hang,
    /// The connection is closed without GOAWAY after 10 bytes of body.
    Close,
}

/// Chooses the treatment of a request by its number over all connections, from 0; the preflight's count, too.
pub type Script = Arc<dyn Fn(usize, &str) -> Deed + Send + Sync>;

/// The server's counters.
#[derive(Debug, Default)]
pub struct ServerCounters {
    /// Requests.
    pub requests: AtomicUsize,
    /// Connections.
    pub connections: AtomicUsize,
    /// The most open streams at once on one connection.
    pub most_at_once: AtomicUsize,
}

/// A listening server. It ends with the process.
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    /// What it has seen.
    pub seen: Arc<ServerCounters>,
}

impl Server {
    /// Starts one that allows this many streams at once on a connection.
    pub fn start(streams: u32, tls: Option<Arc<rustls::ServerConfig>>, script: Script) -> Server {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(ServerCounters::default());
        let host = Host { streams, script, seen: seen.clone() };
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let local = tokio::task::LocalSet::new();
            local.block_on(&runtime, async move {
                let listener = TcpListener::from_std(listener).unwrap();
                loop {
                    let (tcp, _) = listener.accept().await.unwrap();
                    tokio::task::spawn_local(greet(host.clone(), tls.clone(), tcp));
                }
            });
        });
        Server { address, seen }
    }
}

async fn greet(host: Host, tls: Option<Arc<rustls::ServerConfig>>, tcp: TcpStream) {
    match tls {
        None => host.serve(tcp).await,
        Some(config) => {
            if let Ok(secure) = TlsAcceptor::from(config).accept(tcp).await {
                host.serve(secure).await;
            }
        }
    }
}

#[derive(Clone)]
struct Host {
    streams: u32,
    script: Script,
    seen: Arc<ServerCounters>,
}

impl Host {
    async fn serve(self, io: impl AsyncRead + AsyncWrite + Unpin) {
        self.seen.connections.fetch_add(1, Ordering::Relaxed);
        let mut builder = server::Builder::new();
        builder.max_concurrent_streams(self.streams);
        let Ok(mut connection) = builder.handshake::<_, Bytes>(io).await else { return };
        let open = Arc::new(AtomicUsize::new(0));
        while let Some(Ok((request, respond))) = connection.accept().await {
            let number = self.seen.requests.fetch_add(1, Ordering::Relaxed);
            let deed = (self.script)(number, request.uri().path());
            if matches!(deed, Deed::GoAway) {
                connection.graceful_shutdown();
            }
            if matches!(deed, Deed::Close) {
                begin_and_close(connection, respond).await;
                return;
            }
            let now = open.fetch_add(1, Ordering::Relaxed) + 1;
            self.seen.most_at_once.fetch_max(now, Ordering::Relaxed);
            let open = open.clone();
            tokio::task::spawn_local(async move {
                // The client may be gone.
                let _ = answer(deed, request, respond).await;
                open.fetch_sub(1, Ordering::Relaxed);
            });
        }
    }
}

async fn begin_and_close<T: AsyncRead + AsyncWrite + Unpin>(
    mut connection: server::Connection<T, Bytes>,
    mut respond: SendResponse<Bytes>,
) {
    let head = Response::builder().header("content-length", 100).body(()).unwrap();
    let mut body = respond.send_response(head, false).unwrap();
    body.send_data(Bytes::from_static(b"0123456789"), false).unwrap();
    let flush = poll_fn(|cx| connection.poll_closed(cx));
    let _ = tokio::time::timeout(std::time::Duration::from_millis(50), flush).await;
}

async fn answer(
    deed: Deed,
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
) -> Result<(), h2::Error> {
    match deed {
        Deed::Send(body, fields) => {
            let mut head = Response::builder().header("content-length", body.len());
            for (name, value) in fields {
                head = head.header(*name, *value);
            }
            let stream = respond.send_response(head.body(()).unwrap(), body.is_empty())?;
            send(stream, body).await
        }
        Deed::Inform(times) => {
            for _ in 0..times {
                respond.send_informational(Response::builder().status(103).body(()).unwrap())?;
            }
            send(respond.send_response(Response::new(()), false)?, Bytes::from_static(b"ok")).await
        }
        Deed::Echo => {
            let mut all = Vec::new();
            let mut body = request.into_body();
            while let Some(part) = body.data().await {
                let part = part?;
                body.flow_control().release_capacity(part.len())?;
                all.extend_from_slice(&part);
            }
            send(respond.send_response(Response::new(()), false)?, all.into()).await
        }
        Deed::Reset(reason) => {
            respond.send_reset(reason);
            Ok(())
        }
        Deed::ResetInside(reason) => {
            let mut stream = respond.send_response(Response::new(()), false)?;
            stream.send_data(Bytes::from_static(b"0123456789"), false)?;
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            stream.send_reset(reason);
            Ok(())
        }
        Deed::GoAway => {
            send(respond.send_response(Response::new(()), false)?, Bytes::from_static(b"ok")).await
        }
        Deed::Hang => std::future::pending().await,
        Deed::Close => unreachable!("it is the connection's"),
    }
}

/// Sends a body as the client's windows allow.
async fn send(mut stream: SendStream<Bytes>, mut body: Bytes) -> Result<(), h2::Error> {
    while !body.is_empty() {
        stream.reserve_capacity(body.len());
        let Some(room) = poll_fn(|cx| stream.poll_capacity(cx)).await else { return Ok(()) };
        let part = body.split_to(room?.min(body.len()));
        stream.send_data(part, false)?;
    }
    stream.send_data(Bytes::new(), true)
}
