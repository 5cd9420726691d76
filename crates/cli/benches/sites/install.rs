//! A policy's files installed by hand: what their first lines and the advice say is done in a copy of the application and its configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use regex::Regex;

use crate::common::{WEIGH, progress};
use crate::ground::Copy;
use crate::server;

/// Where Debian's packages of nginx have modules.
const NGINX_MODULES: &str = "/usr/lib/nginx/modules";
/// Where the library goes, below the copy.
const LIBRARY: &str = "srv/weighbridge";

/// Does what the files in `advice/config` below a folder say; gives the settings of PHP that they bring.
pub fn policy(work: &Path, server: &str, site: &Copy) -> Result<BTreeMap<String, String>> {
    let config = work.join("advice/config");
    let etc = site.path(if server == "nginx" { "etc/nginx" } else { "etc/apache2" });
    let enabled = fs::read_dir(etc.join("sites-enabled"))?.next().context("no site is enabled")??.path();
    let replaced = Regex::new(
        r"^Clash: .*\bIt replaces ([A-Za-z, ]+?)(?: of other files)?; in the same .*, remove them",
    )?;
    for file in files(&config.join(server))? {
        let text = fs::read_to_string(&file)?;
        for line in head(&text) {
            progress(&format!("  {}: {line}", file.file_name().unwrap_or_default().display()));
            if let Some(first) = line.strip_prefix("First: ") {
                prepare(first, &config.join(server), &etc, site)?;
            } else if let Some(include) = line.strip_prefix("Include here, ") {
                // A place may have a colon; what is included is the last word or two.
                let at = include.to_lowercase().rfind(": include ").context("no line to include")?;
                let (place, line) = (&include[..at], site.moved(&include[at + 2..]));
                let into =
                    if place.starts_with("in http") { etc.join("nginx.conf") } else { enabled.clone() };
                let text = included(&fs::read_to_string(&into)?, place, &line)?;
                fs::write(&into, text)?;
            } else if let Some(named) = replaced.captures(&line) {
                let names = named[1].replace(" and ", ", ").replace(", ", "|");
                let text = fs::read_to_string(&enabled)?;
                let lines = Regex::new(&format!(r"(?m)^\s*({names})\s.*\n"))?;
                fs::write(&enabled, lines.replace_all(&text, "").as_ref())?;
            }
        }
    }
    pack(work, site)?;
    php(&config.join("php"), site)
}

/// A line to include where a text says it goes.
fn included(text: &str, place: &str, line: &str) -> Result<String> {
    let (sign, is_before) = match place {
        _ if place.starts_with("in the <VirtualHost>") => (r"(?m)^\s*</VirtualHost>", true),
        _ if place.starts_with("in the server { }") => (r"(?m)^\s*server\s*\{", false),
        _ if place.starts_with("in http { }") => (r"(?m)^\s*http\s*\{", false),
        _ if place.contains("fastcgi_pass") => (r"(?m)^\s*fastcgi_pass\s[^;]*;", false),
        _ => bail!("it is not known where `{place}` is"),
    };
    let found = Regex::new(sign)?.find(text).with_context(|| format!("nothing is {place}"))?;
    let (before, after) = text.split_at(if is_before { found.start() } else { found.end() });
    Ok(format!("{before}\n    {line}\n{after}"))
}

/// The comments that a file begins with.
fn head(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| *line == "<?php").take_while(|line| !line.is_empty());
    lines.map(|line| line.trim_start_matches(['#', '/', ';']).trim().to_owned()).collect()
}

/// What is to be done before a line is included.
fn prepare(first: &str, from: &Path, etc: &Path, site: &Copy) -> Result<()> {
    if let Some(to) = first.strip_prefix("mkdir ").and_then(|words| words.split_whitespace().last()) {
        let to = PathBuf::from(site.moved(to));
        fs::create_dir_all(&to)?;
        for file in files(from)? {
            // Paths in them are those of the site that the policy was made for.
            let name = file.file_name().context("no name")?;
            fs::write(to.join(name), site.led(&fs::read_to_string(&file)?))?;
        }
    } else if let Some(modules) = first.strip_prefix("a2enmod ") {
        server::link(etc, "mods", &modules.split_whitespace().collect::<Vec<_>>())?;
    } else {
        // Debian's packages of modules of nginx enable them.
        let named = first.strip_prefix("it needs these modules: ");
        let loads = Regex::new(r"load_module \S*/ngx_(\w+)_module\.so;")?;
        let loaded = loads.captures_iter(first).map(|one| one.extract::<1>().1[0]);
        for module in named.into_iter().flat_map(|all| all.split(", ")).chain(loaded) {
            let file = format!("{NGINX_MODULES}/ngx_{module}_module.so");
            // What is built in has no file; what is missing is found by the server's own check.
            if !Path::new(&file).exists() {
                continue;
            }
            fs::create_dir_all(etc.join("modules-enabled"))?;
            let enabled = etc.join(format!("modules-enabled/{module}.conf"));
            fs::write(enabled, format!("load_module {file};\n"))?;
        }
    }
    Ok(())
}

