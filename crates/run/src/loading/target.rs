//! The built-in target in a process of its own, so that its CPU time is not the generator's.

use std::io::{BufRead, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};

use weigh_os::lifeline;
use weigh_os::process::{Worker, WorkerSpec};

/// How long it may take to listen.
const START: Duration = Duration::from_secs(20);

/// Listens on a free port of this machine, writes the address as one line, and serves until the input ends.
pub fn serve(
    cpu: Option<u32>,
    mut input: impl BufRead + Send + 'static,
    mut output: impl Write,
) -> Result<()> {
    if let Some(cpu) = cpu {
        weigh_load::sys::pin(cpu).with_context(|| format!("processor {cpu}"))?;
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port to listen on")?;
    writeln!(output, "{}", listener.local_addr()?)?;
    output.flush()?;
    let stop = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&stop);
    std::thread::spawn(move || {
        let mut rest = Vec::new();
        // Whatever is said here, the end is what counts.
        let _ = input.read_until(0, &mut rest);
        ended.store(true, Ordering::Relaxed);
    });
    weigh_load::calibrate::target::serve(listener, &stop).context("the built-in target broke")
}

/// A running target; it ends with this.
#[derive(Debug)]
pub struct Target {
    _worker: Worker,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Target {
    /// Starts it, on that processor where one is given.
    pub fn start(log: &Path, cpu: Option<u32>) -> Result<Target> {
        let mut args = vec!["agent".into(), "--target".into()];
        args.extend(cpu.map(|cpu| format!("--cpu={cpu}").into()));
        let spec = WorkerSpec::program("target", lifeline::this_program(), args, log.to_owned());
        let mut worker = Worker::start(&spec).context("the built-in target cannot be started")?;
        let line = worker.hear(START).map_err(|silence| anyhow!("the built-in target: {silence:?}"))?;
        let line = line.ok_or_else(|| anyhow!("the built-in target does not listen"))?;
        let address = String::from_utf8_lossy(&line).parse().context("the built-in target's address")?;
        Ok(Target { _worker: worker, address })
    }
}
