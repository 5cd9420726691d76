//! What the user's own PHP is set to: a php.ini with its `conf.d`, or a pool of PHP-FPM with the php.ini beside it. Settings that change
//! what sending costs are taken; everything else, and the pool's environment, is not kept.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use weigh_model::text::clean_path;
use weigh_os::regular;

/// The longest file in bytes.
const LONGEST: u64 = 1 << 20;
/// The most files of a `conf.d`.
const MOST: usize = 500;
/// Settings that are taken; `*` at the end stands for any rest.
const TAKEN: [&str; 11] = [
    "memory_limit",
    "output_buffering",
    "implicit_flush",
    "zlib.output_compression",
    "zlib.output_compression_level",
    "output_handler",
    "realpath_cache_size",
    "realpath_cache_ttl",
    "zend.assertions",
    "pcre.jit",
    "opcache.*",
];
/// Of those, what names files or users of the machine, or runs code.
const LEFT: [&str; 7] = [
    "opcache.preload",
    "opcache.preload_user",
    "opcache.file_cache",
    "opcache.lockfile_path",
    "opcache.error_log",
    "opcache.blacklist_filename",
    "opcache.restrict_api",
];
/// Folders of further ini files beside a php.ini.
const FOLDERS: [&str; 2] = ["conf.d", "php.d"];

/// Settings of the user's PHP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnPhp {
    /// By name, each as the last file that has it says.
    pub ini: BTreeMap<String, String>,
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// User and group of a pool.
    pub account: Option<(String, Option<String>)>,
}

/// Reads a php.ini, or a pool's file with the php.ini beside its folder.
///
/// # Errors
/// One line: a file that cannot be read, or is neither.
pub fn read(file: &Path) -> Result<OwnPhp> {
    let named = clean_path(file);
    let given = text(file)?;
    let mut own = OwnPhp::default();
    let lines = settings(&given);
    let is_pool = lines.iter().any(|(name, _)| matches!(name.as_str(), "pm" | "listen"));
    ensure!(!lines.is_empty(), "{named}: no setting in it; give a php.ini, or the file of a pool of PHP-FPM");
    if !is_pool {
        own.add(file.to_owned(), &lines);
        return own.with_folders(file);
    }
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let beside = absolute.parent().and_then(Path::parent).map(|above| above.join("php.ini"));
    if let Some(ini) = beside.filter(|ini| ini.is_file()) {
        own.add(ini.clone(), &settings(&text(&ini)?));
        own = own.with_folders(&ini)?;
    }
    let value =
        |wanted: &str| lines.iter().rev().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
    own.account = value("user").map(|user| (user, value("group")));
    let of_pool: Vec<(String, String)> =
        lines.into_iter().filter_map(|(name, value)| Some((in_pool(&name)?, value))).collect();
    own.add(file.to_owned(), &of_pool);
    Ok(own)
}

impl OwnPhp {
    fn add(&mut self, file: PathBuf, lines: &[(String, String)]) {
        let taken = lines.iter().filter(|(name, _)| is_taken(name));
        self.ini.extend(taken.cloned());
        self.files.push(file);
    }

    fn with_folders(mut self, ini: &Path) -> Result<OwnPhp> {
        for folder in FOLDERS.iter().filter_map(|folder| Some(ini.parent()?.join(folder))) {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            files.retain(|path| path.extension().is_some_and(|e| e == "ini") && path.is_file());
            files.sort();
            for file in files.into_iter().take(MOST) {
                let lines = settings(&text(&file)?);
                self.add(file, &lines);
            }
        }
        Ok(self)
    }

    /// What encodes all output: the method as a study names it; none: nothing does.
    pub fn encoder(&self) -> Option<String> {
        let of = |name: &str| self.ini.get(name).map(String::as_str).unwrap_or_default();
        if of("output_handler") == "ob_gzhandler" {
            return Some("php/ob_gzhandler".into());
        }
        // A number above 1 is the size of the buffer.
        let is_on = !matches!(
            of("zlib.output_compression").to_lowercase().as_str(),
            "" | "0" | "off" | "no" | "false"
        );
        let level = of("zlib.output_compression_level").parse().ok().filter(|level| (1..=9).contains(level));
        is_on.then(|| format!("php/zlib.output_compression:{}", level.unwrap_or(6)))
    }

    /// Settings for a private pool, `NAME=VALUE`: what encodes is a method's business.
    pub fn lines(&self) -> Vec<String> {
        let is_for_pool = |name: &str| !name.starts_with("zlib.") && name != "output_handler";
        let own = self.ini.iter().filter(|(name, _)| is_for_pool(name));
        own.map(|(name, value)| format!("{name}={value}")).collect()
    }
}

fn is_taken(name: &str) -> bool {
    let fits = |known: &&str| match known.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == *known,
    };
    TAKEN.iter().any(fits) && !LEFT.contains(&name)
}

/// `php_admin_value[memory_limit]` as `memory_limit`.
fn in_pool(name: &str) -> Option<String> {
    let (of, name) = name.strip_suffix(']')?.split_once('[')?;
    matches!(of, "php_value" | "php_flag" | "php_admin_value" | "php_admin_flag").then(|| name.to_owned())
}

/// Names with their values; those of sections for a path or a host are left out, as is what names a variable.
fn settings(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut is_for_all = true;
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with([';', '#'])) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.to_uppercase();
            is_for_all = !section.starts_with("PATH=") && !section.starts_with("HOST=");
            continue;
        }
        let Some((name, value)) = line.split_once('=').filter(|_| is_for_all) else { continue };
        let value = value.trim();
        let value = match value.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next().unwrap_or_default(),
            None => value.split(';').next().unwrap_or_default().trim(),
        };
        if !value.contains("${") && !value.chars().any(char::is_control) {
            found.push((name.trim().to_owned(), value.to_owned()));
        }
    }
    found
}

fn text(file: &Path) -> Result<String> {
    let bytes = regular::read(file, LONGEST)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_has_the_settings_of_the_php_ini_beside_it_and_its_own() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        write(
            "fpm/php.ini",
            "[PHP]\nmemory_limit = 128M ; a word\noutput_buffering = 4096\nzlib.output_compression = Off\nsession.save_path = \"/x\"\n\
             [HOST=a.example]\nmemory_limit = 1M\n",
        );
        write(
            "fpm/conf.d/10-opcache.ini",
            "zend_extension=opcache.so\nopcache.memory_consumption=256\nopcache.preload=/srv/x.php\n",
        );
        write("fpm/conf.d/note.txt", "memory_limit = 2M\n");
        let pool = write(
            "fpm/pool.d/www.conf",
            "[www]\nlisten = /run/php.sock\npm = dynamic\nenv[SECRET] = s\nphp_admin_value[memory_limit] = 256M\n\
             php_flag[zlib.output_compression] = on\nphp_value[zlib.output_compression_level] = 4\n",
        );
        let own = read(&pool).unwrap();
        assert_eq!(
            own.lines(),
            ["memory_limit=256M", "opcache.memory_consumption=256", "output_buffering=4096"]
        );
        assert_eq!(own.encoder().as_deref(), Some("php/zlib.output_compression:4"));
        assert_eq!(own.files.len(), 3);
        let ini = read(&home.path().join("fpm/php.ini")).unwrap();
        assert_eq!((ini.ini["memory_limit"].as_str(), ini.encoder()), ("128M", None));
        let wrong = read(&write("a.txt", "hello\n")).unwrap_err().to_string();
        assert!(wrong.contains("no setting in it") && !wrong.contains('\n'), "{wrong}");
        assert!(read(home.path()).is_err());
    }
}
