//! Our side of a comparison: a worker driven through the real protocol.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use sha2::{Digest, Sha256};
use weigh_model::protocol::{Description, Phase, Visit, VisitRequest};
use weigh_model::setting::{LevelRequest, Request, Setting};
use weigh_os::interrupt::Interrupt;
use weigh_os::process::WorkerSpec;
use weigh_run::executor::{CodecWorker, Failure};
use weigh_run::worker::ProcessExecutor;

use super::WEIGH;

/// No request of a benchmark takes longer.
const LIMIT: Duration = Duration::from_secs(120);

/// A content to encode.
#[derive(Clone, Debug)]
pub struct Content {
    /// Its name in the corpus.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
    sha256: String,
}

impl Content {
    /// Reads a file's length and digest.
    pub fn of(name: &str, path: &Path) -> Result<Content> {
        let bytes = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let sha256 = digest(&bytes);
        Ok(Content { name: name.into(), path: std::path::absolute(path)?, bytes: bytes.len() as u64, sha256 })
    }
}

/// SHA-256 in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// What a loop showed.
#[derive(Clone, Debug)]
pub struct Loop {
    /// CPU nanoseconds of one encode.
    pub encode: f64,
    /// CPU nanoseconds of one decode.
    pub decode: f64,
    /// SHA-256 of the encoded bytes.
    pub sha256_encoded: String,
}

/// A resident worker.
#[derive(Debug)]
pub struct Worker {
    executor: ProcessExecutor,
    /// What it says of itself.
    pub description: Description,
}

impl Worker {
    /// The native worker of the binary under test.
    pub fn native(folder: &Path) -> Result<Worker> {
        Worker::start(WorkerSpec {
            program: WEIGH.into(),
            ..WorkerSpec::native("native", folder.join("native.log"))
        })
    }

    /// Any other worker, started by the binary under test.
    pub fn start(spec: WorkerSpec) -> Result<Worker> {
        let spec = WorkerSpec { launcher: WEIGH.into(), ..spec };
        let mut executor = ProcessExecutor::new(spec, Interrupt::new());
        let description = executor.describe().map_err(|f| failed(&f))?;
        Ok(Worker { executor, description })
    }

    /// The library behind one of its codecs, with its version.
    pub fn library(&self, codec: &str) -> Option<&str> {
        self.description.codecs.iter().find(|c| c.name == codec)?.library.as_deref()
    }

    /// One loop of `ns` nanoseconds of a setting such as `zstd:3`, each way.
    pub fn run(&mut self, setting: &str, content: &Content, ns: u64) -> Result<Loop> {
        let visit = self.visit(setting, content, ns, &[Phase::Encode, Phase::Decode])?;
        let decode = sample(&visit, Phase::Decode)?;
        Ok(Loop { encode: sample(&visit, Phase::Encode)?, decode, sha256_encoded: visit.sha256_encoded })
    }

    /// The same for encoding only: CPU nanoseconds of one encode, and SHA-256 of what came out.
    pub fn encode(&mut self, setting: &str, content: &Content, ns: u64) -> Result<(f64, String)> {
        let visit = self.visit(setting, content, ns, &[Phase::Encode])?;
        Ok((sample(&visit, Phase::Encode)?, visit.sha256_encoded))
    }

    /// The protocol's batch makes one sample of a loop, so that the figure is the mean over it, as a peer's that counts calls
    /// in a second.
    fn visit(&mut self, setting: &str, content: &Content, ns: u64, phases: &[Phase]) -> Result<Visit> {
        let setting = self.setting(setting)?;
        let request = VisitRequest {
            id: 0,
            codec: setting.codec,
            level: setting.level,
            options: setting.options,
            serializer: None,
            blob: content.path.to_string_lossy().into_owned(),
            sha256: content.sha256.clone(),
            items: vec![content.bytes],
            family: false,
            value: None,
            phases: phases.to_vec(),
            samples: 1,
            budget_ns: 1,
            min_batch_ns: ns,
            max_batch_ns: 2 * ns,
            verify: true,
            memory: false,
            dump: None,
        };
        self.executor.visit(&request, LIMIT).map_err(|f| failed(&f))
    }

    fn setting(&self, text: &str) -> Result<Setting> {
        let request = Request::parse(text)?;
        let codec = self.description.codecs.iter().find(|c| c.name == request.name);
        let codec = codec.with_context(|| format!("there is no codec for {text}"))?;
        let settings = request.expand(codec, &LevelRequest::Default)?;
        settings.into_iter().next().with_context(|| format!("{text} names no setting"))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.executor.end();
    }
}

fn sample(visit: &Visit, phase: Phase) -> Result<f64> {
    let samples = visit.phases.get(&phase).context("the worker left out a phase")?;
    samples.cpu_ns.first().copied().context("the worker took no sample")
}

fn failed(failure: &Failure) -> anyhow::Error {
    match failure {
        Failure::Fault(fault) => anyhow!("{}", fault.message),
        Failure::Interrupted => anyhow!("interrupted"),
    }
}
