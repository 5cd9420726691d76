//! The server: one thread for connections, others for pages that take a while. What a client can use of it is bounded.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use percent_encoding::percent_decode_str;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::AbortHandle;

use super::guard::Guard;
use super::live::{self, Follower};
use super::pages::{self, Page};
use super::response::{self, Content};
use super::runs::Runs;
use super::token::Token;
use weigh_os::interrupt::Interrupt;
use weigh_run::dir::StoredRun;

/// Connections at once. For a further one the oldest is closed that has not shown the secret; if all have, the further one.
const CONNECTIONS: usize = 32;
/// Pages that are made at once: each may read a large run.
const PAGES: usize = 2;
/// How long a request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(5);
/// How long a connection may last. A browser comes back for further events by itself.
const LONGEST: Duration = Duration::from_secs(600);
/// Bytes of a request's line and headers.
const HEAD: usize = 16 << 10;
const HEADERS: usize = 64;
/// How often the user's wish to end is looked at.
const ATTENTION: Duration = Duration::from_millis(100);
/// How long work that nobody waits for any more may go on at the end.
const FAREWELL: Duration = Duration::from_secs(1);

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: std::net::TcpListener,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    guard: Guard,
    runs: Runs,
    /// A page on the disk may lead here once, see [`Server::opens`].
    arrival: AtomicBool,
    pages: Semaphore,
}

impl Server {
    /// Listens on loopback; port 0 is any that is free.
    ///
    /// # Errors
    /// The port is in use, or may not be used.
    pub fn listen(runs: Runs, port: u16) -> Result<Server> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener =
            std::net::TcpListener::bind(address).with_context(|| format!("{address}: cannot listen"))?;
        listener.set_nonblocking(true)?;
        let host = listener.local_addr()?.to_string();
        let guard = Guard { host, token: Token::new() };
        let pages = Semaphore::new(PAGES);
        let shared = Shared { guard, runs, arrival: AtomicBool::new(false), pages };
        Ok(Server { listener, shared: Arc::new(shared) })
    }

    /// The address of the list of runs, with the secret.
    pub fn url(&self) -> String {
        let Guard { host, token } = &self.shared.guard;
        format!("http://{host}/{}/", token.text())
    }

    /// Lets a page on this machine's disk lead to the list, once: the browser is given that page's path in place of the address,
    /// because every user can read the arguments of a process.
    pub fn opens(&self) {
        self.shared.arrival.store(true, Ordering::SeqCst);
    }
}

/// Answers until the user wants an end.
///
/// # Errors
/// The system refuses what a server needs.
pub fn serve(server: Server, interrupt: &Interrupt) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let Server { listener, shared } = server;
    let done = runtime.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        let mut connections: VecDeque<(Arc<AtomicBool>, AbortHandle)> = VecDeque::new();
        while !interrupt.is_set() {
            let Ok(accepted) = tokio::time::timeout(ATTENTION, listener.accept()).await else { continue };
            let Ok((stream, _)) = accepted else {
                // Too many open files, or a client that is gone already.
                tokio::time::sleep(ATTENTION).await;
                continue;
            };
            connections.retain(|(_, task)| !task.is_finished());
            if connections.len() >= CONNECTIONS {
                let stranger = connections.iter().position(|(is_known, _)| !is_known.load(Ordering::SeqCst));
                let Some((_, task)) = stranger.and_then(|at| connections.remove(at)) else { continue };
                task.abort();
            }
            let is_known = Arc::new(AtomicBool::new(false));
            let task = tokio::spawn(connection(stream, Arc::clone(&shared), Arc::clone(&is_known)));
            connections.push_back((is_known, task.abort_handle()));
        }
        Ok(())
    });
    runtime.shutdown_timeout(FAREWELL);
    done
}

