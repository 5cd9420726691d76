//! The lab's half of our own emulator: two networks, and the process that carries packets between them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};

use super::emulator::{Ready, Task};
use super::ends::{FAR, NEAR};
use super::lane::LaneSpec;
use crate::rig::network::Network;
use crate::rig::process::{Silence, Worker, WorkerSpec};

/// How long it may take until it is ready, and until it answers.
const PATIENCE: Duration = Duration::from_secs(10);
/// Its stderr is looked at when it ends, and kept nowhere.
const LOG: &str = "/dev/null";

/// A running emulator. It is killed when this is dropped, and with the lab.
#[derive(Debug)]
pub(super) struct Emulator {
    /// Only so that a link can be looked at from several threads.
    worker: Mutex<Worker>,
    realtime: bool,
}

impl Emulator {
    /// Starts one between two networks; `launcher` is this same program.
    ///
    /// # Errors
    /// It did not become ready: its last words.
    pub fn start(
        lanes: &[LaneSpec; 2],
        launcher: &OsString,
        near: &Network,
        far: &Network,
    ) -> Result<Emulator> {
        let [down, up] = lanes.clone();
        let task = Task { down, up, near: NEAR, far: FAR };
        let mut args: Vec<OsString> =
            vec!["agent".into(), "--link".into(), serde_json::to_string(&task)?.into()];
        for (flag, network) in [("--near", near), ("--far", far)] {
            args.extend([flag.into(), network.path().into_os_string()]);
        }
        let worker = WorkerSpec::program("link", launcher.clone(), args, PathBuf::from(LOG));
        let worker = WorkerSpec { launcher: launcher.clone(), ..worker };
        let mut worker = Worker::start(&worker).context("the emulator cannot be started")?;
        let ready = listen(&mut worker)?;
        Ok(Emulator { worker: Mutex::new(worker), realtime: ready.realtime })
    }

    /// Whether it runs with real-time priority.
    pub fn is_realtime(&self) -> bool {
        self.realtime
    }

    /// Takes so many nanoseconds off the delay of either direction.
    ///
    /// # Errors
    /// It has ended, or does not answer.
    pub fn shorten(&mut self, ns: u64) -> Result<()> {
        let worker = self.worker.get_mut().unwrap_or_else(PoisonError::into_inner);
        worker.say(ns.to_string().into_bytes()).map_err(silent)?;
        listen(worker).map(drop)
    }
}

fn listen(worker: &mut Worker) -> Result<Ready> {
    let line = worker.hear(PATIENCE).map_err(silent)?.ok_or_else(|| silent(Silence::Timeout))?;
    serde_json::from_slice(&line).context("the emulator said what is no answer")
}

fn silent(silence: Silence) -> anyhow::Error {
    match silence {
        Silence::Ended(how) => anyhow!("the emulator ended: {how}"),
        Silence::Timeout => anyhow!("the emulator said nothing for {} s", PATIENCE.as_secs()),
        Silence::TooLong(_) => anyhow!("the emulator said a line that is too long"),
        Silence::Interrupted => anyhow!("interrupted"),
    }
}
