//! The web servers and PHP-FPM binaries of `weigh check`.

use std::path::PathBuf;

use anyhow::Result;
use serde::Serialize;

use super::{Missing, bold};
use crate::terminal;
use weigh_answer::table::Grid;
use weigh_content::defs::Definitions;
use weigh_model::text::clean_path;
use weigh_model::way::WayDescription;
use weigh_rig::fpm::FoundFpm;
use weigh_rig::server::{Definition, Found};
use weigh_rig::service::FolderDefinition;

/// A web server and what it can do.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct ServerFindings {
    /// `nginx`.
    name: String,
    /// The program; null when it was not found.
    program: Option<PathBuf>,
    /// The version as queried.
    version: Option<String>,
    /// Every way, available or not.
    ways: Vec<WayDescription>,
    /// Null: it serves HTTPS. Else why not.
    tls_missing: Option<String>,
    /// Null: it can be started. Else why not.
    missing: Option<String>,
    /// What would fix it.
    remedy: Option<String>,
    /// What would bring HTTPS.
    tls_remedy: Option<String>,
}

impl ServerFindings {
    fn new(found: Found) -> ServerFindings {
        let tls = found.definition.tls;
        let tls_remedy = tls.and_then(|t| t.remedy).filter(|_| found.tls_missing.is_some());
        ServerFindings {
            name: found.definition.name,
            program: found.program,
            version: found.version,
            ways: found.ways,
            tls_missing: found.tls_missing,
            missing: found.missing,
            remedy: found.remedy,
            tls_remedy,
        }
    }
}

/// Looks for every server that is defined.
pub fn find_servers(definitions: &Definitions) -> Result<Vec<ServerFindings>> {
    Ok(Definition::load(definitions)?.iter().map(|server| ServerFindings::new(server.find())).collect())
}

/// What of them is missing: a whole server in one row, else each of its ways.
/// PHP-FPM is a row of its own where no PHP is there to miss it.
pub fn missing(servers: &[ServerFindings], fpm: &[FoundFpm], has_php: bool) -> Vec<Missing> {
    let row = |server: &ServerFindings, what: &str, reason: &str, remedy: &Option<String>| {
        Missing::new(&server.name, what, reason, remedy.as_deref())
    };
    let mut rows = Vec::new();
    for server in servers {
        if let Some(reason) = &server.missing {
            rows.push(row(server, "server", reason, &server.remedy));
            continue;
        }
        rows.extend(
            server.ways.iter().filter_map(|w| Some(row(server, &w.name, w.missing.as_ref()?, &w.remedy))),
        );
        if let (Some(reason), Some(_)) = (&server.tls_missing, &server.tls_remedy) {
            rows.push(row(server, "HTTPS", reason, &server.tls_remedy));
        }
    }
    if fpm.is_empty() && !has_php {
        let remedy = Some("apt install php-fpm");
        rows.push(Missing::new("php-fpm", "PHP-FPM", "no program php-fpm", remedy));
    }
    rows
}

/// The servers and pools that are there, as a table each.
pub fn text(servers: &[ServerFindings], fpm: &[FoundFpm]) -> String {
    let mut out: String = servers.iter().filter(|s| s.missing.is_none()).map(server).collect();
    for FoundFpm { binary, version } in fpm {
        out.push_str(&format!("\n{} {version}  {}\n", bold("php-fpm"), clean_path(binary)));
    }
    out
}

fn server(found: &ServerFindings) -> String {
    let mut table = Grid::list(&["", ""]);
    let there = found.ways.iter().filter(|w| w.missing.is_none());
    for way in there {
        let levels =
            way.levels.as_ref().map_or(String::new(), |l| format!("  levels {} to {}", l.min, l.max));
        table.line(&[&format!("  {}", way.name), &format!("{}{levels}", way.about)]);
    }
    let place = found.program.as_deref().map_or_else(String::new, clean_path);
    let version = found.version.as_deref().unwrap_or_default();
    let secure = if found.tls_missing.is_none() { ", HTTPS" } else { "" };
    format!("\n{} {version}{secure}  {place}\n{}", bold(&found.name), terminal::lines(&table))
}