/// One connection with one request.
async fn connection(stream: TcpStream, shared: Arc<Shared>, is_known: Arc<AtomicBool>) {
    let service = service_fn(move |request| {
        let (shared, is_known) = (Arc::clone(&shared), Arc::clone(&is_known));
        async move { Ok::<_, Infallible>(respond(&request, &shared, &is_known).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(ARRIVAL)
        .max_buf_size(HEAD)
        .max_headers(HEADERS)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    // What goes wrong with a connection is its client's affair.
    let _ = tokio::time::timeout(LONGEST, connection).await;
}

async fn respond(
    request: &Request<Incoming>,
    shared: &Arc<Shared>,
    is_known: &AtomicBool,
) -> Response<Content> {
    let may_arrive = || shared.arrival.swap(false, Ordering::SeqCst);
    let (method, uri) = (request.method(), request.uri());
    let path = match shared.guard.path(method, uri, request.headers(), may_arrive) {
        Ok(path) => path,
        Err((status, why)) => return refused(status, why),
    };
    is_known.store(true, Ordering::SeqCst);
    let answer = match path.trim_start_matches('/').split_once('/') {
        None => top(path, uri.query().unwrap_or_default(), shared).await,
        Some(("run", name)) => of_run(name, shared, Wanted::Report).await,
        Some(("live", name)) => of_run(name, shared, Wanted::Live).await,
        // A HEAD has no body to fill.
        Some(("events", name)) if method == Method::GET => of_run(name, shared, Wanted::Events).await,
        Some(_) => Ok(None),
    };
    match answer {
        Ok(Some(response)) => response,
        Ok(None) => response::line(StatusCode::NOT_FOUND, "no such page"),
        Err(error) => response::line(StatusCode::INTERNAL_SERVER_ERROR, &format!("{error:#}")),
    }
}

fn refused(status: StatusCode, why: &str) -> Response<Content> {
    let mut response = response::line(status, why);
    if status == StatusCode::METHOD_NOT_ALLOWED {
        let allowed = hyper::header::HeaderValue::from_static("GET, HEAD");
        response.headers_mut().insert(hyper::header::ALLOW, allowed);
    }
    response
}

type Answer = Result<Option<Response<Content>>>;

/// The list, a comparison, and the files of the server's own pages.
async fn top(path: &str, query: &str, shared: &Arc<Shared>) -> Answer {
    match path {
        "/" => {
            let runs = shared.runs.clone();
            let page = making(shared, move || {
                let (runs, more) = runs.list()?;
                Ok(pages::list_page(&runs, more))
            });
            Ok(Some(shown(page.await?)))
        }
        "/compare" => compared(query, shared).await,
        "/style.css" => Ok(Some(response::file("text/css; charset=utf-8", pages::STYLE))),
        "/live.js" => Ok(Some(response::file("text/javascript; charset=utf-8", pages::PROGRAM))),
        _ => Ok(None),
    }
}

/// What is wanted of a run.
#[derive(Clone, Copy)]
enum Wanted {
    Report,
    Live,
    Events,
}

async fn of_run(name: &str, shared: &Arc<Shared>, wanted: Wanted) -> Answer {
    let name = percent_decode_str(name).decode_utf8_lossy().into_owned();
    let Some(path) = shared.runs.find(&name) else { return Ok(None) };
    match wanted {
        Wanted::Live => Ok(Some(shown(pages::live_page(&name)))),
        Wanted::Report => {
            let page = making(shared, move || pages::run_page(&path, &StoredRun::read(&path)?));
            Ok(Some(shown(page.await?)))
        }
        Wanted::Events => {
            let follower = making(shared, move || Follower::new(&path)).await?;
            // Room for a few: a slow reader holds up nobody but itself.
            let (sender, receiver) = mpsc::channel(4);
            tokio::spawn(live::tell(follower, sender));
            Ok(Some(response::events(receiver)))
        }
    }
}

async fn compared(query: &str, shared: &Arc<Shared>) -> Answer {
    let side = |name: &str| {
        let mut given = url::form_urlencoded::parse(query.as_bytes());
        let (_, value) = given.find(|(key, _)| key == name)?;
        Some((value.to_string(), shared.runs.find(&value)?))
    };
    let (Some(a), Some(b)) = (side("a"), side("b")) else {
        return Ok(Some(response::line(StatusCode::BAD_REQUEST, "choose a run as A and another as B")));
    };
    let page = making(shared, move || {
        let (one, other) = (StoredRun::read(&a.1)?, StoredRun::read(&b.1)?);
        pages::comparison_page((&a.0, &one), (&b.0, &other))
    });
    Ok(Some(shown(page.await?)))
}

fn shown(page: Page) -> Response<Content> {
    response::page(StatusCode::OK, page.html, &page.policy)
}

/// Does what takes a while beside the connections, a few at once.
async fn making<T: Send + 'static>(
    shared: &Arc<Shared>,
    make: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let _turn = shared.pages.acquire().await?;
    tokio::task::spawn_blocking(make).await.map_err(|_| anyhow!("the page could not be made"))?
}
