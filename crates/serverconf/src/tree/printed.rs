//! What a server's own command prints of a configuration: lighttpd's values with everything merged, Caddy's JSON. Nothing that a
//! configuration names is run.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

use super::flat::Flat;
use super::{PLACEHOLDER, Tree};
use crate::rules::Rules;
use crate::syntax::assigned::Value;
use crate::syntax::{Directive, SourcePosition, Syntax, assigned};
use weigh_model::text::{clean, clean_path};
use weigh_os::command::answer;
use weigh_os::digest;

/// The longest print, in bytes: what [`answer`] gives back.
const LONGEST: usize = 1 << 20;
/// What stands for the file in the arguments.
const FILE: &str = "{file}";

/// Reads a configuration as its server prints it.
///
/// # Errors
/// One line: the file, the line where the server names it, and what is wrong.
pub fn read(
    rules: &Rules,
    print: &[String],
    program: Option<&Path>,
    given: &Path,
    text: &str,
) -> Result<Tree> {
    let program = program.context("its server prints what it means, and is not installed here")?;
    let home = std::path::absolute(given).ok().and_then(|file| Some(file.parent()?.to_owned()));
    let home = home.filter(|home| home.is_dir()).unwrap_or_else(|| "/".into());
    if text.contains(PLACEHOLDER) {
        bail!("{PLACEHOLDER} has a meaning to Weighbridge");
    }
    let asked = ConfigPrinter { print, program, home: &home };
    match rules.syntax {
        Syntax::Assigned => asked.assigned(given, text),
        _ => asked.json(given, text),
    }
}

struct ConfigPrinter<'a> {
    print: &'a [String],
    program: &'a Path,
    /// The folder of the file.
    home: &'a Path,
}

impl ConfigPrinter<'_> {
    /// What the server prints of a file; else what it says against it.
    fn print(&self, file: &Path, work: &Path) -> Result<Result<String, String>> {
        let mut command = Command::new(self.program);
        command.args(self.print.iter().map(|argument| match argument.as_str() {
            FILE => file.as_os_str().to_owned(),
            other => other.into(),
        }));
        let own = ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"].map(|name| (name, work));
        command.current_dir(self.home).env("LC_ALL", "C").envs(own);
        let ended = answer(&mut command)?;
        if ended.stdout.len() >= LONGEST {
            bail!("its server prints more than {LONGEST} bytes");
        }
        Ok(if ended.is_fine() { Ok(ended.stdout) } else { Err(ended.stderr) })
    }

    fn assigned(&self, given: &Path, text: &str) -> Result<Tree> {
        let flat = match Flat::read(given, text) {
            Ok(flat) => flat,
            Err((flat, wrong)) => return Err(tree(Syntax::Assigned, flat.files, self.home).error(&wrong)),
        };
        let mut tree = tree(Syntax::Assigned, flat.files, self.home);
        let (work, copy) = work(&flat.text)?;
        let printed = self.print(&copy, work.path())?.map_err(|said| {
            let line =
                said.lines().rfind(|line| line.contains("line:")).or(said.lines().last()).unwrap_or_default();
            let at = line.split_once("line: ").and_then(|(_, rest)| {
                let number: usize = rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
                flat.origins.get(number.checked_sub(1)?)
            });
            let at = at.map_or(String::new(), |at| format!("{}: ", tree.place(*at)));
            let what = line.split_once("parser failed").map_or(line, |(_, what)| what);
            anyhow!("{at}lighttpd cannot read it: {}", clean(what.trim()))
        })?;
        tree.sha256 = digest::sha256(flat.text.as_bytes());
        let number = u32::try_from(tree.files.len()).unwrap_or(u32::MAX);
        tree.files.push(format!("{} (printed)", given.display()).into());
        let whole = assigned::parse(&printed, number).map_err(|wrong| tree.error(&wrong))?;
        let root = whole.into_iter().find(|d| d.name == "config").and_then(|d| d.block);
        tree.directives = root.context("lighttpd prints no configuration")?;
        tree.directives.retain(|d| !d.name.starts_with("var."));
        let source = assigned::parse(&flat.text, 0).unwrap_or_default();
        assign_positions(&mut tree.directives, &source, &flat.origins);
        let modules = tree.directives.iter().rfind(|d| d.name == "server.modules").and_then(Value::of);
        let names = modules.iter().flat_map(Value::entries).map(|(_, name)| name.word());
        tree.modules = Some(names.map(|name| name.trim_start_matches("mod_").to_owned()).collect());
        Ok(tree)
    }

    fn json(&self, given: &Path, text: &str) -> Result<Tree> {
        let mut tree = tree(Syntax::Json, vec![given.to_owned()], self.home);
        let printed = match serde_json::from_str::<serde_json::Value>(text) {
            Ok(value) => serde_json::to_string_pretty(&value)?,
            Err(_) => {
                // Its imports are relative to its own folder.
                let file = std::path::absolute(given).unwrap_or_else(|_| given.to_owned());
                let work = tempfile::tempdir().context("no temporary folder")?;
                let printed = self.print(&file, work.path())?;
                let printed = printed.map_err(|said| {
                    let line = said.lines().last().unwrap_or_default();
                    let what = line
                        .rsplit_once("adapt: ")
                        .or(line.rsplit_once("Error: "))
                        .map_or(line, |(_, what)| what);
                    anyhow!("caddy cannot read it: {}", clean(what))
                })?;
                tree.files.push(format!("{} (adapted)", given.display()).into());
                printed
            }
        };
        tree.sha256 = digest::sha256([text, &printed].concat().as_bytes());
        let number = u32::try_from(tree.files.len() - 1).unwrap_or(0);
        tree.directives = Syntax::Json.parse(&printed, number).map_err(|wrong| tree.error(&wrong))?;
        Ok(tree)
    }
}

fn tree(syntax: Syntax, files: Vec<PathBuf>, home: &Path) -> Tree {
    Tree {
        syntax,
        files,
        sha256: String::new(),
        base: home.to_owned(),
        directives: Vec::new(),
        is_whole: true,
        only: None,
        modules: None,
        types: None,
        folders: Default::default(),
    }
}

/// A text in a folder that only its owner can read.
fn work(text: &str) -> Result<(tempfile::TempDir, PathBuf)> {
    let work = tempfile::tempdir().context("no temporary folder")?;
    let copy = work.path().join("flat.conf");
    std::fs::write(&copy, text).with_context(|| format!("{}: cannot be written", clean_path(&copy)))?;
    Ok((work, copy))
}

/// Gives what was printed the places of the files: of a name the last of its block, of blocks those in the same order.
fn assign_positions(printed: &mut [Directive], source: &[Directive], origins: &[SourcePosition]) {
    let of = |line: u32| origins.get(line.checked_sub(1)? as usize).copied();
    let is_block = |d: &&Directive| d.block.is_some() && d.name != "global";
    let blocks: Vec<&Directive> = source.iter().filter(is_block).collect();
    let count = printed.iter().filter(|d| d.block.is_some()).count();
    let mut number = 0;
    for directive in printed {
        let own = match directive.block {
            // The same condition twice is one block for the server.
            Some(_) if blocks.len() == count => {
                number += 1;
                blocks.get(number - 1).copied()
            }
            Some(_) => None,
            None => source.iter().rfind(|d| d.name == directive.name && d.block.is_none()),
        };
        let Some(own) = own else { continue };
        directive.at = of(own.at.line).unwrap_or(directive.at);
        assign_positions(directive.block.as_deref_mut().unwrap_or_default(), own.within(), origins);
    }
}
