//! What runs on this machine and could be looked at: web servers and PHP by their processes, their configurations, logs and document
//! roots at the usual places. Names of processes and the presence of files are all that is read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use weigh_os::regular;

/// Web servers: the names of their processes, and where their configuration usually is.
const SERVERS: [(&str, &[&str], &[&str]); 4] = [
    ("nginx", &["nginx"], &["etc/nginx/nginx.conf", "usr/local/etc/nginx/nginx.conf"]),
    ("apache", &["apache2", "httpd"], &["etc/apache2/apache2.conf", "etc/httpd/conf/httpd.conf"]),
    ("caddy", &["caddy"], &["etc/caddy/Caddyfile"]),
    ("lighttpd", &["lighttpd"], &["etc/lighttpd/lighttpd.conf"]),
];
/// Where access logs usually are, and what their names begin with.
const LOGS: [(&str, &str); 5] = [
    ("var/log/nginx", "access.log"),
    ("var/log/apache2", "access.log"),
    ("var/log/httpd", "access_log"),
    ("var/log/caddy", "access.log"),
    ("var/log/lighttpd", "access.log"),
];
/// Where document roots usually are.
const ROOTS: [&str; 3] = ["var/www/html", "var/www", "srv/www"];
/// The most entries of a folder, and of processes, that are looked at.
const MOST: usize = 10_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundSoftware {
    /// Web servers that run, by name.
    pub servers: Vec<&'static str>,
    /// Whether PHP-FPM runs.
    pub fpm: bool,
    /// Configurations of servers that run, or of any if none does.
    pub configs: Vec<PathBuf>,
    /// Folders with access logs, as the pattern of their names, with how many there are.
    pub logs: Vec<(String, usize)>,
    /// Document roots that are not empty.
    pub roots: Vec<PathBuf>,
}

/// Looks below a root, which is `/` unless it is a test.
pub fn detect_software(root: &Path) -> FoundSoftware {
    let names = processes(root);
    let runs = |programs: &[&str]| programs.iter().any(|program| names.contains(*program));
    let servers: Vec<&str> =
        SERVERS.iter().filter(|(_, programs, _)| runs(programs)).map(|one| one.0).collect();
    let meant = SERVERS.iter().filter(|one| servers.is_empty() || servers.contains(&one.0));
    let configs =
        meant.flat_map(|(_, _, places)| places.iter().map(|place| root.join(place)).find(|p| p.is_file()));
    let logs = LOGS.iter().filter_map(|(folder, begin)| {
        let entries = fs::read_dir(root.join(folder)).ok()?.flatten().take(MOST);
        let count = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(begin)).count();
        (count > 0)
            .then(|| (root.join(folder).join(format!("{begin}*")).to_string_lossy().into_owned(), count))
    });
    let is_filled = |path: &PathBuf| fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    FoundSoftware {
        fpm: names.iter().any(|name| name.starts_with("php-fpm")),
        configs: configs.collect(),
        logs: logs.collect(),
        roots: ROOTS.iter().map(|place| root.join(place)).find(is_filled).into_iter().collect(),
        servers,
    }
}

/// The names of all processes, as `/proc` has them.
fn processes(root: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(root.join("proc")).into_iter().flatten().flatten().take(MOST);
    let numbered =
        entries.filter(|entry| entry.file_name().to_string_lossy().bytes().all(|b| b.is_ascii_digit()));
    numbered
        .filter_map(|entry| regular::system(entry.path().join("comm")).ok())
        .map(|name| name.trim().to_owned())
        .collect()
}

impl FoundSoftware {
    /// Whether there is something to look at.
    pub fn is_empty(&self) -> bool {
        self.configs.is_empty() && self.logs.is_empty() && self.roots.is_empty()
    }

    /// The command that looks at all of it.
    pub fn command(&self) -> Vec<String> {
        let mut words = Vec::new();
        let quoted = |path: &Path| shell_words::quote(&path.to_string_lossy()).into_owned();
        words.extend(self.roots.first().map(|path| format!("--docroot {}", quoted(path))));
        words.extend(self.configs.first().map(|path| format!("--server-config {}", quoted(path))));
        words.extend(self.logs.first().map(|(pattern, _)| format!("--log {pattern}")));
        words
    }
}

/// Document roots in a project's folder, as frameworks name them.
const PROJECT_ROOTS: [&str; 9] =
    ["public", "web", "htdocs", "public_html", "webroot", "www", "html", "pub", "dist"];
