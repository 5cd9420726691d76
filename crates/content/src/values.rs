//! PHP values: made from the corpus's data by `php/values.php`, through whatever PHP is at hand.

pub mod form;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;
use serde_json::json;

use super::archive::{Next, visit};
use super::cache::Note;
use super::client::Clients;
use super::fetch::types::{FetchOptions, Held, Reason};
use super::library::{Item, Library, Presence};
use super::manifest::Family;
use weigh_model::text::{clean, clean_path};
use weigh_os::command::{Ended, run_within};
use weigh_os::digest::{self, Sum};

const GENERATOR: [(&str, &str); 2] = [
    ("values.php", include_str!("../embedded/php/values.php")),
    ("values-classes.php", include_str!("../embedded/php/values-classes.php")),
];
/// The longest it may take, on a slow and busy machine.
const PATIENCE: Duration = Duration::from_secs(600);
/// The most bytes and files of one input.
const MOST_INPUT: (u64, usize) = (256 << 20, 20_000);

/// What a PHP can write, as it says itself.
#[derive(Debug, Deserialize)]
struct PhpAbilities {
    php: String,
    forms: BTreeMap<String, String>,
}

/// The generator's line about one form of one value.
#[derive(Debug, Deserialize)]
struct Line {
    id: String,
    form: String,
    missing: Option<String>,
    all: Option<All>,
}

/// The instances of a value in one form: the lengths of all that its file has.
#[derive(Debug, Deserialize)]
struct All {
    items: Vec<u64>,
}

