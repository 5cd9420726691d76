//! What is emitted for shared dictionaries: the parts by which a server sends deltas, and names its files as dictionaries for their next version.

use std::path::Path;

use anyhow::Result;

use super::emitted::Emitted;
use super::here::WritingContext;
use super::server::{emitted, first, parts};
use weigh_model::advised::{ADVISED, Advised};
use weigh_model::setting::Setting;
use weigh_rig::server::dictionaries::Dictionaries;
use weigh_rig::server::emission::Downloads;
use weigh_rig::server::{Definition, Site as Served};

/// What the files do, in their first lines.
const WHAT: &str = "Send deltas to clients that have the version of before (shared dictionaries, RFC 9842).";

/// The files for each of the servers that can be configured for the deltas below a folder.
///
/// # Errors
/// A path that no configuration can name, or the server cannot be asked.
pub fn deltas(docroot: &Path, dictionaries: &Dictionaries, here: WritingContext<'_>) -> Result<Vec<Emitted>> {
    let mut all = Vec::new();
    for found in here.servers.iter().filter(|found| found.definition.has_dictionaries()) {
        let Some(emission) = &found.definition.policy else { continue };
        let definition = Definition {
            dictionaries: Some(dictionaries.clone()),
            ..found.definition.with_advised(&Advised::default())
        };
        let mut there = definition.at(found.program.clone());
        let served =
            Served { docroot: docroot.to_owned(), way: Some(Setting::bare(ADVISED)), ..Served::default() };
        let (parts, unchecked) = parts(&mut there, &served, &Downloads::default(), here.place)?;
        all.extend(parts.into_iter().filter(|(snippet, _)| snippet.dictionaries).map(|(snippet, body)| {
            Emitted {
                what: WHAT.into(),
                first: first(&found.definition.name, emission, found, &snippet.modules, here),
                unchecked: unchecked.clone(),
                ..emitted(&found.definition.name, emission, snippet, body)
            }
        }));
    }
    Ok(all)
}
