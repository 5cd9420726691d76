//! What `weigh pack` does for shared dictionaries: deltas, the dictionary of all pages, and the configuration that sends them.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::Args;
use weigh_model::text::{clean, clean_path};
use weigh_model::units;
use weigh_os::atomic_dir;
use weigh_pack::Settings;
use weigh_pack::against::train;
use weigh_rig::server::Definition;
use weigh_rig::server::dictionaries::{Dictionaries, Shared, Wish};
use weigh_rig::service::FolderDefinition;
use weigh_run::lab::Home;
use weigh_site::configuration::{Emitted, checked, deltas, files};

/// Adds what was asked for; a dictionary that is not there yet is trained.
pub fn add(args: &Args, settings: &mut Settings) -> Result<()> {
    for previous in &args.against {
        settings.add_deltas(&args.tree, previous, args.min_bytes)?;
    }
    let Some(file) = &args.dictionary else { return Ok(()) };
    url_of(&args.tree, file)?;
    if !file.exists() {
        ensure!(
            !args.check && !args.dry_run,
            "{}: no such dictionary; without --check and --dry-run it is trained",
            clean_path(file)
        );
        atomic_dir::put_new(file, &train(&args.tree)?)?;
    }
    settings.add_dictionary(&args.tree, file, args.min_bytes)
}

/// Whether a folder of configuration may be written: it is new, or one that was written before.
pub fn may_be_replaced(into: &Path) -> Result<()> {
    let is_own = !into.exists() || into.join("README").is_file();
    ensure!(is_own, "{} exists and is not of this program; name a new folder", clean_path(into));
    Ok(())
}

/// The path by which browsers ask for a dictionary, which has to stand in the tree.
fn url_of(tree: &Path, file: &Path) -> Result<String> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (tree, folder) = (weigh_pack::real(tree)?, weigh_pack::real(folder)?);
    let named = file.file_name().with_context(|| format!("{}: no file", clean_path(file)))?;
    let below = folder.join(named);
    let below = below.strip_prefix(&tree).ok().and_then(Path::to_str);
    let below = below.with_context(|| {
        format!("{} is not below the packed folder: browsers could not fetch it", clean_path(file))
    })?;
    Ok(format!("/{below}"))
}

/// A line about the files whose URL patterns are not their paths.
fn escaped(dictionaries: &Dictionaries) -> String {
    let files = &dictionaries.special_files;
    match files.first() {
        None => String::new(),
        Some(first) => format!(
            "{} with characters in their paths that mean something in URL patterns: each has an escaped pattern of its own ({}, …)\n",
            units::count(files.len(), "file", "files"),
            clean(first)
        ),
    }
}

/// Writes the configuration that sends the deltas; which files they are.
pub fn configure(args: &Args, home: &Home, into: &Path) -> Result<String> {
    let path = args.dictionary.as_deref().map(|file| url_of(&args.tree, file)).transpose()?;
    let shared = path.map(|path| Shared { path, pattern: "/*".into() });
    let served = weigh_pack::real(args.out.as_deref().unwrap_or(&args.tree))?;
    let dictionaries = Dictionaries::of(&served, &Wish { shared, cache: None })?;
    let servers: Vec<_> = Definition::load(&home.definitions)?.iter().map(Definition::find).collect();
    let emitted = checked(&servers, None, |here| deltas(&served, &dictionaries, here))?;
    atomic_dir::write(&files(&emitted), into)?;
    let line = |one: &Emitted| {
        let unchecked = one.unchecked.iter().map(|why| format!(" (not checked: {why})")).collect::<String>();
        format!("  {}: {}{unchecked}\n", clean_path(&into.join(&one.file)), one.place)
    };
    let files = emitted.iter().map(line).collect::<String>();
    Ok(format!("The configuration that sends the deltas:\n{files}{}", escaped(&dictionaries)))
}