/// Makes values and puts them into the cache; gives the reason for each that could not be made.
pub(super) fn make(
    library: &Library,
    items: &[Item<'_>],
    held: &BTreeMap<String, Result<Held, Reason>>,
    options: &FetchOptions,
) -> BTreeMap<String, Reason> {
    let mut failed = BTreeMap::new();
    let mut todo = Vec::new();
    for item in items {
        match held.get(&item.source().package.to_string()) {
            Some(Err(reason)) => drop(failed.insert(item.id(), reason.clone())),
            _ => todo.push(*item),
        }
    }
    if let Err(error) = attempt(library, &todo, options, &mut failed) {
        let reason = Reason { why: format!("{error:#}"), remedy: None };
        for item in todo {
            // What was made before the error counts.
            if !matches!(library.presence(item), Ok(Presence::There)) {
                failed.entry(item.id()).or_insert_with(|| reason.clone());
            }
        }
    }
    failed
}

fn attempt(
    library: &Library,
    todo: &[Item<'_>],
    options: &FetchOptions,
    failed: &mut BTreeMap<String, Reason>,
) -> Result<()> {
    if todo.is_empty() {
        return Ok(());
    }
    let Some(php) = &options.php else {
        bail!("there is no PHP to make values with: apt install php-cli, or name one");
    };
    let scratch = library.cache.scratch()?;
    for (name, code) in GENERATOR {
        fs::write(scratch.path().join(name), code).context("cannot write in the cache")?;
    }
    let program = scratch.path().join("values.php");
    let able: PhpAbilities = serde_json::from_str(&call(php, &program, "--forms".as_ref(), scratch.path())?)
        .with_context(|| format!("{} said something that is not about forms", clean_path(php)))?;
    let mut wanted = Vec::new();
    for item in todo {
        let Item::Value(_, _, form) = item else { continue };
        if able.forms.contains_key(form.word()) {
            wanted.push(*item);
        } else {
            let why = format!("PHP {} has no {} extension", clean(&able.php), form.word());
            let remedy = Some(format!("apt install php-{}", form.word()));
            failed.insert(item.id(), Reason { why, remedy });
        }
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let request = request(library, &wanted, scratch.path(), &options.clients)?;
    let said = call(php, &program, &request, scratch.path())?;
    let lines: Vec<Line> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for item in wanted {
        if let Err(error) = take(library, item, &able, &lines, scratch.path()) {
            failed.insert(item.id(), Reason { why: format!("{error:#}"), remedy: None });
        }
    }
    Ok(())
}

/// Checks one result and gives it its place in the cache.
fn take(
    library: &Library,
    item: Item<'_>,
    able: &PhpAbilities,
    lines: &[Line],
    scratch: &Path,
) -> Result<()> {
    let Item::Value(pin, _, form) = item else { bail!("not a value") };
    let line = lines.iter().find(|line| line.id == pin.id && line.form == form.word());
    let line = line.ok_or_else(|| anyhow!("PHP {} did not make it", clean(&able.php)))?;
    if let Some(missing) = &line.missing {
        bail!("PHP {}: {}", clean(&able.php), clean(missing));
    }
    let made = scratch.join("out").join(format!("{}.{}", pin.id, form.extension()));
    let version = able.forms.get(form.word()).map(|v| clean(v)).unwrap_or_default();
    let about = format!("{} {version} in PHP {}", form.word(), clean(&able.php));
    let sum = verified(&made, item.pin(), able)?;
    let note_of =
        |sum: Sum, items| Note { bytes: sum.bytes, sha256: sum.sha256, about: about.clone(), items };
    let note = item.pin().is_none().then(|| note_of(sum, Vec::new()));
    if let Some(place) = library.instances(item) {
        let items = line.all.as_ref().map(|all| all.items.clone()).unwrap_or_default();
        let all = scratch.join("out").join(format!("{}.{}.all", pin.id, form.extension()));
        let sum = verified(&all, item.pin_of_instances(), able)?;
        if pin.instances.as_ref().map(|all| all.count) != Some(items.len())
            || items.iter().sum::<u64>() != sum.bytes
        {
            bail!("PHP {} made {} instances of other lengths", clean(&able.php), items.len());
        }
        library.cache.install(&all, &place, Some(&note_of(sum, items)))?;
    }
    library.cache.install(&made, &library.path(item), note.as_ref())
}

/// What a file that PHP wrote is; it must be what is pinned, if something is.
fn verified(made: &Path, pinned: Option<Sum>, able: &PhpAbilities) -> Result<Sum> {
    let Some(sum) = digest::of_file(made)? else { bail!("PHP {} did not write it", clean(&able.php)) };
    match pinned {
        Some(pinned) if pinned != sum => bail!(
            "PHP {} made {} bytes with SHA-256 {}…, pinned are {} with {}…",
            clean(&able.php),
            sum.bytes,
            &sum.sha256[..12],
            pinned.bytes,
            &pinned.sha256[..12],
        ),
        _ => Ok(sum),
    }
}

/// Unpacks the inputs and writes the generator's request; gives its path.
fn request(library: &Library, wanted: &[Item<'_>], scratch: &Path, clients: &Clients) -> Result<PathBuf> {
    let out = scratch.join("out");
    fs::create_dir(&out)?;
    let mut inputs = BTreeMap::new();
    let mut values = BTreeMap::new();
    let mut forms = BTreeSet::new();
    for item in wanted {
        let Item::Value(pin, family, form) = item else { continue };
        if !inputs.contains_key(&family.name) {
            let input = unpack(library, family, &scratch.join(&family.name), clients)?;
            inputs.insert(family.name.clone(), input.to_string_lossy().into_owned());
        }
        let mut value = json!({"id": pin.id, "family": pin.family, "bytes": pin.limit});
        if let Some(locale) = &pin.locale {
            value["locale"] = json!(locale);
        }
        if let Some(all) = &pin.instances {
            value["instances"] = json!(all.count);
        }
        values.insert(&pin.id, value);
        forms.insert(form.word());
    }
    let values: Vec<_> = values.into_values().collect();
    let request = json!({"out": out.to_string_lossy(), "inputs": inputs, "forms": forms, "values": values});
    let path = scratch.join("request.json");
    fs::write(&path, serde_json::to_vec(&request)?)?;
    Ok(path)
}

/// Unpacks a family's source into a folder; gives the file or folder that the generator reads.
fn unpack(library: &Library, family: &Family, into: &Path, clients: &Clients) -> Result<PathBuf> {
    let source = &family.source;
    let archive = library.cache.archive(&source.package);
    let (mut left, mut files) = MOST_INPUT;
    fs::create_dir(into)?;
    visit(&archive, source.package.registry, clients, &mut |path, read| {
        let inside = if source.is_folder() {
            path.strip_prefix(&source.path)
        } else {
            (path == source.path).then_some("input")
        };
        let Some(inside) = inside else { return Ok(Next::More) };
        files = files.checked_sub(1).ok_or_else(|| anyhow!("`{source}` holds too many files"))?;
        let to = into.join(inside);
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        left -= digest::copy(read, &mut fs::File::create(&to)?, left)?.bytes;
        Ok(if source.is_folder() { Next::More } else { Next::Done })
    })?;
    let input = if source.is_folder() { into.to_owned() } else { into.join("input") };
    if files == MOST_INPUT.1 {
        bail!("`{source}` is not in its archive");
    }
    Ok(input)
}

fn call(php: &Path, program: &Path, argument: &Path, work: &Path) -> Result<String> {
    let mut command = Command::new(php);
    // A user's settings may prepend code, trace, or print errors among the results.
    for setting in ["display_errors=stderr", "auto_prepend_file=", "auto_append_file=", "xdebug.mode=off"] {
        command.args(["-d", setting]);
    }
    command.arg(program).arg(argument).current_dir(work);
    let Ended { status, stdout, stderr } =
        run_within(&mut command, PATIENCE).with_context(|| format!("cannot start {}", clean_path(php)))?;
    let said = stderr.lines().chain(stdout.lines()).rfind(|line| !line.trim().is_empty());
    match status {
        // 1: some values could not be made, and the lines say which.
        Some(status) if matches!(status.code(), Some(0 | 1)) => Ok(stdout),
        Some(status) => {
            bail!("{} ended with {status}: {}", clean_path(php), clean(said.unwrap_or("no message")))
        }
        None => bail!("{} did not finish within {} s and was ended", clean_path(php), PATIENCE.as_secs()),
    }
}

#[cfg(test)]
mod tests;
