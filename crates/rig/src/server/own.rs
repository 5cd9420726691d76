//! Configurations of the user's among the methods of a server: which server a file is for, how it is read, and what the server says of it.

#[cfg(test)]
mod tests;

use std::path::Path;

use anyhow::{Context, Result, bail};
use regex::Regex;

use super::definition::{Definition, WayRow};
use super::found::Found;
use weigh_model::suggest::nearest_hint;
use weigh_model::text::{clean, clean_path};
use weigh_model::way::{OwnConfig, WayKind};
use weigh_serverconf::site::Wanted;
use weigh_serverconf::{InstalledServer, Read, expressions};

/// The server that a file is for, by what stands in it.
///
/// # Errors
/// None or several; names those to choose from.
pub fn recognise<'d>(definitions: &'d [Definition], file: &Path, text: &str) -> Result<&'d Definition> {
    let mut found: Vec<&Definition> = Vec::new();
    for definition in definitions {
        let signs = definition.own.iter().flat_map(|rules| &rules.signs);
        if expressions(signs)?.iter().any(|sign| sign.is_match(text)) {
            found.push(definition);
        }
    }
    match found.as_slice() {
        [one] => Ok(one),
        _ => bail!(
            "--server-config {}: which server it is for cannot be told; add --server NAME ({})",
            clean_path(file),
            known(definitions).join(", ")
        ),
    }
}

/// The server of this name, as `--server` gives it.
///
/// # Errors
/// One line: none is called so.
pub fn named<'d>(definitions: &'d [Definition], name: &str) -> Result<&'d Definition> {
    definitions.iter().find(|d| d.name == name).with_context(|| {
        let all = definitions.iter().map(|d| d.name.as_str());
        format!("--server {}: no such server{}", clean(name), nearest_hint(name, all))
    })
}

/// The servers whose configuration can be measured.
pub fn known(definitions: &[Definition]) -> Vec<&str> {
    definitions.iter().filter(|d| d.own.is_some()).map(|d| d.name.as_str()).collect()
}

/// Reads a configuration of a server and makes it fit for a private instance. `text` is what the file has.
///
/// # Errors
/// One line: the file, the line in it, and what cannot be read or run.
pub fn read(found: &Found, file: &Path, text: &str, wanted: &Wanted) -> Result<Read> {
    let definition = &found.definition;
    let rules = definition.own.as_ref().with_context(|| {
        format!(
            "{}: a configuration of your own cannot be measured yet; measure the running server with --url",
            definition.name
        )
    })?;
    weigh_serverconf::read(rules, &found.installed(), file, text, wanted)
}

impl Found {
    /// What the reader of configurations needs to know of it.
    pub fn installed(&self) -> InstalledServer<'_> {
        InstalledServer {
            program: self.program.as_deref(),
            module_file: self.definition.modules.as_ref().and_then(|modules| modules.file.as_deref()),
            modules: &self.modules,
        }
    }
}

/// What a server says of its configuration, with the user's files and lines named in place of those of its private copy.
pub(super) fn in_file(definition: &Definition, way: Option<&str>, dir: &Path, words: &str) -> String {
    let config = way.and_then(|way| definition.own_config(way));
    let (Some(own), Some(rules)) = (config, &definition.own) else { return words.to_owned() };
    let copy = regex::escape(&dir.join(&rules.file).display().to_string());
    let place = |line: &str| {
        let at = line.parse::<usize>().ok().and_then(|line| *own.origins.get(line.checked_sub(1)?)?);
        at.and_then(|(file, line)| Some((clean_path(own.files.get(file as usize)?), line)))
    };
    // As nginx has it, and as Apache has it.
    let forms = [format!(r"{copy}:(\d+)"), format!(r"line (\d+) of {copy}")];
    forms.iter().zip(["{file}:{line}", "line {line} of {file}"]).fold(
        words.to_owned(),
        |words, (form, to)| {
            let Ok(form) = Regex::new(form) else { return words };
            let named = form.replace_all(&words, |found: &regex::Captures<'_>| match place(&found[1]) {
                Some((file, line)) => to.replace("{line}", &line.to_string()).replace("{file}", &file),
                None => found[0].to_owned(),
            });
            named.into_owned()
        },
    )
}

impl Definition {
    /// The server with configurations of the user's among its ways.
    #[must_use]
    pub fn with_own<'c>(&self, configs: impl IntoIterator<Item = &'c OwnConfig>) -> Definition {
        let mut definition = self.clone();
        for config in configs {
            definition.ways.push(WayRow {
                name: config.way.clone(),
                // Which of its responses are encoded before is said of each cell.
                kind: WayKind::OnTheFly,
                // What it sends is for browsers to ask for.
                subjects: ["page", "asset", "download"].map(str::to_owned).to_vec(),
                modules: config.modules.clone(),
                optional: config.optional.clone(),
                about: format!("the configuration {}", clean_path(&config.file)),
                ..WayRow::default()
            });
            definition.mine.push(config.clone());
        }
        definition
    }

    /// A configuration of the user's by the name of its way.
    pub fn own_config(&self, way: &str) -> Option<&OwnConfig> {
        self.mine.iter().find(|own| own.way == way)
    }
}