/// Lets the server look at the copy, and takes out of the site what stands twice, as the files say.
pub fn check(command: impl Fn() -> Result<Command>, etc: &Path) -> Result<()> {
    let twice = Regex::new(r#""(\w+)" directive is duplicate"#)?;
    for _ in 0..20 {
        let said = command()?.output().context("the server cannot be started")?;
        let text = String::from_utf8_lossy(&said.stderr).into_owned();
        if said.status.success() {
            return Ok(());
        }
        let Some(name) = twice.captures(&text) else { bail!("it is refused: {}", text.trim()) };
        let site = fs::read_dir(etc.join("sites-enabled"))?.next().context("no site is enabled")??.path();
        let before = fs::read_to_string(&site)?;
        let after = without_beside(&before, &name[1]);
        ensure!(
            after != before,
            "it is refused, and no {} of the site is beside it: {}",
            &name[1],
            text.trim()
        );
        progress(&format!("  taken out of the site: {}", &name[1]));
        fs::write(&site, after)?;
    }
    bail!("it has too many directives twice")
}

/// A configuration of nginx without a directive in blocks that include a file of the policy.
fn without_beside(text: &str, name: &str) -> String {
    let (mut depth, mut block) = (Vec::new(), 0);
    let lines: Vec<(usize, &str)> = text
        .lines()
        .map(|line| {
            let own = *depth.last().unwrap_or(&0);
            if line.trim_end().ends_with('{') {
                block += 1;
                depth.push(block);
            } else if line.trim() == "}" {
                depth.pop();
            }
            (own, line)
        })
        .collect();
    let is_one =
        |line: &str| line.trim_start().strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '\t']));
    let with: Vec<usize> =
        lines.iter().filter(|(_, line)| line.contains("/weigh/")).map(|(at, _)| *at).collect();
    let kept = lines.iter().filter(|(at, line)| !(with.contains(at) && is_one(line)));
    kept.flat_map(|(_, line)| [*line, "\n"]).collect()
}

/// Packs the folders of the copy, if the policy has variants made beforehand.
fn pack(work: &Path, site: &Copy) -> Result<()> {
    let policy = work.join("advice/policy.toml");
    if !fs::read_to_string(&policy)?.contains("by = \"beforehand\"") {
        return Ok(());
    }
    let described: toml::Table = fs::read_to_string(work.join("site.toml"))?.parse()?;
    let sources = &described["sources"];
    let aliases = sources.get("aliases").and_then(|aliases| aliases.as_array()).into_iter().flatten();
    let folders = sources.get("docroot").into_iter().chain(aliases.filter_map(|alias| alias.get("folder")));
    let mut waiting: Vec<PathBuf> =
        folders.filter_map(|folder| folder.as_str()).map(|folder| site.led(folder).into()).collect();
    let mut packed = BTreeSet::new();
    while let Some(folder) = waiting.pop() {
        if !packed.insert(folder.canonicalize()?) {
            continue;
        }
        progress(&format!("  weigh pack {} --policy advice/policy.toml", folder.display()));
        let said = Command::new(WEIGH)
            .arg("pack")
            .arg(&folder)
            .arg("--json")
            .arg("--policy")
            .arg(&policy)
            .output()?;
        let text = String::from_utf8_lossy(&said.stderr).into_owned();
        ensure!(said.status.success(), "weigh pack {}: {}", folder.display(), text.trim());
        // Folders that links lead to are packed by themselves, as it says.
        let outcome: serde_json::Value = serde_json::from_slice(&said.stdout)?;
        let links =
            outcome["links"]["paths"].as_array().into_iter().flatten().filter_map(|path| path.as_str());
        let linked = links.filter_map(|path| folder.join(path).canonicalize().ok());
        waiting.extend(linked.filter(|path| path.is_dir() && path.starts_with(site.root())));
    }
    Ok(())
}

/// The settings of the files for PHP; the library is copied, and begins before each script.
fn php(config: &Path, site: &Copy) -> Result<BTreeMap<String, String>> {
    let mut settings = BTreeMap::new();
    if let Ok(text) = fs::read_to_string(config.join("weigh.ini")) {
        let lines =
            text.lines().filter(|line| !line.starts_with(';')).filter_map(|line| line.split_once('='));
        settings.extend(lines.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())));
    }
    if config.join("weighbridge.php").exists() {
        let to = site.path(LIBRARY);
        fs::create_dir_all(to.parent().context("no folder for the library")?)?;
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../php/library");
        let copied = Command::new("cp").arg("-a").arg(from).arg(&to).status()?;
        ensure!(copied.success(), "the library cannot be copied");
        let policy = site.led(&fs::read_to_string(config.join("weighbridge.php"))?);
        fs::write(to.join("weighbridge.php"), policy)?;
        let begin = "<?php\nrequire __DIR__ . '/autoload.php';\nWeighbridge\\Library\\OutputHandler::start(__DIR__ . '/weighbridge.php');\n";
        fs::write(to.join("begin.php"), begin)?;
        settings.insert("auto_prepend_file".into(), to.join("begin.php").display().to_string());
        // What the library's preload.php asks for where codecs are reached through FFI.
        settings.insert("ffi.enable".into(), "preload".into());
        settings.insert("opcache.preload".into(), to.join("preload.php").display().to_string());
        if rustix::process::getuid().is_root() {
            settings.insert("opcache.preload_user".into(), "root".into());
        }
    }
    Ok(settings)
}

/// The files of a folder, by name; none where there is no folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.retain(|file| file.is_file());
    files.sort();
    Ok(files)
}