/// Configurations in a project's folder, and folders of it where they are.
const PROJECT_CONFIGS: [(&str, &str); 5] = [
    ("nginx.conf", "nginx"),
    ("apache.conf", "apache"),
    ("httpd.conf", "apache"),
    ("Caddyfile", "caddy"),
    ("lighttpd.conf", "lighttpd"),
];
const PROJECT_FOLDERS: [&str; 5] = ["", "config", "conf", "docker", "etc"];
/// Folders of logs in a project's folder.
const PROJECT_LOGS: [&str; 3] = ["log", "logs", "var/log"];

/// What of a site is in a project's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Project {
    pub docroot: Option<PathBuf>,
    /// Configurations, and the servers that they are for.
    pub configs: Vec<(PathBuf, &'static str)>,
    /// Access logs.
    pub logs: Vec<PathBuf>,
    /// Whether PHP makes pages: the document root has an `index.php`.
    pub has_php: bool,
    /// Whether it has settings for Apache: a `.htaccess`.
    pub has_htaccess: bool,
}

/// Looks into a project's folder: names of files, nothing is read.
pub fn detect_project(folder: &Path) -> Project {
    let is_root = |path: &Path| {
        ["index.php", "index.html", "index.htm", ".htaccess"].iter().any(|name| path.join(name).is_file())
    };
    let below = PROJECT_ROOTS.iter().map(|name| folder.join(name)).find(|path| is_root(path));
    let own = is_root(folder).then(|| folder.to_owned());
    let filled = || {
        let is_filled = |path: &PathBuf| fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
        PROJECT_ROOTS.iter().map(|name| folder.join(name)).find(is_filled)
    };
    let docroot = below.or(own).or_else(filled);
    let has = |name: &str| docroot.as_ref().is_some_and(|root| root.join(name).is_file());
    let configs = PROJECT_FOLDERS.iter().flat_map(|below| {
        PROJECT_CONFIGS.iter().map(move |(name, server)| (folder.join(below).join(name), *server))
    });
    let mut logs: Vec<PathBuf> = PROJECT_LOGS
        .iter()
        .filter_map(|below| fs::read_dir(folder.join(below)).ok())
        .flat_map(|entries| entries.flatten().take(MOST))
        .filter(|entry| entry.file_name().to_string_lossy().contains("access"))
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    logs.sort();
    Project {
        has_php: has("index.php"),
        has_htaccess: has(".htaccess"),
        configs: configs.filter(|(file, _)| file.is_file()).collect(),
        logs,
        docroot,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_projects_folder_is_known_by_the_names_of_its_files() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        };
        assert_eq!(detect_project(root.path()), Project::default(), "an empty folder");
        write("index.php");
        assert_eq!(detect_project(root.path()).docroot.as_deref(), Some(root.path()), "WordPress");
        write("public/index.php");
        write("public/.htaccess");
        write("docker/nginx.conf");
        write("var/log/access.log");
        write("var/log/error.log");
        let found = detect_project(root.path());
        assert_eq!(found.docroot, Some(root.path().join("public")));
        assert!(found.has_php && found.has_htaccess);
        assert_eq!(found.configs, [(root.path().join("docker/nginx.conf"), "nginx")]);
        assert_eq!(found.logs, [root.path().join("var/log/access.log")]);
    }

    #[test]
    fn what_runs_and_where_its_files_usually_are() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert!(detect_software(root.path()).is_empty());
        write("etc/apache2/apache2.conf", "");
        let found = detect_software(root.path());
        assert_eq!((found.configs.len(), found.servers.len()), (1, 0), "a configuration although none runs");
        write("proc/12/comm", "nginx\n");
        write("proc/13/comm", "php-fpm8.2\n");
        write("proc/self/comm", "caddy\n");
        write("etc/nginx/nginx.conf", "");
        write("var/log/nginx/access.log", "");
        write("var/log/nginx/access.log.1", "");
        write("var/log/nginx/error.log", "");
        fs::create_dir_all(root.path().join("var/www/html")).unwrap();
        let found = detect_software(root.path());
        assert_eq!((found.servers.clone(), found.fpm), (vec!["nginx"], true));
        assert_eq!(found.configs, [root.path().join("etc/nginx/nginx.conf")]);
        assert_eq!(found.logs[0].1, 2);
        assert_eq!(found.roots, [root.path().join("var/www")], "the other one is empty");
        assert_eq!(found.command().len(), 3);
    }
}
