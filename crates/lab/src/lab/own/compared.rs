//! Before anything is timed: samples are asked of the private instance and compared with what their configuration says.

use std::time::Duration;

use anyhow::{Context, Result};

use super::samples::ACCEPTS;
use crate::interrupt::Interrupt;
use crate::lab::{Lab, Progress};
use crate::rig::guard::Place;
use crate::rig::http::{self, Peer, Reply, Security};
use crate::rig::network::privately;
use crate::rig::server::own::alike::{Seen, differences};
use crate::rig::server::{Found, Instance, Site};
use crate::rig::user::OwnUser;
use crate::shelter::Shelter;
use crate::subject::delivery::files::{Files, instances};
use weigh_load::protocol::coding::Coding;
use weigh_model::cell::{Cell, Subject};
use weigh_model::payload::Payload;
use weigh_model::plan::Plan;
use weigh_model::setting::Setting;
use weigh_model::way::OwnConfig;

/// URLs that are asked for at most, each once for every Accept-Encoding.
const MOST: usize = 12;
/// How long an answer may take.
const LIMIT: Duration = Duration::from_secs(10);
/// The longest body that is looked at, in bytes.
const LONGEST: usize = 64 << 20;

impl Lab {
    /// Asks for samples of a plan, and tells what is not as the configuration of this way says.
    pub(super) fn compare(
        &self,
        plan: &Plan,
        found: &Found,
        way: &str,
        progress: &mut dyn Progress,
    ) -> Result<()> {
        let server = &found.definition.name;
        let config =
            plan.servers.iter().filter(|s| s.name == *server).flat_map(|s| &s.own).find(|own| own.way == way);
        let Some(config) = config else { return Ok(()) };
        let is_own = |cell: &&Cell| {
            cell.setting.codec == way
                && cell.subject != Subject::PAGE
                && cell.delivery.as_ref().is_some_and(|d| d.server == *server)
        };
        let mut asked: Vec<(&Cell, &Payload)> = Vec::new();
        for cell in plan.cells.iter().filter(is_own) {
            let payload = plan.payloads.iter().find(|payload| payload.name == cell.payload);
            if let Some(payload) = payload.filter(|p| asked.iter().all(|(_, own)| own.name != p.name)) {
                asked.push((cell, payload));
            }
        }
        asked.truncate(MOST);
        if asked.is_empty() {
            return Ok(());
        }
        progress.doing("comparing answers with the configuration");
        let compared = Interrupt::during(|interrupt| {
            let lines = self.differing(plan, found, config, &asked, interrupt);
            interrupt.ended(lines)
        });
        compared.context("signals cannot be caught")??.iter().for_each(|line| progress.note(line));
        Ok(())
    }

    fn differing(
        &self,
        plan: &Plan,
        found: &Found,
        config: &OwnConfig,
        asked: &[(&Cell, &Payload)],
        interrupt: &Interrupt,
    ) -> Result<Vec<String>> {
        let user = OwnUser::for_programs(found.program.as_deref().into_iter()).ok().flatten();
        let room = Shelter::of(user).context("no temporary folder")?;
        let mut files = Files::new(room.path(), &self.php_home()?, user)?.with_own(plan);
        let mut docroot = room.path().to_owned();
        for (cell, payload) in asked {
            docroot = files.prepare(cell, payload, &payload.blob)?;
        }
        let way = Some(Setting::bare(&config.way));
        let site = Site { docroot, fpm: None, way, offload: None, tls: None, cpus: Vec::new() };
        let place = Place::new(room.path(), room.path().join("log")).of(user);
        let place = Place { interrupt: interrupt.clone(), ..place };
        privately(|| {
            let instance = Instance::start(found, &site, &place)?;
            let mut lines = Vec::new();
            for (cell, payload) in asked {
                lines.extend(of_sample(&instance, config, &files, cell, payload, interrupt));
            }
            instance.stop();
            Ok(lines)
        })?
    }
}

/// What differs of one sample, over the values of Accept-Encoding: each difference once.
fn of_sample(
    instance: &Instance,
    config: &OwnConfig,
    files: &Files,
    cell: &Cell,
    payload: &Payload,
    interrupt: &Interrupt,
) -> Vec<String> {
    let expected = config.samples.get(&payload.name).and_then(|sample| sample.expected.as_ref());
    let first = instances(payload).into_iter().next();
    let (Some(expected), Some(first)) = (expected, first) else { return Vec::new() };
    let Some(path) = files.own_path(cell, payload, &first.name) else { return Vec::new() };
    let length = first.read(&payload.blob).ok().map(|bytes| bytes.len() as u64);
    let mut lines: Vec<String> = Vec::new();
    for accept in ACCEPTS {
        let host = config.host.as_deref().unwrap_or("localhost");
        let field = if accept.is_empty() { String::new() } else { format!("Accept-Encoding: {accept}\r\n") };
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{field}Connection: close\r\n\r\n");
        let peer = Peer { address: instance.address(), security: Security::Plain };
        let found = match http::exchange(peer, request.as_bytes(), false, LONGEST, (LIMIT, interrupt)) {
            Ok(reply) => {
                differences(expected, accept, &seen(&reply), length).into_iter().map(|d| d.what).collect()
            }
            Err(fault) => vec![fault.message],
        };
        for what in found {
            let line = format!("{path}: {what}");
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}

fn seen(reply: &Reply) -> Seen {
    let coding = match reply.coding {
        Coding::Identity => "identity",
        Coding::Gzip => "gzip",
        Coding::Deflate => "deflate",
        Coding::Brotli => "br",
        Coding::Zstd => "zstd",
        Coding::DictionaryBrotli => "dcb",
        Coding::DictionaryZstd => "dcz",
        Coding::Other => "another",
    };
    Seen {
        status: reply.status,
        media_type: reply.shown_field("content-type"),
        coding: coding.to_owned(),
        cache_control: reply.shown_field("cache-control"),
        length: reply.body.len() as u64,
    }
}
